"""Pairs of runs of one system, made in memory: what they differ by is chance.

The figures: `python -m tests.analysis.comparison.equal_runs`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from assay.analysis.comparison.compare import Comparison, compare
from assay.evaluation.result import Result
from assay.store.columns import MetricRange, MetricScores

#: Scores of one run, given for each row how good it is: what the same system gives on another day.
SCORES: dict[str, Callable[[np.random.Generator, Any], Any]] = {
    "yes or no": lambda rng, level: (rng.random(level.size) < level).astype(float),
    "thirds": lambda rng, level: rng.binomial(3, level) / 3.0,
    "graded": lambda rng, level: rng.beta(4 * level + 0.1, 4 * (1 - level) + 0.1),
}
#: Name -> the kinds of its metrics, and rows.
WORLDS = {
    "yes or no": (("yes or no",) * 4, 60),
    "mixed": (("yes or no", "yes or no", "thirds", "thirds", "graded"), 40),
}
TOPICS = ("old", "new", "other")


@dataclass(frozen=True)
class MadeRun:
    """What `compare` reads of a run."""

    run: str
    scores: Sequence[Sequence[float]]
    judge: str = "made"
    parameters: dict[str, Any] = field(default_factory=dict)
    incomplete: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    selection: None = None

    @property
    def metrics(self) -> dict[str, None]:
        return {f"m{number}": None for number in range(len(self.scores))}

    def score_columns(self) -> Any:
        return MadeColumns(self.scores)


class MadeColumns:
    """What `compare` reads of a run's columns."""

    def __init__(self, scores: Sequence[Sequence[float]]) -> None:
        self._values = {f"m{n}": np.array(values, dtype=float) for n, values in enumerate(scores)}
        self.numbers = np.arange(1, len(scores[0]) + 1)
        self.metrics = dict.fromkeys(self._values, MetricRange(0.0, 1.0, "higher"))

    def scores(self, name: str) -> MetricScores:
        values, none = self._values[name], np.zeros(len(self.numbers), dtype=np.int64)
        return MetricScores(values, np.full(len(none), np.nan), none, ("",), none, str)

    def column(self, name: str) -> list[str]:
        assert name == "topic"
        return [TOPICS[number % len(TOPICS)] for number in self.numbers.tolist()]

    def pairing_keys(self) -> np.ndarray:
        return np.array([b"%016d" % number for number in self.numbers.tolist()], dtype="V16")

    def has_cause(self, cause: str) -> bool:
        return False

    def some_ids(self, numbers: Sequence[int]) -> dict[int, str]:
        return {number: f"r{number}" for number in numbers}

    def ids(self) -> list[str]:
        return [f"r{number}" for number in self.numbers.tolist()]


def made(*runs: Sequence[Sequence[float]]) -> list[Result]:
    """Runs with these scores: for each a list of values a metric."""
    return [cast("Result", MadeRun(f"run {n}", scores)) for n, scores in enumerate(runs, 1)]


def pairs_of_equal_runs(world: str, times: int, seed: int) -> Iterator[tuple[Comparison, Comparison]]:
    """Each pair compared without slices and with them."""
    kinds, rows = WORLDS[world]
    rng = np.random.default_rng(seed)
    for _ in range(times):
        levels = [rng.beta(2, 1, rows) for _ in kinds]
        first, second = made(
            *([SCORES[kind](rng, level).tolist() for kind, level in zip(kinds, levels, strict=True)] for _ in range(2))
        )
        yield compare(first, second, moved=0), compare(first, second, moved=0, by="topic")


@dataclass
class Wrong:
    """How many pairs are called better or worse: on the whole, in a slice, in either; and changed by slices."""

    whole: int = 0
    slices: int = 0
    either: int = 0
    changed: int = 0


def count_wrong(world: str, times: int, seed: int) -> Wrong:
    """Count over so many pairs of equal runs."""
    found = Wrong()
    for plain, sliced in pairs_of_equal_runs(world, times, seed):
        whole = any(one.verdict in ("better", "worse") for one in sliced.metrics.values())
        slices = any(
            one.verdict in ("better", "worse")
            for values in sliced.slices.values()
            for metrics in values.values()
            for one in metrics.values()
        )
        found.whole += whole
        found.slices += slices
        found.either += whole or slices
        found.changed += plain.metrics != sliced.metrics
    return found


if __name__ == "__main__":
    for name in WORLDS:
        print(name, count_wrong(name, 1000, 20_261_128), flush=True)
