"""Keys go to the endpoint they are for, and nowhere else: not into messages, representations, or other endpoints."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import pytest

from assay.errors import InputError, JudgeFailure
from assay.judges.llm.openai import OpenAIJudge
from assay.prompts import Similarity, Support
from tests._support.servers.openai_server import Call, OpenAIServer, Say
from tests.judges.conftest import PASSAGES, ask, claims

JudgeAt = Callable[..., OpenAIJudge]
KEY = "sk-very-secret-key-1234567890"
SUPPORT = Support(claims("The bridge opened in 1889."), PASSAGES)


def told(failure: JudgeFailure) -> str:
    """Everything that a log, a store or a report could take from a failure."""
    lines = traceback.format_exception(failure)
    return " ".join([str(failure), repr(failure), failure.message, str(failure.raw), str(failure.detail), *lines])


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 200])
async def test_keys_that_an_endpoint_repeats_are_not_passed_on(judge_at: JudgeAt, status: int) -> None:
    def repeats(call: Call) -> Say:
        said = f"Incorrect: {call.headers['authorization']} and {call.headers['x-token']}"
        return Say(status=status, body={"error": {"message": said, "code": "x"}})

    with OpenAIServer(plan=repeats) as server:
        judge = judge_at(server, api_key=KEY, headers={"x-token": "another-secret"}, max_attempts=1)
        (answer,) = await ask(judge, SUPPORT) if status != 429 else await _once(judge)
    assert answer.failure is not None
    for secret in (KEY, "another-secret"):
        assert secret not in told(answer.failure)
        assert secret not in repr(judge) + judge.fingerprint + repr(judge.endpoint)
    assert "***" in told(answer.failure)


async def _once(judge: OpenAIJudge) -> Any:
    object.__setattr__(judge.endpoint.retries, "longest", 0.0)
    return await ask(judge, SUPPORT)


@pytest.mark.parametrize("room", [500, 3950, 4000])
async def test_no_part_of_a_key_is_left_where_a_long_message_is_cut(judge_at: JudgeAt, room: int) -> None:
    said = "x" * (room - 10) + KEY  # ten characters of it stand before the cut
    with OpenAIServer(plan=lambda call: Say(status=500, body={"error": {"message": said}})) as server:
        (answer,) = await ask(judge_at(server, api_key=KEY, max_attempts=1), SUPPORT)
    assert answer.failure is not None
    assert KEY[:5] not in told(answer.failure)


async def test_refusals_are_scrubbed(judge_at: JudgeAt) -> None:
    with OpenAIServer(plan=lambda call: Say(refusal=f"not with {KEY}")) as server:
        (answer,) = await ask(judge_at(server, api_key=KEY), SUPPORT)
    assert answer.failure is not None
    assert KEY not in told(answer.failure)


async def test_addresses_are_shown_without_passwords(judge_at: JudgeAt) -> None:
    with OpenAIServer() as server:
        address = server.base_url.replace("http://", "http://user:pass-word@") + "?token=abc"
        judge = judge_at(server, base_url=address)
    shown = repr(judge) + judge.fingerprint + judge.endpoint.name
    assert "pass-word" not in shown
    assert "abc" not in shown


async def test_nothing_meant_for_openai_goes_elsewhere(judge_at: JudgeAt, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID", "WEBHOOK_SECRET"):
        monkeypatch.setenv(f"OPENAI_{name}", f"environment-{name}")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/elsewhere")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Env: environment-header")
    with OpenAIServer() as server:
        answers = await ask(judge_at(server, embedding_model="e"), SUPPORT, Similarity("a", ("b",)))
        assert [answer.failure for answer in answers] == [None, None]
        sent = str([call.headers for call in server.calls])
        assert server.calls[0].headers["authorization"] == "Bearer none"
    assert "environment" not in sent


def test_openai_itself_takes_its_key_from_the_environment_only_when_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        OpenAIJudge("m")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/elsewhere")
    judge = OpenAIJudge("m")
    assert judge.endpoint.name == "https://api.openai.com/v1"
    assert judge.embedding_model == "text-embedding-3-small"
    assert KEY not in repr(judge) + judge.fingerprint


async def test_azure_paths_and_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", "environment-token")
    with OpenAIServer(key=KEY) as server:
        address = server.base_url.removesuffix("/v1")
        judge = OpenAIJudge("deployed", azure_endpoint=address, api_version="2024-10-21", api_key=KEY)
        (answer,) = await ask(judge, SUPPORT)
        await judge.release()
        assert answer.failure is None, answer.failure
        assert server.calls[0].path == "/openai/deployments/deployed/chat/completions"
        assert server.calls[0].headers["api-key"] == KEY
        assert "environment-token" not in str(server.calls[0].headers)
