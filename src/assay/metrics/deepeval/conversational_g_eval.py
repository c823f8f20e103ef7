"""DeepEval's conversational G-Eval: a level from 0 to 10 for a conversation, by criteria of one's own.

    the level / 10

Range 0 to 1, higher is better. After Liu et al., "G-Eval" (2023); DeepEval 4.3.1, `ConversationalGEval`: the steps, the
rubric and the probabilities of levels as in `g_eval`, but a rubric does not change the scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.deepeval.g_eval import ByCriteria, by_steps, level_of, levels_of
from assay.metrics.deepeval.turn_fields import CASE_FIELDS, TURN_FIELDS, case_sections, turn_sections
from assay.metrics.systems.base import Entry, Steps
from assay.prompts import Rating
from assay.records import Sample, Score

TOP = 10
RATE = "How well does the CONVERSATION meet the CRITERIA, judged by the EVALUATION STEPS in their order?"


@dataclass(frozen=True)
class ConversationalGEval(ByCriteria):
    """The level of the conversation / 10; who said what is always shown."""

    name: ClassVar[str] = "deepeval:conversational_g_eval"
    fields: ClassVar[Mapping[str, str]] = {**dict.fromkeys(TURN_FIELDS, "CONVERSATION"), **CASE_FIELDS}
    columns: ClassVar[tuple[str, ...]] = ("criteria",)
    may_read: ClassVar[tuple[str, ...]] = ("evaluation_steps",)

    evaluation_params: tuple[str, ...] = ("role", "content", "tools_called")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        params = self.evaluation_params
        material = (*turn_sections(sample, self, params), *case_sections(sample, self, params))
        steps, criteria = await self.steps(sample, judge)
        if not steps:
            return self.skip(Cause.PARSE, "the judge wrote no steps for these criteria")
        levels = levels_of(self.rubric)
        rated = await judge.find(Rating(RATE, levels, (*material, *by_steps(criteria, steps)), language=sample.spoken))
        strict = self.original and self.strict_mode
        level = float(rated.level) if strict else level_of(rated, original=self.original)
        texts = {"evaluation_steps": steps, **({"reason": (rated.reason,)} if rated.reason else {})}
        return self.make_graded_score(level / TOP, parts={"level": level, "chosen": float(rated.level)}, texts=texts)


ENTRIES = (
    Entry(
        make=ConversationalGEval,
        source="deepeval.metrics.ConversationalGEval",
        compared="deepeval 4.3.1",
        family="criteria",
        steps=Steps("the whole conversation", "criteria of one's own", "rating 0 to 10", "the rating / 10"),
        empty="refused",
    ),
)
