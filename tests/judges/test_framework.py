"""Judges over a model object of a framework: whatever the model raises in its thread is the judge's failure."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from assay import evaluate
from assay.errors import Cause
from assay.judges.llm.framework import FrameworkJudge, ModelCall
from assay.judges.llm.judge import Reply

SECRET = "sk-0123456789abcdef"
ROW = {"question": "When?", "contexts": ["It opened in 1889."], "answer": "It opened in 1889."}


class Raising(FrameworkJudge):
    """Raises what it was made for."""

    def __init__(self, error: BaseException, **options: Any) -> None:
        super().__init__("Raising", "m", {}, secrets=[SECRET], retry_base=0.001, **options)
        self.error = error

    def call(self, ask: ModelCall) -> Reply:
        raise self.error


def error_of(judge: FrameworkJudge, folder: Any) -> Any:
    result = evaluate([ROW], metrics="faithfulness", judge=judge, store=folder, progress=False)
    return result.row(1).scores["faithfulness"].error


@pytest.mark.parametrize(
    "kind", [KeyboardInterrupt, GeneratorExit, asyncio.CancelledError, SystemExit, StopIteration, ValueError]
)
def test_whatever_a_model_raises_is_its_failure_and_ends_nothing(kind: type[BaseException], tmp_path: Any) -> None:
    found = error_of(Raising(kind("odd")), tmp_path)
    assert found.cause is Cause.BUG
    assert found.message == f"the model raised {kind.__name__}: odd"


def test_a_models_own_time_out_is_not_told_as_ours(tmp_path: Any) -> None:
    found = error_of(Raising(TimeoutError("the gateway gave up"), max_attempts=1), tmp_path)
    assert found.cause is Cause.TIMEOUT
    assert "the gateway gave up" in found.message
    assert "no reply within" not in found.message


@pytest.mark.parametrize("kind", [ValueError, ConnectionError])
@pytest.mark.parametrize("before", [0, 480])
def test_a_key_in_what_a_model_raises_is_not_told_in_part_neither(
    kind: type[Exception], before: int, tmp_path: Any
) -> None:
    found = error_of(Raising(kind("x" * before + " key " + SECRET), max_attempts=1), tmp_path)
    assert kind.__name__ in found.message
    assert SECRET[:4] not in found.message


class Chat(FrameworkJudge):
    """A model whose API raises what a server says of a system message, as a client of a framework does."""

    def __init__(self, status: int) -> None:
        super().__init__("Chat", "m", {}, retry_base=0.001, enforces=True)
        self.status = status
        self.asks: list[ModelCall] = []

    def call(self, ask: ModelCall) -> Reply:
        self.asks.append(ask)
        if ask.messages[0]["role"] == "system":
            raise Refusal(self.status)
        return Reply('{"items": []}')


class Refusal(Exception):
    def __init__(self, status: int) -> None:
        super().__init__("System role not supported")
        self.status_code = status


@pytest.mark.parametrize("status", [400, 422, 500])
def test_a_model_without_a_system_role_is_asked_without_one_from_then_on(status: int, tmp_path: Any) -> None:
    judge = Chat(status)
    error_of(judge, tmp_path)
    first, second, *others = judge.asks
    assert [message["role"] for message in first.messages] == ["system", "user"]
    assert second.messages[0]["content"] == "\n\n".join(message["content"] for message in first.messages)
    assert second.schema is not None  # the schema was not at fault
    assert others
    assert all(ask.messages[0]["role"] == "user" for ask in others)
