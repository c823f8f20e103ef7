"""What evaluators are handed, as a sample: every tool's shapes, and nothing guessed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.evaluation.adapters import row_of_columns, row_of_values, text_argument
from assay.metrics.names import resolve_metrics
from assay.records import Context, Sample

PASSAGE = "Cats purr when calm."
ANSWER = {"answer": "Cats purr.", "contexts": [PASSAGE]}


def sample_of_values(*values: Any, **options: Any) -> Sample:
    return row_of_values(*values, **options).sample


def sample_of_columns(row: dict[Any, Any]) -> Sample:
    return row_of_columns(row).sample


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
        ({"expected_response": "  "}, True, "  "),  # blank, as in a row of a file
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


@pytest.mark.parametrize("contexts", [7, [7], {"no": "text"}])
def test_what_is_no_passage_is_an_error_that_names_the_contexts(contexts: Any) -> None:
    row = row_of_columns({"docs": contexts, "answer": "Cats purr."})
    assert (row.sample.contexts, row.sample.answer) == (None, "Cats purr.")
    assert row.errors["contexts"].startswith("docs (the contexts): ")


@pytest.mark.parametrize(
    ("outputs", "texts", "error"),
    [
        (3.5, False, "expected a text, found float"),
        (ValueError("timeout"), False, "expected a text, found ValueError"),
        ({"answer": b"x"}, False, "expected a text, found bytes"),
        ({"answer": {"count": 1}}, False, "expected a text, found dict"),
        ({"count": 1}, True, "expected a text, found dict"),
        # a dict of other values, or a conversation that the model has not answered, has no answer to read
        ({"count": 1}, False, None),
        ({"contexts": [PASSAGE]}, True, None),
        ({"messages": [{"role": "user", "content": "Why?"}]}, True, None),
        ([{"role": "user", "content": "Why?"}], True, None),
        (float("nan"), True, None),
        ({"answer": float("nan")}, True, None),
    ],
)
def test_what_is_no_text_is_an_error_of_its_field(outputs: Any, texts: bool, error: str | None) -> None:
    row = row_of_values("Why?", outputs, texts=texts, names={"answer": "outputs"})
    assert row.sample.answer is None
    assert dict(row.errors) == ({} if error is None else {"answer": f"outputs (the answer): {error}"})


def test_an_unreadable_value_is_a_reason_for_the_metrics_that_need_it() -> None:
    row = row_of_values("Why?", 3.5, "Calm.", contexts=[PASSAGE])
    faithfulness, recall = resolve_metrics(["faithfulness", "context_recall"])
    assert row.reason(faithfulness) == "answer: expected a text, found float"
    assert row.reason(recall) is None  # it needs the reference and the contexts


def test_the_trace_has_the_value_that_cannot_be_read() -> None:
    row = row_of_values(None, 3.5, contexts=[7], known=Sample(answer="old", contexts=()))
    assert (row.sample.answer, dict(row.errors)) == ("old", {"contexts": row.errors["contexts"]})


def test_a_blank_answer_is_one_unless_the_trace_has_another() -> None:
    assert sample_of_values("Why?", {"answer": ""}).answer == ""
    assert sample_of_values("Why?", "", known=Sample(answer="old")).answer == "old"


def test_one_argument() -> None:
    assert text_argument({"role": "assistant", "content": "Cats purr."}, "prediction_b") == "Cats purr."
    assert text_argument(float("nan"), "prediction_b") is None
    with pytest.raises(InputError, match=r"^prediction_b: expected a text, found list$"):
        text_argument([], "prediction_b")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["answer", "contexts", "x"]), inner),
    max_leaves=6,
)


@given(VALUES, VALUES, VALUES)
def test_anything_is_a_row(inputs: Any, outputs: Any, expected: Any) -> None:
    row = row_of_values(inputs, outputs, expected)
    for field in ("question", "answer", "reference"):
        value = getattr(row.sample, field)
        assert value is None or isinstance(value, str)
        assert value is None or field not in row.errors
