"""ragas' faithfulness by a model of probabilities: the mean of the claims' probabilities, each rounded to 0 or 1.

    sum of round(p_i) / n, where p_i is the probability that the contexts support claim i; 0.5 is rounded to 0

Range 0 to 1, higher is better. Source: FaithfulnesswithHHEM of ragas 0.1 to 0.4.3, where a model of Vectara (HHEM 2.1)
gives the probability of each statement by the joined contexts. Here whatever judge is named gives it; one that gives
labels alone cannot measure this. It parts from `ragas:faithfulness` where the likeliest label of three is not the one
with more than one half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.shared_prompts import answer_against_conversation, expected_share, probabilities
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.prompts import Claims, Support
from assay.records import Sample, Score


def share_rounded(known: Sequence[float]) -> float:
    """The mean of the probabilities, each rounded to 0 or 1. Expects at least one."""
    return sum(map(round, known)) / len(known)


@dataclass(frozen=True)
class FaithfulnessWithHHEM(SystemMetric):
    """Claims of the answer that are supported with more than one half / claims of the answer."""

    name: ClassVar[str] = "ragas:faithfulness_with_hhem"
    needs: ClassVar = ("answer", "contexts")
    asks: ClassVar = (Claims, Support)
    conventions: ClassVar = {Cause.NO_CONTEXT: 0.0}  # the model is asked about an empty text, which entails nothing

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        reading = await answer_against_conversation(replace(sample, history=()), judge)
        if not reading.verdicts:
            return self.skip(Cause.NO_CLAIMS, "the answer makes no checkable claim", texts=reading.not_judged)
        known = probabilities(reading.verdicts)
        if known is None:
            message = f"{self.label} needs a judge that gives probabilities, as the embedded one does"
            return self.skip(Cause.JUDGE_CANNOT, message)
        return self.make_score(share_rounded(known), **reading.with_parts(**expected_share(reading.verdicts)))


ENTRIES = (
    Entry(
        make=FaithfulnessWithHHEM,
        source="ragas.metrics.FaithfulnesswithHHEM",
        compared="ragas 0.2.15",
        family="faithfulness",
        steps=Steps("claims of the answer", "all contexts together", "probability above one half", "share"),
        empty="NaN",
        also=("FaithulnesswithHHEM",),
    ),
)
