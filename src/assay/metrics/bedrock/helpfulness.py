"""Bedrock's helpfulness: how much does the answer help whoever asked?

Rated 0 to 6, by 6; with the scale of Nova 2 Lite 0 to 5, by 5. Higher is better. Amazon Bedrock, evaluation of models
and of retrieval and generation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.metrics.bedrock.scales import STANDARD, RatedMetric, entry


@dataclass(frozen=True)
class Helpfulness(RatedMetric):
    """How much the answer helps."""

    name: ClassVar[str] = "bedrock:helpfulness"
    needs: ClassVar = ("question", "answer")
    asked: ClassVar[str] = (
        "How much does the ANSWER help whoever asked the QUESTION: is it sensible, does it do what was wanted, also "
        "where that was not said, and is it clear?"
    )
    shown: ClassVar = ("question", "answer")
    levels: ClassVar = {
        STANDARD: (
            "it harms: worse than no answer",
            "not at all",
            "hardly",
            "neither helpful nor unhelpful",
            "somewhat",
            "much",
            "as much as can be, also beyond what was asked",
        ),
        "nova-2-lite": (
            "not at all",
            "hardly",
            "a little",
            "somewhat",
            "much",
            "as much as can be, also beyond what was asked",
        ),
    }


ENTRIES = (entry(Helpfulness, "Helpfulness", "helpfulness", "the whole answer", "the question"),)
