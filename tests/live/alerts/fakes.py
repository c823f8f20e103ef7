"""Scores as arrays, a monitor that does as told, and a store with rows."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.live.alerts.rules import AlertRule, AlertTarget
from assay.records import Sample, Score, ScoredSample
from assay.store.columns import MetricRange
from assay.store.store import Store

NOW = 1_800_000_000.0
HOUR = 3600.0
SHARE = MetricRange(0.0, 1.0, "higher")


class Columns:
    """Rows of a run, one each minute up to `NOW`."""

    def __init__(
        self,
        values: Sequence[float],
        *,
        weights: Sequence[float] | None = None,
        times: Sequence[float] | None = None,
        columns: Mapping[str, Sequence[str | None]] | None = None,
        metric: str = "faithfulness",
        scale: MetricRange = SHARE,
    ) -> None:
        n = len(values)
        self.numbers = np.arange(1, n + 1, dtype=np.int64)
        self.times = np.array(NOW - 60.0 * np.arange(n)[::-1] if times is None else times, dtype=np.float64)
        self.weights = np.ones(n) if weights is None else np.array(weights, dtype=np.float64)
        self.metrics = {metric: scale}
        self._values = np.array(values, dtype=np.float64)
        self._columns = columns or {}

    def values(self, metric: str) -> Any:
        assert metric in self.metrics
        return self._values

    def column(self, name: str) -> Sequence[str | None]:
        return self._columns.get(name, [None] * len(self.numbers))


@dataclass(frozen=True)
class FakeState:
    open: bool
    since: float | None
    mean: float | None
    reference: float | None
    difference: float | None
    evidence: float | None
    effective_n: float


class FakeMonitor:
    """Has the first 10 values as its reference; open while the mean of the last 10 lies `drop` below."""

    def __init__(
        self, *, drop: float, false_alarms: float, period_days: float, low: float, high: float, direction: str
    ):
        self.drop, self.seen = drop, []  # type: tuple[float, list[float]]

    def update(
        self, times: Any, values: Any, weights: Any = None, clusters: Sequence[Hashable] | None = None
    ) -> FakeState:
        assert list(times) == sorted(times)
        self.seen += [float(value) for value in values]
        if len(self.seen) < 20:
            return FakeState(False, None, None, None, None, None, float(len(self.seen)))
        reference, mean = math.fsum(self.seen[:10]) / 10, math.fsum(self.seen[-10:]) / 10
        is_open = mean <= reference - self.drop
        return FakeState(is_open, None, mean, reference, mean - reference, 1.0, float(len(self.seen)))

    def state(self) -> dict[str, Any]:
        return {"drop": self.drop, "seen": self.seen}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> FakeMonitor:
        made = cls(drop=state["drop"], false_alarms=0, period_days=1, low=0, high=1, direction="higher")
        made.seen = list(state["seen"])
        return made


def rule(**given: Any) -> AlertRule:
    """A rule: faithfulness of shop below 0.8, told to the log."""
    return AlertRule(**{"name": "low", "run": "shop", "metric": "faithfulness", "kind": "below", "limit": 0.8} | given)


def webhook(url: str) -> AlertTarget:
    return AlertTarget.of(f"webhook:{url}")


def filled(path: str | Path, values: Sequence[float | None], run: str = "shop") -> Store:
    """A store whose run has a row with question and answer for each value."""
    store = Store(path)
    store.create_run(run, {"judge": "", "metrics": ["faithfulness"]})
    store.put_rows(run, [(n, scored(n, value)) for n, value in enumerate(values, 1)])
    return store


def scored(n: int, value: float | None) -> ScoredSample:
    sample = Sample(question=f"question {n}", answer=f"answer of jane@example.com, {n}", id=f"id-{n}")
    return ScoredSample(sample=sample, scores={"faithfulness": Score(metric="faithfulness", value=value or 0.0)})


class Clock:
    """A clock that tests set."""

    def __init__(self, now: float = NOW) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now
