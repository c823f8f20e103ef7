"""What the metrics of ragas have in common."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from assay.errors import Cause
from assay.metrics.systems.base import SystemMetric
from assay.records import Sample, Score, ScoreError


@dataclass(frozen=True)
class RagasMetric(SystemMetric):
    """What the original does with what is empty.

    refuses_empty    whether it raises where the list of contexts is empty; blank ones it takes
    blank_reference  the cause, of those in `conventions`, of what it gives for a reference that is empty
    """

    refuses_empty: ClassVar[bool] = True
    blank_reference: ClassVar[Cause | None] = None

    def missing(self, sample: Sample) -> ScoreError | None:
        empty = "contexts" in self.needs and sample.contexts is not None and not sample.contexts
        if self.original and self.refuses_empty and empty:
            return ScoreError(cause=Cause.MISSING_INPUT, message=f"{self.label}: ragas refuses an empty retrieval")
        if self.original and self.blank_reference and sample.contexts and not (sample.reference or "").strip():
            return ScoreError(cause=self.blank_reference, message="the reference is empty")
        return super().missing(sample)


def above_one(score: Score, value: float) -> Score:
    """The score with a value that the formula does not keep below 1, as its new end."""
    return replace(score, value=value, high=max(score.high, value))
