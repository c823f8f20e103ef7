"""The cache: one answer for equal prompts, one batch for those that meet, nobody waits for ever."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from assay import JudgeFailure
from assay.errors import Cause, StoreError
from assay.judges.base import BaseJudge
from assay.judges.cache import JudgementCache
from assay.judges.protocol import METER, Answer, Meter
from assay.prompts import Claims, Criterion, JudgePrompt
from assay.records import Usage, Verdict


class Yes(BaseJudge):
    """Says yes to everything, slowly, and keeps what it was asked."""

    fingerprint = "yes"

    def __init__(self, *, delay: float = 0.01, fail: JudgeFailure | None = None) -> None:
        self.batches: list[list[JudgePrompt[Any]]] = []
        self.delay = delay
        self.fail = fail
        self.cancelled = 0

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        self.batches.append(list(prompts))
        try:
            await asyncio.sleep(self.delay)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.fail is not None:
            return [Answer(failure=self.fail, usage=Usage(calls=1)) for _ in prompts]
        return [Answer(judgement=Verdict(label="yes"), usage=Usage(calls=1, prompt_tokens=10)) for _ in prompts]


def ask(name: str) -> Criterion:
    return Criterion(name, (("ANSWER", "x"),))


class Shelf:
    """A store in a dict."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def get_judgement(self, key: str) -> bytes | None:
        return self.kept.get(key)

    def put_judgement(self, key: str, prompt: str, judge: str, judgement: bytes) -> None:
        self.kept[key] = judgement


async def test_equal_prompts_are_answered_once_at_the_same_time_and_later():
    judge = Yes()
    cache = JudgementCache(judge)
    await asyncio.gather(*(cache.find(ask("a")) for _ in range(20)))
    await cache.find(ask("a"))
    assert judge.batches == [[ask("a")]]
    assert (cache.usage.calls, cache.cache_hits) == (1, 20)


async def test_what_meets_goes_in_one_batch_even_some_turns_apart():
    judge = Yes()
    cache = JudgementCache(judge)

    async def later(name: str, turns: int) -> Verdict:
        for _ in range(turns):
            await asyncio.sleep(0)
        return await cache.find(ask(name))

    await asyncio.gather(later("a", 0), asyncio.gather(later("b", 0), later("c", 1)))
    assert [sorted(i.question for i in batch) for batch in judge.batches] == [["a", "b", "c"]]


async def test_the_one_who_asked_first_pays():
    cache = JudgementCache(Yes())
    costs = []

    async def metered() -> None:
        meter = Meter()
        METER.set(meter)
        await cache.find(ask("a"))
        costs.append(meter.usage.calls)

    await asyncio.gather(*(asyncio.create_task(metered()) for _ in range(4)))
    assert sorted(costs) == [0, 0, 0, 1]


async def test_judgements_are_in_the_store_before_anybody_sees_them():
    shelf, judge = Shelf(), Yes()
    await JudgementCache(judge, shelf).find(ask("a"))
    assert list(shelf.kept) == [ask("a").key("yes")]
    other = Yes()
    assert (await JudgementCache(other, shelf).find(ask("a"))).label == "yes"
    assert other.batches == []


async def test_a_judge_that_is_not_durable_leaves_the_store_alone():
    shelf, judge = Shelf(), Yes()
    judge.durable = False
    await JudgementCache(judge, shelf).find(ask("a"))
    assert shelf.kept == {}


@pytest.mark.parametrize(("cause", "asked"), [(Cause.PARSE, 1), (Cause.CONTENT_FILTER, 1), (Cause.TIMEOUT, 2)])
async def test_failures_are_remembered_only_where_asking_again_cannot_help(cause, asked):
    shelf, judge = Shelf(), Yes(fail=JudgeFailure(cause, "no", raw="raw"))
    cache = JudgementCache(judge, shelf)
    for _ in range(2):
        with pytest.raises(JudgeFailure) as caught:
            await cache.find(ask("a"))
        assert (caught.value.cause, caught.value.raw) == (cause, "raw")
    assert len(judge.batches) == asked
    assert shelf.kept == {}


async def test_cancelling_one_of_two_who_wait_leaves_the_other_its_answer():
    judge = Yes(delay=0.05)
    cache = JudgementCache(judge)
    first, second = (asyncio.create_task(cache.find(ask("a"))) for _ in range(2))
    await asyncio.sleep(0.02)
    first.cancel()
    assert (await second).label == "yes"
    assert judge.cancelled == 0


async def test_cancelling_all_who_wait_cancels_the_call():
    judge = Yes(delay=10)
    cache = JudgementCache(judge)
    tasks = [asyncio.create_task(cache.find(ask("a"))) for _ in range(2)]
    await asyncio.sleep(0.02)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(0.01)
    assert judge.cancelled == 1
    judge.delay = 0
    assert (await cache.find(ask("a"))).label == "yes"  # and it can be asked again


async def test_a_judge_that_raises_or_miscounts_is_a_failure_not_a_hang():
    class Broken(Yes):
        async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
            if len(prompts) == 2:
                return [Answer(judgement=Verdict(label="yes"))]
            raise KeyError("oops")

    cache = JudgementCache(Broken())
    with pytest.raises(JudgeFailure, match="KeyError") as caught:
        await cache.find(ask("a"))
    assert caught.value.cause == Cause.BUG
    answers = await asyncio.gather(cache.find(ask("b")), cache.find(ask("c")), return_exceptions=True)
    assert all(isinstance(a, JudgeFailure) and "1 answers to 2" in a.message for a in answers)


@pytest.mark.parametrize("groups", [lambda i: [], lambda i: 1 / 0, lambda i: [i[:1], i[:1]]])
async def test_a_grouping_that_loses_prompts_loses_none(groups):
    judge = Yes()
    judge.groups = groups
    cache = JudgementCache(judge)
    found = await asyncio.wait_for(asyncio.gather(cache.find(ask("a")), cache.find(ask("b"))), 5)
    assert [verdict.label for verdict in found] == ["yes", "yes"]


async def test_groups_do_not_wait_for_each_other():
    class Slow(Yes):
        def groups(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Sequence[JudgePrompt[Any]]]:
            return [[prompt] for prompt in prompts]

        async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
            self.delay = 10 if isinstance(prompts[0], Claims) else 0
            return await super().answer(prompts)

    cache = JudgementCache(Slow())
    slow = asyncio.create_task(cache.find(Claims("never")))
    assert (await asyncio.wait_for(cache.find(ask("quick")), 5)).label == "yes"
    slow.cancel()


async def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr("assay.judges.cache.MEMORY", 10)
    cache = JudgementCache(Yes(delay=0))
    for n in range(50):
        await cache.find(ask(str(n)))
    assert len(cache._memory) == 10
    assert cache._calls == {}


# ---- what one prompt breaks is its own failure


class Says(Yes):
    """Gives what a mapping says for each question: a judgement, or an exception to raise."""

    def __init__(self, judgements: dict[str, Any]) -> None:
        super().__init__()
        self.judgements = judgements

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        self.batches.append(list(prompts))
        return [Answer(judgement=self.judgements[prompt.question]) for prompt in prompts]


@pytest.mark.parametrize(
    ("judgement", "says"),
    [
        (Verdict(label="Yes"), "none of yes, no"),
        (Verdict(label="relevant"), "none of yes, no"),
        (Verdict(label="yes", probability=7.0), "not in"),
        ("yes", "does not answer its prompt criterion"),
        (None, "does not answer its prompt criterion"),
        (["yes"], "does not answer its prompt criterion"),
    ],
)
async def test_a_judgement_that_does_not_answer_fails_alone_and_is_never_kept(judgement, says):
    shelf, judge = Shelf(), Says({"a": judgement, "b": Verdict(label="no")})
    cache = JudgementCache(judge, shelf)
    wrong, right = await asyncio.gather(cache.find(ask("a")), cache.find(ask("b")), return_exceptions=True)
    assert isinstance(wrong, JudgeFailure)
    assert wrong.cause is Cause.BUG
    assert says in wrong.message
    assert right == Verdict(label="no")
    assert list(shelf.kept) == [ask("b").key("yes")]


async def test_a_judgement_that_cannot_be_written_fails_under_its_own_name_and_its_neighbour_keeps_its_judgement():
    half = Verdict(label="yes", reason="half an emoji \ud83d")
    shelf, judge = Shelf(), Says({"a": half, "b": Verdict(label="no")})
    cache = JudgementCache(judge, shelf)
    for _ in range(2):
        wrong, right = await asyncio.gather(cache.find(ask("a")), cache.find(ask("b")), return_exceptions=True)
        assert isinstance(wrong, JudgeFailure)
        assert wrong.cause is Cause.BUG
        assert "is no JSON" in wrong.message
        assert right == Verdict(label="no")
    assert len(judge.batches) == 1  # and it is not paid for again


async def test_a_store_that_is_full_loses_nothing_that_was_paid_for():
    class Full(Shelf):
        def put_judgement(self, *_: Any) -> None:
            raise StoreError("the disk is full")

    judge = Says({"a": Verdict(label="yes"), "b": Verdict(label="no")})
    cache = JudgementCache(judge, Full())
    for _ in range(2):
        found = await asyncio.gather(cache.find(ask("a")), cache.find(ask("b")))
        assert [verdict.label for verdict in found] == ["yes", "no"]
    assert len(judge.batches) == 1
    assert "disk is full" in str(cache.store_error)


@pytest.mark.parametrize("blob", [b"", b"{", b'["\xff', b'{"label": 5}', b'{"label": "maybe"}', b"[]"])
async def test_what_does_not_load_is_asked_for_again(blob):
    shelf = Shelf()
    shelf.kept[ask("a").key("yes")] = blob
    judge = Yes()
    assert (await JudgementCache(judge, shelf).find(ask("a"))).label == "yes"
    assert len(judge.batches) == 1
    assert (await JudgementCache(Yes(), shelf).find(ask("a"))).label == "yes"  # and what is kept then is whole


async def test_who_joins_a_dying_call_inherits_no_cancellation():
    """A times out; the judge needs a moment to put itself away; B asks the same meanwhile."""

    class Slow(Yes):
        async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
            first = not self.batches
            self.batches.append(list(prompts))
            try:
                if first:
                    await asyncio.sleep(10)
            finally:
                await asyncio.sleep(0.05)
            return [Answer(judgement=Verdict(label="yes"))] * len(prompts)

    judge = Slow()
    cache = JudgementCache(judge)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(cache.find(ask("a")), 0.05)
    assert (await asyncio.wait_for(cache.find(ask("a")), 5)).label == "yes"


async def test_a_judge_that_is_cancelled_from_within_is_asked_once_more_and_then_named():
    class Cancelled(Yes):
        async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
            self.batches.append(list(prompts))
            raise asyncio.CancelledError

    judge = Cancelled()
    async with asyncio.TaskGroup() as group:  # a foreign cancellation would look like the group's own

        async def find() -> Cause:
            with pytest.raises(JudgeFailure) as caught:
                await JudgementCache(judge).find(ask("a"))
            return caught.value.cause

        task = group.create_task(find())
    assert task.result() is Cause.INTERRUPTED
    assert len(judge.batches) == 2


async def test_a_prompt_that_breaks_is_a_failure_that_names_it():
    class Broken(Criterion):
        def content(self) -> Any:
            raise ValueError("no such text")

    with pytest.raises(JudgeFailure, match="no such text") as caught:
        await JudgementCache(Yes()).find(Broken("a", ()))
    assert caught.value.cause is Cause.BUG


async def test_a_store_that_breaks_in_any_way_keeps_nobody_waiting():
    class Broken(Shelf):
        @property
        def secret(self) -> bytes:
            raise StopIteration

        def get_judgement(self, key: str) -> bytes | None:
            raise RuntimeError("gone")

    cache = JudgementCache(Yes(), Broken())
    assert (await asyncio.wait_for(cache.find(ask("a")), 10)).label == "yes"
    assert cache.store_error is not None


async def test_a_judge_that_would_end_the_process_is_a_failure():
    class Exits(Yes):
        async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
            raise SystemExit(3)

    with pytest.raises(JudgeFailure, match="SystemExit: 3") as caught:
        await JudgementCache(Exits()).find(ask("a"))
    assert caught.value.cause is Cause.BUG
