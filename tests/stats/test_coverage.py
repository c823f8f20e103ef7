"""How often the interval holds the true mean, by simulation: `python -m tests.stats.test_coverage` prints the table.

The grid: shares from 0.5 to 0.95 of independent rows; graded scores piled at one end, with tails; clusters of equal and
of unequal sizes, of rows from unlike to all alike; differences of two runs. From 20 rows and 10 clusters on. The worlds
are drawn with fixed seeds; a setting is 2,000 runs (standard error 0.5 points at 95 %).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from assay.stats import difference, estimate
from assay.stats.arrays import Floats

RUNS = 2000
LEAST = 0.925 - 0.012  # at every setting, less what 2,000 runs err by (2.4 standard errors at 0.95)
MEAN = (0.94, 0.975)

Draw = Callable[[np.random.Generator, int], Floats]


@dataclass(frozen=True)
class Setting:
    """A world: scores of n rows whose true mean is known; `sizes` of clusters; `paired`: differences of two runs."""

    name: str
    draw: Draw
    truth: float
    n: int
    sizes: tuple[int, ...] = ()
    paired: bool = False

    def holds(self, rng: np.random.Generator) -> tuple[bool, float]:
        """Whether one drawn interval holds the truth, and how wide it is."""
        scores = self.draw(rng, self.n)
        clusters = None if not self.sizes else np.repeat(np.arange(len(self.sizes)), self.sizes).tolist()
        if self.paired:
            compared = difference(np.maximum(-scores, 0.0).tolist(), np.maximum(scores, 0.0).tolist())
            assert compared is not None
            found = compared.estimate
        else:
            whole = estimate(scores.tolist(), clusters=clusters)
            assert whole is not None
            found = whole
        return found.low <= self.truth <= found.high, found.high - found.low

    def covered(self) -> float:
        """The share of runs whose interval holds the truth."""
        rng = np.random.default_rng(sum(map(ord, self.name)) + self.n)
        return sum(self.holds(rng)[0] for _ in range(RUNS)) / RUNS


def share(p: float) -> Draw:
    return lambda rng, n: (rng.random(n) < p).astype(np.float64)


def fallen(often: float, tail: float) -> Draw:
    """Scores of 1, of which a share `often` has fallen by an exponential with this mean."""

    def draw(rng: np.random.Generator, n: int) -> Floats:
        return np.where(rng.random(n) < often, 1.0 - np.minimum(1.0, rng.exponential(tail, n)), 1.0)

    return draw


def fractions(of: int, p: float) -> Draw:
    return lambda rng, n: rng.binomial(of, p, n) / of


def alike(p: float, icc: float, sizes: tuple[int, ...], of: int) -> Draw:
    """Fractions of `of` claims whose chance differs by cluster: beta-distributed, with this intra-class correlation."""

    def draw(rng: np.random.Generator, n: int) -> Floats:
        if icc in (0.0, 1.0):
            chance = np.full(len(sizes), p) if icc == 0.0 else (rng.random(len(sizes)) < p).astype(np.float64)
        else:
            spread = 1.0 / icc - 1.0
            chance = rng.beta(p * spread, (1.0 - p) * spread, len(sizes))
        return rng.binomial(of, np.repeat(chance, sizes)) / of

    return draw


def moved(up: float, down: float, size: float | None) -> Draw:
    """Differences: shares of rows that rise and fall, by 1 or by an exponential with this mean."""

    def draw(rng: np.random.Generator, n: int) -> Floats:
        which = rng.random(n)
        sign = np.where(which < up, 1.0, np.where(which < up + down, -1.0, 0.0))
        return sign if size is None else sign * np.minimum(1.0, rng.exponential(size, n))

    return draw


def capped(mean: float) -> float:
    """The mean of an exponential with this mean, cut off at 1: the integral of exp(-x / mean) from 0 to 1."""
    return mean * (1.0 - math.exp(-1.0 / mean))


def settings() -> Iterator[Setting]:
    for n in (20, 50, 200):
        for p in (0.5, 0.8, 0.9, 0.95):
            yield Setting(f"share {p}", share(p), p, n)
            yield Setting(f"of 5 claims {p}", fractions(5, p), p, n)
        for often, tail in ((0.3, 0.3), (0.1, 0.3), (0.05, 0.5), (0.2, 0.1)):
            yield Setting(f"fallen {often} by {tail}", fallen(often, tail), 1.0 - often * capped(tail), n)
        for up, down, size in (
            (0.05, 0.05, None),
            (0.2, 0.1, None),
            (0.5, 0.1, None),
            (0.3, 0.0, 0.3),
            (0.1, 0.1, 0.3),
        ):
            truth = (up - down) * (1.0 if size is None else capped(size))
            yield Setting(f"moved +{up} -{down} by {size or 1}", moved(up, down, size), truth, n, paired=True)
    for count in (10, 20, 50):
        for name, sizes in (("equal", (5,) * count), ("unequal", tuple(1 + i * 7 % 13 for i in range(count)))):
            for p in (0.5, 0.8, 0.95):
                for icc in (0.0, 0.3, 1.0):
                    for of in (1, 4):
                        yield Setting(
                            f"{count} clusters {name} {p} alike {icc} of {of}",
                            alike(p, icc, sizes, of), p, sum(sizes), sizes,
                        )  # fmt: skip


SETTINGS = list(settings())


@pytest.mark.long
@pytest.mark.parametrize("settings", [SETTINGS[::17], SETTINGS], ids=["some", "all"])
def test_intervals_hold_the_truth_as_often_as_they_say(settings: list[Setting]) -> None:
    found = {(one.name, one.n): one.covered() for one in settings}
    assert {setting: held for setting, held in found.items() if held < LEAST} == {}
    mean = sum(found.values()) / len(found)
    assert MEAN[0] <= mean <= MEAN[1]


if __name__ == "__main__":
    held = []
    for one in SETTINGS:
        rng = np.random.default_rng(1)
        widths = [one.holds(rng)[1] for _ in range(200)]
        held.append(one.covered())
        print(f"{one.name:45} n {one.n:4} {held[-1]:.3f} width {np.mean(widths):.3f}", flush=True)
    print(f"least {min(held):.3f}, mean {np.mean(held):.3f} of {len(held)} settings")
