"""An endpoint that hangs costs what it usually takes; one that never answers is given up as a whole."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import Cause
from assay.judges.http.latency import KNOWN, LEAST, Latency
from assay.judges.http.throttle import Throttle
from assay.judges.llm.openai import OpenAIJudge
from assay.prompts import Support
from tests._support.servers.openai_server import Call, OpenAIServer, Say
from tests.judges.conftest import PASSAGES, ask, claims

JudgeAt = Callable[..., OpenAIJudge]


def support(n: int = 0) -> Support:
    return Support(claims("The bridge opened in 1889."), PASSAGES, f"Question {n}?")


def test_an_attempt_may_take_a_multiple_of_what_is_usual() -> None:
    latency = Latency()
    for n in range(KNOWN):
        assert latency.allowed(300, 60.0, 0) == 60.0  # nothing is known yet
        latency.answered(5.0, 300, float(n))
    # 5 s for 200 + 300 tokens, four times that for as many; a longer reply has longer, a further attempt twice as long
    assert latency.allowed(300, 60.0, 0) == pytest.approx(20.0)
    assert latency.allowed(800, 60.0, 0) == pytest.approx(40.0)
    assert latency.allowed(300, 60.0, 1) == pytest.approx(40.0)
    assert latency.allowed(300, 60.0, 5) == 60.0


@given(st.lists(st.floats(0.0, 100.0), min_size=KNOWN, max_size=200), st.integers(0, 5000), st.integers(0, 30))
def test_time_allowed_is_always_within_bounds(seconds: list[float], tokens: int, attempt: int) -> None:
    latency = Latency()
    for one in seconds:
        latency.answered(one, 100, 0.0)
    assert LEAST <= latency.allowed(tokens, 60.0, attempt) <= 60.0


def test_an_endpoint_is_silent_only_after_a_whole_time_out_without_any_answer() -> None:
    latency = Latency()
    latency.began(100.0)
    for _ in range(10):
        latency.unanswered()
    assert latency.silent_for(150.0, 60.0) is None  # a hiccup
    assert latency.silent_for(161.0, 60.0) is None  # one goes to find out
    assert latency.silent_for(162.0, 60.0) == pytest.approx(62.0)
    latency.answered(1.0, 100, 163.0)
    assert latency.silent_for(300.0, 60.0) is None
    assert math.isfinite(latency.allowed(100, 60.0, 0))


@pytest.mark.long
async def test_a_call_that_hangs_is_cut_after_a_multiple_of_what_the_endpoint_takes(judge_at: JudgeAt) -> None:
    """30 calls of some milliseconds, then one that hangs at first: it is answered within seconds, not after 60."""
    hung: list[Call] = []

    def once(call: Call) -> Say | None:
        if "Question 99?" in call.reading.user and not hung:  # type: ignore[union-attr]
            hung.append(call)
            return Say(hang=True)
        return None

    with OpenAIServer(plan=once) as server:
        judge = judge_at(server)
        await ask(judge, *(support(n) for n in range(30)))
        began = time.monotonic()
        (answer,) = await ask(judge, support(99))
        assert answer.failure is None
        assert time.monotonic() - began < 20.0
    assert len(hung) == 1


@pytest.mark.long
async def test_an_endpoint_that_never_answers_is_given_up_for_all_that_wait(judge_at: JudgeAt) -> None:
    """40 prompts, each of which would have two attempts of 1 s and a deadline of 60: all are over in a few."""
    with OpenAIServer(plan=lambda call: Say(hang=True)) as server:
        judge = judge_at(server, timeout=1.0, deadline=60.0)
        began = time.monotonic()
        answers = await asyncio.wait_for(ask(judge, *(support(n) for n in range(40))), 60)
        took = time.monotonic() - began
    assert {answer.failure.cause for answer in answers} == {Cause.TIMEOUT}  # type: ignore[union-attr]
    assert any("has not answered anything" in answer.failure.message for answer in answers)  # type: ignore[union-attr]
    assert took < 20.0


async def test_800_calls_at_width_200_take_at_most_10_latencies() -> None:
    """On a clock of latencies: everything in flight ends at the same tick, as with an endpoint of even speed."""
    throttle = Throttle(maximum=200)
    waiting: list[asyncio.Future[None]] = []

    async def call() -> None:
        turn = await throttle.enter()
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting.append(done)
        await done
        throttle.leave(turn, succeeded=True)

    calls = asyncio.gather(*(call() for _ in range(800)))
    latencies = 0
    while not calls.done():
        for _ in range(5):
            await asyncio.sleep(0)
        flight, waiting[:] = list(waiting), []
        if flight:
            latencies += 1
            assert len(flight) <= 200
        for done in flight:
            done.set_result(None)
    assert latencies <= 10  # 8, 16, 32, 64, 128, 200, 200, 152


def test_after_a_refusal_the_throttle_feels_its_way() -> None:
    async def limits() -> list[int]:
        throttle = Throttle(maximum=64)
        turn = await throttle.enter()
        throttle.refused(turn, 0.0)
        throttle.leave(turn)
        seen = []
        for _ in range(3):
            for _ in range(throttle.limit):
                turn = await throttle.enter()
                throttle.leave(turn, succeeded=True)
            seen.append(throttle.limit)
        return seen

    assert asyncio.run(limits()) == [5, 6, 7]  # 8, halved to 4, then one more a round


async def test_embeddings_and_chat_share_the_width_of_their_endpoint(judge_at: JudgeAt) -> None:
    from assay.prompts import Similarity

    most = 0

    def watch(call: Call) -> Any:
        nonlocal most
        most = max(most, server.now)
        return None

    with OpenAIServer(plan=watch, delay=0.02) as server:
        judge = judge_at(server, embedding_model="e", max_concurrency=4)
        await ask(judge, *(support(n) for n in range(12)))
        await asyncio.gather(*(ask(judge, support(100 + n), Similarity(f"text {n}", ("x",))) for n in range(12)))
    assert most <= 4
