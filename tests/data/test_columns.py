"""Which column is which field: other names, the map, late and missing columns."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay.data import missing_columns, open_data
from assay.errors import InputError
from assay.records import Sample


def one(row: dict[str, Any], **options: Any) -> Sample:
    [(_, sample)] = open_data([row], **options)
    assert isinstance(sample, Sample), sample
    return sample


def test_column_map_decides() -> None:
    """The map wins over accepted names; what it passes over is metadata."""
    sample = one({"Frage": "q", "question": "other"}, column_map={"question": "Frage"})
    assert sample == Sample(question="q", metadata={"question": "other"})


@pytest.mark.parametrize(
    ("column_map", "message"),
    [
        ({"question": "Frag"}, "there is no column 'Frag'; the columns are 'Frage', 'answer'"),
        ({"Frage": "question"}, 'did you mean {"question": "Frage"}?'),
        ({"colour": "Frage"}, "'colour' is no field of a sample"),
        ({"question": "Frage", "query": "answer"}, "'question' is given twice"),
    ],
)
def test_wrong_column_maps_are_refused(column_map: dict[str, str], message: str) -> None:
    """A map that does nothing would otherwise go unnoticed."""
    with pytest.raises(InputError, match=message.replace("{", r"\{").replace("?", r"\?")):
        open_data([{"Frage": "q", "answer": "a"}], column_map=column_map)


@pytest.mark.parametrize(
    ("row", "column_map", "doubted"),
    [
        ({"answer": "a", "response": "r"}, None, [("answer", "response")]),
        ({"answer": "a", "response": "r", "output": "o"}, None, [("answer", "response"), ("answer", "output")]),
        ({"answer": "a", "response": "r"}, {"answer": "response"}, []),
        ({"answer": "a", "response": "r"}, {"response": "answer"}, []),  # told as well, by another name of the field
        ({"answer": "a", "colour": "red"}, None, []),
        ({"response": "r", "question": "q"}, None, []),
        ({"id": "1", "row_id": "2", "answer": "a"}, None, []),  # nothing is scored by its id
    ],
)
def test_what_was_passed_over_is_said(
    row: dict[str, Any], column_map: dict[str, str] | None, doubted: list[tuple[str, str]]
) -> None:
    data = open_data([row], column_map=column_map)
    said = [f"the column {read!r} was read as the answer, and {other!r} could be it too; " for read, other in doubted]
    assert [doubt.removesuffix("column_map= (--map) says which is meant") for doubt in data.doubts] == said


def test_what_was_passed_over_is_said_once_of_several_files(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("answer,response\na,r\n")
    assert len(open_data([tmp_path / "a.csv", tmp_path / "b.csv"]).doubts) == 1


def test_ambiguous_names_are_refused() -> None:
    """Two accepted names, neither the field's own: the caller must say."""
    with pytest.raises(InputError, match=r"columns 'query' and 'input' can all be the question.*column_map="):
        open_data([{"query": "a", "input": "b"}])
    assert one({"query": "a", "question": "b"}) == Sample(question="b", metadata={"query": "a"})
    assert one({"query": "a", "input": "b"}, column_map={"question": "input"}).question == "b"


def test_names_that_appear_late_are_read() -> None:
    """The columns are those of the first 1,000 rows; a field that comes later is not lost."""
    rows = [{"question": "q"}] * 1000 + [{"question": "q", "output": "a"}, {"query": "r"}]
    data = open_data(rows)
    samples = [sample for _, sample in data]
    assert data.columns == {"question"}
    assert samples[-2:] == [Sample(question="q", answer="a"), Sample(question="r")]


def test_missing_columns_of_all_metrics_at_once() -> None:
    """One answer for all metrics; fields that every sample has are never missing."""
    metrics = [
        SimpleNamespace(label="faithfulness", needs=("answer", "contexts")),
        SimpleNamespace(label="context_recall", needs=("reference", "contexts", "history")),
        SimpleNamespace(label="relevance", needs=("question", "answer")),
    ]
    assert missing_columns({"question", "answer"}, metrics) == {
        "faithfulness": ("contexts",),
        "context_recall": ("reference", "contexts"),
    }


def test_ids_as_llama_index_calls_them() -> None:
    sample = one({"query": "q", "retrieved_ids": ["a", "b"], "expected_ids": ["b"]})
    assert [context.id for context in sample.contexts or ()] == ["a", "b"]
    assert [context.id for context in sample.reference_contexts or ()] == ["b"]
