"""Conversations and agents' ways in rows of data: every make becomes the same messages."""

from __future__ import annotations

import asyncio
import csv
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import evaluate
from assay.data import open_data
from assay.data.rows import sample_from_row
from assay.errors import InputError
from assay.judges.scripted_judge import ScriptedJudge
from assay.live.sizes import size_of
from assay.metrics.systems import named
from assay.metrics.tool_calls import tool_evidence
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


# -- other makes, and rows that hold nothing but a conversation --------------------------------------------------------

ASKED, FOUND, SAID = "Weather in Rome?", "It is sunny in Rome.", "Sunny."
CALL = {"city": "Rome"}
MAKES: dict[str, list[dict[str, Any]]] = {
    "Anthropic": [
        {"role": "user", "content": [{"type": "text", "text": ASKED}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "weather", "input": CALL}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": FOUND}]}]},
        {"role": "assistant", "content": [{"type": "text", "text": SAID}]},
    ],
    "Anthropic, a text as the result": [
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": [
            {"type": "text", "text": ""}, {"type": "tool_use", "id": "c1", "name": "weather", "input": CALL}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": FOUND}]},
        {"role": "assistant", "content": SAID},
    ],
    "Bedrock's Converse": [
        {"role": "user", "content": [{"text": ASKED}]},
        {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c1", "name": "weather", "input": CALL}}]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": FOUND}]}}]},
        {"role": "assistant", "content": [{"text": SAID}]},
    ],
    "Gemini": [
        {"role": "user", "parts": [{"text": ASKED}]},
        {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": "weather", "args": CALL}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "weather", "response": FOUND}}]},
        {"role": "model", "parts": [{"text": SAID}]},
    ],
    "Vercel's AI SDK": [
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": [
            {"type": "tool-call", "toolCallId": "c1", "toolName": "weather", "input": CALL}]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "toolName": "weather",
                                      "output": {"type": "text", "value": FOUND}}]},
        {"role": "assistant", "content": [{"type": "text", "text": SAID}]},
    ],
    "OpenAI's Responses": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ASKED}]},
        {"type": "function_call", "call_id": "c1", "id": "fc_1", "name": "weather", "arguments": json.dumps(CALL)},
        {"type": "function_call_output", "call_id": "c1", "output": FOUND},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": SAID}]},
    ],
    "OpenAI's functions": [
        {"role": "user", "content": ASKED},
        {"role": "assistant", "content": None, "function_call": {"name": "weather", "arguments": json.dumps(CALL)}},
        {"role": "function", "name": "weather", "content": FOUND},
        {"role": "assistant", "content": SAID},
    ],
    "ShareGPT": [
        {"from": "human", "value": ASKED},
        {"from": "observation", "value": FOUND},
        {"from": "gpt", "value": SAID},
    ],
    "a result without its call": [
        {"role": "user", "content": ASKED},
        {"role": "tool", "content": FOUND},
        {"role": "assistant", "content": SAID},
    ],
}  # fmt: skip


@pytest.mark.parametrize("column", ["messages", "user_input"])
@pytest.mark.parametrize("made", MAKES.values(), ids=MAKES)
def test_a_conversation_alone_has_question_answer_and_what_tools_gave_back(
    made: list[dict[str, Any]], column: str, tmp_path: Path
) -> None:
    """A result never becomes the user's question, whatever role it goes by."""
    (tmp_path / "r.jsonl").write_text(json.dumps({column: made}))
    data = open_data(tmp_path / "r.jsonl")
    assert {"question", "answer", "contexts"} <= data.columns
    [(_, found)] = data
    assert isinstance(found, Sample), found
    assert (found.question, found.answer, tool_evidence(found)) == (ASKED, SAID, (FOUND,))
    called = [call for message in found.messages for call in message.tool_calls]
    assert [(call.name, call.arguments) for call in called] == [("weather", CALL)] * len(called)
    result = evaluate([{column: made}], "faithfulness", store=None, progress=False)
    assert [error.cause for error in result.errors] == []


def test_a_row_gets_the_same_whatever_its_neighbours() -> None:
    """The second row names neither question nor answer nor contexts, and stopped the run when it stood alone."""
    plain = {"question": "What colour?", "contexts": ["The bikes are red."], "answer": "The bikes are red."}
    rows = [{"messages": OPENAI}, {"messages": MAKES["Anthropic"]}]
    alone = [sample for _, sample in open_data(rows)]
    assert [sample for _, sample in open_data([plain, *rows])][1:] == alone


def test_an_answer_is_what_was_said_after_the_last_question() -> None:
    """The answer to an earlier question is none to the last one."""
    told = [*OPENAI, {"role": "user", "content": "And in Oslo?"}]
    found = read({"messages": told})
    assert (found.question, found.answer) == ("And in Oslo?", None)


RESULT = {"role": "tool", "tool_call_id": "c1", "content": "sunny"}


@pytest.mark.parametrize(
    ("after", "answer"),
    [
        ([], "Let me look."),  # nothing says that the tool ever ran
        ([{"role": "tool", "tool_call_id": "c1", "content": "sunny"}], None),
        ([{"role": "tool", "tool_call_id": "c1", "content": "sunny"}, {"role": "assistant", "content": " "}], None),
        (
            [{"role": "tool", "tool_call_id": "c1", "content": "sunny"}, {"role": "assistant", "content": "Sun."}],
            "Sun.",
        ),
    ],
)
def test_the_words_before_a_tool_are_no_answer_where_nothing_was_said_after_it(
    after: list[dict[str, Any]], answer: str | None
) -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}]
    said = {"role": "assistant", "content": "Let me look.", "tool_calls": calls}
    row = {"messages": [{"role": "user", "content": "Weather?"}, said, *after]}
    ((_, sample),) = open_data([row])
    assert isinstance(sample, Sample)
    assert sample.answer == answer


def test_rows_without_a_last_word_are_skipped_and_the_others_are_scored(tmp_path: Path) -> None:
    rows = [{"user_input": OPENAI[:-1]}, {"user_input": OPENAI}]
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, rows)))
    result = evaluate(str(tmp_path / "r.jsonl"), "faithfulness", store=None, progress=False)
    assert [(error.number, error.cause) for error in result.errors] == [(1, "missing_input")]


def test_messages_as_json_in_csv(tmp_path: Path) -> None:
    with (tmp_path / "r.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["user_input", "reference"], [json.dumps(LANGCHAIN), "Sunny."]])
    data = open_data(tmp_path / "r.csv")
    assert {"question", "answer", "contexts", "reference"} <= data.columns
    [(_, found)] = data
    assert isinstance(found, Sample)
    assert (found.answer, tool_evidence(found)) == ("Sunny.", ("sunny",))


def test_messages_without_tools_have_no_contexts() -> None:
    data = open_data([{"messages": [OPENAI[0], OPENAI[1], OPENAI[-1]]}])
    assert {"question", "answer"} <= data.columns
    assert "contexts" not in data.columns


parts = st.recursive(
    st.none() | text,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["type", "role", "content", "parts", "from", "value", "name", "toolUse"]), inner
        )
        | st.fixed_dictionaries({"type": st.sampled_from(["tool_use", "tool_result", "text", "function_call"])})
    ),
    max_leaves=6,
)


@given(st.lists(st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "tool"]), "content": parts})))
def test_any_parts_are_read_or_refused_by_name(made: list[dict[str, Any]]) -> None:
    with suppress(InputError):
        assert len(messages_of(made)) <= sum(1 + str(one).count("tool") for one in made)
