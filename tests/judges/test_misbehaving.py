"""Endpoints and judges that say what none should: a call fails under a name, or is none the worse, and others go on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from assay.errors import Cause, JudgeFailure
from assay.judges.base import BaseJudge
from assay.judges.cache import JudgementCache
from assay.judges.http import reply_bytes
from assay.judges.http.replies import usage_of
from assay.judges.http.retries import retry_after
from assay.judges.llm.openai import OpenAIJudge
from assay.judges.protocol import Answer
from assay.prompts import Claims, Criterion
from assay.records import Claim, Span, Verdict
from tests.judges.conftest import ask
from tests.judges.test_transports import Server, answer

JudgeAt = Callable[..., OpenAIJudge]
PROMPT = Criterion("Is it short?", (("ANSWER", "Yes."),))
WRITTEN = json.dumps({"answers": [{"question": "Q1", "reason": "short", "label": "yes"}]})


class At:
    """Where a server of bytes is."""

    def __init__(self, port: int) -> None:
        self.base_url = f"http://127.0.0.1:{port}/v1"


@asynccontextmanager
async def serving(server: Server) -> AsyncIterator[At]:
    serve = await asyncio.start_server(server, "127.0.0.1", 0)
    try:
        yield At(serve.sockets[0].getsockname()[1])
    finally:
        serve.close()


async def failure_with(judge_at: JudgeAt, content: bytes, status: str = "200 OK", *headers: str) -> JudgeFailure:
    async with serving(Server(answer(content, status, *headers))) as at:
        judge = judge_at(at, max_attempts=1)
        (said,) = await ask(judge, PROMPT)
        await judge.release()
    assert said.failure is not None
    return said.failure


@pytest.mark.parametrize(
    "choices",
    [{"a": 1}, "text", [None], ["text"], [1], [[]], [{"message": "text"}], [{"message": [1]}], 7],
)
async def test_choices_of_the_wrong_shape_are_a_failure_of_the_endpoint(choices: Any, judge_at: JudgeAt) -> None:
    failure = await failure_with(judge_at, json.dumps({"choices": choices}).encode())
    assert failure.cause is Cause.CONNECTION
    assert "sent choices without a message" in failure.message
    assert failure.raw is not None


@pytest.mark.parametrize(
    "logprobs",
    [
        *({"content": [1]}, {"content": [{}]}, {"content": [{"token": 3}]}, {"content": {"token": "x"}}, [1], "x"),
        {"content": [{"token": "y", "bytes": [999]}]},
        {"content": [{"token": "y", "top_logprobs": [{"token": "yes"}]}]},
        {"content": [{"token": "y", "top_logprobs": [{"token": "yes", "logprob": float("nan")}]}]},
        {"content": [{"token": "y", "top_logprobs": [{"token": "yes", "logprob": 3.0}]}]},
        {"content": [{"token": "y", "top_logprobs": 5}]},
    ],
)
async def test_probabilities_that_are_none_cost_the_probabilities_and_not_the_reply(
    logprobs: Any, judge_at: JudgeAt
) -> None:
    reply = {"choices": [{"message": {"content": WRITTEN}, "logprobs": logprobs, "finish_reason": "stop"}]}
    async with serving(Server(answer(json.dumps(reply).encode()))) as at:
        judge = judge_at(at, max_attempts=1, logprobs=True)
        (said,) = await ask(judge, PROMPT)
        await judge.release()
    assert said.failure is None
    assert (said.judgement.label, said.judgement.probability) == ("yes", None)


@pytest.mark.parametrize(
    ("usage", "prompt"),
    [
        ('{"prompt_tokens": Infinity}', None), ('{"prompt_tokens": 1e400}', None), ('{"prompt_tokens": NaN}', None),
        ('{"prompt_tokens": -1}', None), ('{"prompt_tokens": true}', None), ('{"prompt_tokens": "9"}', None),
        ('{"prompt_tokens": 1' + "0" * 400 + "}", None), ('{"prompt_tokens": 3.0}', 3),
        ('{"prompt_tokens": 3, "prompt_tokens_details": [1]}', 3),
        ('{"prompt_tokens": 3, "input_tokens_details": 5}', 3),
        ('{"prompt_tokens": 3, "prompt_tokens_details": "none"}', 3),
    ],
)  # fmt: skip
def test_what_is_no_count_is_unknown(usage: str, prompt: int | None) -> None:
    read = usage_of(json.loads(usage))
    assert (read.calls, read.prompt_tokens, read.cached_tokens) == (1, prompt, None)


async def test_a_count_without_end_costs_no_reply(judge_at: JudgeAt) -> None:
    reply = {"choices": [{"message": {"content": WRITTEN}}], "usage": {"total_tokens": 10**400, "x": 1}}
    infinite = json.dumps(reply).replace('"x": 1', '"prompt_tokens": Infinity, "prompt_tokens_details": [1]')
    async with serving(Server(answer(infinite.encode()))) as at:
        judge = judge_at(at, tokens_per_minute=10**6)
        first = await ask(judge, PROMPT)
        second = await ask(judge, PROMPT)
        await judge.release()
    assert [said.judgement.label for said in (*first, *second)] == ["yes", "yes"]


@pytest.mark.parametrize(
    "date", ["Mon, 99999999999999999999 Jan 2020 00:00:00 GMT", "Mon, 01 Jan 2020 00:00:00 +99999999999999999999"]
)
def test_a_date_that_no_clock_shows_is_none(date: str) -> None:
    assert retry_after({"retry-after": date}) is None


@pytest.mark.timeout(30)
@pytest.mark.parametrize("after", ["31536000", "1e308", "inf", "Fri, 31 Dec 9999 23:59:59 GMT"])
async def test_a_year_that_one_call_is_to_wait_holds_up_no_other(after: str, judge_at: JudgeAt) -> None:
    server = Server(answer(b"{}", "429 Too Many Requests", f"retry-after: {after}"))
    async with serving(server) as at:
        judge = judge_at(at)
        async with asyncio.timeout(10):
            said = [(await ask(judge, PROMPT))[0] for _ in range(3)]
        await judge.release()
    assert [one.failure and one.failure.cause for one in said] == [Cause.RATE_LIMITED] * 3
    assert len(server.seen) == 3  # each asks once: a quota that is used up is no rate


async def test_a_response_larger_than_any_is_not_kept(judge_at: JudgeAt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reply_bytes, "REPLY", 1 << 20)
    failure = await failure_with(judge_at, b" " * ((1 << 20) + 1))
    assert failure.cause is Cause.TOO_LARGE
    assert "its reply has more than 1 MiB" in failure.message


class Answers(BaseJudge):
    """A judge of somebody's own that answers with these."""

    fingerprint = "answers"

    def __init__(self, *said: Any) -> None:
        self.said = said

    async def answer(self, prompts: Any) -> Any:
        return self.said


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (None, "NoneType, expected Answer"),
        ("yes", "str, expected Answer"),
        (Answer(failure="no"), "a failure that is str, expected JudgeFailure"),  # type: ignore[arg-type]
        (Answer(judgement=None, usage=None), "a usage that is NoneType, expected Usage"),  # type: ignore[arg-type]
    ],
)
async def test_what_is_no_answer_fails_alone_and_by_name(wrong: Any, named: str) -> None:
    verdict = Verdict(label="yes")
    cache = JudgementCache(Answers(Answer(judgement=verdict), wrong))
    other = Criterion("Is it long?", (("ANSWER", "Yes."),))
    good, bad = await asyncio.gather(cache.find(PROMPT), cache.find(other), return_exceptions=True)
    assert good == verdict
    assert isinstance(bad, JudgeFailure)
    assert (bad.cause, bad.message) == (Cause.BUG, f"the judge answered criterion with {named}")


async def test_a_judge_that_returns_nothing_at_all_is_a_failure() -> None:
    judge = Answers()
    judge.said = None  # type: ignore[assignment]
    with pytest.raises(JudgeFailure) as caught:
        await JudgementCache(judge).find(PROMPT)
    assert caught.value.cause is Cause.BUG


@pytest.mark.timeout(30)
async def test_a_reply_that_drips_is_given_up_when_an_attempt_is_over(judge_at: JudgeAt) -> None:
    content = answer(json.dumps({"choices": [{"message": {"content": WRITTEN}}]}).encode())

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            for at in range(len(content)):  # some 200 bytes: 20 s, and never silent for as long as 0.5 s
                writer.write(content[at : at + 1])
                await writer.drain()
                await asyncio.sleep(0.1)
        writer.close()

    serve = await asyncio.start_server(drip, "127.0.0.1", 0)
    judge = judge_at(At(serve.sockets[0].getsockname()[1]), max_attempts=2, timeout=0.5)
    async with asyncio.timeout(5):
        (said,) = await ask(judge, PROMPT)
    await judge.release()
    serve.close()
    assert said.failure is not None
    assert (said.failure.cause, "no reply within 0.5 s" in said.failure.message) == (Cause.TIMEOUT, True)


@pytest.mark.parametrize("text", ["", "  ", "\n\u00a0"])
async def test_a_blank_claim_is_a_failure_of_the_judge_and_no_number(text: str) -> None:
    judgement = (Claim(text="It is.", span=Span(0, 6)), Claim(text=text, span=Span(0, 6)))
    with pytest.raises(JudgeFailure, match="a claim is blank") as caught:
        await JudgementCache(Answers(Answer(judgement=judgement))).find(Claims("It is."))
    assert caught.value.cause is Cause.BUG
