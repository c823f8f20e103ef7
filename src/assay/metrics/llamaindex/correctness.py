"""LlamaIndex' correctness: a rating of the answer from 1 to 5, as it is; passing from 4 on.

Range 1 to 5, higher is better. llama-index-core 0.14, CorrectnessEvaluator. The reference counts where there is one;
without it the judge's own knowledge does. `parts["passing"]` is 1 from `threshold` on, which is 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import InputError
from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import material_of
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.prompts import Rating
from assay.records import Sample, Score

ASKED = (
    "How good is the ANSWER as a reply to the QUESTION: does it fit, and is it right? Where a REFERENCE is given, what "
    "it says is right."
)
LEVELS = (
    (1, "it does not fit the question"),
    (2, "it fits the question in part, and most of what it says is wrong"),
    (3, "it fits the question, and some of what it says is wrong"),
    (4, "it fits the question and is right, but for details that are missing or could be clearer"),
    (5, "it fits the question and is fully right"),
)


def passing(level: float, threshold: float) -> float:
    """1.0 from the threshold on, else 0.0."""
    return float(level >= threshold)


@dataclass(frozen=True)
class Correctness(SystemMetric):
    """How well the answer fits the question and the reference, 1 to 5."""

    name: ClassVar[str] = "llamaindex:correctness"
    needs: ClassVar = ("question", "answer")
    asks: ClassVar = (Rating,)
    low: ClassVar[float] = 1.0
    high: ClassVar[float] = 5.0

    threshold: float = 4.0

    def __post_init__(self) -> None:
        if not self.low <= self.threshold <= self.high:
            raise InputError(f"Correctness: threshold must be from 1 to 5, not {self.threshold!r}")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        material = material_of(sample, ("question", "answer", "reference"))
        rated = await judge.find(Rating(ASKED, LEVELS, material, language=sample.spoken))
        return self.make_score(
            float(rated.level),
            parts={"passing": passing(rated.level, self.threshold)},
            texts={"reason": (rated.reason,)} if rated.reason else {},
        )


ENTRIES = (
    Entry(
        make=Correctness,
        source="llama_index.core.evaluation.CorrectnessEvaluator",
        compared="llama-index-core 0.14.25",
        family="correctness",
        steps=Steps("the whole answer", "the question and the reference", "rating 1 to 5", "the rating"),
        empty="none: an empty reply of the judge has no score",
    ),
)
