"""One metric on one sample."""

from __future__ import annotations

import asyncio
from typing import Any

from assay.inquiries import Inquiry
from assay.judges.base import BaseJudge
from assay.judges.scripted import ScriptedJudge
from assay.metrics.systems import named
from assay.metrics.systems.base import SystemMetric
from assay.records import Sample, Score

#: What a judge must be able to do for some metrics, though it is not asked.
RULES = ("rating", "ask", "listing", "sorting", "criterion")


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
        self.inquiries: list[Inquiry[Any]] = []

    async def answer(self, inquiries):  # type: ignore[no-untyped-def]
        self.inquiries += inquiries
        return await super().answer(inquiries)


def inquiries(metric: SystemMetric | str, sample: Sample, **rules: Any) -> list[Inquiry[Any]]:
    """What a metric asks, in order."""
    judge = Keeping(**rules)
    asyncio.run((named(metric) if isinstance(metric, str) else metric).score(sample, judge))
    return judge.inquiries


def sections(metric: SystemMetric | str, sample: Sample, **rules: Any) -> dict[str, str]:
    """The titles and texts that its last question shows."""
    prompt = inquiries(metric, sample, **rules)[-1].prompt()
    assert prompt is not None
    return {one.title: one.text for one in prompt.material}
