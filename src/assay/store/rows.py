"""Scored rows as they lie in a store: a sample and its scores in one piece, JSON, compressed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from assay._util.compression import pack, to_json, unpack
from assay._util.tabular import Tabular
from assay.errors import RunReplacedError, StoreError
from assay.records import Sample, Score, ScoredSample, Usage
from assay.records.migration import VERSION, VERSION_KEY, migrate_scored
from assay.store.digests import MODULUS, RowDigests, row_digest
from assay.store.score_columns import RowColumns, put_columns
from assay.store.tables import Statements, insert_rows, read_all

PAGE = 500  # rows read at a time


@dataclass(frozen=True, slots=True)
class Row(Tabular):
    """One scored row of a run.

    Attributes:
        number: Number of the row in the data, from 1.
        scored: The sample with its scores.
    """

    _item_type = Score
    _columns = "row id question contexts answer reference"

    number: int
    scored: ScoredSample

    def __str__(self) -> str:
        return f"row {self.number}\n{self.scored}"

    def _items(self) -> Collection[Score]:
        return self.scored.scores.values()

    def _title(self) -> str:
        return f"row {self.number}, {self.scored.headline}"

    def _record(self) -> dict[str, Any]:
        return flat_record(self.number, self.scored)

    def _brief(self) -> dict[str, Any]:
        sample = self.scored.sample
        texts = {"question": sample.question, "answer": sample.answer}
        return {"row": self.number, "id": sample.id, **self.scored.values, **texts}


def flat_record(number: int | None, scored: ScoredSample) -> dict[str, Any]:
    """One row as a flat dict: see `assay.evaluation.result.Result.records`."""
    sample = scored.sample
    flat: dict[str, Any] = {
        "row": number,
        "id": sample.id,
        "question": sample.question,
        "contexts": None if sample.contexts is None else list(sample.passages),
        "answer": sample.answer,
        "reference": sample.reference,
    }
    for name, score in scored.scores.items():
        flat[name] = score.value
        flat[f"{name}_error"] = score.why_unmeasured
    return flat


class PackedRow(NamedTuple):
    """A row as it is written: its number, id and body, and its columns; without them they are read from the body."""

    number: int
    name: str | None
    body: bytes
    columns: RowColumns | None = None

    @classmethod
    def of(cls, number: int, scored: ScoredSample, facts: str | None = None) -> PackedRow:
        """Pack a scored sample. `facts`: see `RowColumns`."""
        name = clean(scored.sample.id)
        body = packed_row(scored)
        return cls(number, name, body, RowColumns.of(number, name, scored, facts))


def put_rows(
    db: Statements, run: str, rows: Iterable[PackedRow], started: float | None = None, *, at_once: bool = False
) -> None:
    """Write rows of a run; its number of rows and its digests change in the same transaction.

    Args:
        db: The transaction.
        run: Name of the run.
        rows: The rows.
        started: Start of the run that is meant.
        at_once: Insert new rows with one statement. It fails where another process inserts one of them meanwhile.

    Raises:
        RunReplacedError: The run that was started then is not there any more.
    """
    added = change = 0
    columns: dict[int, RowColumns] = {}
    replaced: set[int] = set()
    rows = list(rows)
    new = _insert_new(db, run, rows) if at_once else {}
    for row in rows:
        number, name, body, found = row
        before = None if new.get(number) is row else _put_row(db, run, number, name, body)
        added += before is None
        change += row_digest(number, name, body) - (0 if before is None else row_digest(number, *before))
        if before is not None and number not in columns:
            replaced.add(number)
        if found is not None:
            columns[number] = found
    scores = put_columns(db, run, list(columns.values()), replaced)
    count_rows(db, run, added, change, scores, started)


def count_rows(
    db: Statements, run: str, added: int, change: int, scores: int = 0, started: float | None = None
) -> None:
    """Change the number of rows of a run, and its digests by so much. Where they are unknown (NULL) they stay so.

    Args:
        db: The transaction.
        run: Name of the run.
        added: Number of new rows; negative for deleted ones.
        change: Change of the digest of its rows.
        scores: Change of the digest of its scores.
        started: Start of the run that is meant.

    Raises:
        RunReplacedError: The run that was started then is not there any more.
    """
    if added or change or scores:
        this, values = which_run(run, started)
        mask = MODULUS - 1
        sql = (f"UPDATE runs SET saved = saved + ?, digest = (digest + ?) & {mask}, "
               f"scores_digest = (scores_digest + ?) & {mask} WHERE {this}")  # fmt: skip
        changes = (added, change % MODULUS, scores % MODULUS)
        if not db.execute(sql, (*changes, *values)).rowcount and started is not None:
            raise RunReplacedError(run)


def which_run(run: str, started: float | None) -> tuple[str, tuple[Any, ...]]:
    """The condition that finds a run by its name, and by its start where one is given; with its values."""
    return ("id = ?", (run,)) if started is None else ("id = ? AND started = ?", (run, started))


def _insert_new(db: Statements, run: str, rows: Sequence[PackedRow]) -> dict[int, PackedRow]:
    """Insert those rows that the run does not have; of several of one number the first."""
    first: dict[int, PackedRow] = {}
    for row in rows:
        first.setdefault(row.number, row)
    numbers, now = list(first), time.time()
    for start in range(0, len(numbers), PAGE):
        some = numbers[start : start + PAGE]
        sql = f"SELECT number FROM rows WHERE run = ? AND number IN ({', '.join('?' * len(some))})"
        for (number,) in read_all(db, sql, (run, *some)):
            del first[int(number)]
    new = [(run, row.number, row.name, row.body, now) for row in first.values()]
    insert_rows(db, "rows (run, number, id, body, at)", new)
    return first


def _put_row(db: Statements, run: str, number: int, name: str | None, body: bytes) -> tuple[str | None, bytes] | None:
    """Insert or replace one row: id and body of the one that it replaces; None where it is new."""
    now = time.time()
    # not DO UPDATE: the number of rows would be 1 for a new row and for a replaced one
    new = db.execute(
        "INSERT INTO rows (run, number, id, body, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (run, number) DO NOTHING",
        (run, number, name, body, now),
    ).rowcount
    if new:
        return None
    # the first update is a lock: what is read after it nobody else replaces before this transaction ends
    db.execute("UPDATE rows SET at = ? WHERE run = ? AND number = ?", (now, run, number))
    before = db.execute("SELECT id, body FROM rows WHERE run = ? AND number = ?", (run, number)).fetchone()
    db.execute("UPDATE rows SET id = ?, body = ? WHERE run = ? AND number = ?", (name, body, run, number))
    return before[0], before[1]


def digest_of_rows(db: Statements, run: str, where: str = "1 = 1", values: Sequence[Any] = ()) -> int:
    """The sum of the digests of rows of a run, read in pages within a transaction."""
    found = RowDigests()
    sql = f"SELECT number, id, body FROM rows WHERE run = ? AND number > ? AND {where} ORDER BY number LIMIT {PAGE}"
    for row in in_pages(lambda last: read_all(db, sql, (run, last, *values))):
        found.add(*row)
    return found.value


def in_pages(read: Callable[[int], Sequence[tuple[Any, ...]]]) -> Iterator[tuple[Any, ...]]:
    """Iterate over rows whose first value is a rising number, a page at a time.

    Args:
        read: Returns the rows after a number.

    Raises:
        StoreError: They do not rise: the index is damaged, and reading on would not end.
    """
    last = -1
    while page := read(last):
        yield from page
        before, last = last, page[-1][0]
        if not (isinstance(last, int) and last > before):
            raise StoreError("the store is damaged: its rows are not in order")


def clean(text: str | None) -> str | None:
    """A text that a store can hold: no UTF-8 has lone surrogates."""
    return None if text is None else text.encode("utf-8", "replace").decode()


def packed_row(scored: ScoredSample) -> bytes:
    """A sample and its scores as a body: in one piece, as claims and quotes repeat the sample's own texts."""
    scores = ",".join(f"{to_json(name)}:{score.to_json()}" for name, score in scored.scores.items())
    text = f'{{"{VERSION_KEY}":{to_json(VERSION)},"sample":{scored.sample.to_json()},"scores":{{{scores}}}}}'
    return pack(text.encode())


def row_of(number: int, body: bytes) -> Row:
    data = _unpacked(body)
    scores = {name: Score.from_dict(score) for name, score in data["scores"].items()}
    return Row(number, ScoredSample(sample=Sample.from_dict(data["sample"]), scores=scores))


def _unpacked(body: bytes) -> dict[str, Any]:
    return migrate_scored(json.loads(unpack(body)), "the row")


def usages_of(body: bytes) -> list[Usage]:
    """What each score of a row took of the judge. Nothing else of the row is made: that takes five times as long."""
    return [Usage(**score.get("usage", {})) for score in _unpacked(body)["scores"].values()]


def stored_scores(body: bytes) -> dict[str, Score]:
    """The scores of a row; none where it cannot be read: it is written anew."""
    try:
        return dict(row_of(0, body).scored.scores)
    except Exception:  # whatever is wrong with it
        return {}


def is_readable(number: int, body: bytes) -> bool:
    try:
        row_of(number, body)
    except Exception:
        return False
    return True
