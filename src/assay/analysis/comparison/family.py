"""A family of tests, whose p-values are corrected together: the metrics of two runs, or slices, or pairs of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.analysis.comparison.metric_diff import MetricDiff, Pairs
from assay.stats import holm

if TYPE_CHECKING:
    from assay.stats.classic import Method


@dataclass(frozen=True, slots=True)
class Family:
    """How a family is tested.

    Attributes:
        by_cluster: Whether rows of one cluster count as one.
    """

    confidence: float
    method: Method = "sign-flip"
    by_cluster: bool = False

    def judge(self, pairs: Sequence[Pairs]) -> list[MetricDiff]:
        """Test all of them: verdicts, p-values, intervals and detectable effects, corrected together."""
        compared = [one.compared(self.by_cluster, self.confidence, self.method) for one in pairs]
        tests = max(1, sum(one.can_differ for one in compared))
        return [
            rows.judged(one, p, tests, self.confidence, self.method)
            for rows, one, p in zip(pairs, compared, _corrected(compared), strict=True)
        ]


def _corrected(compared: Sequence[MetricDiff]) -> list[float | None]:
    """The p-values (Holm); of a test that cannot reject as it is."""
    corrected = iter(holm([one.difference.p for one in compared if one.difference is not None and one.can_differ]))
    return [
        None if one.difference is None else next(corrected) if one.can_differ else one.difference.p for one in compared
    ]
