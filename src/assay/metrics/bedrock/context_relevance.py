"""Bedrock's context relevance: does each retrieved passage have to do with the question?

    mean over the passages of the rating / 2        rating: no 0, maybe 1, yes 2

Range 0 to 1, higher is better. Amazon Bedrock, retrieve-only evaluation jobs. Each passage is rated with all of them in
sight, so that one which only makes sense with another counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import material_of
from assay.metrics.bedrock.scales import normalised
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.prompts import Classification
from assay.records import Sample, Score, Verdict

WHAT = "relevance of passages"
ASKED = "Is the passage that the ITEM names, read together with the others, relevant to the QUESTION?"
LEVELS = {"no": 0, "maybe": 1, "yes": 2}
CHOICES = (
    ("yes", "it holds something that helps to reply"),
    ("maybe", "it may help, or cannot be told"),
    ("no", "it has nothing to do with it"),
)


def mean_rating(labels: Sequence[str]) -> float:
    """The mean of the ratings on 0 to 1. Expects at least one label."""
    return sum(normalised(LEVELS[label], len(LEVELS)) for label in labels) / len(labels)


@dataclass(frozen=True)
class ContextRelevance(SystemMetric):
    """Mean relevance of the passages, each rated no, maybe or yes."""

    name: ClassVar[str] = "bedrock:context_relevance"
    needs: ClassVar = ("question", "contexts")
    asks: ClassVar = (Classification,)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        places = [place for place, text in enumerate(sample.passages) if text.strip()]
        items = tuple(f"PASSAGE P{place + 1}" for place in places)
        material = material_of(sample, ("contexts", "question"))
        found = await judge.find(Classification(WHAT, ASKED, items, CHOICES, material, language=sample.spoken))
        rated = {place: replace(verdict, passage=place) for place, verdict in zip(places, found, strict=True)}
        blank = Verdict(label="no", reason="it is blank")
        verdicts = tuple(rated.get(place, replace(blank, passage=place)) for place in range(len(sample.passages)))
        value = mean_rating([verdict.label for verdict in verdicts])
        return self.make_score(value, verdicts={"question/contexts": verdicts})


ENTRIES = (
    Entry(
        make=ContextRelevance,
        source="Amazon Bedrock evaluations, Builtin.ContextRelevance",
        compared="published formula: the mean over the passages of the level by the highest level",
        family="context relevance",
        steps=Steps("passages", "the question", "rating 0 to 2", "mean of the rating / 2"),
        also=("Builtin.ContextRelevance",),
    ),
)
