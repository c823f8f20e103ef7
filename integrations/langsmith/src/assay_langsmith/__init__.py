"""Scores as LangSmith feedback, and exported LangSmith runs as samples."""

from assay_langsmith.sink import LangSmithSink
from assay_langsmith.source import read_runs, runs_to_samples

__all__ = ["LangSmithSink", "read_runs", "runs_to_samples"]
