"""Scores as MLflow assessments, and MLflow traces as samples."""

from __future__ import annotations

from assay_mlflow.sink import MlflowSink
from assay_mlflow.source import mlflow_samples

__all__ = ["MlflowSink", "mlflow_samples"]
