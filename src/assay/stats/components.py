"""Where the spread of scores comes from: how much groups of them differ, and how much those within a group do."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Components:
    """Variances of a one-way layout, by its sums of squares (Searle, Casella and McCulloch, Variance Components, 1992).

    Attributes:
        between: Of the groups' true means; 0 where they differ by no more than what is within explains.
        within: Of scores of one group.
        size: Of a group that a score is in, on average.
    """

    between: float
    within: float
    size: float

    @property
    def alike(self) -> float:
        """The share of the variance that scores of a group have in common (intra-class correlation), 0 to 1."""
        total = self.between + self.within
        return self.between / total if total else 0.0

    @property
    def design_effect(self) -> float:
        """How many times more scores in groups are needed than independent ones (Kish, Survey Sampling, 1965)."""
        return 1.0 + (self.size - 1.0) * self.alike


def components(groups: Iterable[Sequence[float]]) -> Components | None:
    """The variances within groups and between them; None where no group has two scores, or there is but one group."""
    kept = [group for group in groups if group]
    n, count = sum(map(len, kept)), len(kept)
    if count < 2 or n == count:
        return None
    means = [math.fsum(group) / len(group) for group in kept]
    grand = math.fsum(math.fsum(group) for group in kept) / n
    within = math.fsum((x - mean) ** 2 for group, mean in zip(kept, means, strict=True) for x in group) / (n - count)
    across = math.fsum(len(group) * (mean - grand) ** 2 for group, mean in zip(kept, means, strict=True)) / (count - 1)
    squares = sum(len(group) ** 2 for group in kept)
    usual = (n - squares / n) / (count - 1)
    return Components(max(0.0, (across - within) / usual), within, squares / n)
