"""Scores as columns beside the packed rows: values, causes and slice keys that queries read without a row's texts.

`RowColumns.of` takes them from a scored sample; `put_columns` and `delete_columns` write them within a transaction.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from assay._util.compression import key_hash, to_json
from assay.records import Sample, Score, ScoredSample
from assay.store.digests import MODULUS, name_hash, score_digest
from assay.store.tables import Statements, insert_rows, read_all

LEAST_RATE = 1e-9  # a rate below is none that anybody samples at, and one row would outweigh all others
LONGEST_MESSAGE = 300  # characters of the reason why a score is missing
LONGEST_VALUE = 200  # characters of a slice key's value, as JSON
MOST_SLICES = 24  # slice keys of a row
#: Columns of the sample that are slice keys beside its metadata. A key of the metadata wins over them.
FIELDS = ("language", "status")
WEIGHT = name_hash("\0weight")  # stands for a metric in the digests of weights
NO_SCORE = -1  # code of a row that was not scored by a metric, in arrays
#: The key under which the names of metadata stand that are too long, or too many, to be slice keys.
OMITTED = "\0omitted"


class ScoreCell(NamedTuple):
    """One score without its evidence. `cause` is None for a measured value; see `Score.why_unmeasured`."""

    metric: str
    value: float | None
    cause: str | None
    message: str | None
    low: float
    high: float
    direction: str


@dataclass(frozen=True, slots=True)
class RowColumns:
    """The columns of one row.

    Attributes:
        number: Number of the row, from 1.
        id: Id of the sample.
        at: When the answer was complete by the sample's metadata (`ended`), else when it was stored; seconds since
            1970.
        key: What is the same of the row in every run (`pairing_key`), as 16 bytes.
        weight: How many samples the row stands for: 1 / the rate at which it was sampled.
        facts: What `assay.evaluation` reads from the row's texts and verdicts, in its own form; None: not read yet.
        quoted: Verdicts with quotes.
        unlocated: Those of them with a quote that is not in the passages.
        slices: JSON object of slice keys.
        scores: One for each metric.
    """

    number: int
    id: str | None
    at: float
    key: bytes
    weight: float
    facts: str | None
    quoted: int
    unlocated: int
    slices: str
    scores: tuple[ScoreCell, ...]

    @classmethod
    def of(
        cls, number: int, name: str | None, scored: ScoredSample, facts: str | None = None, at: float | None = None
    ) -> RowColumns:
        """Take the columns from a scored sample, stored at a time (None: now)."""
        sample = scored.sample
        quoted, unlocated = count_quotes(scored.scores.values())
        return cls(
            number, name, _time_of(sample, at), key_hash(pairing_key(sample)), weight_of(sample), facts, quoted,
            unlocated, to_json(slices_of(sample)), tuple(map(_cell, scored.scores.values())),
        )  # fmt: skip


def pairing_key(sample: Sample) -> str:
    """What is the same of a sample in every run: its id, or without one what it asks."""
    if sample.id is not None:
        return f"id {sample.id}"
    return "asked " + json.dumps(
        [sample.question, [[turn.question, turn.answer] for turn in sample.history], sample.reference]
    )


def weight_of(sample: Sample) -> float:
    """How many samples this one stands for: the inverse of the rate in `metadata["sampling"]`, 1 without one."""
    sampling = sample.metadata.get("sampling")
    rate = sampling.get("rate") if isinstance(sampling, Mapping) else None
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not LEAST_RATE <= rate <= 1.0:
        return 1.0
    return 1.0 / rate


def slices_of(sample: Sample) -> dict[str, Any]:
    """The slice keys of a sample: its metadata, language and status, without values that are long."""
    found: dict[str, Any] = {name: getattr(sample, "spoken" if name == "language" else name) for name in FIELDS}
    found = {name: value for name, value in found.items() if value is not None}
    omitted = []
    for name, value in sample.metadata.items():
        if value is None:
            continue
        if len(found) < MOST_SLICES and len(name) <= LONGEST_VALUE and _is_short(value):
            found[name] = value
        else:
            omitted.append(name[:LONGEST_VALUE])
    return found | ({OMITTED: omitted[:MOST_SLICES]} if omitted else {})


def _is_short(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST_VALUE
    if isinstance(value, (bool, int, float)):
        return True
    if isinstance(value, (list, tuple, dict)) and len(value) <= MOST_SLICES:
        return len(json.dumps(value, default=str)) <= LONGEST_VALUE
    return False


def count_quotes(scores: Iterable[Score]) -> tuple[int, int]:
    """Count the verdicts with quotes, and those of them with a quote that is not in the passages."""
    quoted = unlocated = 0
    for score in scores:
        for group in score.verdicts.values():
            for verdict in group:
                quoted += bool(verdict.evidence or verdict.unlocated)
                unlocated += bool(verdict.unlocated)
    return quoted, unlocated


def _time_of(sample: Sample, stored: float | None) -> float:
    ended = sample.metadata.get("ended")
    if isinstance(ended, (int, float)) and not isinstance(ended, bool) and math.isfinite(ended) and ended > 0:
        return float(ended)
    return time.time() if stored is None else stored


def _cell(score: Score) -> ScoreCell:
    message = score.convention if score.error is None else score.error.message
    short = None if message is None else message[:LONGEST_MESSAGE]
    return ScoreCell(
        score.metric, score.value, score.why_unmeasured, short, score.low, score.high, score.direction
    )  # fmt: skip


# ---- names


def name_numbers(db: Statements, texts: Collection[str], *, create: bool = True) -> dict[str, int]:
    """The numbers of texts in the table of names; new texts get one, or with `create=False` are left out.

    Names are never deleted: a number means one text as long as the store is there.
    """
    by_key = {key_hash(text): text for text in texts}
    found = _find_names(db, by_key)
    missing = sorted(key for key, text in by_key.items() if text not in found)
    if missing and create:
        rows = [(key, _stored_name(by_key[key])) for key in missing]
        insert_rows(db, "names (key, text)", rows, "ON CONFLICT (key) DO NOTHING")
        found |= _find_names(db, {key: by_key[key] for key in missing})
    return found


_AS_JSON = "json:"


def _stored_name(text: str) -> str:
    """A name as databases can hold it: those with zero characters or halves of surrogate pairs as JSON."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _AS_JSON + json.dumps(text)
    return _AS_JSON + json.dumps(text) if "\0" in text or text.startswith(_AS_JSON) else text


def read_name(stored: str) -> str:
    """The name that a database holds."""
    return str(json.loads(stored[len(_AS_JSON) :])) if stored.startswith(_AS_JSON) else stored


def _find_names(db: Statements, by_key: Mapping[bytes, str]) -> dict[str, int]:
    found: dict[str, int] = {}
    keys = list(by_key)
    for start in range(0, len(keys), 500):
        some = keys[start : start + 500]
        sql = f"SELECT key, number FROM names WHERE key IN ({', '.join('?' * len(some))})"
        found |= {by_key[bytes(key)]: int(number) for key, number in read_all(db, sql, some)}
    return found


# ---- writing


def put_columns(db: Statements, run: str, rows: Sequence[RowColumns], replaced: Collection[int] = ()) -> int:
    """Write the columns of rows of a run.

    Args:
        db: The transaction.
        run: Name of the run.
        rows: The columns; each number once.
        replaced: Numbers of those that are there already.

    Returns:
        The change of the digest of the run's scores.
    """
    if not rows:
        return 0
    texts = {run}
    for row in rows:
        for cell in row.scores:
            texts.update(text for text in (cell.metric, cell.cause, cell.message) if text is not None)
    numbers = name_numbers(db, texts)
    own = numbers[run]
    change = -delete_columns(db, run, replaced) if replaced else 0
    _widen_ranges(db, own, rows, numbers)
    insert_rows(
        db, "row_facts (run, row, id, at, key, weight, facts, quoted, unlocated, slices)",
        [(own, row.number, row.id, row.at, row.key, row.weight, row.facts, row.quoted, row.unlocated, row.slices)
         for row in rows],
    )  # fmt: skip
    insert_rows(db, "scores (run, metric, row, value, cause, message)", [
        (own, numbers[cell.metric], row.number, cell.value,
         None if cell.cause is None else numbers[cell.cause], None if cell.message is None else numbers[cell.message])
        for row in rows for cell in row.scores
    ])  # fmt: skip
    for row in rows:
        change += score_digest(row.number, WEIGHT, row.weight, 0)
        for cell in row.scores:
            cause = 0 if cell.cause is None else name_hash(cell.cause)
            change += score_digest(row.number, name_hash(cell.metric), cell.value, cause)
    return change % MODULUS


def delete_columns(db: Statements, run: str, rows: Iterable[int] | None = None) -> int:
    """Delete the columns of some rows of a run, or of all; the sum of the digests of the scores that they had.

    That of all rows is not summed up: it is 0.
    """
    found = name_numbers(db, [run], create=False)
    if not found:
        return 0
    own = found[run]
    if rows is None:
        for table in ("scores", "row_facts", "metric_ranges", "column_blocks"):
            db.execute(f"DELETE FROM {table} WHERE run = ?", (own,))
        return 0
    metrics = {int(number): name_hash(read_name(text)) for number, text in _metrics_of(db, own)}
    total = 0
    for row in rows:
        for metric, hashed in metrics.items():
            where, values = "run = ? AND metric = ? AND row = ?", (own, metric, row)
            sql = f"SELECT value, text FROM scores LEFT JOIN names ON number = cause WHERE {where}"
            for value, cause in read_all(db, sql, values):
                total += score_digest(row, hashed, value, 0 if cause is None else name_hash(read_name(cause)))
            db.execute(f"DELETE FROM scores WHERE {where}", values)
        for (weight,) in read_all(db, "SELECT weight FROM row_facts WHERE run = ? AND row = ?", (own, row)):
            total += score_digest(row, WEIGHT, weight, 0)
        db.execute("DELETE FROM row_facts WHERE run = ? AND row = ?", (own, row))
    return total % MODULUS


_WIDER = (
    "INSERT INTO metric_ranges (run, metric, low, high, direction) VALUES (?, ?, ?, ?, ?) "
    "ON CONFLICT (run, metric) DO UPDATE SET "
    "low = CASE WHEN excluded.low IS NULL OR excluded.low < metric_ranges.low THEN excluded.low "
    "ELSE metric_ranges.low END, "
    "high = CASE WHEN excluded.high IS NULL OR excluded.high > metric_ranges.high THEN excluded.high "
    "ELSE metric_ranges.high END, direction = excluded.direction"
)


def _widen_ranges(db: Statements, run: int, rows: Iterable[RowColumns], numbers: Mapping[str, int]) -> None:
    """The range of a metric is the widest of its rows; NULL is an end that it has not."""
    wanted: dict[str, tuple[float, float, str]] = {}
    for row in rows:
        for cell in row.scores:
            low, high, _ = wanted.get(cell.metric, (math.inf, -math.inf, ""))
            wanted[cell.metric] = min(low, cell.low), max(high, cell.high), cell.direction
    sql = "SELECT metric, low, high, direction FROM metric_ranges WHERE run = ?"
    known = {int(metric): (low_end(low), high_end(high), direction)
             for metric, low, high, direction in read_all(db, sql, (run,))}  # fmt: skip
    for name in sorted(wanted):
        low, high, direction = wanted[name]
        there = known.get(numbers[name])
        if there is None or low < there[0] or high > there[1] or direction != there[2]:
            ends = (end if math.isfinite(end) else None for end in (low, high))
            db.execute(_WIDER, (run, numbers[name], *ends, direction))


def stored_times(db: Statements, run: str, rows: Sequence[int]) -> dict[int, float]:
    """Row -> when its answer was complete, or was stored; rows without columns are left out."""
    own, times = name_numbers(db, [run], create=False).get(run, -1), dict[int, float]()
    for start in range(0, len(rows), 500):
        some = rows[start : start + 500]
        sql = f"SELECT row, at FROM row_facts WHERE run = ? AND row IN ({', '.join('?' * len(some))})"
        times |= {int(row): float(at) for row, at in read_all(db, sql, (own, *some))}
    return times


def low_end(value: float | None) -> float:
    """The lower end of a range as it is stored."""
    return -math.inf if value is None else float(value)


def high_end(value: float | None) -> float:
    """The upper end of a range as it is stored."""
    return math.inf if value is None else float(value)


_STRAY = "run = ? AND NOT EXISTS (SELECT 1 FROM rows WHERE rows.run = ? AND rows.number = {}.row)"


def delete_stray_columns(db: Statements, run: str) -> int:
    """Delete the columns of a run whose rows are not there; the sum of the digests of the scores that they had."""
    found = name_numbers(db, [run], create=False)
    if not found:
        return 0
    own, total = (found[run], run), 0
    where = _STRAY.format("scores")
    metrics = {int(number): name_hash(read_name(text)) for number, text in _metrics_of(db, found[run])}
    causes: dict[int | None, int] = {None: 0}
    for metric, row, value, cause in read_all(db, f"SELECT metric, row, value, cause FROM scores WHERE {where}", own):
        if cause not in causes:
            causes[cause] = name_hash(
                read_name(read_all(db, "SELECT text FROM names WHERE number = ?", (cause,))[0][0])
            )
        if metric in metrics:
            total += score_digest(row, metrics[metric], value, causes[cause])
    for row, weight in read_all(db, f"SELECT row, weight FROM row_facts WHERE {_STRAY.format('row_facts')}", own):
        total += score_digest(row, WEIGHT, weight, 0)
    for table in ("scores", "row_facts"):
        db.execute(f"DELETE FROM {table} WHERE {_STRAY.format(table)}", own)
    return total % MODULUS


def _metrics_of(db: Statements, run: int) -> list[Any]:
    sql = "SELECT metric, text FROM metric_ranges JOIN names ON names.number = metric_ranges.metric WHERE run = ?"
    return read_all(db, sql, (run,))
