"""TruLens' scales: a judge picks a whole number from `min_score_val` to `max_score_val`, which is brought to 0 to 1.

    (rating - min_score_val) / (max_score_val - min_score_val)

Three scales are known there (2.16.0, `OutputSpace`): 0 to 3, which nearly all functions have, 0 to 10 and 0 to 1. A
reply without such a number is -1 there, which no mean counts; here it is a failure of the judge, which has no number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import InputError
from assay.metrics.systems.base import SystemMetric
from assay.metrics.systems.input_rules import TAKES_NO_PASSAGES
from assay.prompts import RatingResult
from assay.records import Score

SCALES = ((0, 3), (0, 10), (0, 1))


def normalized(rating: float, low: int = 0, high: int = 3) -> float:
    """Where a rating lies between the ends of its scale, from 0 to 1."""
    return (rating - low) / (high - low)


def levels(lowest: str, highest: str, low: int = 0, high: int = 3) -> tuple[tuple[int, str], ...]:
    """The levels of a scale, lowest first; what its ends mean is said, the others lie between."""
    ends = {low: lowest, high: highest}
    return tuple((level, ends.get(level) or _between(level, low, high)) for level in range(low, high + 1))


def _between(level: int, low: int, high: int) -> str:
    if 2 * level == low + high:
        return "half-way"
    return f"between the ends, nearer to {low if 2 * level < low + high else high}"


@dataclass(frozen=True)
class ScaleMetric(SystemMetric):
    """A metric whose judge rates on a scale."""

    #: the judge is asked about no passages too
    input_rules: ClassVar = TAKES_NO_PASSAGES

    min_score_val: int = 0
    max_score_val: int = 3

    def __post_init__(self) -> None:
        if (self.min_score_val, self.max_score_val) not in SCALES:
            known = ", ".join(f"{low} to {high}" for low, high in SCALES)
            given = f"{self.min_score_val!r} to {self.max_score_val!r}"
            raise InputError(f"{self.name}: min_score_val, max_score_val: expected {known}; found {given}")

    def levels(self, lowest: str, highest: str) -> tuple[tuple[int, str], ...]:
        """The levels of this scale."""
        return levels(lowest, highest, self.min_score_val, self.max_score_val)

    def choices(self, lowest: str, highest: str) -> tuple[tuple[str, str], ...]:
        """The same as labels of a `Classification`, the highest first."""
        return tuple((str(level), meaning) for level, meaning in reversed(self.levels(lowest, highest)))

    def normalized(self, rating: float) -> float:
        """A rating on this scale, brought to 0 to 1."""
        return normalized(rating, self.min_score_val, self.max_score_val)

    def score_rating(self, rated: RatingResult) -> Score:
        """The score of one rating, with its level and reason."""
        texts = {"reason": (rated.reason,)} if rated.reason else {}
        return self.make_score(self.normalized(rated.level), parts={"level": float(rated.level)}, texts=texts)
