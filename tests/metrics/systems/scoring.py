"""One metric on one sample."""

from __future__ import annotations

import asyncio
from typing import Any

from assay.judges.base import BaseJudge
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.systems import named
from assay.metrics.systems.base import SystemMetric
from assay.prompts import JudgePrompt
from assay.records import Sample, Score

#: What a judge must be able to do for some metrics, though it is not asked.
RULES = ("rating", "question", "extraction", "classification", "criterion")


def score(metric: SystemMetric, sample: Sample, judge: BaseJudge | None = None) -> Score:
    """The score of a sample; without a judge, by one that answers nothing but claims."""
    return asyncio.run(metric.score(sample, judge or ScriptedJudge()))


def measured(metric: SystemMetric | str, sample: Sample, **rules: Any) -> Score:
    """The score of a sample by a script with these rules."""
    made = named(metric) if isinstance(metric, str) else metric
    return asyncio.run(made.score(sample, Keeping(**rules)))


class Keeping(ScriptedJudge):
    """Keeps what it is asked."""

    def __init__(self, **rules: Any) -> None:
        super().__init__(**{name: {} for name in RULES} | rules)
        self.prompts: list[JudgePrompt[Any]] = []

    async def answer(self, prompts):  # type: ignore[no-untyped-def]
        self.prompts += prompts
        return await super().answer(prompts)


def prompts(metric: SystemMetric | str, sample: Sample, **rules: Any) -> list[JudgePrompt[Any]]:
    """What a metric asks, in order."""
    judge = Keeping(**rules)
    asyncio.run((named(metric) if isinstance(metric, str) else metric).score(sample, judge))
    return judge.prompts


def sections(metric: SystemMetric | str, sample: Sample, **rules: Any) -> dict[str, str]:
    """The titles and texts that its last question shows."""
    content = prompts(metric, sample, **rules)[-1].content()
    assert content is not None
    return {one.title: one.text for one in content.material}
