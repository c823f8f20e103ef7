"""Scoring while the application runs: a bounded queue, one background thread, and sinks."""

from assay.live.health import Health
from assay.live.scorer import LiveScorer

__all__ = ["Health", "LiveScorer"]
