"""One metric in both of two runs: its difference, the verdict, the rows that moved, and what flipped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from assay._util.tabular import ResultRows, Tabular
from assay._util.terminal import pluralize
from assay.analysis.comparison.flips import Flip, flips_of
from assay.analysis.comparison.pairing import MatchedRows
from assay.errors import printable
from assay.evaluation.result import Result
from assay.records import Direction
from assay.stats import Difference, Estimate
from assay.stats.linking import without_offset
from assay.stats.paired import detectable, difference
from assay.store.columns import NO_SCORE, Floats, Integers

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
        second_rows: Where the runs are compared as independent samples, rows of the second run with a value; `pairs`
            are those of the first. None: rows are compared in pairs.
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
    second_rows: int | None = None

    @property
    def n_in_words(self) -> str:
        """The number of rows: of pairs, or of each run where they are compared as independent samples."""
        return str(self.pairs) if self.second_rows is None else f"{self.pairs} and {self.second_rows}"

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
        yield f"n = {self.n_in_words}"
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


class _PairedValues(NamedTuple):
    """The values of rows with a score in both runs [pairs]: NaN where there is none; and their places in each run."""

    places: Integers
    others: Integers
    first: Floats
    second: Floats

    @property
    def valued(self) -> np.ndarray:
        """Which rows have a value in both runs."""
        found: np.ndarray = ~(np.isnan(self.first) | np.isnan(self.second))
        return found

    def bounds(self, low: float, high: float) -> tuple[float, float]:
        """The mean difference with missing values at the ends of the range."""
        gaps = [int(np.isnan(values).sum()) for values in (self.first, self.second)]
        first, second = (float(np.nansum(values)) for values in (self.first, self.second))
        least = second - first + (gaps[1] * low if gaps[1] else 0.0) - (gaps[0] * high if gaps[0] else 0.0)
        most = second - first + (gaps[1] * high if gaps[1] else 0.0) - (gaps[0] * low if gaps[0] else 0.0)
        return least / len(self.places), most / len(self.places)


class Pairs:
    """The rows of both runs, for one metric."""

    def __init__(self, metric: str, rows: MatchedRows, offset: Estimate | None = None) -> None:
        self.metric, self._rows, self._offset = metric, rows, offset

    def _read(self) -> _PairedValues:
        """The values of both runs, read anew: those of all metrics of long runs would take hundreds of megabytes."""
        a, b = self._rows.first.scores(self.metric), self._rows.second.scores(self.metric)
        one, other = self._rows.places, self._rows.other_places
        scored = (a.codes[one] != NO_SCORE) & (b.codes[other] != NO_SCORE)
        if not scored.all():
            one, other = one[scored], other[scored]
        return _PairedValues(one, other, a.values[one], b.values[other])

    @property
    def _direction(self) -> Direction:
        return self._rows.first.range(self.metric).direction

    def compared(self, by_cluster: bool, confidence: float, method: Method = "sign-flip") -> MetricDiff:
        """The difference, before any correction."""
        offset, found_values = self._offset, self._read()
        valued = found_values.valued
        pairs = int(valued.sum())
        unmeasured = len(found_values.places) - pairs
        if not pairs:
            return MetricDiff(self.metric, self._direction, 0, unmeasured)
        low, high = self._range()
        least, most = found_values.bounds(low, high)
        clusters = self._rows.first.cluster_names(found_values.places[valued]) if by_cluster else None
        first, second = found_values.first[valued], found_values.second[valued]
        del found_values  # of long runs each array counts
        found = difference(
            first, second, low, high, clusters=clusters, confidence=confidence, method=method, corrects=True
        )
        if offset is not None and found is not None:
            found = without_offset(found, offset, high - low)
            least, most = least - offset.mean, most - offset.mean
        rose, fell = int((second - first > _SAME).sum()), int((first - second > _SAME).sum())
        improved, worsened = (rose, fell) if self._direction == "higher" else (fell, rose)
        return MetricDiff(
            self.metric, self._direction, pairs, unmeasured, found, bounds=(least, most), offset=offset,
            improved=improved, worsened=worsened,
        )  # fmt: skip

    def _range(self) -> tuple[float, float]:
        # ranges may differ where a run of another tool found them out
        ends = [rows.range(self.metric) for rows in (self._rows.first, self._rows.second)]
        return min(one.low for one in ends), max(one.high for one in ends)

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
        sign = 1.0 if self._direction == "higher" else -1.0
        values = self._read()
        change = np.where(values.valued, sign * (values.second - values.first), 0.0)
        worse = self._largest(-change, most)
        better = self._largest(change, max(0, most - len(worse)))
        return ResultRows((self._moved_row(first, second, values, place) for place in (*worse, *better)), MovedRow)

    def _largest(self, change: np.ndarray, most: int) -> list[int]:
        places = np.flatnonzero(change > _SAME)
        order = np.argsort(-change[places], kind="stable")[:most]  # of equal ones the first row in the data
        return [int(place) for place in places[order]]

    def _moved_row(self, first: Result, second: Result, found: _PairedValues, place: int) -> MovedRow:
        one, other = self._rows.first, self._rows.second
        at = int(found.places[place])
        numbers = int(one.numbers[at]), int(other.numbers[found.others[place]])
        values = float(found.first[place]), float(found.second[place])
        return MovedRow(one.name(at), *numbers, *values, self._flips(first, second, *numbers))

    def _flips(self, first: Result, second: Result, number: int, other: int) -> tuple[Flip, ...]:
        before, after = (
            result.get_row(f"row:{row}").scored.scores[self.metric]
            for result, row in ((first, number), (second, other))
        )
        return flips_of(before, after)


def _verdict(one: MetricDiff, p: float, confidence: float) -> Verdict:
    if one.difference is None or p >= 1.0 - confidence:
        return "inconclusive" if one.can_differ else "unchanged"
    rose = one.difference.estimate.mean > 0
    return "better" if rose == (one.direction == "higher") else "worse"
