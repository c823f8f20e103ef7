"""A reply that cannot be used is asked for more often where the model's replies mostly can, and no longer where not."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import Cause
from assay.judges.llm.judge import MOST_TRIES, TRIES
from assay.judges.llm.openai import OpenAIJudge
from assay.judges.llm.reply_history import IN_VAIN, KNOWN, RECENT, ReplyHistory
from assay.prompts import Support
from tests._support.servers.openai_server import Call, OpenAIServer, Say
from tests.benchmarks import bench_faults
from tests.judges.conftest import PASSAGES, ask, claims

JudgeAt = Callable[..., OpenAIJudge]
PROSE = Say("Sorry, I would rather describe it.")


def support(n: int) -> Support:
    return Support(claims("The bridge opened in 1889."), PASSAGES, f"Question {n}?")


def of_question(call: Call, n: int) -> bool:
    return f"Question {n}?" in json.dumps(call.body["messages"])


@given(st.lists(st.booleans(), max_size=3 * RECENT))
def test_the_latest_replies_decide(usable: list[bool]) -> None:
    history = ReplyHistory()
    for one in usable:
        history.add(one)
    latest = usable[-RECENT:]
    assert history.mostly_usable == (len(latest) >= KNOWN and sum(latest) >= len(latest) / 2)


@pytest.mark.parametrize(("bad", "judged"), [(MOST_TRIES - 1, True), (MOST_TRIES, False)])
async def test_one_prompt_of_a_good_model_is_asked_again(bad: int, judged: bool, judge_at: JudgeAt) -> None:
    seen: list[Call] = []

    def plan(call: Call) -> Say | None:
        if not of_question(call, 99):
            return None
        seen.append(call)
        return PROSE if len(seen) <= bad else None

    with OpenAIServer(plan=plan) as server:
        judge = judge_at(server)
        await ask(judge, *(support(n) for n in range(KNOWN)))
        (answer,) = await ask(judge, support(99))
    assert len(seen) == MOST_TRIES
    assert (answer.failure is None) == judged
    if answer.failure is not None:
        assert answer.failure.cause is Cause.PARSE
    assert answer.usage.calls == MOST_TRIES  # what is asked again is counted


async def test_a_model_that_never_writes_json_is_asked_three_times(judge_at: JudgeAt) -> None:
    with OpenAIServer(plan=lambda call: PROSE) as server:
        judge = judge_at(server)
        answers = await ask(judge, *(support(n) for n in range(2 * KNOWN)))
        assert len(server.calls) == 2 * KNOWN * TRIES
    assert {answer.failure.cause for answer in answers if answer.failure} == {Cause.PARSE}


async def test_a_reply_that_was_cut_early_is_asked_for_once_more(judge_at: JudgeAt) -> None:
    """Two claims: once more as they are, and one by one where it is cut again."""
    cuts = 1
    seen: list[int] = []

    def plan(call: Call) -> Say | None:
        if not of_question(call, 99):
            return None
        seen.append(call.honest.count('"label"'))
        return Say(call.honest[:20], finish="length") if len(seen) <= cuts else None

    two = Support(claims("The bridge opened in 1889.", "It is red."), PASSAGES, "Question 99?")
    with OpenAIServer(plan=plan) as server:
        judge = judge_at(server)
        await ask(judge, *(support(n) for n in range(KNOWN)))
        (answer,) = await ask(judge, two)
        assert answer.failure is None
        assert len(seen) == 2
        assert seen[0] == seen[1]
        before = len(seen)
        cuts = before + 2
        (answer,) = await ask(judge, two)
        assert answer.failure is None
        assert len(seen) - before == 4  # twice whole, and each half


async def test_an_endpoint_that_cuts_by_its_own_limit_is_soon_not_asked_the_same_again(judge_at: JudgeAt) -> None:
    """It cuts whatever has more than one claim: of 20 prompts of two claims three are asked again in vain."""

    def plan(call: Call) -> Say | None:
        return Say(call.honest[:20], finish="length") if call.honest.count('"label"') > 1 else None

    two = [Support(claims(f"The bridge has {n} arches.", "It is red."), PASSAGES, "What of it?") for n in range(20)]
    with OpenAIServer(plan=plan) as server:
        judge = judge_at(server)
        await ask(judge, *(support(n) for n in range(KNOWN)))
        before = len(server.calls)
        for one in two:
            (answer,) = await ask(judge, one)
            assert answer.failure is None
        assert len(server.calls) - before == 20 * 3 + IN_VAIN  # whole, and each half


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_random_faults_cost_no_score(seed: int) -> None:
    """36% of attempts fail. 240 of 240 scores as without faults, for at most 1.7 times the calls."""
    clean, calls = bench_faults.measure()
    scores, made = bench_faults.measure(bench_faults.failing((0.15, 0.15, 0.06), seed))
    assert scores == clean
    assert len(scores) == bench_faults.SAMPLES * len(bench_faults.METRICS)
    assert made <= 1.75 * calls  # the order of requests in flight moves it by a few hundredths
