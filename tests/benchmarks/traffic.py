"""Simulated traffic with scores: daily and weekly rhythm of volume and level, conversations, and a noisy judge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

HOUR, DAY = 3600.0, 86400.0
START = 20_454 * DAY  # a Thursday
#: Rows of a conversation: geometric with this mean. Minutes between its rows: exponential.
TURNS, MINUTES = 2.0, 10.0
#: The share of good answers.
MEAN = 0.9
#: The correlation of answers of one conversation, before the judge.
WITHIN = 0.15
#: The judge's verdict is wrong in this share of rows, either way.
NOISE = 0.05


@dataclass(frozen=True)
class Traffic:
    """Rows in the order of their time."""

    times: np.ndarray
    expected: np.ndarray  # without a drop
    values: np.ndarray
    conversations: np.ndarray


def volume() -> np.ndarray:
    """The share of a week's rows by hour of the week from a Thursday 00:00: nights and weekends are quiet."""
    hour = np.arange(168)
    day = (hour // 24 + 3) % 7  # 0 is Monday
    shape = 1.0 + 0.85 * np.sin((hour % 24 - 9) * np.pi / 12)
    return shape * np.where(day >= 5, 0.5, 1.0) / np.sum(shape * np.where(day >= 5, 0.5, 1.0))


def level() -> np.ndarray:
    """How the share of good answers differs from its mean, by hour of the week: 4 points by hour, 5 on weekends."""
    hour = np.arange(168)
    day = (hour // 24 + 3) % 7
    found = 0.04 * np.cos((hour % 24 - 15) * np.pi / 12) - np.where(day >= 5, 0.05, 0.0)
    return np.asarray(found - np.sum(found * volume()))


def simulate(
    rng: np.random.Generator,
    days: int,
    rows: float,
    *,
    mean: float = MEAN,
    drop: float = 0.0,
    at: float | None = None,
    judge: float = 0.0,
    days_differ: float = 0.0,
    noise: float = NOISE,
) -> Traffic:
    """Traffic of some days.

    Args:
        rng: Source of chance.
        days: How many.
        rows: Rows a day on average.
        mean: The share of good answers.
        drop: By how much the mean score falls because of worse answers.
        at: When answers get worse, or the judge changes, in days.
        judge: By how much the mean score falls because the judge got stricter: it refuses more of the good answers.
        days_differ: Standard deviation of the level between days.
        noise: How often a verdict is wrong.
    """
    weeks = -(-days // 7)
    count = rng.poisson(7 * weeks * rows / TURNS)
    week = rng.choice(168, count, p=volume())
    hours = week + 168 * rng.integers(0, weeks, count)
    begin = (hours + rng.random(count)) * HOUR
    sizes = rng.geometric(1.0 / TURNS, count)
    conversation = np.repeat(np.arange(count), sizes)
    gaps = rng.exponential(MINUTES * 60.0, conversation.size)
    gaps[np.cumsum(sizes) - sizes] = 0.0
    walked = np.cumsum(gaps)
    first = np.cumsum(sizes) - sizes
    times = np.repeat(begin - walked[first], sizes) + walked
    bad = np.zeros(count) if at is None else (begin >= at * DAY).astype(float)
    base = mean + level()[week] - bad * drop / (1.0 - 2.0 * noise)
    if days_differ:
        base = base + rng.normal(0.0, days_differ, days + 8)[hours // 24]
    base = np.clip(base, 0.01, 0.99)
    concentration = 1.0 / WITHIN - 1.0
    chance = rng.beta(base * concentration, (1.0 - base) * concentration)
    good = rng.random(conversation.size) < chance[conversation]
    wrong = rng.random(conversation.size) < noise
    verdict = good != wrong
    if judge and at is not None:  # a share of the verdicts "good" becomes "bad"
        passed = mean * (1.0 - noise) + (1.0 - mean) * noise
        verdict &= ~((times >= at * DAY) & (rng.random(times.size) < judge / passed))
    kept = times < days * DAY
    order = np.argsort(times[kept], kind="stable")
    expected = noise + (1.0 - 2.0 * noise) * (mean + level()[((times // HOUR) % 168).astype(int)])
    return Traffic(
        START + times[kept][order],
        expected[kept][order],
        verdict[kept][order].astype(float),
        conversation[kept][order],
    )
