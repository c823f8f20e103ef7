"""DeepEval's arena G-Eval: which of several contestants gives the best answer to one question?

1 where the row's own answer wins, else 0; `texts["winner"]` names the winner. DeepEval 4.3.1, `ArenaGEval`, returns
that name and no number. The other contestants stand in the column `contestants`: name -> answer. The judge sees no
names, and the order of the answers follows from their texts, so that no contestant always comes first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.deepeval.deepeval_metric import DeepEvalMetric
from assay.metrics.deepeval.g_eval import check_criteria, steps_for, titles
from assay.metrics.systems.base import Entry, Steps, given
from assay.prompts import Extraction, Question
from assay.records import Sample, Score

#: What the row's own answer is called among the contestants.
OWN = "answer"
ASKED = "Which of the contestants gives the best answer by the CRITERIA, judged by the EVALUATION STEPS?"


def seats(contestants: Mapping[str, str]) -> tuple[str, ...]:
    """The names in the order in which the judge sees their answers: by a hash of these."""
    return tuple(sorted(contestants, key=lambda name: hashlib.sha256(contestants[name].encode()).hexdigest()))


@dataclass(frozen=True)
class ArenaGEval(DeepEvalMetric):
    """Whether the answer wins against those of `contestants`, by `criteria` or `evaluation_steps`."""

    name: ClassVar[str] = "deepeval:arena_g_eval"
    needs: ClassVar = ("question", "answer")
    asks: ClassVar = (Extraction, Question)
    columns: ClassVar[tuple[str, ...]] = ("contestants", "criteria")

    criteria: str | None = None
    evaluation_steps: tuple[str, ...] | None = None
    evaluation_params: tuple[str, ...] = ("input", "actual_output")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_criteria(self.name, self.criteria, self.evaluation_steps, self.evaluation_params)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        others = given(sample, self, "contestants", dict)
        contestants = {str(name): str(text) for name, text in others.items()} | {OWN: sample.answer or ""}
        if len(contestants) < 2:
            return self.skip(Cause.MISSING_INPUT, f"{self.label} needs a contestant besides the answer")
        criteria = self.criteria or ("" if self.evaluation_steps else self.setting(sample, "criteria", str))
        steps = self.evaluation_steps or await steps_for(criteria, titles(self.evaluation_params), judge, sample.spoken)
        order = seats(contestants)
        labels = {f"contestant_{number}": "its answer is the best" for number in range(1, len(order) + 1)}
        besides = tuple(name for name in self.evaluation_params if name != "actual_output")
        material = [
            *self.shown(sample, besides),
            *((f"ANSWER OF CONTESTANT_{number}", contestants[name]) for number, name in enumerate(order, 1)),
            *((("CRITERIA", criteria),) if criteria else ()),
            ("EVALUATION STEPS", "\n".join(steps)),
        ]
        verdict = await judge.find(Question(ASKED, material, labels=labels, language=sample.spoken))
        winner = order[list(labels).index(verdict.label)]
        return self.make_graded_score(
            float(winner == OWN),
            verdicts={"contestants/criteria": (verdict,)},
            texts={"winner": (winner,), "contestants": order, "evaluation_steps": steps},
        )


ENTRIES = (
    Entry(
        make=ArenaGEval,
        source="deepeval.metrics.ArenaGEval",
        compared="published formula: the winner that the judge names; the original gives no number",
        family="preference",
        steps=Steps("the whole answer", "the answers of other contestants", "best by the criteria", "yes or no"),
        empty="refused",
    ),
)
