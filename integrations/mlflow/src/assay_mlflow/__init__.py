"""Scores as MLflow assessments, MLflow traces as samples, and metrics as the scorers of `mlflow.genai.evaluate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay_mlflow.sink import MlflowSink
from assay_mlflow.source import mlflow_samples

if TYPE_CHECKING:
    from assay_mlflow.scoring import AssayScorer, scorers

__all__ = ["AssayScorer", "MlflowSink", "mlflow_samples", "scorers"]


def __getattr__(name: str) -> Any:
    if name not in ("AssayScorer", "scorers"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # MLflow's evaluation takes seconds to import

    return getattr(import_module("assay_mlflow.scoring"), name)
