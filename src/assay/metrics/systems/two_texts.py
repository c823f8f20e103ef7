"""Metrics that compare two texts by their characters, of which an empty one is a text like any other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.metrics.systems.base import SystemMetric
from assay.records import Sample, ScoreError


@dataclass(frozen=True)
class TwoTexts(SystemMetric):
    """A metric on answer and reference that asks no judge.

    With the profile "original" blank texts are compared as well, which is what the libraries of others do; a text that
    is not there is none in either profile.
    """

    needs: ClassVar[tuple[str, ...]] = ("answer", "reference")

    def missing(self, sample: Sample) -> ScoreError | None:
        if not self.original:
            return super().missing(sample)
        absent = next((field for field in self.needs if getattr(sample, field) is None), None)
        if absent is None:
            return None
        return ScoreError(cause=Cause.MISSING_INPUT, message=f"{self.label} needs {absent!r}, which is missing")
