"""Reading what is missing about failed rows: the run's judge is asked for these rows alone, and for nothing twice.

What is read are readings that metrics know, so that a run which measured them already pays nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.analysis.diagnosis.classify import (
    ANSWER,
    ANSWER_CELLS,
    DIRECTNESS,
    EACH_OTHER,
    REFERENCE,
    REFERENCE_CELLS,
)
from assay.analysis.diagnosis.facts import Facts, Side
from assay.errors import Cause, JudgeFailure
from assay.evaluation.score_sample import score_sample
from assay.judges import BaseJudge
from assay.judges.protocol import Answer, Judge
from assay.metrics import AnswerCorrectness, AnswerDirectness, ContextRecall, Faithfulness, Metric
from assay.metrics.shared_prompts import claims_of, support, with_cells
from assay.prompts import Claims, JudgePrompt, Support
from assay.records import Sample, Score

AT_ONCE = 8  # rows that are read at the same time
DEADLINE = 300.0  # seconds for the readings of one row


@dataclass(frozen=True)
class CellsOf(Metric):
    """What each passage alone says of the claims of the answer, or of the reference; the value means nothing."""

    name: ClassVar[str] = "cells"
    asks: ClassVar = (Claims, Support)

    side: Side = "answer"

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]  # depends on the side
        return (self.side, "contexts")

    @property
    def label(self) -> str:
        return f"{self.side}_cells"

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        claims = await judge.find(claims_of(sample, self.side))
        verdicts = await support(claims, sample.passages, sample, judge)
        verdicts = await with_cells(verdicts, sample.passages, sample, judge)
        return self.make_score(0.0, verdicts={f"{self.side}/contexts": verdicts})


#: What answers each need, under a name that no metric of a run has.
READERS: Mapping[str, Metric] = {
    ANSWER: Faithfulness(),
    REFERENCE: ContextRecall(),
    EACH_OTHER: AnswerCorrectness(weights=(1.0, 0.0)),
    ANSWER_CELLS: CellsOf("answer"),
    REFERENCE_CELLS: CellsOf("reference"),
    DIRECTNESS: AnswerDirectness(),
}


def prompts_for(missing: Sequence[str], facts: Facts) -> int:
    """JudgePrompts that reading this takes: one for the claims of each text not known yet, one for each reading."""
    known = {"answer": facts.answer is not None, "reference": facts.reference is not None}
    texts: set[str] = set()
    count = 0
    for name in missing:
        if name == DIRECTNESS:
            count += 1
        elif name == EACH_OTHER:
            if facts.short_reference:
                count += 1
                continue
            texts |= {"answer", "reference"}
            count += 2
        else:
            texts.add("answer" if name in (ANSWER, ANSWER_CELLS) else "reference")
            count += 1
    return count + sum(not known[text] for text in texts)


class StoredJudge(BaseJudge):
    """A judge in name alone: it finds what the store has of that judge, and asks nothing."""

    def __init__(self, judge: BaseJudge) -> None:
        self._judge = judge
        self.durable = judge.durable
        self.sees = judge.sees
        self.instructions = judge.instructions
        self.budgeted = self.free = True

    @property
    def fingerprint(self) -> str:
        return self._judge.fingerprint

    @property
    def address(self) -> str:
        return self._judge.address

    @property
    def detects_contradiction(self) -> bool:
        return self._judge.detects_contradiction

    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure | None:
        return self._judge.cannot(prompt, language)

    def add_instructions(self, prompt: JudgePrompt[Any]) -> JudgePrompt[Any]:
        return self._judge.add_instructions(prompt)

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        return [Answer(failure=JudgeFailure(Cause.INTERRUPTED, "not asked"), keep=False) for _ in prompts]


async def read(sample: Sample, missing: Sequence[str], judge: Judge) -> dict[str, Score]:
    """The scores that hold what was missing, by names that no metric has. Never raises for what a judge cannot."""
    metrics = [READERS[name] for name in missing]
    scored = await score_sample(sample, metrics, judge, deadline=DEADLINE, score_partial=True)
    return {f"\0{name}": score for name, score in scored.scores.items()}
