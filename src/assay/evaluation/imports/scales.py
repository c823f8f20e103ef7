"""What a number in somebody's file is worth: the ends of its scale, and which of them is the good one.

A file says neither. They are known of metrics that `assay.metrics.systems` lists, and of others the user states them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from assay.errors import InputError
from assay.records import Direction

#: Name -> the worst value and the best one, as a user states them.
Stated = Mapping[str, tuple[float, float]]

#: What files call a metric whose entry has another name.
_OTHERWISE: Mapping[str, Mapping[str, str]] = {
    "ragas": {
        "nv_accuracy": "answer_accuracy",
        "nv_context_relevance": "context_relevance",
        "answer_similarity": "semantic_similarity",
        "summary_score": "summarization_score",
        "llm_context_precision_with_reference": "context_precision",
        "llm_context_precision_without_reference": "context_utilization",
        "llm_sql_equivalence_with_reference": "llm_sql_equivalence",
        "instance_rubrics": "instance_specific_rubrics",
        "string_present": "string_presence",
        "data_compare_score": "data_compy_score",
    },
    "trulens": {"answer_relevance": "relevance"},
}
#: DeepEval writes the kind behind a name that the user gave.
_KINDS = re.compile(r"(?s)(.*\S)\s*[\[(](GEval|DAG|Conversational GEval|Conversational DAG)[\])]")
_MODE = re.compile(r"([^()]*)\(mode=(\w+)\)")


@dataclass(frozen=True, slots=True)
class Scale:
    """The range of a metric, which end of it is good, and the name under which its scores stand."""

    name: str
    low: float = 0.0
    high: float = 1.0
    direction: Direction = "higher"


def stated(given: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Scales as options state them, NAME=WORST:BEST. Raises InputError for what says none."""
    found: dict[str, tuple[float, float]] = {}
    for text in given:
        name, _, ends = text.rpartition("=")
        try:
            worst, best = (float(end) for end in ends.split(":"))
        except ValueError:
            raise InputError(f"--scale: expected NAME=WORST:BEST, as in tone=1:5, got {text!r}") from None
        if not name.strip() or found.setdefault(name.strip(), (worst, best)) != (worst, best):
            raise InputError(f"--scale: {text!r}: {'names no metric' if not name.strip() else 'another one is given'}")
    return found


def scale_of(system: str, column: str, given: Stated) -> Scale | None:
    """The scale of what a system's file calls `column`; None where nobody has said.

    Raises InputError for a stated scale without two ends.
    """
    known = _lookup(system, column)
    named = next((name for name in (column, known.name if known else None) if name in given), None)
    if named is None:
        return known
    worst, best = given[named]
    if not math.isfinite(worst) or not math.isfinite(best) or worst == best:
        raise InputError(f"scales: {named!r}: expected two numbers that differ, worst and best; got {worst}, {best}")
    direction: Direction = "higher" if best > worst else "lower"
    return Scale(known.name if known else column, min(worst, best), max(worst, best), direction)


def _lookup(system: str, column: str) -> Scale | None:
    from assay.metrics.systems import SYSTEMS, entry_of

    if system not in SYSTEMS:
        return None
    if system == "deepeval" and _KINDS.fullmatch(column):
        return Scale(column)  # of whatever it is, DeepEval brings its share from 0 to 1
    for name in _spellings(system, column):
        entry = entry_of(system, name)
        if entry is not None:
            metric = entry.make()
            return Scale(metric.name, metric.low, metric.high, metric.direction)
    return None


def _spellings(system: str, column: str) -> Iterable[str]:
    """What the entry may be called: as it is written, or in small letters; ragas writes a mode in brackets."""
    mode = _MODE.fullmatch(column)
    bare = column if mode is None else mode.group(1)
    plain = "_".join(re.findall(r"[a-z0-9]+", bare.removeprefix("Builtin.").casefold()))
    if mode is not None:
        yield f"{plain}_{mode.group(2)}"
    yield bare
    yield _OTHERWISE.get(system, {}).get(plain, plain)
