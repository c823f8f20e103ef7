"""TruLens' context relevance: how relevant is each retrieved chunk to the question? The mean over the chunks.

    sum of (level / 3) / chunks

Range 0 to 1, higher is better. trulens 2.16.0, `context_relevance` on each chunk of the retrieval, which its `Metric`
puts together by the mean. Each chunk is rated without a look at the others. With nothing retrieved there is no chunk to
rate and the mean is NaN, which is no number here either.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.shared_prompts import ask
from assay.metrics.systems.base import Entry, Steps
from assay.metrics.trulens.scale import ScaleMetric
from assay.prompts import Rating
from assay.records import Sample, Score

QUESTION = "How relevant is the PASSAGE to the QUESTION? Its length does not matter."
LOWEST = "nothing in it is relevant"
HIGHEST = "it is relevant to all of the question and helps to answer it"


def mean(values: Sequence[float]) -> float:
    """The mean of at least one value."""
    return math.fsum(values) / len(values)


@dataclass(frozen=True)
class ContextRelevance(ScaleMetric):
    """The mean of the ratings of the passages."""

    name: ClassVar[str] = "trulens:context_relevance"
    needs: ClassVar = ("question", "contexts")
    asks: ClassVar = (Rating,)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        if not sample.passages:
            return self.skip(Cause.NO_CONTEXT, "nothing was retrieved")
        scale, question = self.levels(LOWEST, HIGHEST), ("QUESTION", sample.question or "")
        ratings = await ask(
            judge,
            *(
                Rating(QUESTION, scale, (("PASSAGE", passage), question), 0, sample.spoken)
                for passage in sample.passages
            ),
        )
        values = [self.normalized(rated.level) for rated in ratings]
        return self.make_score(
            mean(values),
            parts={f"P{number}": value for number, value in enumerate(values, 1)},
            texts={"reasons": tuple(rated.reason or "" for rated in ratings)},
        )


ENTRIES = (
    Entry(
        make=ContextRelevance,
        source="trulens.feedback.LLMProvider.context_relevance",
        compared="trulens 2.16.0",
        family="context relevance",
        steps=Steps("passages", "the question", "rating 0 to 3", "mean of rating / 3"),
        empty="NaN",
        also=("context_relevance_with_cot_reasons",),
    ),
)
