"""Bedrock's professional style and tone, readability and relevance: ratings of the answer as a text.

Each rated 0 to 4, by 4. Higher is better. Amazon Bedrock, evaluation of models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.metrics.bedrock.scales import STANDARD, RatedMetric, entry

DEGREES = ("not at all", "hardly", "in part", "mostly", "fully")


@dataclass(frozen=True)
class ProfessionalStyle(RatedMetric):
    """How fit for a professional setting the answer is."""

    name: ClassVar[str] = "bedrock:professional_style"
    needs: ClassVar = ("question", "answer")
    asked: ClassVar[str] = (
        "Would the style, the format and the tone of the ANSWER to the QUESTION fit a professional setting?"
    )
    shown: ClassVar = ("question", "answer")
    levels: ClassVar = {STANDARD: DEGREES}


@dataclass(frozen=True)
class Readability(RatedMetric):
    """How easily the answer is read."""

    name: ClassVar[str] = "bedrock:readability"
    needs: ClassVar = ("question", "answer")
    asked: ClassVar[str] = (
        "Is the ANSWER to the QUESTION easy to read: in its words, its sentences and its order, for the readers that "
        "the QUESTION has in mind?"
    )
    shown: ClassVar = ("question", "answer")
    levels: ClassVar = {STANDARD: DEGREES}


@dataclass(frozen=True)
class Relevance(RatedMetric):
    """How much of the answer is about the question."""

    name: ClassVar[str] = "bedrock:relevance"
    needs: ClassVar = ("question", "answer")
    asked: ClassVar[str] = (
        "Does the ANSWER keep to what the QUESTION is about? Whether it is true or complete does not count."
    )
    shown: ClassVar = ("question", "answer")
    levels: ClassVar = {STANDARD: DEGREES}


ENTRIES = (
    entry(ProfessionalStyle, "ProfessionalStyleAndTone", "style", "the whole answer", "a criterion"),
    entry(Readability, "Readability", "style", "the whole answer", "a criterion"),
    entry(Relevance, "Relevance", "answer relevance", "the whole answer", "the question"),
)
