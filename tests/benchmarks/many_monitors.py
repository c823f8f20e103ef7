"""The first opening of many drop monitors at once: the arithmetic of `assay.stats.drop_monitor`, for arrays of
monitors.

A monitor of its own takes about a second for twelve weeks of hours. tests/stats/test_drop_monitor.py holds that both
open at the same hour.
"""

from __future__ import annotations

import numpy as np

from assay.stats.cluster_variance import IDLE
from assay.stats.day_noise import LAG, noise_factor
from assay.stats.drop_monitor import REFERENCE_DAYS
from assay.stats.step_evidence import FINE, OLDEST, SIZES, SPLIT, bennett
from assay.stats.weekly_baseline import EFFECTS, FREE, PRIOR_ROWS, effects_of
from tests.benchmarks.traffic import HOUR, START, Traffic

FIRST = int(START // HOUR)
LOST = -60.0
EMPTY = 1e-9  # rows of an hour without any


class Hours:
    """Hourly figures of many streams of traffic, a line each."""

    def __init__(self, streams: list[Traffic], hours: int) -> None:
        shape = (len(streams), hours)
        self.n, self.mean = np.full(shape, EMPTY), np.full(shape, 0.5)
        self.variance, self.design = np.ones(shape), np.ones(shape)
        for line, traffic in enumerate(streams):
            self._fill(line, traffic, hours)

    def _fill(self, line: int, traffic: Traffic, hours: int) -> None:
        hour = (traffic.times // HOUR).astype(int) - FIRST
        count = np.bincount(hour, minlength=hours)[:hours].astype(float)
        total = np.bincount(hour, weights=traffic.values, minlength=hours)[:hours]
        self.n[line], self.mean[line] = np.maximum(count, EMPTY), np.where(count, total / np.maximum(count, 1.0), 0.5)
        off = traffic.values - traffic.expected
        order = np.lexsort((traffic.times, traffic.conversations))
        sums = np.cumsum(off[order])
        name, when = traffic.conversations[order], hour[order]
        first = np.flatnonzero(np.r_[True, (np.diff(name) > 0) | (np.diff(when) >= IDLE)])
        before = np.empty(off.size)
        before[order] = sums - off[order] - np.repeat((sums - off[order])[first], np.diff(np.r_[first, off.size]))

        def up_to(found: np.ndarray) -> np.ndarray:
            by_hour = np.bincount(hour, weights=found, minlength=hours)[:hours]
            return np.asarray(1.0 + np.r_[0.0, np.cumsum(by_hour)[:-1]])

        squares, alone, weights = up_to(off * (off + 2.0 * before)), up_to(off * off), up_to(np.ones(off.size))
        self.variance[line] = np.maximum(squares, alone) / weights
        self.design[line] = np.maximum(1.0, squares / alone)


def openings(
    streams: list[Traffic], hours: int, *, false_alarms: float = 0.05, period_days: float = 84.0
) -> tuple[np.ndarray, np.ndarray]:
    """By stream the number of hours until its monitor opens, and until it finds a rise; 0 where it does not."""
    found = Hours(streams, hours)
    many, hourly, most = len(streams), 1.0 / (24.0 * period_days), 1.0 / false_alarms
    prior = np.full(EFFECTS, 1.0 / PRIOR_ROWS)
    prior[0] = 1.0 / FREE
    inverse = np.repeat(np.diag(prior)[None], many, axis=0)
    estimate = np.zeros((many, EFFECTS))
    room = FINE + OLDEST // 24 + 24
    starts = np.zeros((many, room), dtype=int)
    wealth = np.zeros((many, room, 2, SIZES.size))
    seen = np.zeros((many, room, EFFECTS))
    count = 0
    days = np.zeros((many, hours // 24 + 2))
    rows = np.zeros_like(days)
    opened, rose = np.zeros(many, dtype=int), np.zeros(many, dtype=int)
    for step in range(hours):
        hour, places = FIRST + step, effects_of(FIRST + step)
        n, mean = found.n[:, step], found.mean[:, step]
        covariance = inverse[:, places].sum(axis=1)
        spread = covariance[:, places].sum(axis=1)
        expected = np.clip(estimate[:, places].sum(axis=1), 0.0, 1.0) if step else mean
        surprise = mean - expected
        today = step // 24
        old = max(0, today - LAG)
        factor = np.ones(many)
        if old:
            squares = (days[:, :old] ** 2 / np.maximum(rows[:, :old], EMPTY)).sum(axis=1)
            factor = np.array([noise_factor(old, one) for one in squares.tolist()])
        variance = found.variance[:, step] * factor
        if step >= 24 * REFERENCE_DAYS:
            if count == room:
                starts, wealth, seen, count = _thin(starts, wealth, seen, hour)
            starts[:, count], seen[:, count] = hour, 0.0
            wealth[:, count] = np.log(hourly * SPLIT)
            count += 1
        if count:
            remaining = np.maximum(1.0 - np.einsum("ste,se->st", seen[:, :count], covariance), 0.0)
            weight = remaining / ((1.0 / n + spread) * variance)[:, None]
            tilt = weight[:, :, None] * SIZES
            for side, sign, reach in ((0, -1.0, expected), (1, 1.0, 1.0 - expected)):
                most_of = (reach * found.design[:, step] / n)[:, None, None]
                bounded = (bennett(tilt * most_of) / n[:, None, None] + spread[:, None, None] / 2.0) * variance[
                    :, None, None
                ]
                wealth[:, :count, side] += tilt * ((sign * surprise)[:, None, None] - tilt * bounded)
            np.maximum(wealth[:, :count], LOST, out=wealth[:, :count])
            falls, rises = np.exp(wealth[:, :count]).sum(axis=(1, 3)).T
            opened[(opened == 0) & (falls >= most)] = step + 1
            rose[(rose == 0) & (rises >= most)] = step + 1
            seen[:, :count, places] += n[:, None, None]
        days[:, today] += np.sqrt(n / found.variance[:, step] / (1.0 / n + spread)) * surprise
        rows[:, today] += n
        gain = n / (1.0 + n * spread)
        estimate += covariance * (gain * (mean - estimate[:, places].sum(axis=1)))[:, None]
        inverse -= (gain[:, None] * covariance)[:, :, None] * covariance[:, None, :]
    return opened, rose


def _thin(
    starts: np.ndarray, wealth: np.ndarray, seen: np.ndarray, hour: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """See `StepEvidence._thin`; each monitor keeps its own starts, as many as the others."""
    many = starts.shape[0]
    most = wealth.max(axis=(2, 3))
    made = np.zeros_like(starts), np.full_like(wealth, LOST), np.zeros_like(seen)
    counts = []
    for line in range(many):
        groups: dict[int, list[int]] = {}
        for place, age in enumerate((hour - starts[line]).tolist()):
            groups.setdefault(-1 - age if age < FINE else min(age, OLDEST) // 24, []).append(place)
        for at, (day, places) in enumerate(sorted(groups.items(), key=lambda item: item[1][0])):
            kept = places[-1] if day == OLDEST // 24 else max(places, key=lambda place: float(most[line, place]))
            made[0][line, at], made[2][line, at] = starts[line, kept], seen[line, kept]
            made[1][line, at] = np.logaddexp.reduce(wealth[line, places], axis=0)
        counts.append(len(groups))
    for line, count in enumerate(counts):  # those that keep fewer starts: the last one again, without money
        for whole in (made[0], made[2]):
            whole[line, count : max(counts)] = whole[line, count - 1]
    return *made, max(counts)
