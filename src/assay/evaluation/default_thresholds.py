"""Default thresholds of metrics: from which value on a row counts as good where nobody named one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from assay.records import Direction

#: By the name of the metric. The names stand for those of other systems, too ("ragas:faithfulness").
DEFAULTS: Mapping[str, float] = {
    "faithfulness": 0.8,
    "grounded": 0.5,
    "hallucination": 0.2,
    "context_recall": 0.8,
    "answer_correctness": 0.5,
    "factual_correctness": 0.5,
    "correctness": 0.5,
    "nugget_recall_answer": 0.5,
}
#: Whose smaller values are the better ones.
_LOWER = frozenset({"hallucination"})


@lru_cache(maxsize=4096)
def bare_name(label: str) -> str:
    """Strip the system and the variant from a metric's label: "ragas:faithfulness@original" is "faithfulness"."""
    return label.rpartition(":")[2].partition("@")[0]


def default_threshold(label: str, low: float, high: float, direction: Direction) -> float | None:
    """Look up the default threshold of a metric; None where there is none for this name, range and direction."""
    bare = bare_name(label)
    fits = (low, high) == (0.0, 1.0) and (direction == "lower") == (bare in _LOWER)
    return DEFAULTS.get(bare) if fits else None
