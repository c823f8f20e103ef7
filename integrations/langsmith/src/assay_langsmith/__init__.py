"""Scores as LangSmith feedback, exported LangSmith runs as samples, and metrics as LangSmith evaluators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay_langsmith.sink import LangSmithSink
from assay_langsmith.source import read_runs, runs_to_samples

if TYPE_CHECKING:
    from assay_langsmith.evaluating import AssayEvaluator, evaluators

__all__ = ["AssayEvaluator", "LangSmithSink", "evaluators", "read_runs", "runs_to_samples"]


def __getattr__(name: str) -> Any:
    if name not in ("AssayEvaluator", "evaluators"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from assay_langsmith import evaluating  # imports the client, which takes a moment

    return getattr(evaluating, name)
