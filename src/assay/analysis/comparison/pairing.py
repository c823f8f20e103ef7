"""Rows of two runs that are the same: by their id, or without ids by what they ask."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import tee

from assay.errors import InputError
from assay.evaluation.groups import NONE, value_in
from assay.evaluation.result import Result
from assay.records import Sample, Score
from assay.store.store import Row

#: What tells a row apart in a run, and the how many of that name it is.
Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class PairedRow:
    """A row of one run, with its scores, without their evidence.

    Attributes:
        number: From 1.
        cluster: See `Pair`.
        values: In the columns that were asked for.
    """

    number: int
    name: str
    scores: Mapping[str, Score]
    cluster: str | None
    values: tuple[str, ...] = ()


Rows = dict[Key, PairedRow]


@dataclass(frozen=True, slots=True)
class RowPair:
    """A row that is in both runs, with its scores, without their evidence. Rows count from 1 in each run.

    Attributes:
        cluster: Its value in the column that says what hangs together; None where it has none, or nothing was asked.
    """

    name: str
    first_row: int
    second_row: int
    first: Mapping[str, Score]
    second: Mapping[str, Score]
    cluster: str | None


def pairs_of(
    first: Result, second: Result, metrics: str | Sequence[str] | None = None, *, cluster: str | None = None
) -> tuple[list[RowPair], int]:
    """The rows of both runs, in the order of the first, and how many rows the first run has alone.

    Arguments and errors are those of `compare`, but for those of judges.
    """
    rows, other, shared = shared_rows(first, second, shared_metrics(first, second, metrics), cluster)
    both = ((rows[key], other[key]) for key in shared)
    pairs = [RowPair(a.name, a.number, b.number, a.scores, b.scores, a.cluster) for a, b in both]
    return pairs, len(rows) - len(pairs)


def shared_rows(
    first: Result, second: Result, names: Sequence[str], cluster: str | None, columns: Sequence[str] = ()
) -> tuple[Rows, Rows, list[Key]]:
    """The rows of each run, and the names of those that both have. Raises InputError where there are none.

    `columns`: their values in the first run are kept with the rows; one that no row has is an InputError.
    """
    rows, other = _rows(first, names, cluster, columns), _rows(second, names, None)
    shared = [key for key in rows if key in other]
    if not shared:
        raise InputError(
            f"no row of {first.run!r} is in {second.run!r}: rows are the same by id, or without ids by what they ask"
        )
    if cluster is not None and not any(rows[key].cluster for key in shared):
        raise InputError(f"cluster: no row has the column {cluster!r}")
    for place, column in enumerate(columns):
        if all(rows[key].values[place] == NONE for key in shared):
            raise InputError(f"by: no row has the column {column!r}")
    return rows, other, shared


def shared_metrics(first: Result, second: Result, metrics: str | Sequence[str] | None) -> list[str]:
    """Those that are meant, all that both runs have by default. Raises InputError for others, and for none."""
    both = [name for name in first.metrics if name in second.metrics]
    wanted = both if metrics is None else [metrics] if isinstance(metrics, str) else list(dict.fromkeys(metrics))
    for name in wanted:
        if name not in both:
            why = next((f"; {note}" for note in (*first.notes, *second.notes) if name in note), "")
            raise InputError(f"metrics: {name!r} is not in both runs; they share {', '.join(both) or 'none'}{why}")
    if not wanted:
        raise InputError(f"the runs {first.run!r} and {second.run!r} have no metric in common")
    return wanted


def _rows(result: Result, names: Iterable[str], cluster: str | None, columns: Sequence[str] = ()) -> Rows:
    """The rows by what tells them apart, with their scores but without evidence."""
    found: Rows = {}
    wanted = set(names)
    for key, row in _keyed(result.numbered_rows()):
        sample = row.scored.sample
        scores = {
            name: Score(metric=name, value=score.value, error=score.error, low=score.low, high=score.high,
                        direction=score.direction, convention=score.convention)
            for name, score in row.scored.scores.items()
            if name in wanted
        }  # fmt: skip
        there, value = (False, "") if cluster is None else value_in(sample, cluster)
        name = sample.id if sample.id is not None else f"row {row.number}"
        values = tuple(value_in(sample, column)[1] for column in columns)
        found[key] = PairedRow(row.number, name, scores, value if there else None, values)
    return found


def same_rows(first: Iterable[Row], second: Iterable[Row]) -> Iterator[tuple[int, int]]:
    """The numbers of rows that are the same in both runs, in the order of the first run."""
    numbers = {key: row.number for key, row in _keyed(second)}
    for key, row in _keyed(first):
        if key in numbers:
            yield row.number, numbers[key]


def _keyed(rows: Iterable[Row]) -> Iterator[tuple[Key, Row]]:
    """What is the same of a row in every run, and the row."""
    ones, others = tee(rows)
    return zip(keys_of(row.scored.sample for row in ones), others, strict=True)


def keys_of(samples: Iterable[Sample]) -> Iterator[Key]:
    """What is the same of each row in every run; of several with one name the second is another one."""
    seen: Counter[str] = Counter()
    for sample in samples:
        name = _question_key(sample)
        seen[name] += 1
        yield name, seen[name]


def scores_by_key(result: Result, metrics: Iterable[str]) -> dict[Key, Mapping[str, Score]]:
    """The scores of every row of a run, by what is the same of it in every run."""
    return {key: row.scores for key, row in _rows(result, metrics, None).items()}


def _question_key(sample: Sample) -> str:
    if sample.id is not None:
        return f"id {sample.id}"
    return "asked " + json.dumps(
        [sample.question, [[turn.question, turn.answer] for turn in sample.history], sample.reference]
    )
