from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from assay.errors import Cause, JudgeFailure
from assay.judges.scripted import ScriptedJudge
from assay.metrics import METRICS
from assay.metrics.readings import cosines, support, together
from assay.records import Claim, Context, Sample, Span

SAMPLE = Sample(
    question="Where was he born?", contexts=(Context(text="In Ulm."),), answer="Ulm.", reference="He was born in Ulm."
)


class Batches(ScriptedJudge):
    """Keeps the names of what came up together."""

    def __init__(self, **rules: Any) -> None:
        super().__init__(**rules)
        self.batches: list[list[str]] = []

    def groups(self, inquiries: Sequence[Any]) -> Sequence[Sequence[Any]]:
        self.batches.append([inquiry.name for inquiry in inquiries])
        return super().groups(inquiries)


@pytest.mark.parametrize(
    ("name", "batches"),
    [
        ("answer_correctness", [["claims", "claims", "similarity"], ["support", "support"]]),
        ("noise_sensitivity_relevant", [["claims", "claims"], ["support", "support", "support"]]),
        ("context_entity_recall", [["entities", "entities"]]),
        ("summarization_score", [["key_questions"], ["checklist"]]),
    ],
)
async def test_what_can_be_asked_together_is(name: str, batches: list[list[str]]) -> None:
    judge = Batches(
        support={},
        similarity=lambda *_: 0.5,
        entities=lambda text: ["Ulm"],
        key_questions=lambda text: ["A?", "B?"],
        criterion=lambda *_: True,
    )
    await METRICS[name]().score(SAMPLE, judge)
    assert [sorted(batch) for batch in judge.batches] == batches


async def test_together_raises_the_first_failure_after_all_have_ended() -> None:
    ended = []

    async def work(name: str, turns: int, failure: Exception | None) -> str:
        for _ in range(turns):
            await asyncio.sleep(0)
        ended.append(name)
        if failure is not None:
            raise failure
        return name

    first, second = JudgeFailure(Cause.TIMEOUT, "first"), JudgeFailure(Cause.PARSE, "second")
    with pytest.raises(JudgeFailure, match="first"):
        await together(work("a", 5, first), work("b", 1, second), work("c", 9, None))
    assert sorted(ended) == ["a", "b", "c"]
    assert await together(work("a", 2, None), work("b", 1, None)) == ("a", "b")


async def test_together_leaves_nothing_running_when_cancelled() -> None:
    cancelled = []

    async def work(name: str) -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(name)
            raise

    task = asyncio.create_task(together(work("a"), work("b")))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cancelled == ["a", "b"]


async def test_no_text_supports_nothing_and_nobody_is_asked() -> None:
    judge = ScriptedJudge()
    claim = Claim(text="He was born in Ulm.", span=Span(0, 19))
    assert await support((), ("In Ulm.",), SAMPLE, judge) == ()
    (verdict,) = await support((claim,), (" ", ""), SAMPLE, judge)
    assert (verdict.label, verdict.claim, len(verdict.cells)) == ("not_mentioned", claim, 2)
    assert not judge.asked


@pytest.mark.parametrize(("given", "expected"), [(1.0000002, 1.0), (-1.0000002, -1.0), (0.3, 0.3)])
async def test_cosines_just_outside_the_range_are_rounding(given: float, expected: float) -> None:
    judge = ScriptedJudge(similarity=lambda *_: given)
    assert await cosines("a", ("b",), judge) == (expected,)


@pytest.mark.parametrize("given", [float("nan"), float("inf")])
async def test_cosine_that_is_no_number_is_a_failure(given: float) -> None:
    with pytest.raises(JudgeFailure) as caught:
        await cosines("a", ("b",), ScriptedJudge(similarity=lambda *_: given))
    assert caught.value.cause == Cause.BUG
    assert "no cosine" in caught.value.message
