"""DeepEval's conversational G-Eval: a level from 0 to 10 for a conversation by criteria of one's own / 10.

Where the judge gives probabilities, the mean level under them (Liu et al., "G-Eval", 2023). Range 0 to 1, higher is
better. DeepEval 4.3.1, whose judge first writes steps of evaluation from the criteria; here the criteria are asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.inquiries.rating import Rated, Rating
from assay.judges.base import Judge
from assay.records import Sample, Score
from assay.systems.base import Entry, Steps, SystemMetric, given
from assay.systems.conversation import conversation, transcript_section

TOP = 10
LEVELS = ((0, "not at all"), *((n, f"{n} of {TOP}") for n in range(1, TOP)), (TOP, "fully"))


def tenths(rated: Rated) -> float:
    """The mean level where it is known, else the level / 10."""
    return (rated.level if rated.expected is None else rated.expected) / TOP


@dataclass(frozen=True)
class ConversationalGEval(SystemMetric):
    """How far the conversation meets `criteria`, given here or in metadata["criteria"]."""

    name: ClassVar[str] = "deepeval:conversational_g_eval"
    asks: ClassVar = (Rating,)

    criteria: str = ""

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        criteria = self.criteria or given(sample, self, "criteria", str)
        material = (transcript_section(conversation(sample, self)),)
        rated = await judge.find(
            Rating(f"How far does the CONVERSATION meet this: {criteria}", LEVELS, material, 0, sample.spoken)
        )
        texts = {"reason": (rated.reason,)} if rated.reason else {}
        return self.scored(tenths(rated), parts={"level": float(rated.level)}, texts=texts)


ENTRIES = (
    Entry(
        make=ConversationalGEval,
        source="deepeval.metrics.ConversationalGEval",
        compared="deepeval 4.3.1",
        family="criteria",
        steps=Steps("the whole conversation", "criteria of one's own", "rating 0 to 10", "the rating / 10"),
    ),
)
