"""Means of groups of rows: those that have the same value in a column."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.errors import InputError
from assay.evaluation.summary import Summary
from assay.records import Sample
from assay.stats.arrays import places_by_value
from assay.store.score_columns import FIELDS, NO_SCORE, OMITTED

if TYPE_CHECKING:
    from assay.store.columns import RunColumns

NONE = "–"  # the group of rows without the column


def grouped_by(columns: RunColumns, key: str, cluster: str | None = None) -> dict[str, dict[str, Summary]]:
    """The summaries of each group by metric, the group with most rows first; see `Result.by` and `Result.cluster_by`.

    Raises InputError where no row has the column; it then says which there are.
    """
    values = groups_of(columns, key)
    if all(value == NONE for value in values):
        raise InputError(f"by: no row has the column {key!r}; rows can be grouped by {keys_in_words(columns)}")
    clusters = None if cluster is None else np.array(clusters_of(columns, cluster), dtype=object)
    places = places_by_value(values)
    groups: dict[str, dict[str, Summary]] = {value: {} for value in places}
    for name, ends in columns.metrics.items():
        scores = columns.scores(name)
        for value, here in places.items():
            some = scores.where(here)
            if (some.codes != NO_SCORE).any():
                together = None if clusters is None else list(clusters[here])
                groups[value][name] = Summary.of_columns(name, ends, some, together)
    return {value: groups[value] for value in sorted(groups, key=lambda one: (-len(places[one]), one))}


def keys_in_words(columns: RunColumns) -> str:
    """The first slice keys of the rows, in words."""
    seen = dict.fromkeys(name for slices in columns.slices() for name in slices if name not in (*FIELDS, OMITTED))
    return ", ".join([*map(repr, list(seen)[:20]), *FIELDS])


def groups_of(columns: RunColumns, key: str) -> list[str]:
    """The value of a slice key on each row, "–" where it has none."""
    return [NONE if value is None else value for value in columns.column(key)]


def clusters_of(columns: RunColumns, cluster: str) -> list[str]:
    """The cluster of each row; a row without the slice key is a cluster of its own."""
    values = columns.column(cluster)
    return [f"\0{number}" if value is None else value
            for number, value in zip(columns.numbers.tolist(), values, strict=True)]  # fmt: skip


def value_in(sample: Sample, column: str) -> tuple[bool, str]:
    """Whether the sample has the column, and the name of its group."""
    value: Any = sample.metadata.get(column)
    if value is None and column in FIELDS:
        value = sample.spoken if column == "language" else getattr(sample, column)
    if value is None:
        return False, NONE
    return True, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def cluster_of(sample: Sample, column: str, number: int) -> str:
    """What the row hangs together with: its value in the column; a row without one stands alone, by its number."""
    there, value = value_in(sample, column)
    return value if there else f"\0{number}"
