"""Runs whose scores are what the test says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import assay
from assay import ScriptedJudge
from assay.errors import Cause
from assay.evaluation.result import Result
from assay.records import ScoreError

Runs = Callable[..., Result]


def said(value: float | str) -> float | ScoreError:
    """The number; or for a text none, with this cause."""
    return value if not isinstance(value, str) else ScoreError(cause=Cause(value), message="so the row says")


@assay.metric
def quality(metadata: Mapping[str, Any]) -> float | ScoreError:
    return said(metadata["quality"])


@assay.metric(direction="lower")
def harm(metadata: Mapping[str, Any]) -> float | ScoreError:
    return said(metadata["harm"])


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    """A function of a name and of the scores of `quality` by row, numbers or causes; gives the run."""

    def run(name: str, scores: Sequence[float | str], metrics: Any = quality, **columns: Sequence[Any]) -> Result:
        rows = [
            {"id": f"r{n}", "question": f"Q{n}?", "answer": "It is so.", "quality": score,
             **{key: values[n] for key, values in columns.items()}}
            for n, score in enumerate(scores)
        ]  # fmt: skip
        return assay.evaluate(rows, metrics, ScriptedJudge(), store=tmp_path / "store", run=name, progress=False)

    return run


@pytest.fixture
def both() -> tuple[Any, Any]:
    """The metrics `quality`, of which more is better, and `harm`, of which less is."""
    return quality, harm
