"""What evaluators are handed, as a sample: every tool's shapes, and nothing guessed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.evaluation.adapters import sample_of_columns, sample_of_values
from assay.records import Context, Sample

PASSAGE = "Cats purr when calm."
ANSWER = {"answer": "Cats purr.", "contexts": [PASSAGE]}


def test_names_of_any_tool_are_read() -> None:
    sample = sample_of_values({"question": "Why?"}, ANSWER, {"expected_response": "Calm."})
    assert (sample.question, sample.passages, sample.answer, sample.reference) == (
        "Why?",
        (PASSAGE,),
        "Cats purr.",
        "Calm.",
    )


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [
        ("Why?", "Cats purr."),
        ({"query": "Why?"}, {"response": "Cats purr."}),
        (
            {"messages": [{"role": "user", "content": "Why?"}]},
            {"messages": [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "Cats purr."}]},
        ),
    ],
)
def test_texts_dicts_and_messages(inputs: Any, outputs: Any) -> None:
    sample = sample_of_values(inputs, outputs)
    assert (sample.question, sample.answer, sample.contexts, sample.reference) == ("Why?", "Cats purr.", None, None)


def test_earlier_turns_are_the_history() -> None:
    messages = [
        {"role": "user", "content": "Do cats purr?"},
        {"role": "assistant", "content": "They do."},
        {"role": "user", "content": "Why?"},
    ]
    (turn,) = sample_of_values({"messages": messages}, "Calm.").history
    assert (turn.question, turn.answer) == ("Do cats purr?", "They do.")


@pytest.mark.parametrize(
    ("expected", "strict", "reference"),
    [
        ({"expected_response": "A."}, True, "A."),
        ({"expected_facts": ["A.", "B."]}, True, "A.\nB."),
        ({"ground_truth": "A."}, False, "A."),
        ({"answer": "A."}, False, "A."),
        ("A.", True, "A."),
        (["A.", "B."], False, "A.\nB."),
        # guidelines are no reference; a strict reader does not take the only text for one
        ({"guidelines": "Be kind."}, True, None),
        ({"expected_response": "  "}, True, None),
        ({}, False, None),
        (None, False, None),
        (["A.", 3], False, None),
    ],
)
def test_references(expected: Any, strict: bool, reference: str | None) -> None:
    assert sample_of_values("Why?", "A.", expected, strict=strict).reference == reference


def test_retrieval_that_was_expected_is_a_reference_too() -> None:
    sample = sample_of_values("q", "a", {"expected_retrieved_context": [{"doc_uri": "u", "content": PASSAGE}]})
    assert sample.reference_contexts == (Context(text=PASSAGE),)
    assert sample.contexts is None


def test_what_the_trace_tells_fills_the_gaps_and_nothing_else() -> None:
    known = Sample(question="old", answer="old", contexts=(Context(text="found"),), id="t1", ids={"otel_trace_id": "f"})
    sample = sample_of_values("new", None, known=known)
    assert (sample.question, sample.answer, sample.passages, sample.id) == ("new", "old", ("found",), "t1")
    assert sample_of_values(None, ANSWER, known=known).passages == (PASSAGE,)
    assert sample_of_values(None, {"answer": "x", "contexts": []}, known=known).contexts == ()  # found nothing: said so


@pytest.mark.parametrize(
    "row",
    [
        {"question": "Why?", "contexts": [PASSAGE], "answer": "Cats purr.", "reference": "Calm."},
        {"input": "Why?", "context": PASSAGE, "output": "Cats purr.", "expected": "Calm."},
        {"input": {"question": "Why?"}, "output": ANSWER, "expected": {"answer": "Calm."}, "metadata": {}},
        {"query": "Why?", "retrieved_contexts": f'["{PASSAGE}"]', "response": "Cats purr.", "ground_truths": ["Calm."]},
        {"input": "Why?", "output": ANSWER, "expected": "no", "reference": "Calm.", 7: "a column without a name"},
    ],
)
def test_rows(row: dict[Any, Any]) -> None:
    sample = sample_of_columns(row)
    assert (sample.question, sample.passages, sample.answer, sample.reference) == (
        "Why?",
        (PASSAGE,),
        "Cats purr.",
        "Calm.",
    )


def test_cells_that_are_missing_are_not_known() -> None:
    sample = sample_of_columns({"question": None, "answer": float("nan"), "contexts": None})
    assert (sample.question, sample.answer, sample.contexts) == (None, None, None)


def test_two_columns_for_one_field_are_an_error() -> None:
    with pytest.raises(InputError, match="can all be the answer"):
        sample_of_columns({"response": "a", "output": "b"})


@pytest.mark.parametrize("contexts", [7, [7], [None], {"no": "text"}])
def test_what_is_no_passage_is_an_error_that_names_the_contexts(contexts: Any) -> None:
    with pytest.raises(InputError, match="contexts"):
        sample_of_columns({"contexts": contexts})


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["answer", "contexts", "x"]), inner),
    max_leaves=6,
)


@given(VALUES, VALUES, VALUES)
def test_anything_is_a_sample_or_an_input_error(inputs: Any, outputs: Any, expected: Any) -> None:
    try:
        sample = sample_of_values(inputs, outputs, expected)
    except InputError:
        return
    assert all(text is None or text.strip() for text in (sample.question, sample.answer, sample.reference))
