"""Bedrock's context coverage: how much of the reference do the retrieved passages hold?

Rated 0 to 4, by 4. Higher is better. Amazon Bedrock, retrieve-only evaluation jobs; one rating of all passages
together, where context recall counts claims.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.metrics.bedrock.scales import STANDARD, RatedMetric, entry


@dataclass(frozen=True)
class ContextCoverage(RatedMetric):
    """How much of the reference the passages hold."""

    name: ClassVar[str] = "bedrock:context_coverage"
    needs: ClassVar = ("question", "contexts", "reference")
    asked: ClassVar[str] = (
        "How much of what the REFERENCE says in reply to the QUESTION do the PASSAGES hold? What they say beyond it "
        "does not count."
    )
    shown: ClassVar = ("contexts", "question", "reference")
    levels: ClassVar = {
        STANDARD: (
            "none of it",
            "a little of it",
            "about half of it",
            "most of it",
            "all of it",
        ),
    }


ENTRIES = (entry(ContextCoverage, "ContextCoverage", "context recall", "all contexts together", "the reference"),)
