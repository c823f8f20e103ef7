"""LlamaIndex' guideline: one yes or no, whether the answer keeps to given guidelines.

1.0 for yes, 0.0 for no; higher is better. llama-index-core 0.14, GuidelineEvaluator. All guidelines are judged at once.
The default ones say what those of the original say: answer fully, do not be vague, be specific.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import InputError
from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import majority, material_of
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.prompts import Criterion
from assay.records import Sample, Score

ASKED = "Does the ANSWER, as a reply to the QUESTION, keep to all of the GUIDELINES?"
GUIDELINES = """\
Nothing that the question asks for is left out.
What is said cannot be read in two ways, and does not stay general.
It names particulars, with figures where there are any."""


@dataclass(frozen=True)
class Guideline(SystemMetric):
    """Whether the answer keeps to the guidelines, yes or no."""

    name: ClassVar[str] = "llamaindex:guideline"
    needs: ClassVar = ("question", "answer")
    asks: ClassVar = (Criterion,)

    guidelines: str = GUIDELINES

    def __post_init__(self) -> None:
        if not self.guidelines.strip():
            raise InputError("Guideline: guidelines is empty")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        material = (*material_of(sample, ("question", "answer")), ("GUIDELINES", self.guidelines))
        verdict = await judge.find(Criterion(ASKED, material, language=sample.spoken))
        return self.make_score(majority([verdict]), verdicts={"answer/guidelines": (verdict,)})


ENTRIES = (
    Entry(
        make=Guideline,
        source="llama_index.core.evaluation.GuidelineEvaluator",
        compared="llama-index-core 0.14.25",
        family="criteria",
        steps=Steps("the whole answer", "guidelines", "yes", "yes or no"),
        empty="an exception for a reply that does not fit",
    ),
)
