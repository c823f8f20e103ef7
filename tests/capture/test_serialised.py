"""Messages, documents and model calls as frameworks write them to JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.capture import Document
from assay.capture.serialisation import (
    document_texts,
    documents_in,
    messages_in,
    passages_in,
    passed_on,
    text_written,
    texts_sent,
    unwrap_value,
)

JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["lc", "kwargs", "type", "data", "content", "role", "parts", "id", "update",
                                         "goto", "resume", "messages", "page_content", "node", "text"]),
                        inner, max_size=4),
    ),
    max_leaves=20,
)  # fmt: skip


@pytest.mark.parametrize(
    ("dumped", "expected"),
    [
        (
            {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessageChunk"],
             "kwargs": {"content": "Hi."}},
            {"type": "ai", "content": "Hi."},
        ),
        (
            {"lc": 1, "id": ["x", "HumanMessage"], "kwargs": {"content": "Hi.", "type": "human"}},
            {"type": "human", "content": "Hi."},
        ),
        ({"type": "human", "data": {"content": "Hi.", "type": "human"}}, {"type": "human", "content": "Hi."}),
        ({"role": "user", "parts": [{"type": "text", "content": "Hi."}]}, {"role": "user", "content": "Hi."}),
        (
            {"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"}, {"type": "blob", "content": "e"}]},
            {"role": "assistant", "content": []},
        ),
        (
            {"role": "tool", "parts": [{"type": "tool_call_response", "response": "42"}]},
            {"role": "tool", "content": "42"},
        ),
        ([["user", "Hi."], ["ai", "Yes."]], [{"role": "user", "content": "Hi."}, {"role": "ai", "content": "Yes."}]),
        ([["user", "ai"], ["x", "y"]], [["user", "ai"], ["x", "y"]]),
        ({"graph": None, "update": {"a": 1}, "resume": None, "goto": []}, {"a": 1}),
        (
            [{"update": {"m": [1]}, "resume": 0, "goto": 0}, {"update": {"m": [2], "n": 3}, "resume": 0, "goto": 0}],
            {"m": [1, 2], "n": 3},
        ),
        ({"type": "ai", "data": {"score": 3}}, {"type": "ai", "data": {"score": 3}}),
    ],
)  # fmt: skip
def test_wrapping_is_taken_off(dumped: Any, expected: Any) -> None:
    assert unwrap_value(dumped) == expected
    assert unwrap_value({"state": [dumped, "x"]}) == {"state": [expected, "x"]}


@given(JSON)
def test_any_json_can_be_read(value: Any) -> None:
    found = unwrap_value(value)
    assert json.loads(json.dumps(found)) == found
    assert isinstance(documents_in(found), dict)
    assert isinstance(texts_sent(found), tuple)
    assert text_written(found) is None or isinstance(text_written(found), str)
    passages = passages_in(found)
    assert passages is None or all(isinstance(item, Document) for item in passages)


def test_json_as_deep_as_python_reads_it() -> None:
    deep: Any = "x"
    for _ in range(900):
        deep = {"kwargs": {"a": deep}, "lc": 1}
    assert isinstance(unwrap_value(deep), dict)


DOCUMENT = {"id": "d1", "page_content": "one", "metadata": {"page": 3}, "type": "Document"}


def test_documents_are_found_under_any_key() -> None:
    wrapped = {"lc": 1, "type": "constructor", "id": ["langchain", "Document"], "kwargs": DOCUMENT}
    found = documents_in(unwrap_value({"context": [wrapped], "question": "Why?", "scores": [1, 2]}))
    assert found == {"context": [Document("one", "d1", {"page": 3})]}
    assert documents_in([DOCUMENT]) == {"": [Document("one", "d1", {"page": 3})]}
    assert documents_in([{"role": "user", "content": "Why?"}]) == {}


def test_what_a_step_was_given_is_not_passed_on() -> None:
    other = {**DOCUMENT, "page_content": "two", "id": "d2"}
    given_texts = document_texts({"context": [DOCUMENT], "question": "Why?"})
    assert given_texts == {"context": ("one",)}
    assert passed_on({"context": [DOCUMENT], "answer": "So."}, given_texts) is None
    passed = passed_on({"context": [other]}, given_texts)
    assert passed is not None
    assert [item.text for item in passed] == ["two"]


@pytest.mark.parametrize(
    ("returned", "texts"),
    [
        ([DOCUMENT], ["one"]),
        ({"documents": [DOCUMENT]}, ["one"]),
        (["one", "two"], ["one", "two"]),
        ([{"node": {"text": "one", "id_": "n1"}, "score": 0.5}], ["one"]),
        ([{"id": "d1", "score": 0.9, "content": "one"}, {"id": "d2"}], ["one"]),
        ([], []),
        ({"documents": []}, []),
        ([{"id": "d1", "score": 0.9}], None),
        ("one", None),
        (None, None),
    ],
)
def test_what_a_retriever_returned(returned: Any, texts: list[str] | None) -> None:
    found = passages_in(returned)
    assert (None if found is None else [item.text for item in found]) == texts


MESSAGE = {"role": "user", "content": "Why?"}


@pytest.mark.parametrize(
    ("inputs", "texts"),
    [
        ("Why?", ("Why?",)),
        ([MESSAGE], ("Why?",)),
        ([[MESSAGE]], ("Why?",)),
        ({"messages": [[MESSAGE]]}, ("Why?",)),
        ({"model": "m", "messages": [{"role": "system", "content": "Be kind."}, MESSAGE]}, ("Be kind.", "Why?")),
        ({"prompts": ["Why?"]}, ("Why?",)),
        ({"args": ["Why?"], "kwargs": {}}, ("Why?",)),
        ({"model": "m"}, ()),
        (3, ()),
    ],
)
def test_what_a_model_was_sent(inputs: Any, texts: tuple[str, ...]) -> None:
    assert texts_sent(inputs) == texts


@pytest.mark.parametrize(
    ("outputs", "text"),
    [
        ("So.", "So."),
        ({"generations": [[{"text": "So.", "message": {"content": "So.", "type": "ai"}}]], "llm_output": None}, "So."),
        ({"generations": [[{"text": "So."}]]}, "So."),
        ({"generations": [[]]}, None),
        ({"choices": [{"message": {"role": "assistant", "content": "So."}}]}, "So."),
        ({"choices": [{"text": "So."}]}, "So."),
        ({"role": "assistant", "content": [{"type": "text", "text": "So."}]}, "So."),
        ([{"role": "assistant", "content": "So."}], "So."),
        ({"content": "", "type": "ai", "tool_calls": [{"name": "x"}]}, None),
        ({"tool_calls": []}, None),
    ],
)
def test_what_a_model_wrote(outputs: Any, text: str | None) -> None:
    assert text_written(outputs) == text


def test_messages_are_found_however_deep_they_stand() -> None:
    assert messages_in({"input": {"messages": [MESSAGE]}}) == [MESSAGE]
    assert messages_in(["user", "Why?"]) == []
