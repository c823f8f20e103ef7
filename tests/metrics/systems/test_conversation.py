"""Exchanges, windows, tool calls and transcripts of conversations, as the metrics of several systems read them."""

from __future__ import annotations

import pytest

from assay.errors import Cause, JudgeFailure
from assay.metrics.systems import conversation as c
from assay.metrics.systems import named
from assay.metrics.tool_calls import calls, outputs
from assay.records import Context, Message, Sample, ToolCall, Turn

METRIC = named("ragas:faithfulness")  # only its label is read


def m(role: str, content: str = "", *called: ToolCall) -> Message:
    return Message(role=role, content=content, tool_calls=called)  # type: ignore[arg-type]


def short(found: object) -> list[list[str]]:
    return [[message.content for message in one] for one in found]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ("", []),
        ("ua", ["ua"]),
        ("uaua", ["ua", "ua"]),
        ("auaua", ["aua", "ua"]),  # a greeting belongs to the first exchange
        ("uuaau", ["uuaa"]),  # what nobody answered is no exchange
        ("u", []),
        ("aa", []),
        ("suata", ["uata"]),
        ("uatuat", ["uat", "uat"]),
        ("uatu", ["uat"]),
    ],
)
def test_exchanges(roles: str, expected: list[str]) -> None:
    names = {"u": "user", "a": "assistant", "s": "system", "t": "tool"}
    found = c.exchanges([m(names[role], role) for role in roles])
    assert ["".join(one) for one in short(found)] == expected


def test_windows_hold_the_last_items() -> None:
    assert list(c.windows("abcd", 3)) == [("a",), ("a", "b"), ("a", "b", "c"), ("b", "c", "d")]
    assert list(c.windows("ab", 1)) == [("a",), ("b",)]
    assert list(c.windows("", 3)) == []


def test_a_sample_without_messages_is_its_history_and_itself() -> None:
    sample = Sample(question="Where?", answer="There.", history=(Turn(question="What?", answer="That."),))
    assert short([c.messages_of(sample)]) == [["What?", "That.", "Where?", "There."]]
    assert [message.role for message in c.conversation(sample, METRIC)] == ["user", "assistant"] * 2
    with pytest.raises(JudgeFailure) as raised:
        c.conversation(Sample(question="Where?"), METRIC)
    assert raised.value.cause is Cause.MISSING_INPUT


def test_exchanges_have_their_passages() -> None:
    search = ToolCall(name="search", arguments={"q": "x"}, output="found by the tool")
    sample = Sample(
        question="Where?",
        contexts=(Context(text="of the sample"),),
        answer="There.",
        history=(Turn(question="What?", answer="That.", contexts=(Context(text="of the turn"),)),),
        messages=(
            m("user", "What?"), m("assistant", "That."),
            m("user", "Who?"), m("assistant", "", search), m("assistant", "They."),
            m("user", "Where?"), m("assistant", "There."),
        ),
    )  # fmt: skip
    found = c.exchanges_of(sample)
    assert [one.contexts for one in found] == [("of the turn",), ("found by the tool",), ("of the sample",)]
    assert [(one.question, one.answer) for one in found] == [
        ("What?", "That."),
        ("Who?", "They."),
        ("Where?", "There."),
    ]
    assert found[1].calls == (search,)


def test_the_outputs_of_tools_may_be_messages() -> None:
    known = ToolCall(name="known", output="k")
    called = calls([
        m("assistant", "", ToolCall(name="one"), known, ToolCall(name="two")),
        m("tool", "1"), m("tool", "2"), m("tool", "of nobody"),
    ])  # fmt: skip
    assert [(call.name, call.output) for call in called] == [("one", "1"), ("known", "k"), ("two", "2")]
    assert outputs([*called, ToolCall(name="blank", output=" "), ToolCall(name="none")]) == ("1", "k", "2")


def test_a_transcript_shows_who_says_and_calls_what() -> None:
    way = [m("user", "When?"), m("assistant", "", ToolCall(name="search", arguments={"b": 1, "a": "ü"}, output="1990"))]
    way += [m("tool", "1990"), m("assistant", "In 1990.")]
    assert c.transcript_section(way) == (
        "CONVERSATION",
        'USER: When?\nCALLS search({"a": "ü", "b": 1}) -> 1990\nTOOL: 1990\nASSISTANT: In 1990.',
    )
    assert c.transcript(way, tools=False) == "USER: When?\nASSISTANT: In 1990."
    assert c.call_text(way[1].tool_calls[0], output=False) == 'search({"a": "ü", "b": 1})'


def test_tool_calls_of_the_metadata_in_several_forms() -> None:
    rows = [
        "search",
        {"name": "search", "args": {"q": 1}},
        {"name": "search", "input_parameters": {"q": 2}, "output": {"found": "ü"}},
        {"id": "c", "function": {"name": "search", "arguments": '{"q": 4}'}},
        {"name": "search", "arguments": "no JSON"},
        {"name": "search", "arguments": "[1]"},
    ]
    found = c.tool_calls(Sample(metadata={"expected_tools": rows}), METRIC, "expected_tools")
    assert [dict(call.arguments) for call in found] == [{}, {"q": 1}, {"q": 2}, {"q": 4}, {"": "no JSON"}, {"": [1]}]
    assert [call.output for call in found] == [None, None, '{"found": "ü"}', None, None, None]


@pytest.mark.parametrize("metadata", [{}, {"tools": "search"}, {"tools": [{"args": {}}]}, {"tools": [3]}])
def test_what_is_no_tool_call_is_missing_input(metadata: dict[str, object]) -> None:
    with pytest.raises(JudgeFailure) as raised:
        c.tool_calls(Sample(metadata=metadata), METRIC, "tools")
    assert raised.value.cause is Cause.MISSING_INPUT
    assert "metadata['tools']" in raised.value.message


def test_a_section_of_tools_has_one_on_each_line() -> None:
    sample = Sample(metadata={"tools": ["search", {"name": "brücke", "args": {"b": 1, "a": 2}}]})
    shown = c.tools_section(sample, METRIC, "TOOLS", "tools")
    assert shown == ("TOOLS", 'search\n{"args": {"a": 2, "b": 1}, "name": "brücke"}')
