"""Conversations and agents' ways in rows of data: every make becomes the same messages."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.data import open_data
from assay.data.rows import sample_from_row
from assay.errors import InputError
from assay.judges.scripted_judge import ScriptedJudge
from assay.live.sizes import size_of
from assay.metrics.systems import named
from assay.records import Context, Message, Sample, ScoredSample, ToolCall
from assay.records.field_names import find_columns
from assay.records.messages import messages_of
from assay.sinks.masking import hashed_texts

OPENAI = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Weather in Rome?"}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
    {"role": "assistant", "content": "Sunny."},
]
LANGCHAIN = [
    {"type": "system", "content": "Be brief."},
    {"type": "human", "content": "Weather in Rome?"},
    {"type": "ai", "content": "", "tool_calls": [{"name": "weather", "args": {"city": "Rome"}, "id": "c1"}]},
    {"type": "tool", "content": "sunny", "tool_call_id": "c1"},
    {"type": "ai", "content": "Sunny."},
]


def read(row: dict[str, Any]) -> Sample:
    return sample_from_row(row, find_columns(row), 3)


@pytest.mark.parametrize("told", [OPENAI, LANGCHAIN, json.dumps(OPENAI)])
@pytest.mark.parametrize("column", ["messages", "trajectory", "turns", "user_input", "question"])
def test_every_make_and_column_becomes_the_same(told: Any, column: str) -> None:
    found = read({column: told})
    assert [message.role for message in found.messages] == ["system", "user", "assistant", "tool", "assistant"]
    wanted = ToolCall(name="weather", arguments={"city": "Rome"}, output="sunny", id="c1")
    assert found.messages[2].tool_calls == (wanted,)
    assert (found.question, found.answer) == ("Weather in Rome?", "Sunny.")


REFERENCE = [
    {"role": "user", "content": "Weather in Rome?"},
    {"role": "assistant", "tool_calls": [{"function": {"name": "weather", "arguments": '{"city": "Rome"}'}}]},
    {"role": "tool", "content": "sunny"},
    {"role": "assistant", "content": "It is sunny."},
]


@pytest.mark.parametrize(
    "row",
    [
        {"messages": OPENAI, "reference_outputs": REFERENCE},
        {"messages": OPENAI, "reference_outputs": {"messages": REFERENCE}},
        {"messages": OPENAI, "reference_outputs": json.dumps(REFERENCE)},
        {"outputs": OPENAI, "reference_outputs": REFERENCE},
        {"outputs": {"messages": OPENAI}, "reference_outputs": {"messages": REFERENCE}},
        {
            "inputs": {"messages": OPENAI[:2]},
            "outputs": {"messages": OPENAI},
            "reference_outputs": {"messages": REFERENCE},
        },
        {"messages": OPENAI, "expected_output": REFERENCE},
    ],
)
def test_messages_as_reference_are_read_as_the_reference_s_messages(row: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    ((_, found),) = list(open_data(path))
    assert isinstance(found, Sample)
    assert found.metadata["reference_outputs"] == REFERENCE
    assert found.reference == "It is sunny."
    assert len(found.messages) == 5
    how = {"trajectory_strict_match": 0.0, "trajectory_unordered_match": 1.0, "trajectory_superset_match": 1.0}
    for name, value in how.items():  # OPENAI begins with a system's message, which the reference has not
        score = asyncio.run(named(f"openevals:{name}").score(found, ScriptedJudge()))
        assert score.value == value, name


def test_a_reference_without_messages_stays_a_text() -> None:
    for told, text in (
        ("Sunny.", "Sunny."),
        (["It is sunny.", "It is not raining in Rome today."], "It is sunny.\nIt is not raining in Rome today."),
        ('[{"content": "Sunny."}]', '[{"content": "Sunny."}]'),
    ):
        found = read({"messages": OPENAI, "reference": told})
        assert (found.reference, "reference_outputs" in found.metadata) == (text, False)


def test_messages_of_a_reference_that_cannot_all_be_read_are_kept_for_the_metric_to_refuse() -> None:
    broken = [*REFERENCE, {"role": "assistant", "tool_calls": [{"function": {}}]}]
    found = read({"messages": OPENAI, "reference_outputs": broken})
    assert (found.reference, found.metadata["reference_outputs"]) == ("It is sunny.", broken)
    score = asyncio.run(named("openevals:trajectory_strict_match").score(found, ScriptedJudge()))
    assert score.error is not None
    assert "reference_outputs" in score.error.message


def test_a_text_beside_them_stays_the_reference() -> None:
    found = read({"messages": OPENAI, "reference": "Sun.", "reference_outputs": REFERENCE})
    assert (found.reference, found.metadata["reference_outputs"]) == ("Sun.", REFERENCE)


def test_what_is_given_as_a_text_stays() -> None:
    found = read({"messages": OPENAI, "question": "What?", "answer": "That."})
    assert (found.question, found.answer, len(found.messages)) == ("What?", "That.", 5)


def test_ragas_dumps_and_deepeval_turns() -> None:
    dumped = {"content": {"text": "I look.", "tool_calls": [{"name": "find", "args": {"n": 1}}]}, "type": "ai"}
    turn = {
        "role": "assistant",
        "content": "I look.",
        "tools_called": [{"name": "find", "input_parameters": {"n": 1}, "output": "x"}],
    }
    assert messages_of([dumped])[0].tool_calls == (ToolCall(name="find", arguments={"n": 1}),)
    assert messages_of([turn])[0].tool_calls == (ToolCall(name="find", arguments={"n": 1}, output="x"),)


def test_ids_in_columns_of_their_own() -> None:
    found = read({"retrieved_context_ids": [1, "b"], "reference_contexts": ["x"], "reference_context_ids": '["r"]'})
    assert found.contexts == (Context(text="", id="1"), Context(text="", id="b"))
    assert found.reference_contexts == (Context(text="x", id="r"),)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"messages": [{"role": "user", "content": "a"}, {"role": "pirate", "content": "b"}]}, "message 2 of 2"),
        ({"messages": "hello"}, "expected a list of messages"),
        ({"messages": [{"role": "assistant", "content": "", "tool_calls": [{"args": {}}]}]}, "tool call 1 of 1"),
        (
            {"messages": [{"role": "ai", "content": "", "tool_calls": [{"name": "f", "args": "{"}]}]},
            "arguments as JSON",
        ),
        ({"messages": [{"role": "user", "content": 5}]}, "content of text"),
        ({"contexts": ["a", "b"], "context_ids": ["1"]}, "an id for each of 2"),
    ],
)
def test_what_cannot_be_read_is_named(row: dict[str, Any], said: str) -> None:
    column = list(row)[-1]
    with pytest.raises(InputError, match=rf"row 3: column '{column}'.*{said}"):
        read(row)


text = st.text(max_size=8)
messages = st.lists(
    st.builds(
        Message,
        role=st.sampled_from(["system", "user", "assistant", "tool"]),
        content=text,
        tool_calls=st.lists(
            st.builds(
                ToolCall,
                name=st.text(min_size=1, max_size=5),
                arguments=st.dictionaries(text, st.integers()),
                output=text,
            ),
            max_size=2,
        ).map(tuple),
    ),
    max_size=5,
)


@given(messages)
def test_what_assay_writes_it_reads(told: list[Message]) -> None:
    assert messages_of([message.to_dict() for message in told]) == tuple(told)


@given(
    st.recursive(
        st.none() | st.integers() | text, lambda inner: st.lists(inner) | st.dictionaries(text, inner), max_leaves=8
    )
)
def test_anything_is_read_or_refused_by_name(value: Any) -> None:
    said, found = "", None
    try:
        found = read({"messages": value}).messages
    except InputError as error:
        said = str(error)
    assert "column 'messages'" in said if found is None else all(isinstance(message, Message) for message in found)


SECRET = "the secret plan"
TOLD = Sample(
    messages=(
        Message(role="user", content=SECRET),
        Message(
            role="assistant",
            tool_calls=(ToolCall(name="send", arguments={"id": SECRET, "role": [SECRET]}, output=SECRET, id="c1"),),
        ),
    )
)


def test_hashing_leaves_no_text_of_a_conversation_and_can_be_read_again() -> None:
    hidden = hashed_texts(ScoredSample(sample=TOLD, scores={}).to_dict())
    assert SECRET not in json.dumps(hidden)
    assert [message.role for message in Sample.from_dict(hidden["sample"]).messages] == ["user", "assistant"]


def test_the_size_of_a_waiting_sample_counts_its_conversation() -> None:
    long = Sample(
        messages=(
            Message(
                role="assistant", tool_calls=(ToolCall(name="f", arguments={"x": ["y" * 5000]}, output="z" * 3000),)
            ),
        )
    )
    assert size_of(long) - size_of(Sample()) > 8000
