"""The rows that decided a ruling: those that cost most, with the claims that flipped, or those without a score."""

from __future__ import annotations

import heapq

from assay.analysis.comparison.compare import Comparison
from assay.analysis.gates.decision import DecidingRow, Ruling
from assay.analysis.gates.row_selection import One, SelectedRows
from assay.evaluation.result import Result
from assay.records import Score
from assay.records.phrases import label_in_words, shortened, subject_of, units_of

#: Rows that are named for each rule, unless more or less are wanted.
WITNESSES = 5
_CLAIMS = 3  # of each row
_FAVOURABLE = ("supported", "useful", "direct", "yes")
_LONGEST = 160  # characters of a claim or message


def witnesses_of(
    ruling: Ruling, rows: SelectedRows, result: Result, comparison: Comparison | None, most: int
) -> tuple[DecidingRow, ...]:
    """The rows that decided it, at most so many; none where it passed."""
    if ruling.verdict == "PASS":
        return ()
    worse = _moved(ruling, comparison) if ruling.rule.relative else _worst(ruling, rows, result, most)
    if ruling.verdict == "FAIL" and worse:
        return worse[:most]
    gaps = _without_value(rows, ruling.rule.relative)
    return (*gaps, *worse)[:most]


def _moved(ruling: Ruling, comparison: Comparison | None) -> tuple[DecidingRow, ...]:
    """Rows that moved for the worse, with what flipped."""
    if comparison is None:
        return ()
    found = comparison.metrics[ruling.rule.metric]
    return tuple(
        DecidingRow(one.name, one.second_row, one.second, one.first,
                tuple(shortened(str(flip), _LONGEST) for flip in one.flips[:_CLAIMS]))
        for one in found.moved
        if (one.second < one.first) == (found.direction == "higher")
    )  # fmt: skip


def _worst(ruling: Ruling, rows: SelectedRows, result: Result, most: int) -> tuple[DecidingRow, ...]:
    """The rows with the worst values, short of those that are as good as can be, with what cost them."""
    top = rows.ends[1]
    valued = [(rows.better(one.value), one.row, one) for one in rows.ones if one.value is not None]
    worst = [one for value, _, one in heapq.nsmallest(most, valued, key=lambda item: item[:2]) if value < top]
    return tuple(
        DecidingRow(one.name, one.row, one.value, None, _costs(result, one, ruling.rule.metric)) for one in worst
    )


def _costs(result: Result, one: One, metric: str) -> tuple[str, ...]:
    """The verdicts of a row that are against it."""
    scored = result.get_row(f"row:{one.row}").scored
    score = scored.scores[metric]
    said = []
    for reading, verdicts in score.verdicts.items():
        units = units_of(score, reading, scored.sample)
        said += [
            f"{label_in_words(verdict)}: {shortened(subject_of(verdict, units), _LONGEST)}"
            for verdict in verdicts
            if verdict.label not in _FAVOURABLE
        ]
    return tuple(said[:_CLAIMS])


def _without_value(rows: SelectedRows, relative: bool) -> tuple[DecidingRow, ...]:
    """Rows without a value, now or before, and why."""
    found = []
    for one in rows.ones:
        if one.value is None:
            found.append(DecidingRow(one.name, one.row, None, one.value_before, (_reason(one.now),)))
        elif relative and one.value_before is None:
            found.append(DecidingRow(one.name, one.row, one.value, None, (f"in the baseline {_reason(one.before)}",)))
    return tuple(found)


def _reason(score: Score | None) -> str:
    if score is None:
        return "not scored"
    if score.error is None:
        return f"by convention: {shortened(score.convention or '', _LONGEST)}"
    return f"{score.error.cause.value}: {shortened(score.error.message, _LONGEST)}"
