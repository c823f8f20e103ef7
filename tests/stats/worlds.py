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


def even(least: float, most: float) -> Draw:
    return lambda rng, shape: rng.uniform(least, most, shape)


def claims(of: int, p: float) -> Draw:
    return lambda rng, shape: rng.binomial(of, p, shape) / of


def similar(mean: float, spread: float) -> Draw:
    return lambda rng, shape: np.clip(rng.normal(mean, spread, shape), 0.0, 1.0)


def certain(often: float) -> Draw:
    """A judge that is nearly sure of each row: about 0.998 of good ones, 0.02 of bad ones."""
    return mixed(often, beta(500, 1), beta(1, 50))


def of_certain(often: float) -> float:
    return (1.0 - often) * 500 / 501 + often / 51


def near(least: float, often: float, bad: float) -> World:
    """Good rows spread evenly from `least` to 1, and a share of bad ones that all have one score."""
    good = even(least, 1.0)
    truth = (1.0 - often) * (least + 1.0) / 2.0 + often * bad
    return World(f"{least} to 1, {often:.0%} {bad}", mixed(often, good, points([bad], [1.0])), truth)


def mirrored(world: World) -> World:
    """The same where low is good."""
    return World(f"{world.name}, low is good", lambda rng, shape: 1.0 - world.draw(rng, shape), 1.0 - world.truth)


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
    # spread over the last part of the range, with a few bad rows
    *(near(least, often, bad) for least in (0.85, 0.9) for often in (0.02, 0.03, 0.05) for bad in (0.0, 0.1, 0.2, 0.3)),
    mirrored(near(0.9, 0.03, 0.1)),
    near(0.95, 0.03, 0.1),
    near(0.9, 0.01, 0.0),
    near(0.9, 0.1, 0.0),
    near(0.9, 0.03, 0.5),
    near(0.8, 0.03, 0.1),
    World("beta 20 1, 3 % 0.1", mixed(0.03, beta(20, 1), points([0.1], [1.0])), 0.97 * 20 / 21 + 0.003),
    World("0.9 to 1, 3 % below 0.3", mixed(0.03, even(0.9, 1.0), even(0.0, 0.3)), 0.97 * 0.95 + 0.03 * 0.15),
    World(
        "0.9, 0.95 or 1, 3 % 0.1",
        points([0.9, 0.95, 1.0, 0.1], [0.3, 0.37, 0.3, 0.03]),
        0.3 * 0.9 + 0.37 * 0.95 + 0.303,
    ),
]
#: Bells beside an end, of which Student's interval holds the mean: their intervals are to stay short.
BELLS = [
    World("bell 0.95, 0.01", similar(0.95, 0.01), 0.95),
    World("bell 0.9, 0.03", similar(0.9, 0.03), 0.9),
    World("bell 0.85, 0.03", similar(0.85, 0.03), 0.85),
    World("beta 20 3", beta(20, 3), 20 / 23),
    World("even from 0.7", even(0.7, 1.0), 0.85),
]


PairedDraw = Callable[[np.random.Generator, int], tuple[Floats, Floats]]


@dataclass(frozen=True)
class TwoRuns:
    """Scores of two runs on the same rows, whose true mean difference is known."""

    name: str
    draw: PairedDraw
    truth: float


def of_one_size(fall: float, rise: float, size: float) -> TwoRuns:
    """Shares of rows that fall and rise by one size, from a score in the middle."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        which, first = rng.random(n), np.full(n, 0.5)
        return first, first + np.where(which < fall, -size, np.where(which < fall + rise, size, 0.0))

    return TwoRuns(f"{fall} fall and {rise} rise by {size}", draw, (rise - fall) * size)


def flipped(rise: float, fall: float) -> TwoRuns:
    """Yes-or-no answers of which these shares are others in the second run."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        which = rng.random(n)
        second = np.where(which < rise, 1.0, np.where(which < rise + fall, 0.0, 1.0))
        return np.where(which < rise, 0.0, 1.0), second

    return TwoRuns(f"flips +{rise} -{fall}", draw, rise - fall)


def both_certain(first: float, second: float) -> TwoRuns:
    """Near-certain scores, with these shares of bad rows."""
    return TwoRuns(
        f"certain, {first} and {second} bad",
        lambda rng, n: (certain(first)(rng, (n,)), certain(second)(rng, (n,))),
        of_certain(second) - of_certain(first),
    )


def rarely_far(little: float, far: float) -> TwoRuns:
    """From 1 a share falls to 0.9, and a few fall to 0."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        which = rng.random(n)
        return np.ones(n), np.where(which < little, 0.9, np.where(which < little + far, 0.0, 1.0))

    return TwoRuns(f"{little} fall to 0.9, {far} to 0", draw, -0.1 * little - far)


def skewed(often: float) -> TwoRuns:
    """Most scores are 1; a share of rows loses a part of its score, 0.05 to 0.7 of it."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        first = np.where(rng.random(n) < 0.95, 1.0, 1.0 - rng.random(n))  # mean 0.975
        return first, np.where(rng.random(n) < often, first * rng.uniform(0.3, 0.95, n), first)

    return TwoRuns(f"{often} lose a part", draw, -0.975 * often * 0.375)


def graded(drop: float) -> TwoRuns:
    """Scores that differ by row and by run, and a drop of all."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
        rows = 0.3 + 0.4 * rng.random(n)
        return rows + 0.2 * rng.random(n), rows + 0.2 * rng.random(n) - drop

    return TwoRuns(f"graded, {drop} lower", draw, -drop)


TWO_RUNS = [
    *(of_one_size(*one) for one in ((0.3, 0.0, 0.25), (0.1, 0.0, 0.25), (0.3, 0.1, 0.1), (0.9, 0.0, 0.02))),
    *(flipped(*one) for one in ((0.05, 0.05), (0.01, 0.01), (0.0, 0.1), (0.1, 0.3))),
    *(both_certain(*one) for one in ((0.05, 0.05), (0.02, 0.1), (0.0, 0.05))),
    *(rarely_far(*one) for one in ((0.1, 0.02), (0.2, 0.0))),
    *(skewed(often) for often in (0.25, 0.12)),
    *(graded(drop) for drop in (0.0, 0.05)),
]
