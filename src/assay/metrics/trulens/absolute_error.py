"""TruLens' absolute error: how far is a score from the one that is expected?

    |score - expected score|

Range 0 to 1, lower is better; for scores of another scale `high` is what they differ by at most. trulens 2.16.0,
`GroundTruthAgreement.absolute_error`. Both numbers are given, as metadata["score"] and metadata["expected_score"]; NaN
there where none is expected. It asks no judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics.systems.base import Entry, Steps, SystemMetric, given
from assay.records import Direction, Sample, Score


def absolute_error(score: float, expected: float) -> float:
    """How far the one is from the other."""
    return abs(score - expected)


@dataclass(frozen=True)
class AbsoluteError(SystemMetric):
    """The distance of two numbers that are given."""

    name: ClassVar[str] = "trulens:absolute_error"
    direction: ClassVar[Direction] = "lower"
    columns: ClassVar[tuple[str, ...]] = ("expected_score", "score")

    high: float = 1.0  # type: ignore[misc]  # of the scale that the scores are on

    def __post_init__(self) -> None:
        if not 0 < self.high < float("inf"):
            raise InputError(f"{self.name}: high: expected a number above 0; found {self.high!r}")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        error = absolute_error(self._number(sample, "score"), self._number(sample, "expected_score"))
        if not error <= self.high:
            return self.skip(Cause.NOT_APPLICABLE, f"the error {error:g} is above {self.high:g}; give `high`")
        return self.make_score(error)

    def _number(self, sample: Sample, key: str) -> float:
        value = given(sample, self, key, object)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise JudgeFailure(Cause.MISSING_INPUT, f"{self.label}: metadata[{key!r}]: expected a number")
        return float(value)


ENTRIES = (
    Entry(
        make=AbsoluteError,
        source="trulens.feedback.GroundTruthAgreement.absolute_error",
        compared="trulens 2.16.0",
        family="correctness",
        steps=Steps("a score", "the expected score", "difference", "absolute value"),
        empty="NaN",
    ),
)
