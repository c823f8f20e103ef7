"""Bedrock's following instructions: does the answer keep to what the question tells it to do?

1.0 for yes, 0.0 for no; higher is better. Where the question gives no instruction there is nothing to keep to: skipped
here, and without a number there. Amazon Bedrock, evaluation of models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import material_of
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.prompts import Question
from assay.records import Sample, Score

ASKED = "Does the ANSWER keep to every instruction that the QUESTION gives, whether or not what it says is true?"
LABELS = {
    "yes": "it keeps to every one",
    "no": "it does not keep to one of them, or only in part",
    "not_applicable": "the QUESTION gives none",
}


@dataclass(frozen=True)
class FollowingInstructions(SystemMetric):
    """Whether the answer keeps to the instructions in the question."""

    name: ClassVar[str] = "bedrock:following_instructions"
    needs: ClassVar = ("question", "answer")
    asks: ClassVar = (Question,)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        material = material_of(sample, ("question", "answer"))
        verdict = await judge.find(Question(ASKED, material, labels=LABELS, language=sample.spoken))
        verdicts = {"question/answer": (verdict,)}
        if verdict.label == "not_applicable":
            return self.skip(Cause.NOT_APPLICABLE, "the question gives no instruction", verdicts=verdicts)
        return self.make_score(float(verdict.label == "yes"), verdicts=verdicts)


ENTRIES = (
    Entry(
        make=FollowingInstructions,
        source="Amazon Bedrock evaluations, Builtin.FollowingInstructions",
        compared="published formula: 1 for yes, 0 for no, nothing where it does not apply",
        family="instructions",
        steps=Steps("the whole answer", "the question", "yes", "yes or no"),
        empty="none where the question gives no instruction",
        also=("Builtin.FollowingInstructions",),
    ),
)
