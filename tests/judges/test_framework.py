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
