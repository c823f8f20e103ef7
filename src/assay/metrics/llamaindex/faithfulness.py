"""LlamaIndex' faithfulness: one yes or no, whether the retrieved contexts support the answer.

1.0 for yes, 0.0 for no; higher is better. llama-index-core 0.14, FaithfulnessEvaluator. One verdict on the whole
answer, whose question the judge does not see. There, contexts too long for one request are read in several, and a yes
of one of them stays. Without contexts the original asks nobody and gives 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import majority, material_of
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.prompts import Criterion
from assay.records import Sample, Score

ASKED = "Do the PASSAGES, one of them or several, support what the ANSWER states?"


@dataclass(frozen=True)
class Faithfulness(SystemMetric):
    """Whether the contexts support the answer, yes or no."""

    name: ClassVar[str] = "llamaindex:faithfulness"
    needs: ClassVar = ("answer", "contexts")
    asks: ClassVar = (Criterion,)
    conventions: ClassVar = {Cause.NO_CONTEXT: 0.0}

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        material = material_of(sample, ("contexts", "answer"))
        verdict = await judge.find(Criterion(ASKED, material, language=sample.spoken))
        return self.make_score(majority([verdict]), verdicts={"answer/contexts": (verdict,)})


ENTRIES = (
    Entry(
        make=Faithfulness,
        source="llama_index.core.evaluation.FaithfulnessEvaluator",
        compared="llama-index-core 0.14.25",
        family="faithfulness",
        steps=Steps("the whole answer", "all contexts together", "yes", "yes or no"),
        empty="0 without contexts",
        also=("ResponseEvaluator",),
    ),
)
