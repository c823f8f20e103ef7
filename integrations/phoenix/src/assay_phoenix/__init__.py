"""Scores as Phoenix annotations, Phoenix traces as samples, and metrics as Phoenix evaluators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay_phoenix.sink import PhoenixSink
from assay_phoenix.source import phoenix_samples

if TYPE_CHECKING:
    from assay_phoenix.evaluating import AssayEvaluator, evaluators

__all__ = ["AssayEvaluator", "PhoenixSink", "evaluators", "phoenix_samples"]


def __getattr__(name: str) -> Any:
    if name not in ("AssayEvaluator", "evaluators"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from assay_phoenix import evaluating  # needs arize-phoenix-evals

    return getattr(evaluating, name)
