"""What part of the spread of scores is the judge's: the same answers read several times.

A score is item + answer + reading: how hard the question is, how well this answer came out, how the judge read it this
time. The variance of readings of one answer is the judge's; that of answers to one item, less the judge's share of it,
is generation's; what is left between items is theirs (nested analysis of variance: Searle, Casella and McCulloch,
Variance Components, 1992). With one answer to each item the last two cannot be told apart.

The tolerance of a gate is what two runs that are alike differ by, at most, in 95 % of cases:

    t · sqrt(2 v / n),   v the variance of a score when it is read (or answered, and read) anew, n the rows

with t Student's quantile for as many degrees of freedom as v was found with. Of readings these follow from how much the
variances of single rows vary (Satterthwaite, Biom. Bull. 2, 1946): where a few rows of many waver, they are few.

Rows that waver may be so rare that no reading showed one, or not the farthest. So v counts one row besides, `unseen`:
one that wavers as much as any that was seen, and where none was, or all scores are nearly at the ends of the range (see
`assay.stats.intervals`), one of which half of the readings are at the other end. It is the rule of one more success for
shares (Laplace's) in terms of variances, and its weight is held by simulation: tests/stats/test_noise.py.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self, get_args

from assay._util.tabular import Tabular
from assay.errors import InputError
from assay.records import Direction
from assay.stats.components import components
from assay.stats.distributions import t_quantile
from assay.stats.intervals import estimate, piled

Anew = Literal["readings", "answers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise(Tabular):
    """Of one metric, on the scale of its scores.

    Attributes:
        rows: With a value in every reading; `left_out` have none in some.
        readings: Of each row.
        items: Questions; fewer than rows where several answers were given to some.
        means: Of each reading.
        judge: Variance of readings of one row; `judge_high`: it is no larger, with 97.5 % confidence.
        generation: Variance of answers to one item, without the judge's; None where each item has one answer.
        item: Variance between items; with that of answers in it, where each item has one.
        differ: Rows whose readings are not all equal.
        binary: Whether all scores lie at the ends of the range.
        direction: Of the metric.
        freedom: Degrees of freedom of `judge` and `unseen`; None: as many as of scores that waver alike on every row.
        unseen: Variance of the readings of one row more, which tolerances count; 0 where it was not measured.
    """

    _noun = "metric"
    _columns = (
        "metric rows left_out readings items means spread judge judge_high generation item differ binary wrong low "
        "high direction"
    )

    metric: str
    low: float
    high: float
    rows: int
    left_out: int
    readings: int
    items: int
    means: tuple[float, ...]
    judge: float
    judge_high: float
    generation: float | None
    item: float
    differ: int
    binary: bool
    direction: Direction = "higher"
    freedom: float | None = None
    unseen: float = 0.0

    @property
    def wrong(self) -> float | None:
        """Of scores at the ends of the range: the share of readings that are wrong, were each row right or wrong by
        itself: e (1 - e) is the variance, on the scale from 0 to 1. None of graded scores.
        """
        if not self.binary:
            return None
        return (1.0 - math.sqrt(max(0.0, 1.0 - 4.0 * self.judge / (self.high - self.low) ** 2))) / 2.0

    @property
    def _variance_of_readings(self) -> float:
        return self.judge + self.unseen / self.rows

    @property
    def spread(self) -> float:
        """The standard deviation of readings of one row."""
        return math.sqrt(self.judge)

    @property
    def correlation(self) -> float | None:
        """Of the scores of an item in two runs that both answer and read anew; None where that cannot be told."""
        if self.generation is None:
            return None
        total = self.item + self.generation + self.judge
        return self.item / total if total else 1.0

    def tolerance(self, rows: int | None = None, anew: Anew = "readings", confidence: float = 0.95) -> float | None:
        """What the means of two runs alike differ by at most, on so many rows (those of this measurement).

        It is above 0 for readings, also where those of this measurement were equal.

        `anew`: what is done again, the readings of the same answers, or the answers too. None where it cannot be told.
        Raises InputError for fewer rows than 1 and a confidence outside of (0, 1).
        """
        n = self.rows if rows is None else rows
        if n < 1:
            raise InputError(f"rows: expected at least 1, got {n}")
        if not 0.0 < confidence < 1.0:
            raise InputError(f"confidence: expected a number between 0 and 1, got {confidence}")
        if anew == "readings":
            variance = self._variance_of_readings
            freedom = self.rows * (self.readings - 1.0) if self.freedom is None else self.freedom
        elif self.generation is None:
            return None
        else:
            variance, freedom = self.generation + self.judge, self.rows - self.items
        if freedom < 1:
            return None
        return min(self.high - self.low, t_quantile(0.5 + confidence / 2.0, freedom) * math.sqrt(2.0 * variance / n))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values, with the tolerances on as many rows."""
        tolerances = {"readings": self.tolerance(), "answers": self.tolerance(anew="answers")}
        return {**asdict(self), "means": list(self.means), "wrong": self.wrong, "tolerance": tolerances}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """What `to_dict` wrote. Raises InputError where something is missing, or is no number."""
        known: dict[str, Any] = {name: data.get(name) for name in cls.__slots__}
        known["unseen"] = data.get("unseen", 0.0)  # files of an earlier assay have none
        numbers = [
            "low",
            "high",
            "rows",
            "left_out",
            "readings",
            "items",
            "judge",
            "judge_high",
            "item",
            "differ",
            "unseen",
        ]
        numbers += [name for name in ("generation", "freedom") if known[name] is not None]
        for name in numbers:
            value = known[name]
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
                raise InputError(f"{name}: expected a number, found {value!r}")
            if value < {"readings": 2, "rows": 1, "freedom": 1}.get(name, 0) and name not in ("low", "high"):
                raise InputError(f"{name}: {value!r} is too small")
        if not isinstance(known["metric"], str) or not isinstance(known["means"], list):
            raise InputError("expected metric, a name, and means, a list")
        known["means"] = tuple(float(mean) for mean in known["means"])
        known["direction"] = known["direction"] or "higher"
        if known["direction"] not in get_args(Direction):
            raise InputError(f"direction: expected 'higher' or 'lower', found {known['direction']!r}")
        return cls(**{**known, "binary": known["binary"] is True})

    def __str__(self) -> str:
        means = ", ".join(f"{mean:.3f}" for mean in self.means)
        left = f", {self.left_out} left out" if self.left_out else ""
        lines = [
            f"{self.metric}: {self.rows} rows, {self.readings} readings of each{left}; means {means}",
            f"  readings differ on {self.differ} of {self.rows} rows"
            + (f": as if {100 * self.wrong:.2g} % of readings were wrong by chance" if self.wrong else ""),
            f"  spread (standard deviation): {self._spreads()}",
        ]
        same, new = self.tolerance(), self.tolerance(anew="answers")
        if same is not None:
            high = same if not self.judge else same * math.sqrt(max(1.0, self.judge_high / self._variance_of_readings))
            known = f" ({high:.3f} at most)" if self.judge else ""
            lines.append(f"  tolerance of a gate, the same answers read anew: {same:.3f}{known}")
        if new is not None:
            lines.append(f"  tolerance of a gate, answered and read anew: {new:.3f}")
        return "\n".join(lines)

    def _spreads(self) -> str:
        parts = [("judge", self.judge)]
        if self.generation is not None:
            parts.append(("generation", self.generation))
        parts.append(("items" if self.generation is not None else "items and their answers", self.item))
        return ", ".join(f"{name} {math.sqrt(variance):.3f}" for name, variance in parts)


@dataclass(slots=True)
class Readings:
    """Scores of one metric, row by row; each row's item, and its readings.

    Taken in one row at a time; rows without a value in some reading are counted and left out.
    """

    metric: str
    low: float = 0.0
    high: float = 1.0
    direction: Direction = "higher"
    left_out: int = 0
    rows: list[tuple[Hashable, tuple[float, ...]]] = field(default_factory=list)

    def add(self, item: Hashable, values: Sequence[float | None]) -> None:
        """Take in a row with its readings."""
        known = tuple(value for value in values if value is not None)
        if len(known) < len(values):
            self.left_out += 1
        else:
            self.rows.append((item, known))

    def noise(self) -> Noise | None:
        """The parts of the spread; None where no row has a value in every reading.

        Raises InputError where there are fewer than two readings, or not as many of each row.
        """
        counts = {len(values) for _, values in self.rows}
        if not counts:
            return None
        if len(counts) > 1 or min(counts) < 2:
            raise InputError("readings: expected two or more of each row, as many of all rows")
        (readings,) = counts
        variances = [_variance(values) for _, values in self.rows]
        judge = math.fsum(variances) / len(variances)
        unseen = self._unseen(variances, readings)
        groups: dict[Hashable, list[float]] = {}
        for item, values in self.rows:
            groups.setdefault(item, []).append(math.fsum(values) / readings)
        answers = components(groups.values())
        if answers is not None:
            generation = max(0.0, answers.within - judge / readings)
            between = answers.between
        else:
            generation = None
            means = [mean for group in groups.values() for mean in group]
            between = max(0.0, _variance(means) - judge / readings) if len(means) > 1 else 0.0
        return Noise(
            metric=self.metric,
            low=self.low,
            high=self.high,
            rows=len(self.rows),
            left_out=self.left_out,
            readings=readings,
            items=len(groups),
            means=tuple(math.fsum(one) / len(self.rows) for one in zip(*(v for _, v in self.rows), strict=True)),
            judge=judge,
            judge_high=self._high(variances, readings),
            generation=generation,
            item=between,
            differ=sum(len(set(values)) > 1 for _, values in self.rows),
            binary=all(value in (self.low, self.high) for _, values in self.rows for value in values),
            direction=self.direction,
            freedom=_freedom([*variances, unseen], readings),
            unseen=unseen,
        )

    def _unseen(self, variances: Sequence[float], readings: int) -> float:
        """The variance of a row that wavers as much as one may of which no reading was seen; see the module."""
        width = self.high - self.low
        if not math.isfinite(width):
            return max(variances)
        scores = [value for _, values in self.rows for value in values]
        off = [max(0.0, min(value - self.low, self.high - value)) / width for value in scores]
        flipped = self._most(readings)
        return max(max(variances) or flipped, piled(min(off), max(off)) * flipped)

    def _most(self, readings: int) -> float:
        """The largest variance that so many readings of a row can have."""
        half = readings // 2
        return (self.high - self.low) ** 2 * half * (readings - half) / (readings * (readings - 1))

    def _high(self, variances: Sequence[float], readings: int) -> float:
        """The upper end of the interval of the mean of the rows' variances, none of which is above `most`."""
        most = self._most(readings)
        found = estimate([min(variance, most) for variance in variances], 0.0, most)
        assert found is not None
        return found.high


def _freedom(variances: Sequence[float], readings: int) -> float:
    """The degrees of freedom of the mean of these variances, from 1 to those of scores that all waver alike.

    The last is that of the row besides, which adds to what is known of the others and is none of their degrees.
    """
    most = (len(variances) - 1) * (readings - 1.0)
    if not (spread := _variance(variances)):
        return most
    mean = math.fsum(variances) / len(variances)
    return min(most, max(1.0, 2.0 * mean**2 * len(variances) / spread))


def _variance(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
