"""Means that say over how many: the running summary of one metric over a data set."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from assay._util.tabular import Tabular
from assay._util.terminal import shortened
from assay.errors import Cause, printable
from assay.records import BY_CONVENTION, Direction, Score
from assay.records.range_ends import finite_or_none, read_high, read_low
from assay.stats.moments import Moments

if TYPE_CHECKING:
    import numpy as np

    from assay.stats.intervals import Estimate
    from assay.store.columns import MetricRange, MetricScores

#: How sure the interval of a mean is.
CONFIDENCE = 0.95


@dataclass(slots=True)
class Summary(Tabular):
    """What is known of one metric so far. Constant memory, whatever the number of rows; with clusters, by their number.

    mean          over the scored rows; None when there are none
    scored/total  coverage
    interval      where the mean of many such rows lies, with confidence 0.95, as far as these few tell
    bounds        the mean, were every skipped row as bad and as good as can be: what the gaps could hide
    causes        skipped rows by cause; rows with a value by convention are none of the scored ones either
    """

    _columns = (
        "metric mean low=interval.low high=interval.high scored total least=bounds.0 most=bounds.1 causes direction"
    )

    metric: str
    low: float = 0.0
    high: float = 1.0
    direction: Direction = "higher"
    scored: int = 0
    total: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    _sum: float = 0.0
    _lost: float = 0.0  # Neumaier's compensation: 10^6 additions lose no digit that is shown
    _moments: Moments = field(default_factory=Moments)
    _read: Estimate | None = None  # the interval, where all that is known of the rows was read from a store

    def add(self, score: Score, cluster: str | None = None) -> None:
        """Take one row's score into account; `cluster` names what the row hangs together with, a document perhaps."""
        self._widen(score.low, score.high, score.direction)
        self.total += 1
        if score.error is not None:
            self.causes[score.error.cause] += 1
            return
        if score.convention is not None:
            self.causes[BY_CONVENTION] += 1
            return
        assert score.value is not None  # Score holds a value or a reason
        self.scored += 1
        self._plus(score.value)
        self._moments.add(score.value, score.low, score.high, cluster)

    @classmethod
    def of_columns(
        cls, metric: str, ends: MetricRange, scores: MetricScores, clusters: Sequence[str] | None = None,
        weights: np.ndarray | None = None,
    ) -> Self:  # fmt: skip
        """The summary of stored scores: as if each had been added, but for rounding.

        Args:
            metric: Label of the metric.
            ends: Its range.
            scores: Its scores.
            clusters: The cluster of each row; None: rows are independent.
            weights: How many samples each row stands for [n]; None: all as many. The mean and its interval are
                weighted, counts are of rows.
        """
        import numpy as np

        found = cls(metric, *ends)
        counts = np.bincount(scores.codes[scores.codes >= 0], minlength=len(scores.causes))
        found.causes = Counter({scores.causes[n]: int(count) for n, count in enumerate(counts) if n and count})
        measured = ~np.isnan(scores.values)
        values = scores.values[measured]
        found.scored, found.total = len(values), int(counts.sum())
        found._sum = math.fsum(values.tolist())
        kept = None if clusters is None else [one for one, there in zip(clusters, measured, strict=True) if there]
        found._moments = Moments.of_array(values, ends.low, ends.high, kept)
        if weights is not None and len(values):
            from assay.stats.weighted_means import weighted_estimate

            some = weights[measured]
            found._read = weighted_estimate(values, some, ends.low, ends.high, clusters=kept, confidence=CONFIDENCE)
            found._sum, found._lost = float(some @ values / some.sum()) * len(values), 0.0
        return found

    def add_missing(self, rows: Mapping[Cause, int]) -> None:
        """Take rows into account of which there is no score: they cannot be read any more, or were not reached."""
        self.total += sum(rows.values())
        self.causes.update({cause: count for cause, count in rows.items() if count})

    def _widen(self, low: float, high: float, direction: Direction) -> None:
        """The range of the metric is the widest of its rows, whatever their order."""
        if self.total:
            low, high = min(low, self.low), max(high, self.high)
        self.low, self.high, self.direction = low, high, direction

    def _plus(self, value: float) -> None:
        total = self._sum + value
        if abs(self._sum) >= abs(value):
            self._lost += (self._sum - total) + value
        else:
            self._lost += (value - total) + self._sum
        self._sum = total

    def merge(self, other: Summary) -> None:
        """Take in all rows of another summary of the metric: as if each had been added here, but for rounding.

        Counts are equal, means to 1e-12 of the range; the order of what is merged does not matter to either.
        """
        if other.total:
            self._widen(other.low, other.high, other.direction)
        self.scored += other.scored
        self.total += other.total
        self.causes.update(other.causes)
        self._plus(other._sum)
        self._plus(other._lost)
        self._moments.merge(other._moments)

    def state(self) -> dict[str, Any]:
        """All that `merge` needs of it, as plain JSON values: `from_state` reads them. Without clusters."""
        return {
            **{name: finite_or_none(getattr(self, name)) for name in ("low", "high")},
            **{name: getattr(self, name) for name in ("direction", "scored", "total")},
            "causes": dict(self.causes),
            "sum": [self._sum, self._lost],
            "moments": self._moments.state(),
        }

    @classmethod
    def from_state(cls, metric: str, state: Mapping[str, Any]) -> Self:
        """What `state` told, digit by digit."""
        found = cls(metric, *_range_of(state), state["scored"], state["total"])
        found.causes = Counter(state["causes"])
        found._sum, found._lost = state["sum"]
        found._moments = Moments.from_state(state["moments"])
        return found

    @property
    def sum(self) -> float:
        return self._sum + self._lost

    @property
    def mean(self) -> float | None:
        return self.sum / self.scored if self.scored else None

    @property
    def interval(self) -> Estimate | None:
        """The mean with its interval (see `assay.stats.intervals`), computed when asked for; None without any value.

        Of rows that hang together it takes account where they were added with their cluster.
        """
        from assay.stats.intervals import estimate_of

        if self._read is not None:
            return self._read
        known = self._moments
        return estimate_of(known, min(self.low, known.least), max(self.high, known.most), CONFIDENCE)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Lowest and highest mean that the skipped rows leave possible; None when there are no rows."""
        if not self.total:
            return None
        gaps = self.total - self.scored
        if not gaps:
            return self.sum / self.total, self.sum / self.total  # 0 · inf is no number
        return (self.sum + gaps * self.low) / self.total, (self.sum + gaps * self.high) / self.total

    def to_dict(self) -> dict[str, Any]:
        """The summary as plain JSON values: mean, interval and bounds are None where there are none.

        `clusters` is how many groups of rows the interval goes by; None where all rows count as independent.
        """
        found = self.interval
        return {
            "mean": self.mean,
            "interval": None if found is None else [found.low, found.high],
            "clusters": None if found is None or self._moments.clusters is None else found.clusters,
            "scored": self.scored,
            "total": self.total,
            "bounds": None if self.bounds is None else list(map(finite_or_none, self.bounds)),
            "causes": {str(cause): count for cause, count in self.causes.most_common()},
            "low": finite_or_none(self.low),
            "high": finite_or_none(self.high),
            "direction": self.direction,
        }

    @classmethod
    def empty(cls, metric: str, data: Mapping[str, Any] | None) -> Self:
        """A summary of no rows; `data`, where there is some, is what `to_dict` wrote, and has the range."""
        return cls(metric) if data is None else cls(metric, *_range_of(data))

    @classmethod
    def from_dict(cls, metric: str, data: Mapping[str, Any]) -> Self:
        """What `to_dict` wrote, for reading: the sum is that of the rounded mean."""
        found = cls(metric, *_range_of(data), data["scored"], data["total"])
        found.causes = Counter(data["causes"])
        found._sum = (data["mean"] or 0.0) * data["scored"]
        if data.get("interval") is not None:  # runs of an earlier assay have none
            from assay.stats.intervals import Estimate

            low, high = data["interval"]
            clusters = data.get("clusters") or found.scored
            found._read = Estimate(data["mean"], low, high, found.scored, clusters, None, CONFIDENCE)
        return found

    def __str__(self) -> str:
        found = self.interval
        mean = "no value" if found is None else f"mean {found}"
        causes = ", ".join(f"{cause} {count}" for cause, count in self.causes.most_common())
        rest = f" ({causes})" if causes else ""
        return printable(f"{self.metric}: {mean}, {self.scored} of {self.total} rows scored{rest}")

    def __repr__(self) -> str:
        return shortened(f"<Summary {self}>", 160)


def _range_of(data: Mapping[str, Any]) -> tuple[float, float, Direction]:
    return read_low(data["low"]), read_high(data["high"]), data["direction"]
