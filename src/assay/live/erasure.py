"""Deleting a person's samples everywhere: live runs, cached judgements and a queue."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay._util.compression import key_hash
from assay._util.sqlite import as_store_error
from assay._util.tabular import Tabular
from assay.errors import InputError
from assay.live.queue.queue_file import FILE_NAME, QueueFile
from assay.live.queue.transitions import IN_WORK, WAITING, count
from assay.records import Record
from assay.store.alerts import AlertStore
from assay.store.erasure import (
    FoundRows,
    check_where,
    delete_found_rows,
    delete_judgements,
    drop_shared_texts,
    find_judgements,
    find_rows,
    is_log_empty,
    sample_matches,
    scrub,
    texts_in_judgements,
    texts_of_json,
)
from assay.store.rows import PAGE, in_pages
from assay.store.store import Store
from assay.store.tables import store_may_exist


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureResult(Tabular, Record):
    """What was deleted of a person's samples, or would be.

    Attributes:
        rows: Name of a run -> number of its rows.
        judgements: Cached judgements that held texts of these rows or samples, and of no other.
        samples: Samples of the queue.
        unreadable: Rows of the runs that are damaged, so that nobody knows whose they are. They stay.
        scrubbed: Whether no deleted text is left in the files. False for a database, whose server removes deleted rows
            by itself, where another process was reading, and where nothing was deleted because it was only tried.
    """

    rows: Mapping[str, int] = field(default_factory=dict)
    judgements: int = 0
    samples: int = 0
    unreadable: int = 0
    scrubbed: bool = False


def erase(
    where: Mapping[str, str],
    store: Store | None = None,
    queue: str | os.PathLike[str] | None = None,
    *,
    runs: Collection[str] = (),
    dry_run: bool = False,
) -> ErasureResult:
    """Delete the samples whose metadata meet all conditions, from live runs, cached judgements and a queue.

    Alerts of the slice that a single condition names are deleted as well.

    Judgements are found by the texts in the evidence of the rows: those of rows that were kept without texts cannot be
    told from others, and stay until they are pruned. A worker that has a sample in work keeps its scores after that:
    stop the workers first. Files are rewritten, for which the disk must hold them twice.

    Args:
        where: Key of the metadata -> value, compared exactly, such as `{"user": "ann"}`.
        store: The store. None: none.
        queue: Folder of a queue. None: none.
        runs: Runs besides the live runs.
        dry_run: Only count.

    Returns:
        The numbers.

    Raises:
        InputError: There is no condition, no such run, or no queue in the folder.
        StoreError: A file cannot be read or written.
    """
    check_where(where)
    found = FoundRows() if store is None else find_rows(store, where, runs)
    spool = None if queue is None else _QueuedSamples(Path(queue), where)
    cache = None if spool is None or not store_may_exist(spool.folder) else Store(spool.folder)
    caches = [one for one in (store, cache) if one is not None]
    try:
        _find_own_texts(found, store, spool, caches)
        judgements = [find_judgements(one, found.texts) for one in caches]
        scrubbed = not dry_run
        if not dry_run:
            if store is not None:
                delete_found_rows(store, found)
                _forget_alerts(store, where)
            for one, numbers in zip(caches, judgements, strict=True):
                delete_judgements(one, numbers)
            if spool is not None:
                scrubbed = spool.delete()
            scrubbed = [scrub(one) for one in caches].count(False) == 0 and scrubbed  # each of them
    finally:
        if cache is not None:
            cache.close()
    return ErasureResult(
        rows={run: len(numbers) for run, numbers in sorted(found.rows.items())},
        judgements=sum(map(len, judgements)),
        samples=0 if spool is None else len(spool.numbers),
        unreadable=found.unreadable,
        scrubbed=scrubbed,
    )


def _forget_alerts(store: Store, where: Mapping[str, str]) -> None:
    """Delete the alerts of the slice that the condition names. One of several conditions alone names others, too."""
    if len(where) == 1:
        ((column, value),) = where.items()
        AlertStore(store).forget_slice(column, value)


def _find_own_texts(
    found: FoundRows, store: Store | None, spool: _QueuedSamples | None, caches: Sequence[Store]
) -> None:
    """Keep the texts that a judgement holds, and that neither another row nor another sample has."""
    if spool is not None:
        found.texts |= spool.texts
    found.texts = set[str]().union(*(texts_in_judgements(one, found.texts) for one in caches))
    if store is not None and found.texts:  # else nobody need read all other rows
        drop_shared_texts(store, found)
    if spool is not None and found.texts:
        found.texts -= spool.texts_of_others(found.texts)


class _QueuedSamples:
    """The samples of a queue that meet the conditions.

    Attributes:
        numbers: Their numbers.
        texts: Their texts and those of their scores.
    """

    def __init__(self, folder: Path, where: Mapping[str, str]) -> None:
        if not (folder / FILE_NAME).exists():
            raise InputError(f"queue: there is none in {str(folder)!r}")
        self.folder = folder
        self._file = QueueFile(folder)
        self._what = f"queue {str(folder)!r} cannot be"
        self.numbers: list[int] = []
        self.texts: set[str] = set()
        for number, sample, scores in self._samples():
            if sample_matches(sample, where):
                self.numbers.append(number)
                self.texts |= texts_of_json([sample, scores or "{}"])

    def texts_of_others(self, texts: set[str]) -> set[str]:
        """Those of these texts that other samples of the queue have."""
        mine, found = set(self.numbers), set[str]()
        for number, sample, scores in self._samples():
            if number not in mine:
                found |= texts_of_json([sample, scores or "{}"]) & texts
        return found

    def _samples(self) -> Iterator[tuple[int, str, str | None]]:
        sql = (
            "SELECT number, sample, scores FROM contents LEFT JOIN results USING (number) WHERE number > ? "
            f"ORDER BY number LIMIT {PAGE}"
        )
        with as_store_error(f"{self._what} read"):
            yield from in_pages(lambda last: self._file.rows(sql, last))

    def delete(self) -> bool:
        """Delete them; False: texts may be left in the log beside the file. Their keys stay known, as hashes."""
        with as_store_error(f"{self._what} written"):
            self._file.rows("PRAGMA secure_delete = ON")
            for start in range(0, len(self.numbers), PAGE):
                self._delete(self.numbers[start : start + PAGE])
            self._file.rows("VACUUM")
            self._file.rows("PRAGMA wal_checkpoint(TRUNCATE)")
            self._file.close()
        return is_log_empty(self._file.path)

    def _delete(self, numbers: list[int]) -> None:
        with self._file.write() as db:
            marks = ", ".join("?" * len(numbers))
            found = db.execute(f"SELECT number, key, state FROM samples WHERE number IN ({marks})", numbers).fetchall()
            for table in ("samples", "contents", "results"):
                db.execute(f"DELETE FROM {table} WHERE number IN ({marks})", numbers)
            db.executemany("INSERT OR IGNORE INTO seen VALUES (?, ?)", [(key_hash(key), n) for n, key, _ in found])
            unscored = sum(state in (WAITING, IN_WORK) for _, _, state in found)
            count(db, "erased", {"appended": -unscored, "dropped:erased": unscored})
