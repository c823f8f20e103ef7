"""What the metrics of ragas have in common."""

from __future__ import annotations

from dataclasses import replace

from assay.metrics.systems.input_rules import InputRules
from assay.records import Score

#: It raises where the list of contexts is empty; blank ones it takes.
REFUSES_NO_CONTEXTS = InputRules(refuses_empty=("contexts",))


def above_one(score: Score, value: float) -> Score:
    """The score with a value that the formula does not keep below 1, as its new end."""
    return replace(score, value=value, high=max(score.high, value))
