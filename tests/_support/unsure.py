"""A judge that is as unsure as a test wants, and what its probabilities lead one to expect of a count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics._answer_correctness import AnswerCorrectness
from assay.metrics.ragas.answer_correctness import AnswerCorrectness as RagasAnswerCorrectness
from assay.records import Context, Sample, Verdict

SAMPLE = Sample(
    question="Where?", contexts=(Context(text="All of it."),), answer="A is so. B is so. C is so.", reference="A is so."
)


def said(*probabilities: float | None) -> list[Verdict]:
    return [Verdict(label="supported" if (p or 0) >= 0.5 else "not_mentioned", probability=p) for p in probabilities]


class Unsure(ScriptedJudge):
    """Gives the claims of an answer these probabilities, in order."""

    def __init__(self, *probabilities: float) -> None:
        super().__init__(support=lambda claim, passage: "supported")
        self.probabilities = probabilities

    async def answer(self, prompts: Sequence[Any]) -> Sequence[Any]:
        answers = await super().answer(prompts)
        return [
            replace(answer, judgement=tuple(self._unsure(answer.judgement))) if prompt.name == "support" else answer
            for prompt, answer in zip(prompts, answers, strict=True)
        ]

    def _unsure(self, verdicts: Sequence[Verdict]) -> Sequence[Verdict]:
        changes = [
            {"probability": p, "label": "supported" if p >= 0.5 else "not_mentioned"} for p in self.probabilities
        ]
        return [
            replace(verdict, **change, cells=tuple(replace(cell, **change) for cell in verdict.cells))
            for verdict, change in zip(verdicts, changes, strict=False)
        ]


async def expects(metric: Any, value: float, part: str, expected: float) -> None:
    """Of three claims that are supported with 0.9, 0.6 and 0.3: this value, and that one of the probabilities."""
    if isinstance(metric, (AnswerCorrectness, RagasAnswerCorrectness)):
        metric = replace(metric, weights=(1.0, 0.0))
    nuggets = [{"text": "A is so."}, {"text": "B is so.", "importance": "okay"}]
    sample = replace(SAMPLE, metadata={"nuggets": nuggets})
    score = await metric.score(sample, Unsure(0.9, 0.6, 0.3))
    assert score.value == pytest.approx(value)
    assert score.parts[part] == pytest.approx(expected)
    sure = await metric.score(sample, ScriptedJudge(support=lambda claim, passage: "supported"))
    assert part not in sure.parts  # this judge gives no probabilities
