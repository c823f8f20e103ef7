"""Endpoints that take less than OpenAI's: what they refuse is dropped or renamed once, and remembered."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from assay.errors import Cause
from assay.judges.llm.capabilities import Dialect
from assay.judges.llm.openai import OpenAIJudge
from assay.prompts import Support
from tests._support.servers.openai_server import Call, OpenAIServer, Say
from tests.judges.conftest import PASSAGES, ask, claims

JudgeAt = Callable[..., OpenAIJudge]


def support(n: int = 0) -> Support:
    return Support(claims("The bridge opened in 1889."), PASSAGES, f"Question {n}?")


#: The behaviour of an endpoint, the calls that the first prompt takes, and what is sent from then on.
ENDPOINTS: dict[str, tuple[dict[str, Any], int, Callable[[dict[str, Any]], bool]]] = {
    "takes everything": ({}, 1, lambda body: body["response_format"]["type"] == "json_schema"),
    "rejects temperature": ({"rejects": {"temperature"}}, 2, lambda body: "temperature" not in body),
    "rejects seed": ({"rejects": {"seed"}}, 2, lambda body: "seed" not in body),
    "renamed max_tokens": (
        {"rejects": {"max_tokens"}},
        2,
        lambda body: "max_tokens" not in body and "max_completion_tokens" in body,
    ),
    "no output limit at all": (
        {"rejects": {"max_tokens", "max_completion_tokens"}},
        3,
        lambda body: not {"max_tokens", "max_completion_tokens"} & body.keys(),
    ),
    "no JSON schema": (
        {"rejects": {"json_schema"}},
        2,
        lambda body: body["response_format"] == {"type": "json_object"},
    ),
    "no JSON mode": ({"rejects": {"response_format"}}, 3, lambda body: "response_format" not in body),
    "rejects logprobs": ({"rejects": {"logprobs"}}, 2, lambda body: "logprobs" not in body),
    "ignores logprobs": ({"logprobs": False}, 1, lambda body: "logprobs" not in body),
    "ignores the format": ({"ignores_format": True}, 1, lambda body: True),
    "thinks aloud": ({"think": True, "rejects": {"response_format"}}, 3, lambda body: True),
    "a reasoning model": (
        {"rejects": {"temperature", "max_tokens", "logprobs", "seed"}},
        5,
        lambda body: body.keys() == {"model", "messages", "max_completion_tokens", "response_format"},
    ),
    "a bare server, vague": (
        {"rejects": {"response_format"}, "vague": True, "logprobs": False},
        3,
        lambda body: "response_format" not in body,
    ),
}


@pytest.mark.parametrize("name", ENDPOINTS)
async def test_every_endpoint_ends_in_a_verdict(judge_at: JudgeAt, name: str) -> None:
    behaviour, calls, sent = ENDPOINTS[name]
    with OpenAIServer(**behaviour) as server:
        (first,) = await ask(judge_at(server).with_probabilities(), support(1))
        assert first.failure is None, first.failure
        assert first.judgement[0].label == "supported"
        assert len(server.calls) == calls
        # another judge on the same model knows it already
        (second,) = await ask(judge_at(server).with_probabilities(), support(2))
        assert second.failure is None
        assert len(server.calls) == calls + 1
        assert sent(server.calls[-1].body)
        assert second.usage.calls == 1  # refused calls cost nothing, and are not counted


async def test_calls_that_start_together_learn_together(judge_at: JudgeAt) -> None:
    with OpenAIServer(rejects={"temperature", "response_format", "logprobs"}) as server:
        answers = await ask(judge_at(server), *(support(n) for n in range(20)))
        assert [answer.failure for answer in answers] == [None] * 20
        assert len(server.calls) <= 20 + 8 * 4  # only those that were under way before the first success


async def test_an_error_that_only_mentions_parameters_teaches_nothing(judge_at: JudgeAt) -> None:
    said = "Invalid input: temperature=0.0, seed=7, max_tokens=800, logprobs=True, response_format={...}"
    with OpenAIServer(plan=lambda call: Say(status=400, body={"error": {"message": said}})) as server:
        judge = judge_at(server)
        before = judge.dialect.copy()
        (answer,) = await ask(judge, support())
        assert answer.failure is not None
        assert answer.failure.cause is Cause.BAD_REQUEST
        assert len(server.calls) <= 8
        assert judge.dialect == before


async def test_one_refused_schema_does_not_cost_the_others_theirs(judge_at: JudgeAt) -> None:
    def refuse_one(call: Call) -> Say | None:
        bad = "Question 2?" in call.reading.user and "json_schema" in str(call.body.get("response_format"))  # type: ignore[union-attr]
        return Say(status=400, body={"error": {"message": "Invalid schema for response_format"}}) if bad else None

    with OpenAIServer(plan=refuse_one) as server:
        judge = judge_at(server)
        for n in (1, 2, 3):
            (answer,) = await ask(judge, support(n))
            assert answer.failure is None
        formats = [call.body["response_format"]["type"] for call in server.calls]
    assert formats == ["json_schema", "json_schema", "json_object", "json_schema"]


async def test_the_largest_output_is_learned(judge_at: JudgeAt) -> None:
    def at_most_300(call: Call) -> Say | None:
        said = "max_tokens is too large. This model supports at most 300 completion tokens."
        body = {"error": {"message": said, "param": "max_tokens"}}
        return Say(status=400, body=body) if call.body["max_tokens"] > 300 else None

    with OpenAIServer(plan=at_most_300) as server:
        judge = judge_at(server)
        (answer,) = await ask(judge, support())
        assert answer.failure is None
        assert [call.body["max_tokens"] for call in server.calls][1:] == [300]


async def test_structure_as_the_user_says(judge_at: JudgeAt) -> None:
    with OpenAIServer() as server:
        (answer,) = await ask(judge_at(server, structured=False), support())
        assert answer.failure is None
        assert "response_format" not in server.calls[0].body
        assert "JSON schema" in server.calls[0].body["messages"][1]["content"]
    with OpenAIServer(rejects={"response_format"}) as server:
        (answer,) = await ask(judge_at(server, structured=True), support())
        assert answer.failure is not None
        assert answer.failure.cause is Cause.BAD_REQUEST
        assert len(server.calls) == 1


async def test_a_format_that_is_not_enforced_is_stated_as_well(judge_at: JudgeAt) -> None:
    def prose_unless_told(call: Call) -> Say | None:
        told = any("JSON schema" in message["content"] for message in call.body["messages"][1:])
        return None if told else Say("I find it supported.")

    with OpenAIServer(plan=prose_unless_told) as server:
        judge = judge_at(server)
        for n in (1, 2):
            (answer,) = await ask(judge, support(n))
            assert answer.failure is None
        assert len(server.calls) == 3


async def test_logprobs_are_asked_for_where_something_uses_them_and_there_are_labels(judge_at: JudgeAt) -> None:
    from assay.prompts import Claims

    with OpenAIServer() as server:
        judge = judge_at(server)
        await ask(judge, support(1))
        await ask(judge.with_probabilities(), Claims("The bridge opened.", "Q?"))
        await ask(judge.with_probabilities(), support())
        await ask(judge_at(server, logprobs=False).with_probabilities(), support(2))
        await ask(judge_at(server, logprobs=True), support(3))
        assert ["logprobs" in call.body for call in server.calls] == [False, False, True, False, True]


async def test_extra_parameters_go_along_and_are_not_judged(judge_at: JudgeAt) -> None:
    with OpenAIServer() as server:
        judge = judge_at(server, extra_body={"top_k": 1, "temperature": 0.3}, headers={"x-team": "readers"})
        await ask(judge, support())
        assert server.calls[0].body["top_k"] == 1
        assert server.calls[0].body["temperature"] == 0.3
        assert server.calls[0].headers["x-team"] == "readers"


def test_lessons_are_logged_for_those_who_look(caplog: pytest.LogCaptureFixture) -> None:
    known, began = Dialect(), Dialect()
    tried = began.copy()
    assert tried.learn({"said": "temperature is not supported"}, {"temperature": 0.0})
    with caplog.at_level(logging.DEBUG, "assay.judges"):
        known.adopt(tried, began, "model")
    assert "temperature" in caplog.text
    assert known.dropped == {"temperature"}


def test_there_is_an_end_to_learning() -> None:
    assert not Dialect(structured="plain").learn({"said": "Bad request"}, {"model": "m", "messages": []})
