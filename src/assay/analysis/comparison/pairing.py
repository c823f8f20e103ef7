"""Rows of two runs that are the same: by their id, or without ids by what they ask."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import tee

from assay.errors import Cause, InputError
from assay.evaluation.groups import NONE, value_in
from assay.evaluation.result import Result
from assay.records import Sample, Score, ScoredSample
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
        refused: Metrics, of all of the run, without a value because the answer is a refusal.
        measured: Metrics, of all of the run, with a measured value.
    """

    number: int
    name: str
    scores: Mapping[str, Score]
    cluster: str | None
    values: tuple[str, ...] = ()
    refused: frozenset[str] = frozenset()
    measured: frozenset[str] = frozenset()


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
    names = shared_metrics(first, second, metrics)
    found = match_rows(first, second, read_rows(first, names, cluster), read_rows(second, names), cluster)
    pairs = [RowPair(a.name, a.number, b.number, a.scores, b.scores, a.cluster) for a, b in found.pairs]
    return pairs, found.only_first


@dataclass(frozen=True, slots=True)
class MatchedRows:
    """The rows that two runs share, in the order of the first run, and how many each has alone."""

    pairs: Sequence[tuple[PairedRow, PairedRow]]
    only_first: int
    only_second: int

    @property
    def refusals(self) -> tuple[int, int]:
        """Rows that were scored in the first run and are refusals in the second, and the other way round."""
        return sum(_refused(a, b) for a, b in self.pairs), sum(_refused(b, a) for a, b in self.pairs)


def _refused(before: PairedRow, after: PairedRow) -> bool:
    return not before.refused and not after.refused.isdisjoint(before.measured)


def match_rows(
    first: Result, second: Result, rows: Rows, other: Rows, cluster: str | None = None, columns: Sequence[str] = ()
) -> MatchedRows:
    """Match the rows of two runs, as `read_rows` reads them. Raises InputError where they share none.

    Raises InputError also for a cluster or a column that no shared row has.
    """
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
    pairs = [(rows[key], other[key]) for key in shared]
    return MatchedRows(pairs, len(rows) - len(shared), len(other) - len(shared))


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


def read_rows(result: Result, names: Iterable[str], cluster: str | None = None, columns: Sequence[str] = ()) -> Rows:
    """The rows by what tells them apart, with their scores but without evidence, and their values in `columns`."""
    found: Rows = {}
    wanted = set(names)
    sets: dict[frozenset[str], frozenset[str]] = {}  # one for all rows with the same metrics
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
        measured = frozenset(name for name, score in row.scored.scores.items() if score.measured)
        found[key] = PairedRow(row.number, name, scores, value if there else None, values,
                               _refused_metrics(row.scored), sets.setdefault(measured, measured))  # fmt: skip
    return found


def _refused_metrics(scored: ScoredSample) -> frozenset[str]:
    """Metrics without a value because the answer is a refusal, by their cause, or by a convention for such answers."""
    scores = scored.scores
    empty = {name for name, one in scores.items() if one.error is not None and one.error.cause is Cause.NO_CLAIMS}
    given = {name for name, one in scores.items() if one.convention is not None}
    if not empty and not given:
        return frozenset()
    from assay.analysis.diagnosis.facts import abstains  # imports the judges' rules, which few rows need

    known = abstains(scored.sample, scores.values())
    return frozenset(() if known is False else empty | given if known else empty)


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
    return {key: row.scores for key, row in read_rows(result, metrics).items()}


def _question_key(sample: Sample) -> str:
    if sample.id is not None:
        return f"id {sample.id}"
    return "asked " + json.dumps(
        [sample.question, [[turn.question, turn.answer] for turn in sample.history], sample.reference]
    )
