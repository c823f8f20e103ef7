"""Result files with a column for each metric: frames of ragas, TruLens and LangSmith that were saved.

    result.to_pandas().to_csv("scores.csv")                      ragas
    session.get_records_and_feedback()[0].to_csv("scores.csv")   TruLens
    evaluate(...).to_pandas().to_csv("scores.csv")               LangSmith

CSV, TSV, JSON lines, JSON and Parquet are read, whatever wrote them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.data.exports import json_of, read_records
from assay.data.rows import RowError
from assay.errors import InputError
from assay.evaluation.imports.scales import Stated, scale_of
from assay.evaluation.imports.scored_samples import ImportedRun, ImportedScores, ImportedValue, parse_value, run_of
from assay.records.field_names import field_of

Row = Mapping[str, Any]
_FEEDBACK = "feedback."
_CALLS = "_calls"


def open_ragas(address: str, *, scales: Stated | None = None) -> ImportedRun:
    """The scores in a file of ragas: its own metrics by their names, others whose scale is stated."""
    rows = _records("ragas", address)
    columns = _columns(rows, lambda name: field_of(name) is None and not _is_number_of_rows(name))
    return run_of("ragas", address, [_graded(row, row, columns) for row in rows], scales)


def open_trulens(address: str, *, scales: Stated | None = None) -> ImportedRun:
    """The feedback in a table of TruLens' records: columns that have another one with their calls, or a known name."""
    rows = _records("trulens", address)
    names = {name for row in rows for name in row}

    def is_feedback(name: str) -> bool:
        return f"{name}{_CALLS}" in names or name in (scales or {}) or scale_of("trulens", name, {}) is not None

    columns = _columns(rows, lambda name: field_of(name) is None and is_feedback(name))
    plain = [{name: json_of(row.get(name)) for name in ("input", "output") if name in row} for row in rows]
    return run_of(
        "trulens", address, [_graded(row, one, columns) for row, one in zip(rows, plain, strict=True)], scales
    )


def open_langsmith(address: str, *, scales: Stated | None = None) -> ImportedRun:
    """The feedback in a table of an experiment of LangSmith; rows are the same where their examples are."""
    rows = _records("langsmith", address)
    columns = _columns(rows, lambda name: name.startswith(_FEEDBACK))
    graded = [
        ImportedScores(
            _example(row), {name.removeprefix(_FEEDBACK): parse_value(row.get(name)) for name in columns if name in row}
        )
        for row in rows
    ]
    return run_of("langsmith", address, graded, scales)


def _example(row: Row) -> dict[str, Any]:
    """The row with `inputs.question` as `question` in `inputs`, under the id of its example."""
    made: dict[str, Any] = {}
    for name, value in row.items():
        head, dot, tail = name.partition(".")
        if dot and head in ("inputs", "outputs", "reference"):
            made.setdefault("reference_outputs" if head == "reference" else head, {})[tail] = value
        elif field_of(name) is not None and name != "id":
            made[name] = value
    if row.get("example_id"):
        made["id"] = row["example_id"]
        made.pop("example_id", None)
    return made


def _records(system: str, address: str) -> list[Row]:
    """The rows of a file. Raises InputError for one that cannot be opened, and where a row cannot be read."""
    if not address.strip():
        raise InputError(f"{system}: expected a file, as in {system}:scores.csv")
    rows: list[Row] = []
    for record in read_records(address):
        if isinstance(record, RowError):
            raise InputError(f"{address}: {record.message}")
        rows.append(record)
    return rows


def _columns(rows: list[Row], wanted: Callable[[str], bool]) -> list[str]:
    """The wanted columns that have numbers, and in them little else: what is a text is no score."""
    names = [name for name in dict.fromkeys(name for row in rows for name in row) if isinstance(name, str)]
    found = []
    for name in filter(wanted, names):
        values = [parse_value(row.get(name)).value for row in rows]
        numbers = sum(not isinstance(value, str) for value in values)
        texts = sum(isinstance(value, str) and value.endswith("is no number") for value in values)
        if numbers > texts:
            found.append(name)
    return found


def _graded(row: Row, sample: Row, columns: list[str]) -> ImportedScores:
    scores: dict[str, ImportedValue] = {name: parse_value(row.get(name)) for name in columns}
    return ImportedScores({name: value for name, value in sample.items() if name not in columns}, scores)


def _is_number_of_rows(name: str) -> bool:
    """The column without a name in which pandas numbers the rows."""
    return name.strip() == "" or name.startswith(("Unnamed:", "__index_level_"))
