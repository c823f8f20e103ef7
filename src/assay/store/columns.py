"""Read the scores of a run as arrays, without the texts of its rows.

    columns = RunColumns(store, "monday")
    columns.values("faithfulness")  # float64, NaN where there is no measured value

Rows of a store of an earlier version have no columns; they are made from the packed rows when the run is first read.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from assay._util.compression import KEY_BYTES, key_hash
from assay.errors import StoreError
from assay.records import BY_CONVENTION, Direction
from assay.store.column_blocks import ColumnBlocks, write_blocks
from assay.store.digests import MODULUS, name_hash, score_digests
from assay.store.rows import PAGE, row_of
from assay.store.score_columns import NO_SCORE as NO_SCORE
from assay.store.score_columns import (
    OMITTED,
    WEIGHT,
    RowColumns,
    high_end,
    low_end,
    name_numbers,
    put_columns,
    read_name,
)
from assay.store.store import Store
from assay.store.tables import Statements, read_all

log = logging.getLogger("assay.store")

ROW = "row"  # the array of the numbers of rows
ARRAY_PAGE = 50_000  # values read at a time: memory stays flat

Floats = np.ndarray[Any, np.dtype[np.float64]]
Integers = np.ndarray[Any, np.dtype[np.int64]]
Codes = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]


class MetricRange(NamedTuple):
    """The range of a metric over the rows of a run, and which end is good."""

    low: float
    high: float
    direction: Direction


@dataclass(frozen=True, slots=True)
class MetricScores:
    """The scores of one metric, in the order of the rows.

    Attributes:
        values: Measured values [n]; NaN where there is none.
        given: Values that another system gives by convention [n]; NaN where there is none.
        codes: Why there is no measured value [n]: an index of `causes`; 0: there is one; NO_SCORE: no score.
        causes: What the codes mean; the first is "".
        messages: The reason in words [n]: an index of `texts`; 0: there is none.
        texts: The reasons, by the store's numbers.
    """

    values: Floats
    given: Floats
    codes: Codes
    causes: tuple[str, ...]
    messages: Codes
    texts: Callable[[int], str]

    def where(self, mask: np.ndarray) -> MetricScores:
        """Those of some rows: a mask [n], or places of rows."""
        return MetricScores(
            self.values[mask], self.given[mask], self.codes[mask], self.causes, self.messages[mask], self.texts
        )

    def message(self, place: int) -> str:
        """The reason why a row has no measured value, in words, shortened; "" where there is none."""
        number = int(self.messages[place])
        return self.texts(number) if number else ""


@contextmanager
def _damage(store: Store) -> Iterator[None]:
    """Within, values that no column can have are StoreErrors."""
    try:
        yield
    except (ValueError, TypeError, OverflowError, KeyError, AttributeError) as error:
        raise StoreError(f"store {store.name!r}: its columns of scores are damaged: {error}") from error


class _ScoreReader:
    """The stored scores of a run, page by page."""

    def __init__(self, store: Store, run: int, blocks: ColumnBlocks | None = None) -> None:
        self._store, self._run, self._blocks = store, run, blocks
        self._names: dict[int, str] = {}

    @cached_property
    def metrics(self) -> dict[str, int]:
        """Label of a metric -> its number."""
        sql = "SELECT metric FROM metric_ranges WHERE run = ? ORDER BY metric"
        return {self.name(int(metric)): int(metric) for (metric,) in self._store.query(sql, self._run)}

    def pages(
        self, metric: int, first: int = 0, end: int | None = None
    ) -> Iterator[tuple[Integers, Floats, Integers, Integers]]:
        """Rows, values, numbers of causes and of messages (0: none) of a metric, from a row up to one.

        Raises:
            StoreError: The order is damaged.
        """
        if self._blocks is not None:
            yield from self._block(self._blocks, metric)
            return
        sql = (f"SELECT row, value, cause, message FROM scores WHERE run = ? AND metric = ? AND row > ? "
               f"ORDER BY row LIMIT {ARRAY_PAGE}")  # fmt: skip
        last = first - 1
        while (end is None or last < end) and (page := self._store.query(sql, self._run, metric, last)):
            with _damage(self._store):
                rows, values, causes, messages = zip(*page, strict=True)
                found = (
                    np.array(rows, dtype=np.int64),
                    np.array(values, dtype=np.float64),  # None is NaN
                    np.array([one or 0 for one in causes], dtype=np.int64),
                    np.array([one or 0 for one in messages], dtype=np.int64),
                )
                before, last = last, int(rows[-1])
            yield found
            if last <= before:
                raise StoreError("the store is damaged: its scores are not in order")

    def _block(self, blocks: ColumnBlocks, metric: int) -> Iterator[tuple[Integers, Floats, Integers, Integers]]:
        rows, values = blocks.array(f"row {metric}", "<i8"), blocks.array(f"value {metric}", "<f8")
        rows = blocks.array(ROW, "<i8") if rows is None else rows
        if rows is None or values is None:
            return
        none = np.zeros(len(rows), dtype="<i4")
        causes, messages = (blocks.array(f"{name} {metric}", "<i4") for name in ("cause", "message"))
        yield rows, values, none if causes is None else causes, none if messages is None else messages

    def arrays(self, numbers: Integers) -> dict[str, np.ndarray]:
        """All scores as arrays for `column_blocks`; `numbers` are those of the rows."""
        found: dict[str, np.ndarray] = {}
        for metric in self.metrics.values():
            pages = list(self.pages(metric))
            if not pages:
                continue
            rows, values, causes, messages = (np.concatenate(some) for some in zip(*pages, strict=True))
            found[f"value {metric}"] = values.astype("<f8")
            if not np.array_equal(rows, numbers):
                found[f"row {metric}"] = rows.astype("<i8")
            for name, codes in (("cause", causes), ("message", messages)):
                if codes.any():
                    found[f"{name} {metric}"] = codes.astype("<i4")
        return found

    def digest(self) -> int:
        """The sum of the digests of the scores, and of the weights of the rows."""
        total = self._digest_of_weights()
        for metric, number in self.metrics.items():
            for rows, values, causes, _ in self.pages(number):
                kinds = np.unique(causes)
                hashes = np.array([name_hash(self.name(int(one))) if one else 0 for one in kinds], dtype=np.uint64)
                total += score_digests(rows, name_hash(metric), values, hashes[np.searchsorted(kinds, causes)])
        return total % MODULUS

    def _digest_of_weights(self) -> int:
        sql = f"SELECT row, weight FROM row_facts WHERE run = ? AND row > ? ORDER BY row LIMIT {ARRAY_PAGE}"
        total, last = 0, -1
        while page := self._store.query(sql, self._run, last):
            with _damage(self._store):
                rows, weights = (np.array(some, dtype=kind) for some, kind in
                                 zip(zip(*page, strict=True), (np.int64, np.float64), strict=True))  # fmt: skip
                total += score_digests(rows, WEIGHT, weights, np.zeros(len(rows), dtype=np.uint64))
                before, last = last, int(rows[-1])
            if last <= before:
                raise StoreError("the store is damaged: its rows are not in order")
        return total

    def name(self, number: int) -> str:
        """The text with a number."""
        if number not in self._names:
            found = self._store.query("SELECT text FROM names WHERE number = ?", number)
            with _damage(self._store):
                self._names[number] = read_name(found[0][0]) if found else f"unknown name {number}"
        return self._names[number]


class RunColumns:
    """The rows of a run as arrays.

    Args:
        store: The store.
        run: Name of the run.
        since: Only rows from this time on, in seconds since 1970.
        until: Only rows before this time.
        where: Only rows with these values of slice keys, compared as `column` returns them.
        without: Numbers of rows to leave out, such as those that cannot be read.

    Attributes:
        numbers: Numbers of the rows, rising [n].
        metrics: Label of a metric -> its range; in the order in which they were first stored.
    """

    def __init__(
        self,
        store: Store,
        run: str,
        *,
        since: float | None = None,
        until: float | None = None,
        where: Mapping[str, str] | None = None,
        without: Sequence[int] = (),
    ) -> None:
        self.store, self.run = store, run
        self._own = _number_of(store, run)
        self._blocks = ColumnBlocks.of(store, run, self._own)
        self._extra = [] if self._blocks is not None else _missing_columns(store, run)
        if self._own < 0:  # they have been made just now
            self._own = _number_of(store, run)
        self._reader = _ScoreReader(store, self._own, self._blocks)
        stored = self._stored_numbers(since, until)
        lost = [] if self._blocks is not None else _lost_numbers(store, run, self._own)
        drop = np.array(sorted({*without, *lost}), dtype=np.int64)
        self._stored = stored[~np.isin(stored, drop)] if len(drop) else stored
        self._extra = [one for one in self._extra if one.number not in without and _within(one.at, since, until)]
        self.numbers: Integers = self._stored
        if self._extra:
            extra = np.array([one.number for one in self._extra], dtype=np.int64)
            self.numbers = np.sort(np.concatenate([self._stored, extra]))
        self.metrics = self._ranges()
        for key, value in (where or {}).items():
            self._keep(np.array([found == value for found in self.column(key)], dtype=bool))

    def __len__(self) -> int:
        return len(self.numbers)

    def _keep(self, mask: np.ndarray) -> None:
        self.numbers = self.numbers[mask]
        kept = set(self.numbers.tolist())
        self._stored = self._stored[np.isin(self._stored, self.numbers)]
        self._extra = [one for one in self._extra if one.number in kept]
        for name in ("times", "weights", "_slices"):
            self.__dict__.pop(name, None)

    # ---- one entry a row

    @cached_property
    def times(self) -> Floats:
        """When each answer was complete, else when it was stored [n], in seconds since 1970."""
        found: Floats = self._row_values("at", lambda row: row.at, np.float64)
        return found

    @cached_property
    def weights(self) -> Floats:
        """How many samples each row stands for [n]: the inverse of its sampling rate."""
        found: Floats = self._row_values("weight", lambda row: row.weight, np.float64)
        with _damage(self.store):
            if not ((found > 0.0) & np.isfinite(found)).all():
                raise ValueError("a weight is not above 0")
        return found

    def pairing_keys(self) -> np.ndarray:
        """What is the same of each row in every run [n], 16 bytes each."""
        found: np.ndarray = self._row_values("key", lambda row: row.key, "V16")
        return found

    def quotes(self) -> tuple[int, int]:
        """Verdicts with quotes, and those of them with a quote that is not in the passages, over all rows."""
        found = [self._row_values(name, attrgetter(name), np.int64) for name in ("quoted", "unlocated")]
        return int(found[0].sum()), int(found[1].sum())

    def ids(self) -> list[str | None]:
        """The ids of the samples."""
        return self._row_objects("id", lambda row: row.id)

    def some_ids(self, numbers: Sequence[int]) -> dict[int, str | None]:
        """The ids of some rows, by their numbers."""
        found: dict[int, str | None] = {one.number: one.id for one in self._extra}
        for start in range(0, len(numbers), PAGE):
            some = numbers[start : start + PAGE]
            sql = f"SELECT row, id FROM row_facts WHERE run = ? AND row IN ({', '.join('?' * len(some))})"
            found |= {int(row): name for row, name in self.store.query(sql, self._own, *some)}
        return found

    def facts(self) -> list[str | None]:
        """What `assay.evaluation` read from each row's texts, in its own form; None where it has not."""
        return self._row_objects("facts", lambda row: row.facts)

    def keep_facts(self, facts: Mapping[int, str]) -> None:
        """Store what was read of rows, by their numbers, where the store can be written: next time it is known."""
        there = set(self._stored.tolist())
        stored = [(text, self._own, number) for number, text in facts.items() if number in there]
        for start in range(0, len(stored), PAGE):
            some = stored[start : start + PAGE]
            try:
                self.store.write(
                    lambda db, some=some: db.executemany(  # type: ignore[misc]
                        "UPDATE row_facts SET facts = ? WHERE run = ? AND row = ?", some
                    )
                )
            except StoreError as error:
                log.debug("assay: store %s: facts of run %s cannot be kept: %s", self.store.name, self.run, error)
                return

    @cached_property
    def _slices(self) -> list[str]:
        return [text or "{}" for text in self._row_objects("slices", lambda row: row.slices)]

    def slices(self) -> Iterator[dict[str, Any]]:
        """Iterate over the slice keys of the rows, with their values."""
        for text in self._slices:
            with _damage(self.store):
                found = json.loads(text)
                if not isinstance(found, dict):
                    raise TypeError(f"slice keys are {found!r:.60}")
            yield found

    def column(self, name: str) -> list[str | None]:
        """The values of a slice key: texts as they are, other values as JSON; None where a row has none.

        Args:
            name: A key of the metadata, "language" or "status".

        Returns:
            One value a row.
        """
        found = [_text_in(slices, name) for slices in self.slices()]
        if any(value is OMITTED for value in found):  # too long for a column
            return [self._unpacked_value(number, name) if value is OMITTED else value
                    for number, value in zip(self.numbers.tolist(), found, strict=True)]  # fmt: skip
        return found

    def coded_column(self, name: str) -> tuple[Codes, list[str]]:
        """The values of a slice key as numbers: takes little memory where many rows share few values.

        Args:
            name: As in `column`; values that are too long for a column count as none here.

        Returns:
            Of each row the place of its value in the second list [n]; -1 where it has none.
        """
        found, known, coded = np.full(len(self.numbers), -1, dtype=np.int32), dict[str, int](), dict[str | None, int]()

        def code(text: str | None) -> int:
            if text not in coded:
                with _damage(self.store):
                    value = _text_in(json.loads(text or "{}"), name)
                if len(coded) > ARRAY_PAGE:  # nearly every row has other values: what is kept would fill the memory
                    coded.clear()
                coded[text] = -1 if value is None or value is OMITTED else known.setdefault(value, len(known))
            return coded[text]

        for rows, values in self._row_pages("slices"):
            some = np.array(rows, dtype=np.int64)
            here = np.isin(some, self._stored)
            codes = np.array([code(value) for value in values], dtype=np.int32)
            found[np.searchsorted(self.numbers, some[here])] = codes[here]
        for one in self._extra:
            found[int(np.searchsorted(self.numbers, one.number))] = code(one.slices)
        return found, list(known)

    def slice_keys(self) -> list[str]:
        """The slice keys of the first rows of the run, in the order in which they are met."""
        sql = f"SELECT slices FROM row_facts WHERE run = ? ORDER BY row LIMIT {PAGE}"
        texts = [text for (text,) in self.store.query(sql, self._own)] + [one.slices for one in self._extra[:PAGE]]
        found: dict[str, None] = {}
        for text in texts:
            with _damage(self.store):
                found |= dict.fromkeys(key for key in json.loads(text or "{}") if key != OMITTED)
        return list(found)

    def _unpacked_value(self, number: int, name: str) -> str | None:
        value = self.store.get_row(self.run, f"row:{number}").scored.sample.metadata.get(name)
        return _as_text(value)

    # ---- one entry a row and metric

    def scores(self, metric: str) -> MetricScores:
        """The scores of a metric.

        Args:
            metric: Its label. One that the run has not has no scores.

        Returns:
            Values and causes by row.
        """
        size = len(self.numbers)
        values, codes = np.full(size, np.nan), np.full(size, NO_SCORE, dtype=np.int16)
        messages, own = np.zeros(size, dtype=np.int32), dict[int, str]()
        causes: dict[str, int] = {"": 0}
        number = self._reader.metrics.get(metric)
        if number is not None and len(self._stored):
            for rows, found, reasons, said in self._reader.pages(number, int(self._stored[0]), int(self._stored[-1])):
                if len(rows) == size and np.array_equal(rows, self.numbers):
                    places, here = np.arange(size), np.ones(size, dtype=bool)
                else:
                    places = np.searchsorted(self.numbers, rows)
                    places[places == size] = 0
                    here = self.numbers[places] == rows if size else np.zeros(len(rows), dtype=bool)
                for reason in np.unique(reasons):
                    causes.setdefault(self._reader.name(int(reason)) if reason else "", len(causes))
                texts = np.array([causes[self._reader.name(int(one)) if one else ""] for one in np.unique(reasons)])
                values[places[here]], messages[places[here]] = found[here], said[here]
                codes[places[here]] = texts[np.searchsorted(np.unique(reasons), reasons)][here]
        for row in self._extra:
            place = int(np.searchsorted(self.numbers, row.number))
            for cell in row.scores:
                if cell.metric == metric:
                    values[place] = np.nan if cell.value is None else cell.value
                    codes[place] = causes.setdefault(cell.cause or "", len(causes))
                    if cell.message:
                        messages[place] = -len(own) - 1
                        own[-len(own) - 1] = cell.message
        by_convention = codes == causes.get(BY_CONVENTION, NO_SCORE - 1)
        given: Floats = np.broadcast_to(np.float64(np.nan), size)  # no room for what is hardly ever there
        if by_convention.any():
            given = np.where(by_convention, values, np.nan)

        def text(number: int) -> str:
            return own[number] if number < 0 else self._reader.name(number)

        values[codes != 0] = np.nan
        return MetricScores(values, given, codes, tuple(causes), messages, text)

    def values(self, metric: str) -> Floats:
        """The measured values of a metric [n]; NaN where there is none."""
        return self.scores(metric).values

    def causes(self, metric: str) -> list[str | None]:
        """Why each row has no measured value of a metric; None where it has one, or was not scored by it."""
        found = self.scores(metric)
        return [found.causes[code] if code > 0 else None for code in found.codes.tolist()]

    def worst(self, metric: str, n: int, *, lowest: bool) -> list[int]:
        """Find the rows with the lowest or the highest measured values.

        Args:
            metric: Label of the metric.
            n: Number of rows at most.
            lowest: Whether the lowest values are meant.

        Returns:
            Numbers of the rows, the most extreme value first; of equal values the first row in the data.
        """
        values = self.values(metric)
        places = np.flatnonzero(~np.isnan(values))
        order = np.argsort(values[places] if lowest else -values[places], kind="stable")[:n]
        return [int(number) for number in self.numbers[places[order]]]

    def without_value(self) -> list[int]:
        """The numbers of the rows that lack a measured value of a metric."""
        sql = "SELECT DISTINCT row FROM scores WHERE run = ? AND cause IS NOT NULL ORDER BY row"
        found = {int(row) for (row,) in self.store.query(sql, self._own)}
        found |= {row.number for row in self._extra if any(cell.cause for cell in row.scores)}
        return [number for number in self.numbers.tolist() if number in found]

    def has_cause(self, cause: str) -> bool:
        """Whether a row of the stored run lacks a measured value for this cause, by the index."""
        number = self.store.query("SELECT number FROM names WHERE key = ?", key_hash(cause))
        sql = "SELECT 1 FROM scores WHERE run = ? AND cause = ? LIMIT 1"
        stored = bool(number) and bool(self.store.query(sql, self._own, number[0][0]))
        return stored or any(cell.cause == cause for row in self._extra for cell in row.scores)

    def is_altered(self) -> bool:
        """Whether the scores in the store are not those that were saved, by their digest; False where it is unknown."""
        row = self.store.query("SELECT scores_digest FROM runs WHERE id = ?", self.run)
        reader = _ScoreReader(self.store, self._own)  # of the tables themselves
        return bool(row) and row[0][0] is not None and int(row[0][0]) != reader.digest()

    # ---- reading

    def _ranges(self) -> dict[str, MetricRange]:
        sql = "SELECT metric, low, high, direction FROM metric_ranges WHERE run = ? ORDER BY metric"
        found: dict[str, MetricRange] = {}
        for metric, low, high, direction in self.store.query(sql, self._own):
            with _damage(self.store):
                span = MetricRange(low_end(low), high_end(high), direction)
                if not span.low <= span.high or direction not in ("higher", "lower"):
                    raise ValueError(f"the range of a metric is {span}")
                found[self._reader.name(int(metric))] = span
        for row in self._extra:
            for cell in row.scores:
                known = found.get(cell.metric, MetricRange(cell.low, cell.high, "higher"))
                ends = min(known.low, cell.low), max(known.high, cell.high)
                found[cell.metric] = MetricRange(*ends, cell.direction)  # type: ignore[arg-type]
        return found

    def _stored_numbers(self, since: float | None, until: float | None) -> Integers:
        """The numbers of the rows that have columns, of a span of time, rising."""
        if self._blocks is not None and (rows := self._blocks.array(ROW, "<i8")) is not None:
            if since is None and until is None:
                return rows.astype(np.int64)
            times = self._blocks.array("at", "<f8")
            if times is not None:
                inside = (times >= (-np.inf if since is None else since)) & (
                    times < (np.inf if until is None else until)
                )
                return rows[inside].astype(np.int64)
        condition, bounds = "", []
        for bound, sign in ((since, ">="), (until, "<")):
            if bound is not None:
                condition += f" AND at {sign} ?"
                bounds.append(bound)
        sql = f"SELECT row FROM row_facts WHERE run = ? AND row > ?{condition} ORDER BY row LIMIT {ARRAY_PAGE}"
        pages, last = [np.empty(0, dtype=np.int64)], -1
        while page := self.store.query(sql, self._own, last, *bounds):
            with _damage(self.store):
                pages.append(np.array([row for (row,) in page], dtype=np.int64))
                before, last = last, int(page[-1][0])
            if last <= before:
                raise StoreError("the store is damaged: its rows are not in order")
        return np.concatenate(pages)

    def _row_pages(self, column: str) -> Iterator[tuple[list[int], list[Any]]]:
        sql = f"SELECT row, {column} FROM row_facts WHERE run = ? AND row > ? ORDER BY row LIMIT {ARRAY_PAGE}"
        last = -1 if not len(self._stored) else int(self._stored[0]) - 1
        end = -1 if not len(self._stored) else int(self._stored[-1])
        while last < end and (page := self.store.query(sql, self._own, last)):
            rows, values = map(list, zip(*page, strict=True))
            yield rows, values
            last = rows[-1]

    def _row_values(self, column: str, read: Callable[[RowColumns], Any], kind: Any) -> Any:
        if (whole := self._block_of(column, kind)) is not None:
            return whole
        found = np.zeros(len(self.numbers), dtype=kind)
        for rows, values in self._row_pages(column):
            some = np.array(rows, dtype=np.int64)
            here = np.isin(some, self._stored)
            places = np.searchsorted(self.numbers, some[here])
            if np.dtype(kind).kind == "V":
                values = [_key_of(value, self.store) for value in values]
            with _damage(self.store):
                found[places] = np.array(values, dtype=kind)[here]
        for row in self._extra:
            found[int(np.searchsorted(self.numbers, row.number))] = np.array([read(row)], dtype=kind)[0]
        return found

    def _block_of(self, column: str, kind: Any) -> Any:
        """The values of the rows from the arrays of the run; None where it has none."""
        if self._blocks is None:
            return None
        found = self._blocks.array(column, np.dtype(kind).newbyteorder("<").str)
        rows = self._blocks.array(ROW, "<i8")
        if found is None or rows is None:
            return None
        return found if len(rows) == len(self.numbers) else found[np.searchsorted(rows, self.numbers)]

    def keep_blocks(self) -> None:
        """Store the columns as arrays: those of a long run are read much faster then.

        Raises:
            StoreError: The store cannot be written.
        """
        if self._extra or self._own < 0:
            return
        arrays = {ROW: self.numbers.astype("<i8"), "at": self.times.astype("<f8"), "key": self.pairing_keys()}
        arrays["weight"] = self.weights.astype("<f8")
        for name in ("quoted", "unlocated"):
            arrays[name] = self._row_values(name, attrgetter(name), np.int64).astype("<i8")
        write_blocks(self.store, self.run, self._own, arrays | self._reader.arrays(self.numbers))

    def _row_objects(self, column: str, read: Callable[[RowColumns], str | None]) -> list[str | None]:
        found: list[str | None] = [None] * len(self.numbers)
        place = {number: n for n, number in enumerate(self.numbers.tolist())}
        wanted = set(self._stored.tolist())
        for rows, values in self._row_pages(column):
            for row, value in zip(rows, values, strict=True):
                if row in wanted:
                    found[place[row]] = value
        for one in self._extra:
            found[place[one.number]] = read(one)
        return found


def extreme_rows(store: Store, run: str, metric: str, n: int, *, lowest: bool) -> list[int]:
    """Find the rows with the lowest or the highest measured values by the index, without reading the others.

    Args:
        store: The store.
        run: Name of the run, of which no row is lost.
        metric: Label of the metric.
        n: Number of rows at most.
        lowest: Whether the lowest values are meant.

    Returns:
        Numbers of the rows, the most extreme value first; of equal values the first row in the data.
    """
    own = _number_of(store, run)
    reader = _ScoreReader(store, own)
    whole = ColumnBlocks.of(store, run, own) is not None or _have_same_numbers(store, run, own)
    if metric not in reader.metrics or not whole:
        return RunColumns(store, run).worst(metric, n, lowest=lowest)
    order = "value, row" if lowest else "value DESC, row"
    sql = ("SELECT row FROM scores WHERE run = ? AND metric = ? AND value IS NOT NULL AND cause IS NULL "
           f"ORDER BY {order} LIMIT ?")  # fmt: skip
    return [int(row) for (row,) in store.query(sql, own, reader.metrics[metric], n)]


def _key_of(value: Any, store: Store) -> bytes:
    with _damage(store):
        key = bytes(value)
        if len(key) != KEY_BYTES:
            raise ValueError(f"a key has {len(key)} bytes")
    return key


def _within(at: float, since: float | None, until: float | None) -> bool:
    return (since is None or at >= since) and (until is None or at < until)


def _text_in(slices: Mapping[str, Any], name: str) -> str | None:
    value = slices.get(name)
    if value is None:
        return OMITTED if name in slices.get(OMITTED, ()) else None
    return _as_text(value)


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _number_of(store: Store, run: str) -> int:
    """The number of the run's name; -1 where no row of it has columns."""
    found = store.query("SELECT number FROM names WHERE key = ?", key_hash(run))
    return int(found[0][0]) if found else -1


def _have_same_numbers(store: Store, run: str, own: int) -> bool:
    """Whether all rows have columns, and all columns their rows, by counts and sums."""
    facts = store.query("SELECT COUNT(*), MIN(row), MAX(row), SUM(row) FROM row_facts WHERE run = ?", own)
    rows = store.query("SELECT COUNT(*), MIN(number), MAX(number), SUM(number) FROM rows WHERE run = ?", run)
    return facts == rows


def _lost_numbers(store: Store, run: str, own: int) -> list[int]:
    """The numbers of rows that have columns, and are not in the table of rows any more."""
    if _have_same_numbers(store, run, own):
        return []
    have = set(store.numbers(run))
    return [int(row) for (row,) in store.query("SELECT row FROM row_facts WHERE run = ?", own) if row not in have]


# ---- rows of a store of an earlier version


def _missing_columns(store: Store, run: str) -> list[RowColumns]:
    """Make the columns of rows that have none, and store them where the store can be written.

    Returns:
        Those that could not be stored.
    """
    state = store.query("SELECT scores_digest FROM runs WHERE id = ?", run)
    own = _number_of(store, run)
    if state and state[0][0] is not None:  # whatever lacks columns is damaged, and is not written to
        return [] if _have_same_numbers(store, run, own) else list(_columns_from_rows(store, run, own))
    left: list[RowColumns] = []
    batch: list[RowColumns] = []
    for one in _columns_from_rows(store, run, own):
        batch.append(one)
        if len(batch) >= PAGE:
            left += _kept(store, run, batch, left)
            batch = []
    left += _kept(store, run, batch, left)
    if state and not left:
        _finish(store, run)
    return left


def _columns_from_rows(store: Store, run: str, own: int) -> Iterator[RowColumns]:
    sql = (
        "SELECT number, id, body, at FROM rows WHERE run = ? AND number > ? AND NOT EXISTS "
        f"(SELECT 1 FROM row_facts WHERE row_facts.run = ? AND row = number) ORDER BY number LIMIT {PAGE}"
    )
    last = -1
    while page := store.query(sql, run, last, own):
        for number, name, body, at in page:
            try:
                yield RowColumns.of(number, name, row_of(number, body).scored, at=at)
            except Exception as error:  # whatever is wrong with it, it is wrong with this row alone
                log.debug("assay: store %s: run %s, row %r has no columns: %s", store.name, run, number, error)
        before, last = last, page[-1][0]
        if not (isinstance(last, int) and last > before):
            raise StoreError("the store is damaged: its rows are not in order")


def _kept(store: Store, run: str, batch: list[RowColumns], left: list[RowColumns]) -> list[RowColumns]:
    """Store these columns; those that are left where the store cannot be written."""
    if left or not batch:  # it could not be written a moment ago
        return batch
    try:
        store.write(lambda db: _put(db, run, batch))
    except StoreError as error:
        log.debug("assay: store %s: columns of run %s cannot be kept: %s", store.name, run, error)
        return batch
    return []


def _put(db: Statements, run: str, batch: Sequence[RowColumns]) -> None:
    found = name_numbers(db, [run])[run]
    numbers = [row.number for row in batch]
    sql = f"SELECT row FROM row_facts WHERE run = ? AND row IN ({', '.join('?' * len(numbers))})"
    there = {row for (row,) in read_all(db, sql, [found, *numbers])}  # another process was quicker
    put_columns(db, run, [row for row in batch if row.number not in there])


def _finish(store: Store, run: str) -> None:
    """All rows of the run that can be read have columns: from now on the digest of its scores is known."""
    digest = _ScoreReader(store, _number_of(store, run)).digest()
    sql = "UPDATE runs SET scores_digest = ? WHERE id = ? AND scores_digest IS NULL"
    try:
        store.write(lambda db: db.execute(sql, (digest, run)))
    except StoreError:
        log.debug("assay: store %s: the digest of the scores of run %s cannot be kept", store.name, run)
