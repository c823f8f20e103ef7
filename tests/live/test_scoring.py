"""Scoring one sample: every failure is a reason in its metric's place, and only cancellation passes through."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import ClassVar

import pytest

from assay.errors import Cause
from assay.evaluation.score_sample import score_sample
from assay.judges.cache import JudgementCache
from assay.judges.protocol import Judge
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.base import Metric
from assay.records import Sample, Score

SAMPLE = Sample(answer="a")


@dataclass(frozen=True)
class Wait(Metric):
    """Takes its time, may refuse to be cancelled, may fail."""

    seconds: float = 0
    title: str = "wait"
    stubborn: bool = False
    fails: bool = False
    cancelled: ClassVar[list[str]] = []

    name: ClassVar[str] = "wait"
    needs: ClassVar = ("answer",)
    asks: ClassVar = ()

    @property
    def label(self) -> str:
        return self.title

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        try:
            await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.cancelled.append(self.title)
            if self.stubborn:
                await asyncio.sleep(30)
            raise
        if self.fails:
            raise ValueError("no")
        return self.make_score(1.0)


def desk() -> JudgementCache:
    return JudgementCache(ScriptedJudge())


async def test_all_at_once_in_the_order_given() -> None:
    took = []
    for _ in range(3):  # the machine may be busy with something else
        started = time.monotonic()
        scored = await score_sample(SAMPLE, [Wait(0.2, "b"), Wait(0.1, "a"), Wait(0.2, "c", fails=True)], desk())
        took.append(time.monotonic() - started)
    assert min(took) < 0.35
    assert list(scored.scores) == ["b", "a", "c"]
    assert scored.values == {"b": 1.0, "a": 1.0, "c": None}
    assert scored.scores["c"].error.cause == Cause.BUG
    assert scored.scores["c"].error.message == "c raised ValueError: no"


async def test_deadline_takes_only_what_is_late() -> None:
    scored = await score_sample(SAMPLE, [Wait(0, "quick"), Wait(30, "late")], desk(), deadline=0.1)
    assert scored.values == {"quick": 1.0, "late": None}
    assert scored.scores["late"].error.cause == Cause.TIMEOUT


async def test_a_metric_that_ignores_cancellation_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.evaluation.score_sample.GRACE", 0.1)
    started = time.monotonic()
    scored = await score_sample(SAMPLE, [Wait(30, "stubborn", stubborn=True)], desk(), deadline=0.1)
    assert time.monotonic() - started < 10
    assert scored.scores["stubborn"].error.cause == Cause.TIMEOUT


async def test_cancellation_reaches_the_metrics_and_passes_on() -> None:
    Wait.cancelled.clear()
    task = asyncio.create_task(score_sample(SAMPLE, [Wait(30, "x"), Wait(30, "y")], desk()))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(Wait.cancelled) == ["x", "y"]


@pytest.mark.parametrize("status", ["abandoned", "cancelled", "failed"])
async def test_partial_answers_are_scored_only_when_asked(status: str) -> None:
    sample = Sample(answer="a", status=status)  # type: ignore[arg-type]
    left = await score_sample(sample, [Wait()], desk())
    assert left.scores["wait"].error.cause == Cause.PARTIAL
    asked = await score_sample(sample, [Wait()], desk(), score_partial=True)
    assert asked.values == {"wait": 1.0}


async def test_no_metrics_no_scores() -> None:
    assert (await score_sample(SAMPLE, [], desk())).scores == {}
