"""`probe` says what works, in words where something does not, and never raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.judges.llm.openai import OpenAIJudge
from tests._support.servers.openai_server import OpenAIServer

JudgeAt = Callable[..., OpenAIJudge]


async def test_a_healthy_endpoint(judge_at: JudgeAt) -> None:
    with OpenAIServer() as server:
        report = await judge_at(server, embedding_model="e").probe()
    latency = report.pop("latency")
    assert 0 < latency < 10
    assert report == {
        **{"endpoint": server.base_url, "model_name": "fake", "reachable": True, "model": True},
        **{"structured": "json_schema", "logprobs": True, "verdict": "right", "embeddings": True},
    }


@pytest.mark.parametrize(
    ("behaviour", "part", "says"),
    [
        ({"models": {"other"}}, "model", "does not know the model 'fake'"),
        ({"key": "right"}, "model", "refuses the key"),
        ({"rejects": {"response_format"}}, "structured", "plain"),
        ({"logprobs": False}, "logprobs", "False"),
        ({"embeddings": False}, "embeddings", "has no embeddings"),
        ({"plan": lambda call: call.honest.replace("contradicted", "supported")}, "verdict", "wrong: 'The library"),
        ({"plan": lambda call: "no idea"}, "verdict", "none: the reply does not fit"),
    ],
)
async def test_what_is_wrong_is_said_where_it_is(
    judge_at: JudgeAt, behaviour: dict[str, Any], part: str, says: str
) -> None:
    with OpenAIServer(**behaviour) as server:
        report = await judge_at(server, embedding_model="e").probe()
    assert says in str(report[part])
    assert report["reachable"] is True


async def test_nobody_there() -> None:
    judge = OpenAIJudge("fake", base_url="http://127.0.0.1:9/v1", max_attempts=1)
    report = await judge.probe()
    await judge.release()
    assert "cannot be reached" in report["reachable"]
    assert report["latency"] is None
    assert "embedding_model" in report["embeddings"]
