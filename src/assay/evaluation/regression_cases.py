"""The worst rows of a run as test cases: rows of a data set that wait for a right answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay._util.output_files import output_file
from assay._util.tabular import Tabular
from assay._util.terminal import pluralize
from assay.data.files import rows_of_lines
from assay.data.unreadable import UnreadableRow
from assay.errors import InputError, printable
from assay.evaluation.result import Result
from assay.records import Sample
from assay.records.field_names import field_of
from assay.store.rows import Row

_ENDINGS = (".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class AddedCases(Tabular):
    """What was added to a file of test cases.

    Attributes:
        path: The file.
        run: The run that the rows are of.
        metric: The metric by which they are the worst.
        added: Cases that were added.
        present: Rows whose question was in the file already.
        without_question: Rows without a question, which make no case.
        open: Cases of the file whose `reference` is empty.
    """

    _columns, _noun = "path run metric added present without_question open", "file"

    path: str
    run: str
    metric: str
    added: int
    present: int
    without_question: int
    open: int

    def __str__(self) -> str:
        parts = [f"{pluralize(self.added, 'case')} added, the worst by {self.metric} of run {self.run}"]
        if self.present:
            parts.append(f"{self.present} already there")
        if self.without_question:
            parts.append(f"{pluralize(self.without_question, 'row')} without a question left out")
        if self.open:
            parts.append(f"{self.open} with an empty reference to fill in")
        return printable(f"{self.path}: {'; '.join(parts)}")


def add_cases(result: Result, path: str | Path, *, worst: int = 20, metric: str | None = None) -> AddedCases:
    """Append the worst rows of a run to a file of test cases.

    Each case is a line of JSON: `question`, `history` where there is one, an empty `reference`, the recorded answer as
    `bad_answer`, the scalar metadata of the row as `metadata`, and where it came from: `from_run` and `from_row`, its
    id or number. The lines that the file has stay as they are. A question that it has is not added again, and of
    several rows with one question the worst counts. The file is replaced as a whole, or stays as it is.

    Args:
        result: The run.
        path: The file, which ends in .jsonl; made if needed.
        worst: Number of questions, at least 1.
        metric: Label of the metric; None: that of the grounded answers in the overview, else the first one with values.

    Returns:
        What was added.

    Raises:
        InputError: The run has no such metric, no row has a value, or the file is no JSON lines.
        OSError: The file cannot be written.
    """
    path = Path(path).expanduser()
    if path.suffix.lower() not in _ENDINGS:
        raise InputError(f"to: expected a file that ends in {' or '.join(_ENDINGS)}, found {str(path)!r}")
    if worst < 1:
        raise InputError(f"worst: expected at least 1, got {worst}")
    metric = metric if metric is not None else default_metric(result)
    rows, without_question = _worst_questions(result, metric, worst)
    if not rows and not without_question:
        raise InputError(f"run {result.run!r}: no row has a value of {metric}")
    before = path.read_bytes() if path.exists() else b""
    known, still_open = _cases_in(before, path)
    new = [row for row in rows if _question(row.scored.sample) not in known]
    if new:
        lines = (json.dumps(case_of(result.run, row), ensure_ascii=False) + "\n" for row in new)
        end = b"" if not before or before.endswith(b"\n") else b"\n"
        with output_file(path, "wb") as out:
            out.write(before + end + "".join(lines).encode())
    return AddedCases(
        str(path), result.run, metric, len(new), len(rows) - len(new), without_question, still_open + len(new)
    )


def default_metric(result: Result) -> str:
    """The metric of the grounded answers in the overview, else the first one that has values, else the first.

    Args:
        result: The run.

    Returns:
        Its label.

    Raises:
        InputError: The run has no metric.
    """
    grounded = result.overview.grounded
    if result.default_metrics and grounded is not None and grounded.metric in result.metrics:
        return grounded.metric
    found = next((name for name, one in result.metrics.items() if one.scored), next(iter(result.metrics), None))
    if found is None:
        raise InputError(f"run {result.run!r} has no metric")
    return found


def _worst_questions(result: Result, metric: str, most: int) -> tuple[list[Row], int]:
    """The worst row of each of the worst questions; and how many rows above them have no question."""
    looked_at = most
    while True:
        rows = result.worst(metric, looked_at)
        found: dict[str, Row] = {}
        without = 0
        for row in rows:
            question = _question(row.scored.sample)
            if not question:
                without += 1
            elif len(found) < most:
                found.setdefault(question, row)
        if len(found) == most or len(rows) < looked_at:
            return list(found.values()), without
        looked_at *= 4


def _question(sample: Sample) -> str:
    return (sample.question or "").strip()


def case_of(run: str, row: Row) -> dict[str, Any]:
    """A row as a test case that waits for a reference."""
    sample = row.scored.sample
    found: dict[str, Any] = {"question": sample.question}
    if sample.history:
        found["history"] = [{"question": turn.question, "answer": turn.answer} for turn in sample.history]
    found |= {"reference": "", "bad_answer": sample.answer}
    slices = {name: value for name, value in sample.metadata.items() if isinstance(value, (str, int, float, bool))}
    if slices:
        found["metadata"] = slices
    if sample.language:
        found["language"] = sample.language
    return {**found, "from_run": run, "from_row": row.number if sample.id is None else sample.id}


def _cases_in(content: bytes, path: Path) -> tuple[set[str], int]:
    """The questions in a file, and how many of its rows have an empty reference. Raises InputError."""
    questions: set[str] = set()
    still_open = 0
    for row in _rows(content, path):
        fields = {field: value for name, value in row.items() if (field := field_of(str(name))) is not None}
        asked = fields.get("question")
        if isinstance(asked, str):
            questions.add(asked.strip())
        reference = fields.get("reference")
        still_open += isinstance(reference, str) and not reference.strip()
    return questions, still_open


def _rows(content: bytes, path: Path) -> Iterator[Mapping[str, Any]]:
    for _, row in rows_of_lines(content.splitlines(keepends=True)):
        if isinstance(row, UnreadableRow):
            raise InputError(f"{path}: nothing was added: {row.message}")
        if row is not None:
            yield row
