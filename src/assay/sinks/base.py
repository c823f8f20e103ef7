"""The sink protocol: where scores go."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from assay.records import ScoredSample


@runtime_checkable
class Sink(Protocol):
    """Takes scored samples. Called from one worker thread, never from the host's own; may block, may raise."""

    def write(self, scored: ScoredSample) -> None:
        """Deliver one scored sample."""

    def close(self) -> None:
        """Deliver what is held back and let go of files and connections."""
