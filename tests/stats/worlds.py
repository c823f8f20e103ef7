"""Worlds of scores, each with its true mean: what a metric may give, yes-or-no answers and near-certain probabilities.

Each draws an array of any shape in one go, so that thousands of samples take no time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from assay.stats.arrays import Floats

Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]


@dataclass(frozen=True)
class World:
    """Scores in [0, 1] whose true mean is known."""

    name: str
    draw: Draw
    truth: float


def points(values: Sequence[float], chances: Sequence[float]) -> Draw:
    return lambda rng, shape: rng.choice(np.asarray(values, dtype=float), shape, p=chances)


def beta(a: float, b: float) -> Draw:
    return lambda rng, shape: rng.beta(a, b, shape)


def mixed(often: float, usual: Draw, rare: Draw) -> Draw:
    return lambda rng, shape: np.where(rng.random(shape) < often, rare(rng, shape), usual(rng, shape))


def claims(of: int, p: float) -> Draw:
    return lambda rng, shape: rng.binomial(of, p, shape) / of


def similar(mean: float, spread: float) -> Draw:
    return lambda rng, shape: np.clip(rng.normal(mean, spread, shape), 0.0, 1.0)


def certain(often: float) -> Draw:
    """A judge that is nearly sure of each row: about 0.998 of good ones, 0.02 of bad ones."""
    return mixed(often, beta(500, 1), beta(1, 50))


def of_certain(often: float) -> float:
    return (1.0 - often) * 500 / 501 + often / 51


ONE, ZERO = points([1.0], [1.0]), points([0.0], [1.0])
WORLDS = [
    World("yes or no 0.5", points([0, 1], [0.5, 0.5]), 0.5),
    World("yes or no 0.9", points([0, 1], [0.1, 0.9]), 0.9),
    World("yes or no 0.98", points([0, 1], [0.02, 0.98]), 0.98),
    World("yes or no 0.995", points([0, 1], [0.005, 0.995]), 0.995),
    World("uniform", beta(1, 1), 0.5),
    World("beta 8 1", beta(8, 1), 8 / 9),
    World("beta 0.3 0.05", beta(0.3, 0.05), 0.3 / 0.35),
    World("1, 2 % anywhere", mixed(0.02, ONE, beta(1, 1)), 0.99),
    World("1, 10 % 0.9, 2 % 0", points([1.0, 0.9, 0.0], [0.88, 0.1, 0.02]), 0.97),
    World("0.99, 1 % 0", points([0.99, 0.0], [0.99, 0.01]), 0.99 * 0.99),
    World("1, 30 % in thirds", mixed(0.3, ONE, points([0, 1 / 3, 2 / 3, 1], [0.25] * 4)), 0.85),
    World("certain, 5 % bad", certain(0.05), of_certain(0.05)),
    # not among those that were reported
    World("certain, 2 % bad", certain(0.02), of_certain(0.02)),
    World("certain, 10 % bad", certain(0.1), of_certain(0.1)),
    World("certain, 5 % bad, low is good", lambda rng, shape: 1.0 - certain(0.05)(rng, shape), 1.0 - of_certain(0.05)),
    World("less certain, 5 % bad", mixed(0.05, beta(60, 1), beta(1, 10)), 0.95 * 60 / 61 + 0.05 / 11),
    World("three points, 2 % 0", points([1.0, 0.5, 0.0], [0.9, 0.08, 0.02]), 0.94),
    World("three points, 5 % 0", points([1.0, 0.5, 0.0], [0.9, 0.05, 0.05]), 0.925),
    World("five points", points([0, 0.25, 0.5, 0.75, 1], [0.02, 0.03, 0.1, 0.25, 0.6]), 0.845),
    World("five claims 0.98", claims(5, 0.98), 0.98),
    World("ten claims 0.98", claims(10, 0.98), 0.98),
    World("beta 20 1", beta(20, 1), 20 / 21),
    World("0.99, 5 % 0", points([0.99, 0.0], [0.95, 0.05]), 0.99 * 0.95),
    World("similarity 0.8", similar(0.8, 0.05), 0.8),
    World("similarity 0.9", similar(0.9, 0.02), 0.9),
]
