"""One reader for chat messages of any make: each form gives the same role, text and record."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from assay.errors import InputError
from assay.records import Message
from assay.records.messages import is_message, message_of, messages_of, prompt_of, role_of, text_of, unwrap_message

BLOCKS = [{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "Cats "}, {"type": "text", "text": "purr."}]

FORMS: dict[str, Any] = {
    "OpenAI": {"role": "assistant", "content": "Cats purr."},
    "OpenAI, an object": SimpleNamespace(type="message", role="assistant", content=BLOCKS),
    "blocks": {"role": "assistant", "content": BLOCKS},
    "LangChain": SimpleNamespace(type="ai", content="Cats purr."),
    "LangChain, a part of a stream": SimpleNamespace(type="AIMessageChunk", content="Cats purr."),
    "LangChain, any role": SimpleNamespace(type="chat", role="assistant", content="Cats purr."),
    "LangChain, as JSON": {
        "lc": 1, "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {"content": "Cats purr."}
    },
    "LangChain, as a dict": {"type": "ai", "data": {"content": "Cats purr."}},
    "Gemini": {"role": "model", "parts": [{"text": "Cats purr."}]},
    "OpenTelemetry": {"role": "assistant", "parts": [{"type": "text", "content": "Cats purr."}]},
    "a pair": ("ai", "Cats purr."),
    "a pair with blocks": ("ai", BLOCKS),
    "assay": Message(role="assistant", content="Cats purr."),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_the_same_message(form: str) -> None:
    message = FORMS[form]
    assert (role_of(message), text_of(message)) == ("assistant", "Cats purr.")
    assert message_of(message) == Message(role="assistant", content="Cats purr.")
    assert is_message(message)


@pytest.mark.parametrize("value", ["ai", None, 3, {"role": "assistant"}, ("a", "b"), ("ai", 3), ["ai"], object()])
def test_what_has_no_role_or_no_content_is_no_message(value: Any) -> None:
    assert role_of(value) is None
    assert not is_message(value)


def test_a_message_may_only_call_tools() -> None:
    message = {"role": "assistant", "tool_calls": [{"name": "search", "args": {}}]}
    assert not is_message(message)
    assert is_message(message, content=False)
    assert message_of(message).tool_calls[0].name == "search"


def test_other_objects_stay_as_they_are() -> None:
    document = {"page_content": "Cats purr.", "metadata": {}}
    assert unwrap_message(document) is document
    assert unwrap_message({"lc": 1, "kwargs": document}) == document


class Raising:
    """An object of which every attribute raises."""

    def __init__(self, error: BaseException) -> None:
        self.__dict__["error"] = error

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__"):
            return object.__getattribute__(self, name)
        raise object.__getattribute__(self, "__dict__")["error"]


@pytest.mark.parametrize("error", [RuntimeError("no"), SystemExit(3)], ids=["raises", "ends the process"])
def test_an_object_whose_attributes_raise_is_no_message(error: BaseException) -> None:
    value = Raising(error)
    assert (role_of(value), text_of(value), is_message(value), prompt_of([value])) == (None, "", False, ())
    with pytest.raises(InputError, match="message 1 of 1: expected role and content"):
        messages_of([value])


def test_a_block_whose_text_is_none_has_no_text() -> None:
    """A number or an object in place of a text is not read as one."""
    for odd in (5, float("nan"), Raising(RuntimeError("no")), None):
        assert (
            text_of({"role": "user", "content": [{"type": "text", "text": odd}, {"type": "text", "text": "Why?"}]})
            == "Why?"
        )


CALL = {"name": "search", "args": {"query": "cats"}, "id": "1"}


@pytest.mark.parametrize(
    "part",
    [
        {"type": "tool_call", **CALL},  # LangChain's standard content
        {"type": "tool_use", "id": "1", "name": "search", "input": {"query": "cats"}},  # Anthropic's
        {"functionCall": {"name": "search", "args": {"query": "cats"}}},  # Gemini's, which has no id
        {"type": "function_call", "call_id": "1", "id": "fc", "name": "search", "arguments": '{"query": "cats"}'},
    ],
)
def test_a_call_in_the_content_and_in_the_list_is_one_call(part: dict[str, Any]) -> None:
    """As LangChain writes messages to JSON: the provider's parts, and its own list of calls."""
    written = {"type": "ai", "content": [part], "tool_calls": [CALL]}
    (message,) = messages_of([written])
    assert [(call.name, call.arguments) for call in message.tool_calls] == [("search", {"query": "cats"})]


def test_two_calls_of_one_tool_stay_two() -> None:
    parts = [{"type": "tool_use", "id": str(n), "name": "search", "input": {"query": str(n)}} for n in range(2)]
    listed = [{"name": "search", "args": {"query": str(n)}, "id": str(n)} for n in range(2)]
    for written in ({"content": parts, "tool_calls": listed}, {"content": parts}, {"content": parts, "tool_calls": []}):
        (message,) = messages_of([{"type": "ai", **written}])
        assert [call.id for call in message.tool_calls] == ["0", "1"]
