"""The rows that a rule speaks of: what is known of them, what is missing, and what is none of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from assay.analysis.comparison.pairing import RowPair, read_rows, score_at
from assay.analysis.gates.rules import GateRule
from assay.errors import SETTLED
from assay.evaluation.result import Result
from assay.records import Direction, Score


@dataclass(frozen=True, slots=True)
class One:
    """One row of a rule: its scores now and, where there is a baseline, before; None where there is none."""

    name: str
    row: int
    now: Score | None
    before: Score | None = None
    cluster: str | None = None

    @property
    def value(self) -> float | None:
        return _value(self.now)

    @property
    def value_before(self) -> float | None:
        return _value(self.before)


@dataclass(frozen=True, slots=True)
class SelectedRows:
    """The rows of a rule. `left_out` counts those that are none of it, `lost` those of the run that cannot be read."""

    ones: Sequence[One]
    left_out: int
    low: float
    high: float
    direction: Direction
    lost: int = 0

    def better(self, value: float) -> float:
        """The value on a scale where more is better."""
        return value if self.direction == "higher" else -value

    def complete(self, rule: GateRule) -> list[One]:
        """Those with every value that the rule needs."""
        return [
            one for one in self.ones if one.value is not None and (not rule.relative or one.value_before is not None)
        ]

    @property
    def ends(self) -> tuple[float, float]:
        """The range on that scale."""
        return (self.low, self.high) if self.direction == "higher" else (-self.high, -self.low)


def rows_of(rule: GateRule, result: Result, rows: Sequence[One]) -> SelectedRows:
    """The rows of a rule about a run by itself."""
    kept = [one for one in rows if is_selected(rule, one)]
    return replace(_rows_of(rule, result, kept, len(rows) - len(kept)), lost=result.lost)


def pairs_for(rule: GateRule, result: Result, pairs: Sequence[RowPair]) -> SelectedRows:
    """The rows of a rule against a baseline.

    Rows that have nothing to measure in both runs, for the same reason that lies in the sample, are left out: what was
    never measured did not change.
    """
    metric = rule.metric
    ones = [
        One(pair.name, pair.second_row, pair.second.get(metric), pair.first.get(metric), pair.cluster) for pair in pairs
    ]
    kept = [one for one in ones if is_selected(rule, one)]
    return _rows_of(rule, result, kept, len(ones) - len(kept))


def is_selected(rule: GateRule, one: One) -> bool:
    """Whether a row is one of the rule's."""
    if not rule.relative:
        return _why(one.now) not in rule.leave_out
    if {_why(one.now), _why(one.before)} & set(rule.leave_out):
        return False
    return not (_why(one.now) == _why(one.before) and _why(one.now) in SETTLED)


def scores_of(result: Result, metrics: Iterable[str], cluster: str | None) -> dict[str, list[One]]:
    """Every row of a run with its score of each of these metrics, without the evidence. Reads the run once."""
    names = list(metrics)
    if not names:
        return {}
    rows = read_rows(result, names, cluster)
    clusters = rows.clusters or [None] * len(rows)
    found: dict[str, list[One]] = {}
    for metric in names:
        scores, ends = rows.scores(metric), rows.range(metric)
        found[metric] = [
            One(
                rows.names[place],
                int(rows.numbers[place]),
                score_at(scores, metric, ends, place),
                None,
                clusters[place],
            )
            for place in range(len(rows))
        ]
    return found


def _rows_of(rule: GateRule, result: Result, kept: list[One], left_out: int) -> SelectedRows:
    scores = [score for one in kept for score in (one.now, one.before) if score is not None]
    summary = result.metrics[rule.metric]
    low = min((score.low for score in scores), default=summary.low)
    high = max((score.high for score in scores), default=summary.high)
    return SelectedRows(kept, left_out, low, high, scores[0].direction if scores else summary.direction)


def _value(score: Score | None) -> float | None:
    return score.value if score is not None and score.measured else None


def _why(score: Score | None) -> str:
    """Why there is no value, "" where there is one."""
    return "not scored" if score is None else score.why_unmeasured or ""
