"""Means of groups of rows: those that have the same value in a column."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from assay.errors import InputError
from assay.evaluation.summary import Summary
from assay.records import Sample, ScoredSample

NONE = "–"  # the group of rows without the column
_FIELDS = ("language", "status")


def grouped_by(rows: Iterable[ScoredSample], column: str, cluster: str | None = None) -> dict[str, dict[str, Summary]]:
    """The summaries of each group by metric, the group with most rows first; see `Result.by` and `Result.cluster_by`.

    Raises InputError where no row has the column; it then says which there are.
    """
    groups: dict[str, dict[str, Summary]] = {}
    sizes: dict[str, int] = {}
    seen: dict[str, None] = {}
    there = False
    for number, scored in enumerate(rows):
        together = None if cluster is None else cluster_of(scored.sample, cluster, number)
        found, value = value_in(scored.sample, column)
        there = there or found
        seen.update(dict.fromkeys(scored.sample.metadata))
        summaries = groups.setdefault(value, {})
        sizes[value] = sizes.get(value, 0) + 1
        for name, score in scored.scores.items():
            summaries.setdefault(name, Summary(metric=name)).add(score, together)
    if not there:
        known = ", ".join([*map(repr, list(seen)[:20]), *_FIELDS])
        raise InputError(f"by: no row has the column {column!r}; rows can be grouped by {known}")
    return {value: groups[value] for value in sorted(groups, key=lambda one: (-sizes[one], one))}


def value_in(sample: Sample, column: str) -> tuple[bool, str]:
    """Whether the sample has the column, and the name of its group."""
    value: Any = sample.metadata.get(column)
    if value is None and column in _FIELDS:
        value = sample.spoken if column == "language" else getattr(sample, column)
    if value is None:
        return False, NONE
    return True, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def cluster_of(sample: Sample, column: str, number: int) -> str:
    """What the row hangs together with: its value in the column; a row without one stands alone, by its number."""
    there, value = value_in(sample, column)
    return value if there else f"\0{number}"
