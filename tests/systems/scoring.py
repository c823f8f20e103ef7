"""One metric on one sample."""

from __future__ import annotations

import asyncio

from assay.judges.base import BaseJudge
from assay.judges.scripted import ScriptedJudge
from assay.records import Sample, Score
from assay.systems.base import SystemMetric


def score(metric: SystemMetric, sample: Sample, judge: BaseJudge | None = None) -> Score:
    """The score of a sample; without a judge, by one that answers nothing but claims."""
    return asyncio.run(metric.score(sample, judge or ScriptedJudge()))
