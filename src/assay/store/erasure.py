"""Deleting the rows of a person: those whose metadata say so, and the cached judgements that hold their texts."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from assay._util.compression import unpack
from assay.errors import InputError
from assay.store.live_runs import matches
from assay.store.pruning import GROUP, delete_rows
from assay.store.rows import PAGE, in_pages
from assay.store.score_columns import name_numbers
from assay.store.store import Store
from assay.store.tables import Statements, is_database, read_all

SHORTEST = 8  # characters of a text by which a judgement is told to be somebody's
PATIENCE = 5.0  # seconds to wait for readers, before the log of the file is emptied
#: Keys whose texts are names and labels, which all rows share.
_LABELS = frozenset({
    *("metric", "judge", "version", "direction", "cause", "label", "language", "status", "id", "ids", "role"),
    *("metadata", "contexts", "reference_contexts", "schema_version"),
})  # fmt: skip


@dataclass(slots=True)
class FoundRows:
    """Rows that are to be deleted.

    Attributes:
        rows: Name of a run -> numbers of its rows.
        unreadable: Rows that could not be looked at, because they are damaged.
        texts: Texts of the rows and of their evidence, but for passages, that no other row has.
    """

    rows: dict[str, list[int]] = field(default_factory=dict)
    unreadable: int = 0
    texts: set[str] = field(default_factory=set)


def check_where(where: Mapping[str, str]) -> None:
    """Raise InputError for no condition: it would match every row."""
    if not where:
        raise InputError("where: expected at least one condition, such as user=ann; got none")


def find_rows(store: Store, where: Mapping[str, str], runs: Collection[str] = ()) -> FoundRows:
    """Find the rows of live runs, and of further runs, whose metadata meet all conditions.

    Args:
        store: The store.
        where: Key of the metadata -> value, compared exactly. See `assay.store.live_runs.matches`.
        runs: Further runs.

    Returns:
        The rows.

    Raises:
        InputError: There is no condition, or no such run.
        StoreError: The store cannot be read.
    """
    check_where(where)
    found, words = FoundRows(), [value for value in where.values() if value.isascii() and value.isalnum()]
    further = {store.run_id(run) for run in runs}
    for run in store.runs():
        if run.info.get("continuous") or run.id in further:
            for number, _, body in store.row_bodies(run.id):
                _look(found, run.id, number, body, where, words)
    return found


def _look(found: FoundRows, run: str, number: int, body: bytes, where: Mapping[str, str], words: Sequence[str]) -> None:
    try:
        text = unpack(body)
    except ValueError:
        found.unreadable += 1
        return
    if not all(word.encode() in text for word in words):  # most rows are another's: to parse them all takes long
        return
    data = _parsed(text)
    sample = data.get("sample") if data is not None else None
    if not isinstance(sample, dict):
        found.unreadable += 1
    elif matches(_metadata(sample), where):
        found.rows.setdefault(run, []).append(number)
        found.texts.update(texts_in(data))


def drop_shared_texts(store: Store, found: FoundRows) -> None:
    """Remove the texts that other rows of the store have as well: their judgements are used by these.

    Args:
        store: The store.
        found: The rows that are to be deleted; its texts are reduced.

    Raises:
        StoreError: The store cannot be read.
    """
    for run in store.runs():
        mine = set(found.rows.get(run.id, ()))
        for number, _, body in store.row_bodies(run.id):
            if not found.texts:
                return
            if number not in mine:
                found.texts.difference_update(texts_in(read_packed(body)))


def delete_found_rows(store: Store, found: FoundRows) -> None:
    """Delete the rows, a few in each transaction. Their runs count them as pruned, and not as lost.

    Args:
        store: The store.
        found: The rows.

    Raises:
        StoreError: The store cannot be written.
    """
    overwrite_deleted(store)
    for run, numbers in found.rows.items():
        for start in range(0, len(numbers), GROUP):
            store.write(partial(_delete_with_messages, run=run, numbers=numbers[start : start + GROUP]))


def _delete_with_messages(db: Statements, run: str, numbers: Sequence[int]) -> None:
    """Messages of errors may quote the row, and stand in the table of names: those of no other row go with it."""
    own = name_numbers(db, [run], create=False).get(run)
    marks = ", ".join("?" * len(numbers))
    sql = f"SELECT DISTINCT message FROM scores WHERE run = ? AND row IN ({marks}) AND message IS NOT NULL"
    messages = [int(message) for (message,) in read_all(db, sql, (own, *numbers))]
    delete_rows(db, run, numbers)
    if messages:
        these = ", ".join("?" * len(messages))
        used = {
            int(number)
            for column in ("message", "cause", "metric", "run")
            for (number,) in read_all(db, f"SELECT DISTINCT {column} FROM scores WHERE {column} IN ({these})", messages)
        }
        db.executemany("DELETE FROM names WHERE number = ?", [(one,) for one in messages if one not in used])


def find_judgements(store: Store, texts: Collection[str]) -> list[int]:
    """Find the cached judgements that hold one of these texts.

    Args:
        store: The store.
        texts: The texts, as `FoundRows.texts`.

    Returns:
        Numbers of the judgements.

    Raises:
        StoreError: The store cannot be read.
    """
    return [number for number, held in _judgements(store) if not held.isdisjoint(texts)] if texts else []


def texts_in_judgements(store: Store, texts: Collection[str]) -> set[str]:
    """Find those of these texts that a cached judgement holds.

    Args:
        store: The store.
        texts: The texts.

    Returns:
        Those that are in a judgement.

    Raises:
        StoreError: The store cannot be read.
    """
    found: set[str] = set()
    for _, held in _judgements(store) if texts else ():
        found |= held.intersection(texts)
    return found


def _judgements(store: Store) -> Iterator[tuple[int, set[str]]]:
    """The number of each cached judgement, and its texts."""
    sql = f"SELECT number, judgement FROM judgements WHERE number > ? ORDER BY number LIMIT {PAGE}"
    for number, blob in in_pages(lambda last: store.query(sql, last)):
        yield int(number), texts_in(read_packed(blob))


def delete_judgements(store: Store, numbers: Sequence[int]) -> None:
    """Delete cached judgements.

    Args:
        store: The store.
        numbers: Their numbers.

    Raises:
        StoreError: The store cannot be written.
    """
    overwrite_deleted(store)

    def delete(db: Statements, part: Sequence[int]) -> None:
        for table, column in (("run_judgements", "judgement"), ("judgements", "number")):
            db.executemany(f"DELETE FROM {table} WHERE {column} = ?", [(number,) for number in part])

    for start in range(0, len(numbers), GROUP):
        store.write(partial(delete, part=numbers[start : start + GROUP]))


def overwrite_deleted(store: Store) -> None:
    """Have SQLite write zeros over what is deleted from now on."""
    if not is_database(store.address):
        store.query("PRAGMA secure_delete = ON")


def scrub(store: Store) -> bool:
    """Rewrite the file of a store, so that no deleted text is left in it or beside it.

    Args:
        store: The store.

    Returns:
        False where that is not known: another process is reading the log beside the file, or the store is a database,
        whose server removes deleted rows by itself.

    Raises:
        StoreError: The file cannot be rewritten: another process writes to it, or the disk is full.
    """
    if is_database(store.address):
        return False
    until = time.monotonic() + PATIENCE
    store.shrink()
    while not (empty := is_log_empty(store.name)) and time.monotonic() < until:
        time.sleep(0.05)
        store.query("PRAGMA wal_checkpoint(TRUNCATE)")
    return empty


def is_log_empty(path: str | os.PathLike[str]) -> bool:
    """Whether the log beside a SQLite file (`-wal`) holds nothing."""
    try:
        return os.path.getsize(f"{os.fspath(path)}-wal") == 0
    except OSError:
        return True


def read_packed(body: bytes) -> Any:
    """What was packed as JSON; None where it cannot be read."""
    try:
        return _parsed(unpack(body))
    except ValueError:
        return None


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def texts_in(data: Any) -> set[str]:
    """Collect the texts of a row, a score or a judgement, but for labels, ids, metadata and passages.

    Args:
        data: JSON values.

    Returns:
        Texts of at least SHORTEST characters.
    """
    return {text for text in _strings(data) if len(text) >= SHORTEST}


def _strings(data: Any) -> Iterator[str]:
    waiting = [data]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            waiting.extend(item for key, item in value.items() if key not in _LABELS)
        elif isinstance(value, list):
            waiting.extend(value)


def _metadata(sample: Mapping[str, Any]) -> Mapping[str, Any]:
    found = sample.get("metadata")
    return found if isinstance(found, dict) else {}


def sample_matches(text: str, where: Mapping[str, str]) -> bool:
    """Whether a sample, as JSON, meets all conditions; False where it cannot be read."""
    try:
        sample = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(sample, dict) and matches(_metadata(sample), where)


def texts_of_json(texts: Iterable[str]) -> set[str]:
    """The texts in several JSON documents; those that cannot be read have none."""
    found: set[str] = set()
    for text in texts:
        try:
            found |= texts_in(json.loads(text))
        except (ValueError, RecursionError):
            continue
    return found
