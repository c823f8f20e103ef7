"""Bedrock's completeness: does the answer give all that the question asks for?

Rated 0 to 4, by 4. Higher is better. Amazon Bedrock, evaluation of models and of retrieval and generation. The judge
sees the reference and the passages where there are some; where these do not hold what is asked for, an answer that says
so is complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.metrics.bedrock.scales import STANDARD, RatedMetric, entry


@dataclass(frozen=True)
class Completeness(RatedMetric):
    """How much of what is asked for the answer gives."""

    name: ClassVar[str] = "bedrock:completeness"
    needs: ClassVar = ("question", "answer")
    asked: ClassVar[str] = (
        "How much of what the QUESTION asks for does the ANSWER give? Where a REFERENCE is given, it shows all of it. "
        "Whether it is true does not count. Where PASSAGES are given that do not hold what is asked for, an ANSWER "
        "that says so is complete."
    )
    shown: ClassVar = ("contexts", "question", "answer", "reference")
    levels: ClassVar = {
        STANDARD: (
            "none of it",
            "a little of it",
            "about half of it",
            "most of it",
            "all of it",
        ),
    }


ENTRIES = (entry(Completeness, "Completeness", "completeness", "the whole answer", "the question"),)
