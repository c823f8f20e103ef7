"""The judge against a real server on this machine: answers, faults, limits, cost."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.errors import Cause, InputError
from assay.judges.cache import JudgementCache
from assay.judges.http.throttle import Throttle, shared_throttle
from assay.judges.llm.openai import OpenAIJudge
from assay.judges.resolve import resolve_judge
from assay.prompts import (
    BackQuestions,
    Claims,
    Classification,
    Criterion,
    Directness,
    Entities,
    Extraction,
    KeyQuestions,
    Rating,
    Similarity,
    Support,
    Usefulness,
)
from assay.records import Usage
from tests._support.servers.openai_server import Behaviour, Call, Faults, OpenAIServer, Say
from tests.judges.conftest import PASSAGES, ask, claims

JudgeAt = Callable[..., OpenAIJudge]

QUESTION = "When did the bridge open and how long is it?"
ANSWER = "The bridge opened in 1889. It is 330 metres long. It was painted green."
REFERENCE = "The bridge opened in 1889. It is 330 metres long."


def throttle_of(judge: OpenAIJudge) -> Throttle:
    return shared_throttle((judge.endpoint.name, judge.endpoint.address.key), **judge.endpoint.settings.limits)


def support(n: int = 0) -> Support:
    return Support(claims("The bridge opened in 1889."), PASSAGES, f"Question {n}?")


async def test_every_prompt_is_answered(judge_at: JudgeAt) -> None:
    prompts: list[Any] = [
        Claims(ANSWER, QUESTION),
        support(),
        Usefulness(QUESTION, PASSAGES, REFERENCE),
        BackQuestions(ANSWER),
        Entities(PASSAGES),
        Criterion("Is it about a bridge?", (("ANSWER", ANSWER),)),
        Rating("How close is it?", ((1, "not"), (2, "near"), (3, "same")), (("A", ANSWER), ("B", REFERENCE))),
        KeyQuestions(ANSWER),
        Similarity(ANSWER, (REFERENCE, ANSWER)),
        Directness(QUESTION, ANSWER),
        Extraction("statements", "List the statements of the ANSWER.", (("ANSWER", ANSWER),)),
        Classification(
            "known", "Does the ANSWER say it?", (ANSWER, "Xyz."), (("yes", "so"), ("no", "not")), (("A", ANSWER),)
        ),
    ]
    with OpenAIServer() as server:
        answers = await ask(judge_at(server, embedding_model="e", logprobs=True), *prompts)
    assert [answer.failure for answer in answers] == [None] * len(prompts)
    found = [answer.judgement for answer in answers]
    assert [claim.text for claim in found[0]] == ANSWER.replace(". ", ".|").split("|")
    assert found[1][0].label == "supported"
    # by the server's tokens 0.15 is shared by "contradicted", "not", "together" and "useful"; two were not offered
    assert found[1][0].probability == pytest.approx(0.8 / (0.8 + 0.15 * 2 / 4))
    assert [verdict.label for verdict in found[2]] == ["useful", "not_useful"]
    assert len(found[3].questions) == 3
    assert found[5].label == "yes"
    assert found[10] == tuple(ANSWER.replace(". ", ".|").split("|"))
    assert [verdict.label for verdict in found[11]] == ["yes", "no"]
    assert found[6].level in (1, 2, 3)
    assert found[6].expected is not None
    assert 0.5 < found[8][0] < 1.0
    assert found[8][1] == 1.0
    assert (found[9].label, found[9].probability) == ("direct", pytest.approx(0.8 / 0.95))
    assert [quote.text for quote in found[9].evidence] == ["The bridge opened in 1889."]
    for prompt, judgement in zip(prompts, found, strict=True):
        assert type(prompt).load(type(prompt).dump(judgement)) == judgement


async def test_the_five_usual_metrics_take_eight_calls(judge_at: JudgeAt) -> None:
    """What faithfulness, answer relevancy, context precision, context recall and answer correctness ask of a sample."""
    contexts = (*PASSAGES, "Bananas are yellow.", "Rivers flow.", "The bridge is made of iron.")
    with OpenAIServer() as server:
        desk = JudgementCache(judge_at(server, embedding_model="e"))
        answer, reference, back, _, _ = await asyncio.gather(
            desk.find(Claims(ANSWER, QUESTION)),
            desk.find(Claims(REFERENCE, QUESTION)),
            desk.find(BackQuestions(ANSWER)),
            desk.find(Usefulness(QUESTION, contexts, REFERENCE)),
            desk.find(Claims(ANSWER, QUESTION)),
        )
        await asyncio.gather(
            desk.find(Similarity(QUESTION, back.questions)),
            desk.find(Support(answer, contexts, QUESTION)),
            desk.find(Support(reference, contexts, QUESTION)),
            desk.find(Support(answer, (REFERENCE,), QUESTION)),
            desk.find(Support(reference, (ANSWER,), QUESTION)),
        )
        assert len(server.chats) == 8  # two texts in claims, four matrices, usefulness, back-questions
        assert server.count("embeddings") == 1
        assert desk.usage.calls == len(server.chats) + 1


async def test_cost_is_what_the_endpoint_counted(judge_at: JudgeAt) -> None:
    with OpenAIServer() as server:
        (answer,) = await ask(judge_at(server), support())
    assert answer.usage.calls == 1
    assert answer.usage.prompt_tokens
    assert answer.usage.completion_tokens
    assert answer.usage.cached_tokens == 0
    with OpenAIServer(usage=False) as server:
        (answer,) = await ask(judge_at(server), support())
    assert answer.usage == Usage(calls=1, prompt_tokens=None, completion_tokens=None, cached_tokens=None)


@pytest.mark.parametrize(
    ("fault", "calls"),
    [("error_500", 2), ("dropped", 2), ("rate_limited", 2), ("malformed", 2), ("think", 1), ("fenced", 1)],
)
async def test_faults_that_pass_leave_a_verdict(judge_at: JudgeAt, fault: str, calls: int) -> None:
    with OpenAIServer(faults=Faults(**{fault: 1.0})) as server:
        (answer,) = await ask(judge_at(server), support())
        assert answer.failure is None, answer.failure
        assert answer.judgement[0].label == "supported"
        assert len(server.calls) == calls


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ("error_500", Cause.CONNECTION),
        ("dropped", Cause.CONNECTION),
        ("rate_limited", Cause.RATE_LIMITED),
        ("malformed", Cause.PARSE),
        ("truncated", Cause.TRUNCATED),
        ("content_filter", Cause.CONTENT_FILTER),
        ("refusal", Cause.REFUSED),
        ("silent", Cause.TIMEOUT),
    ],
)
async def test_faults_that_stay_are_told_by_name(judge_at: JudgeAt, fault: str, cause: Cause) -> None:
    with OpenAIServer(faults=Faults(repeat=None, **{fault: 1.0}), retry_after=0.0) as server:
        judge = judge_at(server, max_attempts=3, timeout=0.1 if fault == "silent" else 5)
        (answer,) = await ask(judge, support())
    assert answer.failure is not None
    assert answer.failure.cause is cause
    if fault not in ("dropped", "silent"):
        assert answer.failure.raw


async def test_a_mixture_of_faults_scores_what_can_be_scored(judge_at: JudgeAt) -> None:
    shares = {"error_500": 0.1, "rate_limited": 0.1, "malformed": 0.1, "truncated": 0.1, "dropped": 0.1}
    shares |= {"think": 0.1, "fenced": 0.1, "content_filter": 0.05, "refusal": 0.05}
    with OpenAIServer(faults=Faults(seed=1, **shares)) as server:
        answers = await ask(judge_at(server), *(support(n) for n in range(60)))
        again = len(server.calls) - 60
    causes = {answer.failure.cause for answer in answers if answer.failure}
    assert causes <= {Cause.CONTENT_FILTER, Cause.REFUSED, Cause.TRUNCATED, Cause.PARSE}
    assert sum(answer.failure is None for answer in answers) >= 40
    assert {answer.judgement[0].label for answer in answers if not answer.failure} == {"supported"}
    assert 0 < again <= 60


@pytest.mark.long
async def test_calls_that_never_end_cost_their_own_prompt_only(judge_at: JudgeAt) -> None:
    def three_hang(call: Call) -> Say | None:
        return Say(hang=True) if any(f"Question {n}?" in call.reading.user for n in (3, 30, 60)) else None  # type: ignore[union-attr]

    for deadline in (1.0, 4.0, 16.0):  # longer where the machine is busy with something else
        with OpenAIServer(plan=three_hang) as server:
            started = time.monotonic()
            answers = await ask(judge_at(server, deadline=deadline), *(support(n) for n in range(100)))
            took = time.monotonic() - started
        failed = [n for n, answer in enumerate(answers) if answer.failure]
        if len(failed) == 3 and took < deadline * 3 + 8:
            break
    assert took < deadline * 3 + 8
    assert failed == [3, 30, 60]
    assert {answers[n].failure.cause for n in failed} == {Cause.TIMEOUT}  # type: ignore[union-attr]


@pytest.mark.long
async def test_a_strict_rate_loses_nothing(judge_at: JudgeAt) -> None:
    """3 calls a period, then 60: every prompt is answered, and refusals stop once the pace is found."""
    behaviour = Behaviour(allowed=3, period=0.4)
    with OpenAIServer(behaviour) as server:
        first = asyncio.create_task(ask(judge_at(server), *(support(n) for n in range(40))))
        await asyncio.sleep(1.5)
        behaviour.allowed = 60
        answers = await first
        refused = sum(call.status == 429 for call in server.calls)
    assert [answer.failure for answer in answers] == [None] * 40
    assert refused <= 40


async def test_a_used_up_quota_is_not_waited_for(judge_at: JudgeAt) -> None:
    body = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    with OpenAIServer(plan=lambda call: Say(status=429, body=body)) as server:
        (answer,) = await ask(judge_at(server), support())
        assert len(server.calls) == 1
    assert answer.failure is not None
    assert answer.failure.cause is Cause.RATE_LIMITED


async def test_concurrency_stays_within_bounds(judge_at: JudgeAt) -> None:
    with OpenAIServer(delay=0.02) as server:
        await ask(judge_at(server, max_concurrency=4), *(support(n) for n in range(30)))
        assert server.most == 4


async def test_a_wrong_key_fails_at_once_and_clearly(judge_at: JudgeAt) -> None:
    with OpenAIServer(key="right") as server:
        answers = await ask(judge_at(server, api_key="wrong-key"), support(1), support(2))
        assert len(server.calls) == 2
    assert {answer.failure.cause for answer in answers if answer.failure} == {Cause.AUTH}


async def test_an_unknown_model_is_named(judge_at: JudgeAt) -> None:
    with OpenAIServer(models={"other"}) as server:
        (answer,) = await ask(judge_at(server), support())
        assert len(server.calls) == 1
    assert answer.failure is not None
    assert answer.failure.cause is Cause.NO_MODEL
    assert "'fake'" in answer.failure.message


async def test_nobody_there() -> None:
    judge = OpenAIJudge("fake", base_url="http://127.0.0.1:9/v1", max_attempts=2, retry_base=0.01)
    (answer,) = await ask(judge, support())
    await judge.release()
    assert answer.failure is not None
    assert answer.failure.cause is Cause.CONNECTION
    assert "cannot be reached" in answer.failure.message
    assert "2 attempts" in answer.failure.message


@pytest.mark.parametrize(
    ("say", "cause"),
    [
        (Say(body="<html>a proxy</html>"), Cause.CONNECTION),
        (Say(body={"choices": []}), Cause.CONNECTION),
        (Say(body={"error": {"message": "upstream is down", "code": 502}}), Cause.CONNECTION),
        (Say(body={"error": {"message": "no", "code": 403}}), Cause.AUTH),
        (Say(status=400, body="not json"), Cause.BAD_REQUEST),
        (Say(status=400, body={"detail": [{"msg": "bad"}]}), Cause.BAD_REQUEST),
        (Say(status=400, body={"error": "prompt is too long: 9000 tokens"}), Cause.TOO_LONG),
    ],
)
async def test_odd_bodies_become_causes(judge_at: JudgeAt, say: Say, cause: Cause) -> None:
    with OpenAIServer(plan=lambda call: say) as server:
        (answer,) = await ask(judge_at(server, max_attempts=2), support())
    assert answer.failure is not None
    assert answer.failure.cause is cause
    assert answer.failure.raw


async def test_thinking_that_eats_the_limit_gets_more_room_once(judge_at: JudgeAt) -> None:
    def eaten(call: Call) -> Say | None:
        return Say("", finish="length") if call.body["max_tokens"] < 2000 else None

    with OpenAIServer(plan=eaten) as server:
        judge = judge_at(server)
        (answer,) = await ask(judge, support())
        assert answer.judgement[0].label == "supported"
        assert answer.usage.calls == len(server.calls) == 2
        await ask(judge, support(2))  # remembered
        assert len(server.calls) == 3


async def test_what_the_endpoint_finds_too_long_is_asked_in_parts(judge_at: JudgeAt) -> None:
    with OpenAIServer(window=3300) as server:
        many = Support(claims(*(f"The bridge is {n} metres long." for n in range(12))), PASSAGES)
        (answer,) = await ask(judge_at(server), many)
    assert answer.failure is None
    assert len(answer.judgement) == 12


async def test_votes_are_sampled_each_on_its_own(judge_at: JudgeAt) -> None:
    votes = [Criterion("Is it about a bridge?", (("ANSWER", ANSWER),), vote=n) for n in range(3)]
    with OpenAIServer() as server:
        await ask(judge_at(server), *votes)
        sent = sorted((call.body["temperature"], call.body["seed"]) for call in server.calls)
    assert sent == [(0.0, 7), (0.7, 8), (0.7, 9)]


async def test_the_mask_comes_before_the_wire(judge_at: JudgeAt) -> None:
    def mask(text: str) -> str:
        return text.replace("Ann Smith", "[name]")

    with OpenAIServer() as server:
        judge = judge_at(server, mask=mask, embedding_model="e")
        asked = Support(claims("Ann Smith built it."), ("Ann Smith built it in 1889.",), "Who is Ann Smith?")
        answers = await ask(
            judge, asked, Similarity("Ann Smith", ("a name",)), Criterion("Is Ann Smith named?", (("A", "Ann Smith"),))
        )
        sent = json.dumps([call.body for call in server.calls])
    assert "Ann Smith" not in sent
    assert "[name]" in sent
    assert [answer.failure for answer in answers] == [None] * 3
    # documented: a quote of what the mask changed cannot be found in the passage
    assert answers[0].judgement[0].evidence == ()
    assert answers[0].judgement[0].unlocated == 1


def test_several_event_loops_one_after_another_and_at_once(judge_at: JudgeAt) -> None:
    """One judge, `asyncio.run` after `asyncio.run` and in threads; nothing is left open."""
    from concurrent.futures import ThreadPoolExecutor

    async def once() -> str:
        (answer,) = await ask(judge, support())
        await judge.release()
        assert answer.failure is None
        return str(answer.judgement[0].label)

    with OpenAIServer() as server:
        judge = OpenAIJudge("fake", base_url=server.base_url)
        assert [asyncio.run(once()) for _ in range(3)] == ["supported"] * 3
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(lambda _: asyncio.run(once()), range(8))) == ["supported"] * 8


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files by /proc")
def test_released_judges_leave_no_files_open() -> None:
    async def once(judge: OpenAIJudge) -> None:
        await ask(judge, *(support(n) for n in range(20)))
        await judge.release()

    with OpenAIServer() as server:
        judge = OpenAIJudge("fake", base_url=server.base_url)
        asyncio.run(once(judge))
        while server.connections:  # its side of them closes a moment later
            time.sleep(0.01)
        before = open_files()
        for _ in range(5):
            asyncio.run(once(judge))
        until = time.monotonic() + 20
        while open_files() > before and time.monotonic() < until:
            time.sleep(0.01)
        assert open_files() <= before


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_cancelling_closes_what_was_under_way(judge_at: JudgeAt) -> None:
    with OpenAIServer(delay=30) as server:
        judge = judge_at(server)
        task = asyncio.create_task(ask(judge, *(support(n) for n in range(12))))
        while server.now < 8:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert throttle_of(judge).in_flight == 0


def test_fingerprints_tell_apart_what_judges_differently() -> None:
    def made(**options: Any) -> str:
        return OpenAIJudge("m", **{"base_url": "http://localhost:1/v1", **options}).address

    others = [
        *(made(temperature=1.0), made(seed=1), made(embedding_model="e"), made(extra_body={"top_p": 0.5})),
        *(
            made(base_url="http://localhost:2/v1"),
            made(mask=str.lower),
            made(structured=False),
            made(logprobs=True),
            made(window_tokens=9999),
            made(base_url="http://localhost:1/v1?deployment=b"),
            made(headers={"x-model": "b"}),
            made(identity="the same, wherever it runs"),
        ),
        OpenAIJudge("n", base_url="http://localhost:1/v1").address,
    ]
    assert len({made(), *others}) == len(others) + 1
    assert made() == made(api_key="another", timeout=1, max_concurrency=2, max_attempts=1)
    assert made().startswith("openai/m@http://localhost:1/v1#")


@pytest.mark.parametrize(
    "options",
    [
        {"base_url": "localhost:8000"},
        {"base_url": "http://x/v1", "azure_endpoint": "http://y"},
        {"azure_endpoint": "http://y", "api_key": "k"},
        {"base_url": "http://x/v1", "max_attempts": 0},
        {"base_url": "http://x/v1", "max_concurrency": 0},
        {"base_url": "http://x/v1", "window_tokens": 10},
    ],
)
def test_arguments_that_cannot_work_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        OpenAIJudge("m", **options)


def test_it_is_resolved_by_name() -> None:
    judge = resolve_judge("openai:m", base_url="http://localhost:1/v1")
    assert isinstance(judge, OpenAIJudge)
    assert repr(judge) == "OpenAIJudge('m', base_url='http://localhost:1/v1')"


def test_importing_and_making_one_does_not_import_the_client() -> None:
    code = (
        "import sys; from assay.judges.llm.openai import OpenAIJudge; OpenAIJudge('m', base_url='http://localhost:1/v1');"
        "sys.exit(any(name in sys.modules for name in ('openai', 'httpx2', 'tenacity', 'numpy')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
