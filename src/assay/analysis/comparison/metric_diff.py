"""One metric in both of two runs: its difference, the verdict, the rows that moved, and what flipped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from assay._util.tabular import ResultRows, Tabular
from assay._util.terminal import pluralize
from assay.analysis.comparison.flips import Flip, flips_of
from assay.analysis.comparison.pairing import PairedRow
from assay.errors import printable
from assay.evaluation.result import Result
from assay.records import Direction
from assay.stats import Difference, Estimate
from assay.stats.linking import without_offset
from assay.stats.paired import detectable, difference

if TYPE_CHECKING:
    from assay.stats.classic import Method

Verdict = Literal["better", "worse", "inconclusive", "unchanged"]
#: Values that differ by less are the same (as in `assay.stats.paired`).
_SAME = 1e-12


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
        pairs: Rows with a value in both runs; `unmeasured` rows are in both runs and lack one.
        difference: None where no row has a value in both.
        p: Of the difference, corrected for all metrics of which a row moved (Holm); of a slice for all slices and
            metrics.
        verdict: "unchanged" where no row moved, "inconclusive" where rows moved and p is not below 1 - confidence.
        bounds: The mean difference over all rows of both runs, were each missing value as bad for the second run, or as
            good for it, as can be.
        moved: The rows that moved most, those for the worse first.
        offset: What the judges of the runs differ by, where they were linked: the difference is without it.
        improved, worsened: Rows that moved for the better and for the worse, of which `moved` lists some.
    """

    _noun = "metric"
    _columns = (
        "metric verdict first=difference.first second=difference.second difference=difference.estimate.mean "
        "low=difference.estimate.low high=difference.estimate.high p pairs unmeasured improved worsened "
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
    improved: int = 0
    worsened: int = 0

    @property
    def changed(self) -> int:
        """Rows with another value in the second run."""
        return self.improved + self.worsened

    @property
    def can_differ(self) -> bool:
        """Whether the test can reject: where no row moved it cannot (Tarone, Biometrics 46, 1990)."""
        return self.difference is not None and (self.changed > 0 or self.offset is not None)

    def __str__(self) -> str:
        return printable("\n".join([f"{self.metric}: {self.sentence}", *(f"  {one}" for one in self.facts)]))

    @property
    def sentence(self) -> str:
        """Verdict, means, difference, p and n in one line."""
        return ", ".join(self._parts())

    def _parts(self) -> Iterator[str]:
        yield self.verdict
        if self.difference is None:
            yield "no row has a value in both runs"
            return
        by = self.difference.estimate
        yield f"{self.difference.first:.3f} -> {self.difference.second:.3f}"
        if self.verdict != "unchanged":
            yield f"{by.mean:+.3f} ({by.low:+.3f} to {by.high:+.3f})"
            yield f"p = {self.p:.2g}"
        yield f"n = {self.pairs}"
        if self.verdict == "inconclusive":
            least = self.difference.detectable
            yield "no detectable effect: too few rows" if least is None else f"minimum detectable effect {least:.2f}"

    @property
    def facts(self) -> tuple[str, ...]:
        """What is to be said besides, one line each: the judges' difference, and bounds where rows moved."""
        found = []
        if self.offset is not None:
            off = self.offset
            ends = f"({off.low:+.3f} to {off.high:+.3f})"
            found.append(f"without the judges' difference, {off.mean:+.3f} {ends}, on {pluralize(off.n, 'anchor')}")
        if self.bounds is not None and self.unmeasured and self.verdict != "unchanged":
            missing = f"the {pluralize(self.unmeasured, 'missing row')} {'was' if self.unmeasured == 1 else 'were'}"
            found.append(f"bounds if {missing} scored: {self.bounds[0]:+.3f} to {self.bounds[1]:+.3f}")
        return tuple(found)


class Pairs:
    """The rows of both runs, for one metric."""

    def __init__(
        self, metric: str, rows: Sequence[tuple[PairedRow, PairedRow]], offset: Estimate | None = None
    ) -> None:
        self.metric, self._offset = metric, offset
        both = [(one, other, one.scores.get(metric), other.scores.get(metric)) for one, other in rows]
        self._rows = [(one, other, a, b) for one, other, a, b in both if a is not None and b is not None]
        self._valued = [
            (one, other, a.value, b.value)
            for one, other, a, b in self._rows
            if a.measured and b.measured and a.value is not None and b.value is not None
        ]

    def compared(self, by_cluster: bool, confidence: float, method: Method = "sign-flip") -> MetricDiff:
        """The difference, before any correction."""
        direction: Direction = self._rows[0][2].direction if self._rows else "higher"
        offset = self._offset
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
        rose, fell = (sum(sign * (b - a) > _SAME for _, _, a, b in self._valued) for sign in (1.0, -1.0))
        improved, worsened = (rose, fell) if direction == "higher" else (fell, rose)
        return MetricDiff(
            self.metric, direction, len(self._valued), unmeasured, found, bounds=(least, most), offset=offset,
            improved=improved, worsened=worsened,
        )  # fmt: skip

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
        self, one: MetricDiff, p: float | None, tests: int, confidence: float, method: Method = "sign-flip"
    ) -> MetricDiff:
        """With the corrected p of so many tests, the verdict, and what agrees with them."""
        found = one.difference
        if found is None or p is None:
            return replace(one, p=p)
        low, high = self._range()
        found = replace(found, detectable=detectable(found.estimate, high - low, tests))
        if method == "sign-flip":
            found = found.agreeing(p)
        return replace(one, difference=found, p=p, verdict=_verdict(one, p, confidence))

    def moved(self, first: Result, second: Result, most: int) -> tuple[MovedRow, ...]:
        """The rows that moved most, first those for the worse, with the claims that flipped."""
        sign = 1.0 if not self._rows or self._rows[0][2].direction == "higher" else -1.0
        changed = [(sign * (b - a), one, other, a, b) for one, other, a, b in self._valued if abs(b - a) > _SAME]
        changed.sort(key=lambda item: (item[0] > 0, -abs(item[0]), item[1].number))
        worse = [item for item in changed if item[0] < 0][:most]
        better = [item for item in changed if item[0] > 0][: max(0, most - len(worse))]
        moved = (
            MovedRow(one.name, one.number, other.number, a, b, self._flips(first, second, one, other))
            for _, one, other, a, b in (*worse, *better)
        )
        return ResultRows(moved, MovedRow)

    def _flips(self, first: Result, second: Result, one: PairedRow, other: PairedRow) -> tuple[Flip, ...]:
        before, after = (
            result.store.get_row(result.run, f"row:{row.number}").scored.scores[self.metric]
            for result, row in ((first, one), (second, other))
        )
        return flips_of(before, after)


def _verdict(one: MetricDiff, p: float, confidence: float) -> Verdict:
    if one.difference is None or p >= 1.0 - confidence:
        return "inconclusive" if one.can_differ else "unchanged"
    rose = one.difference.estimate.mean > 0
    return "better" if rose == (one.direction == "higher") else "worse"
