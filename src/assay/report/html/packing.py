"""The rows of a report as they lie in its file: blocks of some 500 rows, JSON, gzip, base64.

Each block has two parts: `index`, columns of what the table shows, filters and sorts, and `body`, the sides of its rows
(`packed_row`) with their passages, each once. The browser reads every index when it opens the file, then the answers to
search in; bodies again when a row is opened.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay.evaluation.groups import NONE, value_in
from assay.records.phrases import shortened
from assay.report.html.packed_row import SharedValues, rounded, side_of

if TYPE_CHECKING:
    from assay.records import Score, ScoredSample
    from assay.report.model import Report
    from assay.store.store import Row

ROWS = 500
#: Characters of one piece after which it ends, however few rows it has: browsers hold a piece as one string.
FULL = 6_000_000
_TITLE = 200  # characters of an answer that stand for a question where there is none


@dataclass(frozen=True, slots=True)
class PackedPart:
    """Some rows, each part as base64 of gzipped JSON. `first` is the place of the first row."""

    first: int
    index: str
    body: str


def pieces_of(report: Report) -> Iterator[PackedPart]:
    """The rows that a report lists, in their order."""
    rows, first = _Rows(report, SharedValues()), 0
    for row in report.listed_rows():
        rows.take(row)
        if rows.full:
            yield rows.piece(first)
            rows, first = _Rows(report, SharedValues(pictures=rows.kept.pictures)), first + rows.count
    if rows.count:
        yield rows.piece(first)


@dataclass(slots=True)
class _Rows:
    """The rows of one block."""

    report: Report
    kept: SharedValues
    columns: dict[str, list[Any]] = field(default_factory=dict)
    sides: list[str] = field(default_factory=list)
    size: int = 0

    @property
    def count(self) -> int:
        return len(self.sides)

    @property
    def full(self) -> bool:
        return self.count >= ROWS or self.size + self.kept.passages.size >= FULL

    def take(self, row: Row) -> None:
        report, sample, scores = self.report, row.scored.sample, row.scored.scores
        before = self._before(row.number)
        found: dict[str, Any] = {
            "number": row.number,
            "id": sample.id,
            "question": sample.question,
            "title": shortened(sample.answer or "", _TITLE) if sample.question is None else None,
            "cause": report.cause_of(row.number),
            "before": report.pairs.get(row.number),
        }
        for n, name in enumerate(report.metrics):
            found[f"v{n}"], found[f"u{n}"] = value_of(scores, name)
            if report.baseline is not None:
                found[f"b{n}"], _ = value_of({} if before is None else before.scores, name)
        for n, column in enumerate(report.figures.columns):
            found[f"s{n}"] = value_in(sample, column)[1] if column else NONE
        for name, value in found.items():
            self.columns.setdefault(name, []).append(value)
        sides = [row.scored] if before is None else [row.scored, before]
        self.sides.append(_json([side_of(one, sample, report.metrics, self.kept) for one in sides]))
        self.size += len(self.sides[-1])

    def _before(self, number: int) -> ScoredSample | None:
        """The same row of the baseline."""
        baseline, other = self.report.baseline, self.report.pairs.get(number)
        if baseline is None or other is None:
            return None
        return baseline.get_row(f"row:{other}").scored

    def piece(self, first: int) -> PackedPart:
        body = f'{{"passages":{_json(self.kept.passages.texts)},"rows":[{",".join(self.sides)}]}}'
        return PackedPart(first, packed(_json(self.columns)), packed(body))


def value_of(scores: Mapping[str, Score], metric: str) -> tuple[float | None, str | None]:
    """The measured value of a metric, and where there is none, why."""
    score = scores.get(metric)
    if score is None:
        return None, None
    return (rounded(score.value), None) if score.measured else (None, score.why_unmeasured)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def packed(text: str) -> str:
    """A text, gzipped, in base64; the same for the same text."""
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), 9, mtime=0)).decode("ascii")
