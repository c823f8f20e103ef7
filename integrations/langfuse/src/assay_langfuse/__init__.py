"""Scores as Langfuse scores, and exported Langfuse observations as samples."""

from assay_langfuse.sink import LangfuseSink
from assay_langfuse.source import observations_to_samples, read_observations

__all__ = ["LangfuseSink", "observations_to_samples", "read_observations"]
