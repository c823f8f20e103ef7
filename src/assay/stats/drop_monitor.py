"""A monitor of a mean over time: opens when it dropped against the time before, closes when it is back.

What is promised, for a mean that is stable but for a daily and weekly rhythm:

- of monitors that start, a share of `false_alarms` at most opens within the first period;
- over a long time, a monitor opens falsely once in `period_days` / `false_alarms` days on average, or less often;

both however often one looks, and with the reference estimated from the rows themselves (`assay.stats.step_evidence`).
It holds for hourly means that vary as their rows and clusters say, or as the days before did where they vary more. It
is exact for normal hourly means of known variance; the variance is estimated, and means of few rows are bounded by
Bennett's inequality. What simulations show is in docs/evidence/live.md.

A drop that is slower than four weeks is not seen: the reference goes with it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from assay._util.tabular import Tabular
from assay.errors import InputError
from assay.stats.arrays import Floats, checked
from assay.stats.cluster_variance import ClusterVariance
from assay.stats.day_noise import DayNoise
from assay.stats.hour_log import HourLog
from assay.stats.step_evidence import Block, StepEvidence
from assay.stats.weekly_baseline import HOUR, WeeklyBaseline

#: The reference: no change is looked for in the first two weeks.
REFERENCE_DAYS = 14
#: Rows that the reference has at least.
REFERENCE_ROWS = 30
#: Hours after a change was found in which its time is estimated anew.
SHARPEN = 24
#: The drop at an opening is larger than the true one, being large is why it opened: for closing it counts as this much
#: of it, and its rows as this much of them.
SHRUNK, TRUSTED = 0.75, 0.5
_VERSION = 1


@dataclass(frozen=True, slots=True)
class DropState(Tabular):
    """What a `DropMonitor` knows.

    Attributes:
        open: Whether the mean has dropped.
        since: When, in seconds since 1970: the most likely hour. None where it has not.
        mean: The mean since then; of the last day where nothing is open. None before any row.
        reference: What the mean of the same hours was before. None before there is a reference.
        difference: `mean` minus `reference`.
        evidence: The e-value: open from 1 / `false_alarms` on; the largest since the opening.
        effective_n: How many independent rows of one weight say as much as those of `mean`.
        region: The earliest and the latest time of the drop, in seconds since 1970; holds the true one with probability
            0.95 however often one looks. Wide at the opening, narrower in the day after it.
        error: The standard error of `difference`.
    """

    open: bool
    since: float | None
    mean: float | None
    reference: float | None
    difference: float | None
    evidence: float
    effective_n: float
    region: tuple[float, float] | None = None
    error: float | None = None


@dataclass(frozen=True, slots=True)
class LevelChange(Tabular):
    """A change of the mean that a monitor found.

    Attributes:
        at: The most likely time, in seconds since 1970.
        earliest, latest: Where the time lies, with probability 0.95, however often one looked.
        before, after: The mean of the same hours before, and the mean since.
        evidence: The e-value of the change.
        error: The standard error of the difference of the means; None: not known.
    """

    _noun = "change"

    at: float
    earliest: float
    latest: float
    before: float
    after: float
    evidence: float
    error: float | None = None


class DropMonitor:
    """Watch a mean of scores, and open when it dropped.

        monitor = DropMonitor(drop=0.02)
        state = monitor.update(times, values, clusters=conversations)    # hourly, or as you like
        if state.open:
            ...

    A rise that is as sure moves the reference and opens nothing.

    Args:
        drop: Smaller drops than this are ignored, on the scale of the scores.
        false_alarms: The share of stable periods with an opening, at most; in (0, 1).
        period_days: Length of a period in days.
        low, high: The range of the scores.
        direction: "higher" or "lower": which scores are good. With "lower", a rise of the mean is the drop.

    Raises:
        InputError: An argument is out of range.
    """

    def __init__(
        self,
        *,
        drop: float = 0.0,
        false_alarms: float = 0.05,
        period_days: float = 84.0,
        low: float = 0.0,
        high: float = 1.0,
        direction: Literal["higher", "lower"] = "higher",
    ) -> None:
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise InputError(f"low, high: expected numbers, low below high, got {low} and {high}")
        if not 0.0 < false_alarms < 1.0:
            raise InputError(f"false_alarms: expected a number between 0 and 1, got {false_alarms}")
        if not (math.isfinite(period_days) and period_days > 0.0):
            raise InputError(f"period_days: expected a number of days above 0, got {period_days}")
        if not 0.0 <= drop < high - low:
            raise InputError(f"drop: expected 0 or more and less than {high - low:g}, got {drop}")
        if direction not in ("higher", "lower"):
            raise InputError(f"direction: expected 'higher' or 'lower', got {direction!r}")
        self.drop, self.false_alarms, self.period_days = drop, false_alarms, period_days
        self.low, self.high, self.direction = low, high, direction
        self._hourly = 1.0 / (24.0 * period_days)
        self._baseline = WeeklyBaseline()
        self._variance = ClusterVariance()
        self._noise = DayNoise()
        self._log = HourLog()
        self._evidence = StepEvidence(self._hourly, drop / (high - low))
        self._reference: WeeklyBaseline | None = None  # while open: without the rows since the drop
        self._begin: int | None = None  # first hour of the reference
        self._paid: int | None = None  # last hour for which the bets were paid
        self._hour: int | None = None  # the last one
        self._weights = (0.0, 0)  # their sum, and of how many rows
        self._opening: dict[str, Any] | None = None

    def __repr__(self) -> str:
        state = self.current()
        word = "open" if state.open else "closed"
        return f"<{type(self).__name__}: {word}, evidence {state.evidence:.3g}>"

    def update(
        self,
        times: Sequence[float] | Floats,
        values: Sequence[float] | Floats,
        weights: Sequence[float] | Floats | None = None,
        clusters: Sequence[Hashable] | None = None,
    ) -> DropState:
        """Take in the rows that came since the last call.

        Rows are taken in by the hour of their time. Rows of hours before the last one count as of now, with what was
        expected at their own hour. Rows whose value is NaN are left out.

        Args:
            times: When each row ended, in seconds since 1970.
            values: Their scores, in the range.
            weights: Inverse sampling rates. None: all 1.
            clusters: What rows hang together by: a conversation, a user. None as an element: with no other row.

        Returns:
            The state after all rows.

        Raises:
            InputError: Arrays of other lengths, a value outside of the range, a weight or a time that is no number.
        """
        x, when, weight, names = _rows(times, values, weights, clusters, self.low, self.high)
        if x.size:
            good = (x - self.low) / (self.high - self.low)
            self._take(when, good if self.direction == "higher" else 1.0 - good, weight, names)
        return self.current()

    def _take(self, when: Floats, good: Floats, weight: Floats, names: list[Hashable] | None) -> None:
        total, count = self._weights
        self._weights = total + float(weight.sum()), count + weight.size
        weight = weight * (self._weights[1] / self._weights[0])  # of mean 1
        hours = np.floor(when / HOUR).astype(np.int64)
        if hours[0] == hours[-1] and (hours == hours[0]).all():
            self._block(int(hours[0]), good, weight, names)
            return
        order = np.argsort(hours, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(hours[order])) + 1):
            chosen = None if names is None else [names[row] for row in rows.tolist()]
            self._block(int(hours[rows[0]]), good[rows], weight[rows], chosen)

    def _block(self, own: int, good: Floats, weight: Floats, names: list[Hashable] | None) -> None:
        """Take in rows of one hour."""
        hour = own if self._hour is None else max(own, self._hour)
        self._begin = hour if self._begin is None else self._begin
        self._hour = hour
        rows, squares = float(weight.sum()), float(weight @ weight)
        n, mean = rows * rows / squares, float(good @ weight) / rows
        prediction = self._baseline.predict(own)
        expected = mean if self._baseline.information[0, 0] < 1.0 else min(1.0, max(0.0, prediction[0]))
        together = self._variance.design_effect * float(weight.max()) * rows / squares
        block = Block(
            hour=hour, own=own, n=n, surprise=mean - expected, spread=prediction[1], covariance=prediction[2],
            variance=self._variance.variance * self._noise.factor(hour),
            jump=expected * together, rise=(1.0 - expected) * together,
        )  # fmt: skip
        self._log.add(hour, own, n, mean)
        if self._opening is not None and not self._opening["rise"] and self._settle(block, mean):
            return
        self._pay(hour)
        self._evidence.add(block, mean)
        if self._opening is None:
            self._noise.add(hour, block.surprise / math.sqrt(self._variance.variance * (1.0 / n + block.spread)), n)
        self._baseline.add_predicted(own, n, mean, prediction)
        self._variance.add(good - expected, weight, names, hour)
        self._decide()

    def _pay(self, hour: int) -> None:
        """Bet on a change at this hour, once there is a reference."""
        if self._begin is None or hour - self._begin < 24 * REFERENCE_DAYS or self._paid == hour:
            return
        if self._baseline.information[0, 0] < REFERENCE_ROWS:
            return
        elapsed = 1 if self._paid is None else hour - self._paid
        self._paid = hour
        self._evidence.start(hour, elapsed * self._hourly)

    def _decide(self) -> None:
        """Open on a fall. For a day after it see better when it was; after a rise, too, then move the reference."""
        found, most = self._opening, 1.0 / self.false_alarms
        if found is None:
            if max(self._evidence.falls, self._evidence.rises) < most:
                return
            rise = self._evidence.falls < most
            found = {"opened": self._hour, "rise": rise, "since": None, "evidence": 0.0}
            self._opening = found
            self._locate(found)
            rows = TRUSTED * found["rows"]
            level = [rows, rows * SHRUNK * found["difference"]]
            found |= {"level": level, "later": [0.0, 0.0], "gain": 0.0, "back": 0.0, "settled": self._hour}
        elif (self._hour or 0) - found["opened"] <= SHARPEN:
            self._locate(found)
        elif found["rise"]:
            self.accept()

    def _locate(self, found: dict[str, Any]) -> None:
        """Estimate when the mean changed, and by how much; the reference is what came before."""
        rise = found["rise"]
        place = self._evidence.best(rise)
        start = int(self._evidence.starts[place])
        rows, total = self._evidence.since(place)
        found["evidence"] = max(found["evidence"], self._evidence.rises if rise else self._evidence.falls)
        found |= {"rows": rows, "sum": total, "difference": self._evidence.change(place)}
        found |= {"region": list(self._evidence.region(0.05, rise)), "error": self._evidence.error(place)}
        if start != found["since"]:
            found["since"] = start
            self._reference = self._baseline.without(*self._log.since(start))

    def _rebase(self, start: int, before: WeeklyBaseline | None = None) -> None:
        """Make the level since an hour the reference; the rhythm is kept."""
        rows = self._log.since(start)
        baseline = (self._baseline.without(*rows) if before is None else before).rhythm()
        for own, n, total in zip(*(one.tolist() for one in rows), strict=True):
            baseline.add(own, n, total / n)
        self._restart(baseline)

    def _restart(self, baseline: WeeklyBaseline) -> None:
        """Look for changes from now on, against this reference."""
        self._baseline, self._paid = baseline, self._hour
        self._evidence = StepEvidence(self._hourly, self.drop / (self.high - self.low))
        self._opening = self._reference = None

    def _settle(self, block: Block, mean: float) -> bool:
        """While open, whether the mean is back: the same bet, on the reference against the level since the drop.

        Rows that may be of the time after count for that level only once they are found not to be: where a sum of the
        gains that starts at any of them is below 0 (Page, Biometrika 41, 1954).
        """
        found, reference = self._opening, self._reference
        assert found is not None
        assert reference is not None
        expected, spread, _ = reference.predict(block.own)
        surprise, fall = mean - expected, found["level"][1] / found["level"][0]
        money = self._hourly * max(0, block.hour - found["settled"])
        variance = (1.0 / block.n + spread) * block.variance
        gain = (fall * fall - 2.0 * fall * surprise) / (2.0 * variance)
        found["back"] = (found["back"] + money) * math.exp(min(50.0, max(-50.0, gain)))
        if found["back"] >= 1.0 / self.false_alarms:
            self._log.forget(found["since"])
            self._restart(reference)
            return True
        later, found["gain"] = found["later"], found["gain"] + gain
        later[0], later[1] = later[0] + block.n, later[1] + block.n * surprise
        if found["gain"] <= 0.0:
            found |= {"level": [a + b for a, b in zip(found["level"], later, strict=True)], "later": [0.0, 0.0]}
            found["gain"] = 0.0
        rows = found["rows"] + block.n
        found["difference"] += (surprise - found["difference"]) * block.n / rows
        found |= {"settled": block.hour, "rows": rows, "sum": found["sum"] + block.n * mean}
        return False

    def accept(self) -> None:
        """Take the level since the drop for the new reference, and close. Nothing happens where nothing is open."""
        if self._opening is not None:
            self._rebase(self._opening["since"], self._reference)

    def change(self) -> LevelChange | None:
        """The change that is being watched: a drop that is open, or a rise of the last day; None without one."""
        found = self._opening
        if found is None:
            return None
        state = self._opening_state(found)
        assert state.mean is not None
        assert state.reference is not None
        first, last = found["region"]
        return LevelChange(
            found["since"] * HOUR,
            first * HOUR,
            last * HOUR,
            state.reference,
            state.mean,
            found["evidence"],
            state.error,
        )

    def current(self) -> DropState:
        """The state, without new rows."""
        if self._opening is not None and not self._opening["rise"]:
            return self._opening_state(self._opening)
        if self._hour is None:
            return DropState(False, None, None, None, None, 0.0, 0.0)
        place = int(np.searchsorted(self._evidence.starts, self._hour - 23))
        if place == self._evidence.starts.size:
            n, total = self._log.last_day(self._hour)
            return self._state(total / n if n else None, None, 0.0, n)
        rows, total = self._evidence.since(place)
        if not rows:
            return self._state(None, None, self._evidence.falls, 0.0)
        error = self._evidence.error(place)
        return self._state(total / rows, self._evidence.change(place), self._evidence.falls, rows, error)

    def _opening_state(self, found: dict[str, Any]) -> DropState:
        since, region = found["since"] * HOUR, (found["region"][0] * HOUR, found["region"][1] * HOUR)
        mean = found["sum"] / found["rows"]
        return self._state(mean, found["difference"], found["evidence"], found["rows"], found["error"], since, region)

    def _state(
        self,
        mean: float | None,
        difference: float | None,
        evidence: float,
        rows: float,
        error: float | None = None,
        since: float | None = None,
        region: tuple[float, float] | None = None,
    ) -> DropState:
        """The state on the scale of the scores."""
        sign = 1.0 if self.direction == "higher" else -1.0
        width = (self.high - self.low) * sign
        start = self.low if sign > 0.0 else self.high
        shown = None if mean is None else start + width * mean
        reference = None if shown is None or difference is None else shown - width * difference
        return DropState(
            open=since is not None, since=since, mean=shown, reference=reference,
            difference=None if difference is None else width * difference, evidence=evidence,
            effective_n=rows / self._variance.design_effect,
            region=region, error=None if error is None else abs(width) * error,
        )  # fmt: skip

    def state(self) -> dict[str, Any]:
        """All that the monitor knows, as JSON values. No names of clusters and no texts are in it."""
        options = ("drop", "false_alarms", "period_days", "low", "high", "direction")
        return {
            "version": _VERSION,
            "options": {name: getattr(self, name) for name in options},
            "baseline": self._baseline.state(),
            "variance": self._variance.state(),
            "noise": self._noise.state(),
            "log": self._log.state(),
            "evidence": self._evidence.state(),
            "hours": [self._begin, self._paid, self._hour],
            "weights": list(self._weights),
            "opening": self._opening,
            "reference": None if self._reference is None else self._reference.state(),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The monitor of a `state`.

        Raises:
            InputError: `state` is not what `state()` returned.
        """
        try:
            if state["version"] != _VERSION:
                raise InputError(f"state: expected version {_VERSION} of a monitor's state, got {state['version']!r}")
            made = cls(**state["options"])
            made._baseline = WeeklyBaseline.from_state(state["baseline"])
            made._variance = ClusterVariance.from_state(state["variance"])
            made._noise = DayNoise.from_state(state["noise"])
            made._log = HourLog.from_state(state["log"])
            made._evidence = StepEvidence.from_state(state["evidence"], *made._log.rows())
            made._begin, made._paid, made._hour = state["hours"]
            made._weights = float(state["weights"][0]), int(state["weights"][1])
            made._opening = None if state["opening"] is None else dict(state["opening"])
            reference = state["reference"]
            made._reference = None if reference is None else WeeklyBaseline.from_state(reference)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"state: expected the state of a monitor, got something else: {error}") from None
        return made


def _rows(
    times: Sequence[float] | Floats,
    values: Sequence[float] | Floats,
    weights: Sequence[float] | Floats | None,
    clusters: Sequence[Hashable] | None,
    low: float,
    high: float,
) -> tuple[Floats, Floats, Floats, list[Hashable] | None]:
    """Values, times, weights and clusters of the rows that have a value. Raises InputError."""
    found = np.asarray(values, dtype=float)
    when = np.asarray(times, dtype=float)
    weight = np.ones(found.size) if weights is None else np.asarray(weights, dtype=float)
    for name, other in (("times", when), ("weights", weight)):
        if other.shape != found.shape:
            raise InputError(f"{name}: expected one for each of {found.size} values, got {other.size}")
    if clusters is not None and len(clusters) != found.size:
        raise InputError(f"clusters: expected one for each of {found.size} values, got {len(clusters)}")
    kept = np.flatnonzero(~np.isnan(found))
    names: list[Hashable] | None = None if clusters is None else list(clusters)
    if kept.size < found.size:
        found, when, weight = found[kept], when[kept], weight[kept]
        names = None if names is None else [names[row] for row in kept.tolist()]
    x = np.minimum(high, np.maximum(low, checked(found, low, high, None)))
    for name, right in (("times", np.isfinite(when)), ("weights", (weight > 0.0) & (weight < math.inf))):
        if not right.all():
            row = int(kept[np.flatnonzero(~right)[0]])
            expected = "seconds since 1970" if name == "times" else "a number above 0"
            raise InputError(f"{name}: expected {expected}; that of row {row + 1} is no such number")
    return x, when, weight, names
