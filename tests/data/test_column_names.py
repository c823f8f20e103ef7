"""Columns that are named by a role, a path or a number: read where one fits, refused with both names where two do."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import evaluate
from assay.cli.error_terms import for_the_command_line
from assay.data import RowError, open_data
from assay.data.column_names import suggest_columns
from assay.errors import InputError
from assay.records import Sample


def one(row: dict[str, Any]) -> Sample:
    [(_, sample)] = open_data([row])
    assert not isinstance(sample, RowError), sample
    return sample


@pytest.mark.parametrize(
    "form",
    ["context_{}", "Context {}", "doc{}", "Document {}", "chunk-{}", "contexts[{}]", "retrieved_contexts.{}",
     "passage_{}_text", "contexts[{}].page_content", "output_context_{}", "outputs.documents.{}", "source_document_{}",
     "retrievedContext{}", "search_results.{}.content"],
)  # fmt: skip
@given(order=st.permutations([1, 2, 3, 10, 11]))
def test_numbered_columns_are_read_in_the_order_of_the_numbers(form: str, order: list[int]) -> None:
    """Sorted as text they would be 1, 10, 11, 2, 3; an empty cell is no passage."""
    row = {"question": "q", **{form.format(n): f"passage {n}" for n in order}, form.format(12): None}
    data = open_data([row])
    [(_, sample)] = data
    assert list(sample.passages) == [f"passage {n}" for n in (1, 2, 3, 10, 11)]  # type: ignore[union-attr]
    assert "contexts" in data.columns
    assert "as the contexts" in data.doubts[0]


def test_what_stands_beside_a_passage_is_none() -> None:
    row = {"question": "q", "doc1": "a b", "doc1_score": 0.5, "doc1_url": "x.md", "doc2": "c", "doc_count": 2}
    sample = one(row)
    assert list(sample.passages) == ["a b", "c"]
    assert sample.metadata == {"doc1_score": 0.5, "doc1_url": "x.md", "doc_count": 2}


def test_a_column_of_contexts_comes_before_numbered_ones() -> None:
    row = {"question": "q", "contexts": ["a"], "context_1_score": 0.5, "context_1": "b"}
    assert one(row).passages == ("a",)
    assert one({"question": "q", "gold_context_1": "b", "gold_context_2": "c"}).reference_contexts is not None


def test_columns_of_one_name_as_pandas_tells_them_apart_are_read_together() -> None:
    row = {"question": "q", "context": "a", "context.1": "b", "context.2": "c", "context.4": "d"}
    data = open_data([row])
    ((_, sample),) = data
    assert isinstance(sample, Sample)
    assert sample.passages == ("a", "b", "c")
    assert "read 'context' and 'context.1' and 'context.2' together as the contexts" in data.doubts
    # one that the user named is that one alone
    for mapped in ("context", ["context"]):
        ((_, sample),) = open_data([row], column_map={"contexts": mapped})
        assert isinstance(sample, Sample)
        assert sample.passages == ("a",)


@pytest.mark.parametrize("names", [("context_1", "doc_1"), ("input_contexts", "output_contexts")])
def test_two_that_fit_are_both_named_and_neither_is_read(names: tuple[str, str]) -> None:
    row = {"question": "q", "answer": "a", **dict.fromkeys(names, "a passage")}
    data = open_data([row])
    assert "contexts" not in data.columns
    with pytest.raises(InputError) as error:
        evaluate([row], "faithfulness", store=None)
    assert f"{names[0]!r} and {names[1]!r} could each be the contexts, and none was read" in str(error.value)
    assert f"--map 'contexts={names[0]}'" in for_the_command_line(str(error.value))


PARTS = {
    "flat": ("input_question", "output_answer", "output_contexts", "reference_answer"),
    "dotted": ("inputs.question", "outputs.answer", "outputs.documents", "reference_outputs.answer"),
    "camel case": ("inputQuestion", "outputAnswer", "outputContexts", "expectedOutput"),
    "titles": ("Input Question", "Output Answer", "Output Documents", "Expected Answer"),
    "json_normalize of a trace": (
        "data.inputs.query", "data.outputs.response", "data.outputs.retrieved_docs", "data.expected_output.value",
    ),
    "Phoenix's spans": (
        "attributes.input.value", "attributes.output.value", "attributes.retrieval.documents", "metadata.x",
    ),
    "OpenAI's evals": ("item.question", "sample.output_text", "item.contexts", "item.reference"),
    "values": ("input.text", "output.text", "output.context", "expected.text"),
}  # fmt: skip


@pytest.mark.parametrize("names", PARTS.values(), ids=PARTS)
def test_names_are_read_by_their_parts(names: tuple[str, ...]) -> None:
    question, answer, contexts, reference = names
    data = open_data([{question: "q", answer: "a", contexts: ["c d"], reference: "r"}])
    [(_, sample)] = data
    assert isinstance(sample, Sample)
    assert (sample.question, sample.answer, sample.passages) == ("q", "a", ("c d",))
    assert sample.reference == (None if reference == "metadata.x" else "r")
    assert any(note.startswith("read by the parts of their names: ") for note in data.doubts)


@pytest.mark.parametrize(
    "name",
    ["input_tokens", "output_score", "response_time", "output_question", "target_question", "reference_id", "input_1",
     "context_count", "inputs", "answer_2", "data", "request_url", "output_context_ids", "expected_score"],
)  # fmt: skip
def test_other_names_hold_no_field(name: str) -> None:
    assert one({"question": "q", "answer": "a", name: "x"}) == Sample(question="q", answer="a", metadata={name: "x"})


def test_titles_of_a_form_are_refused_with_the_line_to_paste() -> None:
    titles = ["Visitor Question", "Assistant Reply", "Retrieved Texts", "Correct Answer", "Reply Score"]
    with pytest.raises(InputError) as error:
        open_data([dict.fromkeys(titles, "x")])
    assert for_the_command_line(str(error.value)).endswith(
        "for example --map 'question=Visitor Question' --map 'contexts=Retrieved Texts' "
        "--map 'answer=Assistant Reply' --map 'reference=Correct Answer'"
    )


def test_the_line_to_paste_reads_the_file(tmp_path: Path) -> None:
    row = {"Visitor Question": "q", "Assistant Reply": "a", "Retrieved Texts": "c"}
    columns = suggest_columns(row, ["question", "answer", "contexts"])
    with (tmp_path / "r.csv").open("w", newline="") as file:
        csv.writer(file).writerows([row.keys(), row.values()])
    [(_, sample)] = open_data(tmp_path / "r.csv", column_map=columns)
    assert (sample.question, sample.answer, sample.passages) == ("q", "a", ("c",))  # type: ignore[union-attr]


def test_a_flat_export_scores_as_the_named_columns(tmp_path: Path) -> None:
    """The useful passage is the second of two: context_precision is 0.5."""
    texts = ["The shop sells bells and lamps.", "A cargo bike may be kept for two days."]
    names = ("input_question", "output_answer", "output_contexts.0", "output_contexts.1", "reference_answer")
    with (tmp_path / "r.csv").open("w", newline="") as file:
        csv.writer(file).writerows([names, ("How long may a cargo bike be kept?", "Two days.", *texts, "Two days.")])
    result = evaluate(str(tmp_path / "r.csv"), "context_precision", store=None, progress=False)
    assert result.metrics["context_precision"].mean == 0.5
    assert any("read by the parts of their names" in note for note in result.notes)


@given(st.dictionaries(st.text("inputoscex_.1 ", max_size=14), st.text("ab"), max_size=4))
def test_any_names_are_read_or_refused(row: dict[str, str]) -> None:
    """What is no field is kept in the metadata: no column is lost."""
    try:
        [(_, sample)] = open_data([{"question": "q", **row}])
    except InputError:
        return
    assert isinstance(sample, (Sample, RowError))
