"""One sample, and its score by a metric of ragas and a script."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.systems import named
from assay.metrics.systems.base import SystemMetric
from assay.records import Context, Sample, Score

FULL = Sample(
    question="Where is it?",
    contexts=(Context(text="It is in Rome. It is old."), Context(text="Nothing else.")),
    answer="It is in Rome.",
    reference="It is in Rome. It is old.",
)


def score(metric: SystemMetric | str, sample: Sample = FULL, **rules: Any) -> Score:
    made = named(metric) if isinstance(metric, str) else metric
    return asyncio.run(made.score(sample, ScriptedJudge(**rules)))


def original(metric: SystemMetric) -> SystemMetric:
    return replace(metric, profile="original")


def close(value: float) -> Any:
    return pytest.approx(value, abs=1e-15, rel=0)
