"""Scores as Phoenix annotations, and Phoenix traces as samples."""

from __future__ import annotations

from assay_phoenix.sink import PhoenixSink
from assay_phoenix.source import phoenix_samples

__all__ = ["PhoenixSink", "phoenix_samples"]
