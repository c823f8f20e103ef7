"""The throttle: concurrency that adapts, limits that hold, pauses for all, and no turn lost to a cancellation."""

from __future__ import annotations

import asyncio
import random
import time

import pytest

from assay.judges.http.throttle import Throttle, shared_throttle


async def use(throttle: Throttle, seconds: float = 0.0, tokens: int = 0) -> float:
    """One call; the time at which it began."""
    turn = await throttle.enter(tokens)
    try:
        await asyncio.sleep(seconds)
        return turn.begun
    finally:
        throttle.leave(turn, succeeded=True)


async def test_concurrency_starts_low_and_grows_with_success() -> None:
    throttle = Throttle(maximum=10)
    most = 0

    async def watched() -> None:
        nonlocal most
        turn = await throttle.enter()
        most = max(most, throttle.in_flight)
        await asyncio.sleep(0.001)
        throttle.leave(turn, succeeded=True)

    await asyncio.gather(*(watched() for _ in range(8)))
    assert most == 8
    # twice as many after each full round, 10 at most
    await asyncio.gather(*(watched() for _ in range(60)))
    assert most == throttle.limit == 10
    assert throttle.in_flight == 0


async def test_a_burst_of_refusals_halves_once() -> None:
    throttle = Throttle(maximum=32)
    turns = [await throttle.enter() for _ in range(8)]
    for turn in turns:
        throttle.refused(turn, 0.0)
        throttle.leave(turn)
    assert throttle.limit == 4
    assert throttle.refusals == 8
    for expected in (2, 1, 1):
        turn = await throttle.enter()
        await asyncio.sleep(0.001)
        throttle.refused(turn, 0.0)
        throttle.leave(turn)
        assert throttle.limit == expected


async def test_a_pause_holds_up_everybody() -> None:
    throttle = Throttle()
    turn = await throttle.enter()
    throttle.refused(turn, 0.2)
    throttle.leave(turn)
    started = asyncio.get_running_loop().time()
    begun = await asyncio.gather(*(use(throttle) for _ in range(6)))
    assert min(begun) - started >= 0.19


async def test_requests_in_any_period_stay_within_the_limit() -> None:
    throttle = Throttle(requests_per_minute=5, period=0.2)
    begun = sorted(await asyncio.gather(*(use(throttle) for _ in range(16))))
    assert all(later - earlier >= 0.199 for earlier, later in zip(begun, begun[5:], strict=False))
    assert begun[-1] - begun[0] < 1.5


async def test_tokens_in_any_period_stay_within_the_limit() -> None:
    throttle = Throttle(tokens_per_minute=100, period=0.2)
    begun = sorted(await asyncio.gather(*(use(throttle, tokens=40) for _ in range(6))))
    # two of 40 fit into 100, three do not
    assert all(later - earlier >= 0.199 for earlier, later in zip(begun, begun[2:], strict=False))


async def test_real_token_counts_replace_estimates() -> None:
    throttle = Throttle(tokens_per_minute=100, period=5)
    turn = await throttle.enter(90)
    throttle.leave(turn, tokens=10, succeeded=True)
    await asyncio.wait_for(use(throttle, tokens=80), 1)


async def test_a_call_larger_than_the_limit_still_goes() -> None:
    await asyncio.wait_for(use(Throttle(tokens_per_minute=10), tokens=1000), 1)


@pytest.mark.parametrize("seed", range(10))
async def test_cancellations_lose_no_turn(seed: int) -> None:
    """Tasks cancelled at any moment, waiting or working: the others still get through, and the count returns to 0."""
    chance = random.Random(seed)
    throttle = Throttle(maximum=3, requests_per_minute=200, period=0.1)
    tasks = [asyncio.create_task(use(throttle, chance.random() * 0.004)) for _ in range(80)]
    for task in tasks:
        if chance.random() < 0.5:
            asyncio.get_running_loop().call_later(chance.random() * 0.05, task.cancel)
    results = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 10)
    assert any(isinstance(result, float) for result in results)
    assert throttle.in_flight == 0
    assert await asyncio.wait_for(use(throttle), 2)


async def test_a_turn_cancelled_as_it_is_given_goes_to_the_next() -> None:
    throttle = Throttle(maximum=1)
    turn = await throttle.enter()
    first, second = (asyncio.create_task(use(throttle)) for _ in range(2))
    await asyncio.sleep(0)
    throttle.leave(turn)  # gives the slot to the first ...
    first.cancel()  # ... which does not live to take it
    await asyncio.wait_for(second, 1)
    assert throttle.in_flight == 0


async def test_everybody_at_an_endpoint_shares_one() -> None:
    first = shared_throttle(("a", "key", "model"), maximum=5)
    assert shared_throttle(("a", "key", "model"), maximum=2) is first
    assert first.limit == first.maximum == 2
    assert shared_throttle(("a", "other key", "model"), maximum=5) is not first


def test_event_loops_do_not_share() -> None:
    async def get() -> Throttle:
        throttle = shared_throttle("same", maximum=1)
        await use(throttle)
        return throttle

    started = time.monotonic()
    throttles = [asyncio.run(get()) for _ in range(3)]
    assert len({id(throttle) for throttle in throttles}) == 3
    assert time.monotonic() - started < 5


async def test_a_turn_without_waiting_is_a_turn_like_any_other() -> None:
    throttle = Throttle(maximum=2, requests_per_minute=3)
    first, second = throttle.enter_now(5), throttle.enter_now()
    assert first is not None
    assert second is not None
    assert (first.tokens, throttle.in_flight) == (5, 2)
    assert throttle.enter_now() is None  # two are in flight already
    throttle.leave(first)
    waiting = asyncio.create_task(throttle.enter())  # takes the third and last turn of the minute
    await asyncio.sleep(0)
    throttle.leave(second)
    assert throttle.in_flight == 1
    assert throttle.enter_now() is None  # there is room for one more, and no turn in this minute
    assert throttle.in_flight == 1
    throttle.leave(await waiting)


async def test_nobody_overtakes_those_who_wait() -> None:
    throttle = Throttle(maximum=1)
    turn = throttle.enter_now()
    assert turn is not None
    waiting = asyncio.create_task(throttle.enter())
    await asyncio.sleep(0)
    throttle.leave(turn)  # which gives it to the one who waits, whose task has not gone on yet
    assert throttle.enter_now() is None
    throttle.leave(await waiting)
    assert throttle.enter_now() is not None


async def test_a_pause_leaves_no_turn_without_waiting() -> None:
    throttle = Throttle()
    turn = await throttle.enter()
    throttle.refused(turn, 0.05)
    throttle.leave(turn)
    assert throttle.enter_now() is None
    await asyncio.sleep(0.06)
    assert throttle.enter_now() is not None
