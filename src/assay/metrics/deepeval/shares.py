"""Shares of verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from assay.records import Verdict


def share(verdicts: Sequence[Verdict], label: str) -> float:
    """Verdicts with this label / verdicts. Expects at least one."""
    return sum(verdict.label == label for verdict in verdicts) / len(verdicts)
