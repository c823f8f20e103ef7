"""Rows with scores in tables: a column for each metric (`Result.to_csv`), or a line for each score (`assay report`)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from assay._util.normalise import json_object, missing, real_number
from assay.data.outputs.records import Output, OutputRow, RangeOf, ScoreRange
from assay.data.rows import passages
from assay.data.sources import Source
from assay.data.unreadable import UnreadableRow
from assay.errors import Cause, InputError
from assay.records import BY_CONVENTION, Context, Sample, Score, ScoredSample, ScoreError

_ERROR = "_error"
#: Columns of `Result.to_csv` before those of metrics.
FIXED = ("row", "id", "question", "contexts", "answer", "reference")
_LONG = frozenset({"metric", "value", "error"})
#: Columns of Parquet files with the evidence, as JSON: the sample stands on the first line of each row.
SAMPLE, SCORE = "sample", "score"
_NO_EVIDENCE = "verdicts, quotes and metadata"
#: As many characters of a cell are shown in a message.
_SHOWN = 40

Cells = Mapping[str, Any]


def find_table(source: Source, names: Sequence[str], range_of: RangeOf, *, exact: bool) -> Output | None:
    """Find the rows with scores in a table.

    Args:
        source: The table.
        names: Its columns.
        range_of: Range of a metric; a table with a column for each metric does not say it.
        exact: Whether only the columns that assay writes are accepted.

    Returns:
        The rows; None where the columns are others.
    """
    if _LONG.issubset(names) and not {"row", "id"}.isdisjoint(names):
        lacks = "" if {SAMPLE, SCORE}.issubset(names) else _NO_EVIDENCE
        return Output(lambda: _long_rows(source.open(), range_of), lacks=lacks)
    metrics = metric_columns(names)
    kept = [name for name in names if not _is_index(name)]
    pairs = [name for metric in metrics for name in (metric, metric + _ERROR)]
    if not metrics or {"row", "id"}.isdisjoint(names) or (exact and kept != [*FIXED, *pairs]):
        return None
    ranges = {name: range_of(name) for name in metrics}
    return Output(
        lambda: _wide_rows(source.open(), ranges),
        lacks=_NO_EVIDENCE,
        unknown=tuple(name for name, known in ranges.items() if known is None),
    )


def metric_columns(names: Sequence[str]) -> list[str]:
    """The columns of metrics: each has another one beside it with the causes, NAME_error."""
    there, found, causes = frozenset(names), [], set()
    for name in names:
        if name not in causes and name not in FIXED and name + _ERROR in there:
            found.append(name)
            causes.add(name + _ERROR)
    return found


def _is_index(name: str) -> bool:
    """The column without a name in which pandas numbers the rows."""
    return not name.strip() or name.startswith(("Unnamed:", "__index_level_"))


def _wide_rows(rows: Iterable[object], ranges: Mapping[str, ScoreRange | None]) -> Iterator[OutputRow]:
    columns = {*FIXED, *(name for metric in ranges for name in (metric, metric + _ERROR))}
    for place, row in enumerate(rows, 1):
        if isinstance(row, UnreadableRow) or not isinstance(row, Mapping):
            yield OutputRow(None, row if isinstance(row, UnreadableRow) else UnreadableRow(f"row {place} is no row"))
            continue
        try:
            number = _row_number(row)
            given = ((name, _score(row, name, name, name + _ERROR, known)) for name, known in ranges.items())
            scores = {name: score for name, score in given if score is not None}
            extra = {str(name): cell for name, cell in row.items() if name not in columns and not _is_index(str(name))}
            yield OutputRow(number, ScoredSample(sample=_sample(row, extra), scores=scores))
        except _BadCell as error:
            yield OutputRow(None, UnreadableRow(f"row {place}: {error}"))


def _long_rows(rows: Iterable[object], range_of: RangeOf) -> Iterator[OutputRow]:
    """Lines that follow each other with the same number and id are one row."""
    numbered = enumerate(rows, 1)
    for (_, _, bad), lines in groupby(numbered, key=_row_key):
        if bad is not None:
            yield OutputRow(None, bad)
            continue
        group = [(place, line) for place, line in lines if isinstance(line, Mapping)]
        place = group[0][0]
        try:
            yield _long_row([line for _, line in group], range_of)
        except (_BadCell, ValueError, TypeError, KeyError, RecursionError) as error:
            if isinstance(error, _OutOfRangeError):
                raise
            yield OutputRow(None, UnreadableRow(f"row {place}: {error}"))


def _row_key(numbered: tuple[int, object]) -> tuple[Any, Any, UnreadableRow | None]:
    place, line = numbered
    if isinstance(line, UnreadableRow):
        return place, None, line
    if not isinstance(line, Mapping):
        return place, None, UnreadableRow(f"row {place} is no row")
    return _plain(line.get("row")), _plain(line.get("id")), None


def _long_row(lines: Sequence[Cells], range_of: RangeOf) -> OutputRow:
    scores = {}
    for line in lines:
        name = _text(line.get("metric"))
        if name is None:
            raise _BadCell("column 'metric': expected the label of a metric, found nothing")
        score = _long_score(line, name, range_of)
        if score is not None:
            scores[name] = score
    kept = next((text for line in lines if (text := _text(line.get(SAMPLE))) is not None), None)
    sample = _sample(lines[0], {}) if kept is None else Sample.from_dict(json.loads(kept))
    return OutputRow(_row_number(lines[0]), ScoredSample(sample=sample, scores=scores))


def _long_score(line: Cells, name: str, range_of: RangeOf) -> Score | None:
    kept = _text(line.get(SCORE))
    if kept is not None:
        return Score.from_dict(json.loads(kept))
    low, high, direction = (line.get(column) for column in ("low", "high", "direction"))
    known: ScoreRange | None
    if missing(low) or missing(high) or direction not in ("higher", "lower"):
        known = range_of(name)
    else:
        ends = _number(low, "low"), _number(high, "high")
        known = ScoreRange(float(ends[0] or 0.0), float(ends[1] or 0.0), "lower" if direction == "lower" else "higher")
    return _score(line, name, "value", "error", known, _text(line.get("message")))


def _score(
    row: Cells, metric: str, value_column: str, cause_column: str, known: ScoreRange | None, message: str | None = None
) -> Score | None:
    """One score from its cells; None where both are empty: the metric was not measured on this row."""
    low, high, direction = known or ScoreRange()
    value, cause = _number(row.get(value_column), value_column), _text(row.get(cause_column))
    if cause is None:
        if value is None:
            return None
    elif cause != BY_CONVENTION:
        error = ScoreError(cause=_cause(cause, cause_column), message=message or f"{cause}; the file says no more")
        return Score(metric=metric, error=error, low=low, high=high, direction=direction)
    elif value is None:  # a table with a line for each score leaves out what was not measured
        value = low if math.isfinite(low) else 0.0
    if not low <= value <= high:
        raise _OutOfRangeError(
            f"row {_plain(row.get('row'))}: {metric}: {value:g} is outside {low:g} to {high:g}; another scale is "
            f"stated by --scale {metric}=WORST:BEST (scales=)"
        )
    convention = None if cause is None else message or "the file says no more"
    return Score(metric=metric, value=value, low=low, high=high, direction=direction, convention=convention)


def _sample(row: Cells, extra: Mapping[str, Any]) -> Sample:
    try:
        return Sample(
            id=_text(row.get("id")),
            question=_text(row.get("question")),
            contexts=_contexts(row.get("contexts")),
            answer=_text(row.get("answer")),
            reference=_text(row.get("reference")),
            metadata={name: cell for name, cell in json_object(dict(extra)).items() if cell is not None},
        )
    except InputError as error:
        raise _BadCell(str(error)) from None


def _contexts(cell: object) -> tuple[Context, ...] | None:
    """The passages of a cell: a list of texts is taken as it is, whatever a text looks like."""
    if missing(cell) or cell == "":
        return None
    try:
        found = json.loads(cell) if isinstance(cell, str) else cell
    except (ValueError, RecursionError):
        found = cell
    if isinstance(found, list) and all(isinstance(text, str) for text in found):
        return tuple(Context(text=text) for text in found)
    return passages(cell)


def _row_number(row: Cells) -> int | None:
    found = _number(row.get("row"), "row")
    if found is None:
        return None
    if not found.is_integer() or not 0 < found < 2**53:
        raise _BadCell(f"column 'row': expected a whole number from 1, found {found:g}")
    return int(found)


def _number(cell: object, column: str) -> float | None:
    if missing(cell) or cell == "":
        return None
    found = real_number(cell)
    try:
        number = float(cell) if found is None else float(found)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise _BadCell(f"column {column!r}: {str(cell)[:_SHOWN]!r} is no number") from None
    return None if math.isnan(number) else number


def _cause(text: str, column: str) -> Cause:
    try:
        return Cause(text)
    except ValueError:
        raise _BadCell(f"column {column!r}: {text[:_SHOWN]!r} is no cause that this assay knows") from None


def _text(cell: object) -> str | None:
    return None if missing(cell) or cell == "" else str(cell)


def _plain(cell: object) -> object:
    return None if missing(cell) or cell == "" else cell


class _BadCell(InputError):
    """A cell that cannot be read: its row is unreadable."""


class _OutOfRangeError(InputError):
    """A value outside of the scale that its metric was read with: the scale is wrong, and with it all rows."""
