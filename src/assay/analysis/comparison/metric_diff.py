"""One metric in both of two runs: its difference, the verdict, the rows that moved, and which claims flipped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from assay._util.tabular import Rows, Tabular
from assay._util.terminal import pluralize
from assay.analysis.comparison.pairing import PairedRow
from assay.errors import printable
from assay.evaluation.result import Result
from assay.records import Direction, Score
from assay.stats import Difference, Estimate
from assay.stats.linking import without_offset
from assay.stats.paired import detectable, difference

if TYPE_CHECKING:
    from assay.stats.classic import Method

Verdict = Literal["better", "worse", "inconclusive"]


@dataclass(frozen=True, slots=True)
class Flip(Tabular):
    """A claim (or passage, or criterion) whose verdict is another in the second run; None where it has none there."""

    _noun = "flip"

    claim: str
    first: str | None
    second: str | None

    def __str__(self) -> str:
        return printable(f"{self.claim}: {self.first or 'absent'} -> {self.second or 'absent'}")


@dataclass(frozen=True, slots=True)
class MovedRow(Tabular):
    """A row whose score is another in the second run. Rows count from 1 in each run."""

    _columns, _noun = "name first_row second_row first second flips", "moved row"

    name: str
    first_row: int
    second_row: int
    first: float
    second: float
    flips: tuple[Flip, ...] = ()


@dataclass(frozen=True, slots=True)
class MetricDiff(Tabular):
    """One metric in both runs.

    Attributes:
        difference: None where no row has a value in both.
        p: Of the difference, corrected for all metrics of which a row moved (Holm).
        pairs: Rows with a value in both runs; `unmeasured` rows are in both runs and lack one.
        bounds: The mean difference over all rows of both runs, were each missing value as bad for the second run, or as
            good for it, as can be.
        moved: The rows that moved most, those for the worse first.
        offset: What the judges of the runs differ by, where they were linked: the difference is without it.
    """

    _noun = "metric"
    _columns = (
        "metric verdict first=difference.first second=difference.second difference=difference.estimate.mean "
        "low=difference.estimate.low high=difference.estimate.high p pairs unmeasured "
        "minimum_detectable_effect=difference.detectable direction"
    )

    metric: str
    direction: Direction
    pairs: int
    unmeasured: int
    difference: Difference | None = None
    p: float | None = None
    verdict: Verdict = "inconclusive"
    bounds: tuple[float, float] | None = None
    moved: tuple[MovedRow, ...] = ()
    offset: Estimate | None = None

    def __str__(self) -> str:
        if self.difference is None:
            return printable(f"{self.metric}: no row has a value in both runs")
        found, by = self.difference, self.difference.estimate
        rows = (
            f"{self.pairs} of {self.pairs + self.unmeasured} rows" if self.unmeasured else pluralize(self.pairs, "row")
        )
        lines = [
            f"{self.metric}: {self.verdict}",
            f"  {found.first:.3f} -> {found.second:.3f}, by {by.mean:+.3f} ({by.low:+.3f} to {by.high:+.3f}), "
            f"p = {self.p:.2g}, on {rows}",
        ]
        if self.offset is not None:
            off = self.offset
            ends = f"({off.low:+.3f} to {off.high:+.3f})"
            lines.append(f"  that is less what the judges differ by, {off.mean:+.3f} {ends}, on {off.n} anchors")
        if self.verdict == "inconclusive" and found.detectable is None:
            lines.append("  too few rows to detect a difference of any size")
        elif self.verdict == "inconclusive":
            lines.append(f"  minimum detectable effect {found.detectable:.2f}")
        if self.bounds is not None and self.unmeasured:
            least, most = self.bounds
            lines.append(f"  bounds with the missing values: {least:+.3f} to {most:+.3f}")
        return printable("\n".join(lines))


class Pairs:
    """The rows of both runs, for one metric."""

    def __init__(self, metric: str, rows: Sequence[tuple[PairedRow, PairedRow]]) -> None:
        self.metric = metric
        both = [(one, other, one.scores.get(metric), other.scores.get(metric)) for one, other in rows]
        self._rows = [(one, other, a, b) for one, other, a, b in both if a is not None and b is not None]
        self._valued = [
            (one, other, a.value, b.value)
            for one, other, a, b in self._rows
            if a.measured and b.measured and a.value is not None and b.value is not None
        ]

    def compared(
        self, by_cluster: bool, confidence: float, method: Method = "sign-flip", offset: Estimate | None = None
    ) -> MetricDiff:
        """The difference, before any correction."""
        direction: Direction = self._rows[0][2].direction if self._rows else "higher"
        unmeasured = len(self._rows) - len(self._valued)
        if not self._valued:
            return MetricDiff(self.metric, direction, 0, unmeasured)
        low, high = self._range()
        found = difference(
            [a for _, _, a, _ in self._valued],
            [b for _, _, _, b in self._valued],
            low,
            high,
            clusters=[one.cluster or f"\0{one.number}" for one, *_ in self._valued] if by_cluster else None,
            confidence=confidence,
            method=method,
            corrects=True,
        )
        least, most = self._bounds(low, high)
        if offset is not None and found is not None:
            found = without_offset(found, offset, high - low)
            least, most = least - offset.mean, most - offset.mean
        return MetricDiff(
            self.metric, direction, len(self._valued), unmeasured, found, bounds=(least, most), offset=offset
        )

    def _range(self) -> tuple[float, float]:
        both = [(a, b) for _, _, a, b in self._rows]  # ranges may differ where a run of another tool found them out
        return min(min(a.low, b.low) for a, b in both), max(max(a.high, b.high) for a, b in both)

    def _bounds(self, low: float, high: float) -> tuple[float, float]:
        """The mean difference with missing values at the ends of the range."""
        least = most = 0.0
        for _, _, a, b in self._rows:
            first = (a.value,) * 2 if a.measured else (low, high)
            second = (b.value,) * 2 if b.measured else (low, high)
            least += (second[0] or 0.0) - (first[1] or 0.0)
            most += (second[1] or 0.0) - (first[0] or 0.0)
        return least / len(self._rows), most / len(self._rows)

    def judged(
        self,
        one: MetricDiff,
        p: float | None,
        tests: int,
        confidence: float,
        moved: tuple[MovedRow, ...],
        method: Method = "sign-flip",
    ) -> MetricDiff:
        """With the corrected p of so many tests, the verdict, what agrees with them, and the rows that moved."""
        verdict: Verdict = "inconclusive"
        found = one.difference
        if found is None or p is None:
            return replace(one, p=p, moved=moved)
        if p < 1.0 - confidence:
            rose = found.estimate.mean > 0
            verdict = "better" if rose == (one.direction == "higher") else "worse"
        low, high = self._range()
        found = replace(found, detectable=detectable(found.estimate, high - low, tests))
        if method == "sign-flip":
            found = found.agreeing(p)
        return replace(one, difference=found, p=p, verdict=verdict, moved=moved)

    def moved(self, first: Result, second: Result, most: int) -> tuple[MovedRow, ...]:
        """The rows that moved most, first those for the worse, with the claims that flipped."""
        sign = 1.0 if not self._rows or self._rows[0][2].direction == "higher" else -1.0
        changed = [(sign * (b - a), one, other, a, b) for one, other, a, b in self._valued if a != b]
        changed.sort(key=lambda item: (item[0] > 0, -abs(item[0]), item[1].number))
        worse = [item for item in changed if item[0] < 0][:most]
        better = [item for item in changed if item[0] > 0][: max(0, most - len(worse))]
        moved = (
            MovedRow(one.name, one.number, other.number, a, b, self._flips(first, second, one, other))
            for _, one, other, a, b in (*worse, *better)
        )
        return Rows(moved, MovedRow)

    def _flips(self, first: Result, second: Result, one: PairedRow, other: PairedRow) -> tuple[Flip, ...]:
        labels = [
            _labels(result.store.get_row(result.run, f"row:{row.number}").scored.scores[self.metric])
            for result, row in ((first, one), (second, other))
        ]
        names = dict.fromkeys((*labels[1], *labels[0]))
        flips = (
            Flip(name, labels[0].get(name), labels[1].get(name))
            for name in names
            if labels[0].get(name) != labels[1].get(name)
        )
        return Rows(flips, Flip)


def _labels(score: Score) -> dict[str, str]:
    """What each verdict is about, and its label; one about neither a claim nor a passage is named by its kind."""
    found: dict[str, str] = {}
    for kind, verdicts in score.verdicts.items():
        for number, verdict in enumerate(verdicts, 1):
            name = kind if len(verdicts) == 1 else f"{kind} {number}"
            if verdict.claim is not None:
                name = verdict.claim.text
            elif verdict.passage is not None:
                name = f"passage {verdict.passage + 1}"
            found.setdefault(name, verdict.label)
    return found
