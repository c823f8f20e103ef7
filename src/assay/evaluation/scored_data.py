"""The samples of runs and queues as data: `assay score old/.assay#monday` scores them again."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from assay.data.dataset import Data, check_options
from assay.data.open_source import OpenSource
from assay.data.outputs.samples import samples_of
from assay.data.rows import RowError
from assay.data.sources import Source
from assay.data.unreadable import UnreadableRow
from assay.errors import Cause
from assay.evaluation.result import Result
from assay.evaluation.run_addresses import StoredRun, path_at, queue_at, stored_run_at
from assay.records import Sample
from assay.records.missing_rows import is_missing_row
from assay.store.store import Store
from assay.store.tables import is_database

Samples = Iterator[Sample | RowError | UnreadableRow]


def scored_data(address: str, *, limit: int | None = None, language: str | None = None) -> Data | None:
    """Open the samples of a run of a store, or of a queue, as data. Files are opened by `open_data`.

    Args:
        address: A store or `STORE#RUN` (see `assay.evaluation.external_runs.open_run`), or the folder of a queue.
        limit: Read at most this many rows.
        language: ISO 639-1 code of the rows that do not name theirs.

    Returns:
        The samples; None where the address is none of these.

    Raises:
        InputError: There is no such run, or it has no rows.
        StoreError: The store or the queue cannot be read.
    """
    rows = _rows_at(address)
    if rows is None:
        return None
    check_options(limit, language)
    name = address.rpartition("@")[2] if is_database(address) else address
    return Data([OpenSource(Source(what=repr(name), open=rows), None, name)], limit, language)


def _rows_at(address: str) -> Callable[[], Samples] | None:
    stored = stored_run_at(address)
    if stored is not None:
        return lambda: _samples_of(stored)
    path = path_at(address)
    queue = None if path is None else queue_at(path)
    return None if queue is None else lambda: samples_of(queue)


def _samples_of(stored: StoredRun) -> Samples:
    with Store(stored.store) as store:
        for number, scored in Result.load(stored.run, store).all_rows():
            if not is_missing_row(scored.sample):
                yield scored.sample
                continue
            why = next((one.error.message for one in scored.scores.values() if one.error is not None), "it is missing")
            yield RowError(number=number or 0, id=scored.sample.id, message=f"{stored.run}: {why}", cause=Cause.LOST)
