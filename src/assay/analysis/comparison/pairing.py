"""Rows of two runs that are the same: by their id, or without ids by what they ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from assay._util.compression import key_hash
from assay.errors import Cause, InputError
from assay.evaluation.result import Result
from assay.evaluation.stored_figures import facts_of
from assay.records import BY_CONVENTION, Sample, Score, ScoreError
from assay.store.columns import NO_SCORE, Integers, MetricRange, MetricScores, RunColumns
from assay.store.score_columns import pairing_key

#: What tells a row apart in a run, and the how many of that name it is.
Key = tuple[bytes, int]
Masks = np.ndarray[Any, np.dtype[np.bool_]]


class RunRows:
    """The rows of a run as arrays [n], with their scores of some metrics.

    Attributes:
        columns: The columns of all rows.
        numbers: Numbers of the rows, from 1.
        metrics: Labels of the metrics that were asked for.
        clusters: The value of each row in the column that says what is correlated; None: nothing was asked.
        values: Column that was asked for -> its value on each row; None where a row has none.
    """

    def __init__(
        self, result: Result, names: Iterable[str], cluster: str | None = None, columns: Sequence[str] = ()
    ) -> None:
        self.run = result.run
        self.columns: RunColumns = result.score_columns()
        self.numbers: Integers = self.columns.numbers
        self.metrics = tuple(names)
        self.clusters = None if cluster is None else self.columns.column(cluster)
        self.values = {column: self.columns.column(column) for column in columns}

    def __len__(self) -> int:
        return len(self.numbers)

    def scores(self, metric: str) -> MetricScores:
        """The scores of a metric, read anew: those of all metrics of a long run would take hundreds of megabytes."""
        return self.columns.scores(metric)

    def name(self, place: int) -> str:
        """The id of a row, or "row 3"."""
        number = int(self.numbers[place])
        found = self.columns.some_ids([number]).get(number)
        return f"row {number}" if found is None else found

    def range(self, metric: str) -> MetricRange:
        """The range of a metric; from 0 to 1 where no row has it."""
        return self.columns.metrics.get(metric, MetricRange(0.0, 1.0, "higher"))

    @cached_property
    def names(self) -> list[str]:
        """The id of each row, or "row 3"."""
        ids = self.columns.ids()
        return [f"row {number}" if name is None else name
                for name, number in zip(ids, self.numbers.tolist(), strict=True)]  # fmt: skip

    def cluster_names(self, places: Integers) -> list[str]:
        """What the rows at these places are correlated by; a row without a value stands alone."""
        known = self.clusters or []
        return [known[place] or f"\0{self.numbers[place]}" for place in places.tolist()]

    @property
    def has_refusals(self) -> bool:
        """Whether a row lacks a value for a cause that refusals have."""
        return any(self.columns.has_cause(cause) for cause in (Cause.NO_CLAIMS.value, BY_CONVENTION))

    @cached_property
    def measured(self) -> dict[str, Masks]:
        """Label of each metric of the run -> whether a row has a measured value of it [n]."""
        return {name: self.scores(name).codes == 0 for name in self.columns.metrics}

    @cached_property
    def refused(self) -> dict[str, Masks]:
        """Label of each metric of the run -> whether a row has no value of it because the answer is a refusal [n].

        By its cause, or by a convention for such answers.
        """
        if not self.has_refusals:
            return {}
        found: dict[str, Masks] = {}
        replies = np.array([one.reply for one in facts_of(self.columns)])
        for name in self.columns.metrics:
            scores = self.scores(name)
            empty, given = (_has_cause(scores, cause) for cause in (Cause.NO_CLAIMS.value, BY_CONVENTION))
            found[name] = (empty & (replies != "answered")) | (given & (replies == "refused"))
        return found


def _has_cause(scores: MetricScores, cause: str) -> Masks:
    mask: Masks = scores.codes == (scores.causes.index(cause) if cause in scores.causes else NO_SCORE - 1)
    return mask


def score_at(scores: MetricScores, metric: str, ends: MetricRange, place: int) -> Score | None:
    """The score at a place of arrays, without evidence; None where there is none. Its message may be shortened."""
    code = int(scores.codes[place])
    if code == NO_SCORE:
        return None
    span = {"low": ends.low, "high": ends.high, "direction": ends.direction}
    cause = scores.causes[code]
    if cause == BY_CONVENTION:
        return Score(metric=metric, value=float(scores.given[place]), convention=scores.message(place), **span)  # type: ignore[arg-type]
    if code:
        error = ScoreError(cause=Cause(cause), message=scores.message(place))
        return Score(metric=metric, error=error, **span)  # type: ignore[arg-type]
    return Score(metric=metric, value=float(scores.values[place]), **span)  # type: ignore[arg-type]


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
    one, other = found.first, found.second
    clusters = one.clusters or [None] * len(one)
    scores, others = ({name: rows.scores(name) for name in names} for rows in (one, other))
    pairs = [
        RowPair(one.names[a], int(one.numbers[a]), int(other.numbers[b]), _scores_at(one, scores, a),
                _scores_at(other, others, b), clusters[a])
        for a, b in zip(found.places.tolist(), found.other_places.tolist(), strict=True)
    ]  # fmt: skip
    return pairs, found.only_first


def _scores_at(rows: RunRows, scores: Mapping[str, MetricScores], place: int) -> dict[str, Score]:
    found = {name: score_at(of, name, rows.range(name), place) for name, of in scores.items()}
    return {name: score for name, score in found.items() if score is not None}


@dataclass(frozen=True, slots=True)
class MatchedRows:
    """The rows that two runs share, in the order of the first run, and how many each has alone.

    Attributes:
        places: Of each shared row, where it stands in the first run.
        other_places: Where it stands in the second.
    """

    first: RunRows
    second: RunRows
    places: Integers
    other_places: Integers
    only_first: int
    only_second: int

    def __len__(self) -> int:
        return len(self.places)

    def where(self, mask: Masks | Integers) -> MatchedRows:
        """Some of the shared rows: a mask [pairs], or places of pairs."""
        return MatchedRows(self.first, self.second, self.places[mask], self.other_places[mask], 0, 0)

    @property
    def refusals(self) -> tuple[int, int]:
        """Rows that were scored in the first run and are refusals in the second, and the other way round."""
        one, other = self.places, self.other_places
        if not (self.first.has_refusals or self.second.has_refusals):
            return 0, 0
        return (
            _new_refusals(self.first, one, self.second, other),
            _new_refusals(self.second, other, self.first, one),
        )


def _new_refusals(before: RunRows, places: Integers, after: RunRows, other: Integers) -> int:
    refused = np.zeros(len(places), dtype=bool)
    for name, mask in after.refused.items():
        if name in before.measured:
            refused |= mask[other] & before.measured[name][places]
    for mask in before.refused.values():
        refused &= ~mask[places]
    return int(refused.sum())


def match_rows(
    first: Result, second: Result, rows: RunRows, other: RunRows, cluster: str | None = None,
    columns: Sequence[str] = (),
) -> MatchedRows:  # fmt: skip
    """Match the rows of two runs, as `read_rows` reads them. Raises InputError where they share none.

    Raises InputError also for a cluster or a column that no shared row has.
    """
    places, others = matching_places(rows.columns.pairing_keys(), other.columns.pairing_keys())
    if not len(places):
        raise InputError(
            f"no row of {first.run!r} is in {second.run!r}: rows are the same by id, or without ids by what they ask"
        )
    if cluster is not None and not any((rows.clusters or [])[place] for place in places.tolist()):
        raise InputError(f"cluster: no row has the column {cluster!r}")
    for column in columns:
        if all(rows.values[column][place] is None for place in places.tolist()):
            raise InputError(f"by: no row has the column {column!r}")
    return MatchedRows(rows, other, places, others, len(rows) - len(places), len(other) - len(places))


def matching_places(first: np.ndarray, second: np.ndarray) -> tuple[Integers, Integers]:
    """Match keys of 16 bytes; of several that are equal the second is another one.

    Args:
        first: Keys [n].
        second: Keys [m].

    Returns:
        Places of the keys in both that are the same, in the order of the first.
    """
    if np.array_equal(first, second):  # the same data, in the same order
        same = np.arange(len(first), dtype=np.int64)
        return same, same
    codes = _codes(np.concatenate([first, second]))
    one, other = _numbered_repeats(codes[: len(first)], codes), _numbered_repeats(codes[len(first) :], codes)
    _, places, others = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    order = np.argsort(places)
    return places[order].astype(np.int64), others[order].astype(np.int64)


def _codes(keys: np.ndarray) -> Integers:
    """A number for each key, the same for equal ones."""
    halves = np.frombuffer(keys.tobytes(), dtype="<u8").reshape(-1, 2)
    order = np.lexsort((halves[:, 0], halves[:, 1]))
    ordered = halves[order]
    new = np.ones(len(keys), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    codes = np.empty(len(keys), dtype=np.int64)
    codes[order] = np.cumsum(new)
    return codes


def _numbered_repeats(codes: Integers, of_all: Integers) -> Integers:
    """Numbers that differ also where codes are equal: by how many of them came before."""
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(codes) else np.empty(0, dtype=np.int64)
    lengths = np.diff(np.r_[starts, len(codes)])
    rank = np.empty(len(codes), dtype=np.int64)
    rank[order] = np.arange(len(codes)) - np.repeat(starts, lengths)
    found: Integers = codes * (len(of_all) + 1) + rank
    return found


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


def read_rows(result: Result, names: Iterable[str], cluster: str | None = None, columns: Sequence[str] = ()) -> RunRows:
    """Read the rows of a run with their scores of these metrics, and their values in `columns`."""
    return RunRows(result, names, cluster, columns)


def same_rows(first: Result, second: Result) -> dict[int, int]:
    """The numbers of rows that are the same in both runs: number in the first run -> number in the second."""
    one, other = first.score_columns(), second.score_columns()
    places, others = matching_places(one.pairing_keys(), other.pairing_keys())
    return dict(zip(one.numbers[places].tolist(), other.numbers[others].tolist(), strict=True))


def keys_of(samples: Iterable[Sample]) -> Iterator[Key]:
    """What is the same of each row in every run; of several with one name the second is another one."""
    return _counted(key_hash(pairing_key(sample)) for sample in samples)


def _counted(names: Iterable[bytes]) -> Iterator[Key]:
    seen: Counter[bytes] = Counter()
    for name in names:
        seen[name] += 1
        yield name, seen[name]


def scores_by_key(result: Result, metrics: Iterable[str]) -> dict[Key, Mapping[str, Score]]:
    """The scores of every row of a run, by what is the same of it in every run."""
    names = list(metrics)
    rows = read_rows(result, names)
    keys = _counted(key.tobytes() for key in rows.columns.pairing_keys())
    scores = {name: rows.scores(name) for name in names}
    return {key: _scores_at(rows, scores, place) for place, key in enumerate(keys)}
