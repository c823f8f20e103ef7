"""Scores as LangSmith feedback, exported LangSmith runs as samples, and metrics as LangSmith evaluators."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from assay_langsmith.sink import LangSmithSink
from assay_langsmith.source import read_runs, runs_to_samples

if TYPE_CHECKING:
    from assay_langsmith.comparing import pairwise_evaluator, summary_evaluator
    from assay_langsmith.evaluating import AssayEvaluator, evaluators

__all__ = [
    "AssayEvaluator",
    "LangSmithSink",
    "evaluators",
    "pairwise_evaluator",
    "read_runs",
    "runs_to_samples",
    "summary_evaluator",
]

#: Where the evaluators are: importing them imports the client, which takes a moment.
_LATER = {
    "AssayEvaluator": "evaluating",
    "evaluators": "evaluating",
    "pairwise_evaluator": "comparing",
    "summary_evaluator": "comparing",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
