"""The way of an agent: which calls it tells of, with what they were asked and gave back, and when there is none."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.capture import Document, Run, samples_of, traces_of
from assay.capture.trajectories import call_of
from assay.records import Message, Sample, ToolCall

QUESTION, ANSWER = "Why do cats purr?", "They are calm."


def exchange(*below: Run, inputs: Any = QUESTION, outputs: Any = ANSWER) -> Sample:
    """The sample of a root with these runs below it, in this order; runs without a parent are the root's children."""
    root = Run("root", None, "chain", "rag", inputs=inputs, outputs=outputs, started=0.0, ended=99.0)
    for n, run in enumerate(below, 1):
        run.started, run.ended, run.parent = float(n), float(n) + 0.5, run.parent or "root"
    (trace,) = traces_of([root, *below])
    (sample,) = samples_of(trace)
    return sample


def tool(id: str, asked: Any, said: Any, *, name: str = "search", parent: str | None = None) -> Run:
    return Run(id, parent, "tool", name, inputs=asked, outputs=said)


def retriever(id: str, asked: str, *texts: str, parent: str | None = None) -> Run:
    return Run(id, parent, "retriever", "Shelf", inputs=asked, documents=[Document(text, None, {}) for text in texts])


def calls(sample: Sample) -> list[ToolCall]:
    return [call for message in sample.messages for call in message.tool_calls]


def test_tools_stand_between_question_and_answer() -> None:
    sample = exchange(tool("1", {"query": "cats"}, "Cats purr."), tool("2", {"a": 1}, 2, name="add"))
    assert sample.messages == (
        Message(role="user", content=QUESTION),
        Message(
            role="assistant",
            tool_calls=(
                ToolCall(name="search", arguments={"query": "cats"}, output="Cats purr."),
                ToolCall(name="add", arguments={"a": 1}, output="2"),
            ),
        ),
        Message(role="assistant", content=ANSWER),
    )


def test_one_retrieval_is_no_way_and_two_are() -> None:
    assert exchange(retriever("1", "cats", "a")).messages == ()
    sample = exchange(retriever("1", "cats", "a", "b"), retriever("2", "purring"))
    assert calls(sample) == [
        ToolCall(name="Shelf", arguments={"query": "cats"}, output="a\n\nb"),
        ToolCall(name="Shelf", arguments={"query": "purring"}, output=""),
    ]


def test_what_lies_below_a_call_is_part_of_it() -> None:
    sample = exchange(
        tool("1", "cats", "found: a"),
        retriever("2", "cats", "a", parent="1"),
        tool("3", "deep", "b", parent="1"),
        Run("4", None, "chain"),
        tool("5", "dogs", "c", parent="4"),
    )
    assert [call.arguments for call in calls(sample)] == [{"query": "cats"}, {"query": "dogs"}]


def test_looking_for_tools_to_call_is_no_call() -> None:
    about = "Finds what is known about cats."
    offers = Run("0", None, "llm")
    offers.offered = (about,)
    sample = exchange(offers, retriever("1", "cats", about), retriever("2", "cats", "a"))
    assert sample.messages == ()


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("as it is", "as it is"),
        (SimpleNamespace(type="tool", content=[{"type": "text", "text": "in a block"}]), "in a block"),
        ({"messages": [{"role": "tool", "content": "of a command"}]}, "of a command"),
        ([Document("a", None, {}), Document("b", None, {})], "a\n\nb"),
        ({"found": ["a", None]}, '{"found": ["a", null]}'),
        (["a", 1.5], '["a", 1.5]'),
        (True, "true"),
        ("half \ud83d", "half \ufffd"),
        (object(), None),
        (None, None),
    ],
)
def test_what_a_tool_gave_back_is_a_text(said: Any, text: str | None) -> None:
    assert call_of(tool("1", {}, said)).output == text


def test_a_tool_that_says_nothing_gave_back_what_it_delivered() -> None:
    run = Run("1", None, "tool", "search", documents=[Document("a", None, {})])
    assert call_of(run) == ToolCall(name="search", output="a")


def test_a_run_without_a_name_is_called_by_its_kind_and_only_json_is_kept_of_what_it_was_given() -> None:
    assert call_of(Run("1", None, "tool", inputs={"query": "q", "runtime": object()})) == ToolCall(
        name="tool", arguments={"query": "q"}
    )


CALLED = {"role": "assistant", "content": "", "tool_calls": [{"name": "search", "args": {"query": "c"}, "id": "7"}]}
GAVE = {"role": "tool", "content": "Cats purr.", "tool_call_id": "7"}
ASKED = {"role": "user", "content": QUESTION}
SAID = {"role": "assistant", "content": ANSWER}
CALL = ToolCall(name="search", arguments={"query": "c"}, output="Cats purr.", id="7")
TOLD = (
    Message(role="user", content=QUESTION),
    Message(role="assistant", tool_calls=(CALL,)),
    Message(role="tool", content="Cats purr."),
    Message(role="assistant", content=ANSWER),
)


def test_messages_that_tell_of_calls_are_the_way() -> None:
    before = [{"role": "user", "content": "Old?"}, CALLED, GAVE, {"role": "assistant", "content": "Very."}]
    sample = exchange(
        tool("1", "from the run", "left out"),
        inputs={"messages": [ASKED]},
        outputs={"messages": [*before, ASKED, CALLED, GAVE, SAID]},
    )
    assert sample.messages == TOLD  # and the turn before is history
    assert [turn.question for turn in sample.history] == ["Old?"]


def test_what_a_root_added_follows_what_it_was_given() -> None:
    assert exchange(inputs={"messages": [ASKED]}, outputs={"messages": [CALLED, GAVE, SAID]}).messages == TOLD


def test_calls_of_earlier_turns_are_not_of_this_one() -> None:
    listed = [{"role": "user", "content": "Old?"}, CALLED, GAVE, {"role": "assistant", "content": "Very."}, ASKED, SAID]
    assert exchange(outputs={"messages": listed}).messages == ()


def test_a_message_that_cannot_be_read_costs_only_itself() -> None:
    removed = SimpleNamespace(type="remove", content="", id="1")
    assert exchange(outputs={"messages": [ASKED, CALLED, removed, GAVE, SAID]}).messages == TOLD


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.builds(object),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.tuples(st.text(max_size=5), VALUES, VALUES), min_size=1, max_size=4))
def test_whatever_tools_take_and_give_the_sample_can_be_stored(runs: list[tuple[str, Any, Any]]) -> None:
    below = [tool(str(n), asked, said, name=name) for n, (name, asked, said) in enumerate(runs)]
    sample = exchange(*below)
    assert len(calls(sample)) == len(runs)
    assert Sample.from_dict(json.loads(json.dumps(sample.to_dict()))) == sample
