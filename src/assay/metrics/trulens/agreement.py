"""How far the answer agrees with a reference (TruLens' ground truth), or with what the judge itself would say.

    agreement_measure   level / 10, level 0 to 10
    model_agreement     level / 3, level 0 to 3

Range 0 to 1, higher is better. trulens 2.16.0, `GroundTruthAgreement.agreement_measure` and the deprecated
`LLMProvider.model_agreement`. A blank answer is 0 for both by convention. There, `model_agreement` has three faults:
the model is never shown the question that it is to answer, it is asked for 0 to 10, and a number above 3 is refused;
the judge here answers the question, and rates from 0 to 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import material_of
from assay.metrics.systems.base import Entry, Steps
from assay.metrics.trulens.scale import ScaleMetric
from assay.prompts import Extraction, Rating
from assay.records import Sample, Score

QUESTION = "How close in meaning is the ANSWER to the {other}, as an answer to the QUESTION?"
LOWEST = "nothing in common"
HIGHEST = "full agreement"
TASK = "Answer the QUESTION with facts that can be checked. Give the whole answer as a single item."


@dataclass(frozen=True)
class AgreementMeasure(ScaleMetric):
    """The rating of the answer by the reference."""

    name: ClassVar[str] = "trulens:agreement_measure"
    needs: ClassVar = ("question", "answer", "reference")
    asks: ClassVar = (Rating,)
    conventions: ClassVar[Mapping[Cause, float]] = {Cause.NO_CLAIMS: 0.0}

    max_score_val: int = 10

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        material = material_of(sample, ("question", "answer", "reference"))
        question = QUESTION.format(other="REFERENCE")
        return self.score_rating(
            await judge.find(Rating(question, self.levels(LOWEST, HIGHEST), material, 0, sample.spoken))
        )


@dataclass(frozen=True)
class ModelAgreement(ScaleMetric):
    """The rating of the answer by the judge's own."""

    name: ClassVar[str] = "trulens:model_agreement"
    needs: ClassVar = ("question", "answer")
    asks: ClassVar = (Extraction, Rating)
    conventions: ClassVar[Mapping[Cause, float]] = {Cause.NO_CLAIMS: 0.0}

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        asked = material_of(sample, ("question",))
        items = await judge.find(Extraction("own answer", TASK, asked, 0, sample.spoken))
        own = " ".join(items)
        if not own:
            raise JudgeFailure(Cause.NOT_APPLICABLE, "the judge has no answer of its own")
        material = (*material_of(sample, ("question", "answer")), ("OTHER ANSWER", own))
        question = QUESTION.format(other="OTHER ANSWER")
        found = await judge.find(Rating(question, self.levels(LOWEST, HIGHEST), material, 0, sample.spoken))
        score = self.score_rating(found)
        return self.make_score(score.value or 0.0, parts=score.parts, texts={**score.texts, "own_answer": (own,)})


ENTRIES = (
    Entry(
        make=AgreementMeasure,
        source="trulens.feedback.GroundTruthAgreement.agreement_measure",
        compared="trulens 2.16.0",
        family="correctness",
        steps=Steps("the whole answer", "the reference", "rating 0 to 10", "rating / 10"),
        empty="0 for a blank answer; NaN without a reference",
    ),
    Entry(
        make=ModelAgreement,
        source="trulens.feedback.LLMProvider.model_agreement",
        compared="trulens 2.16.0",
        family="correctness",
        steps=Steps("the whole answer", "the judge's own answer", "rating 0 to 3", "rating / 3"),
        empty="0 for a blank answer",
    ),
)
