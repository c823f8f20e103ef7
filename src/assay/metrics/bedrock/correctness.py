"""Bedrock's correctness: is the answer right?

Rated 0 (wrong), 1 (right in part) or 2 (right), by 2. Higher is better. Amazon Bedrock, evaluation of models and of
retrieval and generation. Where there is a reference it says what is right; else the judge's own knowledge does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.metrics.bedrock.scales import STANDARD, RatedMetric, entry


@dataclass(frozen=True)
class Correctness(RatedMetric):
    """Whether the answer is right, right in part or wrong."""

    name: ClassVar[str] = "bedrock:correctness"
    needs: ClassVar = ("question", "answer")
    asked: ClassVar[str] = (
        "Is the ANSWER to the QUESTION right? Where a REFERENCE is given, what it says is right; how it says it does "
        "not count."
    )
    shown: ClassVar = ("question", "answer", "reference")
    levels: ClassVar = {
        STANDARD: (
            "wrong",
            "right in part",
            "right",
        ),
    }


ENTRIES = (entry(Correctness, "Correctness", "correctness", "the whole answer", "the reference"),)
