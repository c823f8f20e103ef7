"""Check a store: what is damaged, and which runs have lost rows.

This finds damage and accidents. Somebody who can write to the store can also write digests that fit.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay._util.compression import unpack
from assay._util.tabular import Tabular
from assay.errors import StoreError
from assay.records import Record
from assay.store.digests import RowDigests
from assay.store.rows import PAGE, in_pages, is_readable
from assay.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCheck(Tabular, Record):
    """What a check found out about one run.

    Attributes:
        run: Name of the run.
        rows: Rows in the store, also those that cannot be read.
        unreadable: Numbers of the rows that cannot be read.
        missing: Rows that were saved and are not in the store any more.
        pruned: Rows that were deleted to make the store smaller.
        altered: Whether the rows are not the ones that were saved: a number, an id or a whole row was changed.
        unchecked: Whether the run is of an earlier assay, which kept no digest.
        info: What is wrong with what is known about the run; None where nothing is.
    """

    _noun = "run"

    run: str
    rows: int
    unreadable: tuple[int, ...] = ()
    missing: int = 0
    pruned: int = 0
    altered: bool = False
    unchecked: bool = False
    info: str | None = None

    @property
    def damaged(self) -> bool:
        """Whether something is lost that was not deleted on purpose."""
        return bool(self.unreadable or self.missing or self.altered or self.info)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreCheck(Tabular, Record):
    """What a check found out about a store.

    Attributes:
        store: Name of the store.
        errors: What the database itself finds damaged.
        runs: One for each run, the one started last first.
        lost_runs: Runs of which the store has rows, and has lost what is known about them.
        judgements: Cached judgements.
        unreadable_judgements: Of those, the ones that cannot be read: they are asked again where they are needed.
    """

    _item_type = RunCheck

    def _items(self) -> tuple[RunCheck, ...]:
        return self.runs

    store: str
    errors: tuple[str, ...] = ()
    runs: tuple[RunCheck, ...] = ()
    lost_runs: tuple[str, ...] = ()
    judgements: int = 0
    unreadable_judgements: int = 0

    @property
    def damaged(self) -> bool:
        """Whether the database, a run or a judgement is damaged."""
        lost = self.errors or self.lost_runs or self.unreadable_judgements
        return bool(lost or any(run.damaged for run in self.runs))


def check_store(store: Store) -> StoreCheck:
    """Read all of a store and check it.

    Args:
        store: The store. Nothing is written.

    Returns:
        What is damaged, run by run.

    Raises:
        StoreError: It cannot be read at all.
    """
    errors = tuple(store.integrity_errors())
    runs = tuple(check_run(store, run.id) for run in store.runs())
    judgements, unreadable = _count_judgements(store)
    return StoreCheck(
        store=store.name,
        errors=errors,
        runs=runs,
        lost_runs=tuple(store.lost_runs()),
        judgements=judgements,
        unreadable_judgements=unreadable,
    )


def check_run(store: Store, run: str) -> RunCheck:
    """Read all rows of a run and check them. See `check_store`."""
    try:
        counts = store.row_counts(run)
    except StoreError as error:
        return RunCheck(run=run, rows=0, info=str(error))
    digests, unreadable, rows = RowDigests(), list[int](), 0
    for number, name, body in store.row_bodies(run):
        digests.add(number, name, body)
        rows += 1
        if not is_readable(number, body):
            unreadable.append(number)
    after = store.row_counts(run)
    known = counts.digest is not None and counts == after  # of a run that grows meanwhile nobody knows
    return RunCheck(
        run=run,
        rows=rows,
        unreadable=tuple(unreadable),
        missing=counts.missing,
        pruned=counts.pruned,
        altered=known and not unreadable and not counts.missing and digests.value != counts.digest,
        unchecked=counts.digest is None,
        info=_info_error(store, run),
    )


def _info_error(store: Store, run: str) -> str | None:
    try:
        store.get_run(run)
        store.run_started(run)
    except StoreError as error:
        return str(error)
    return None


def _count_judgements(store: Store) -> tuple[int, int]:
    count = damaged = 0
    sql = f"SELECT number, judgement FROM judgements WHERE number > ? ORDER BY number LIMIT {PAGE}"
    for _, blob in in_pages(lambda last: store.query(sql, last)):
        count += 1
        try:
            unpack(blob)
        except ValueError:
            damaged += 1
    return count, damaged
