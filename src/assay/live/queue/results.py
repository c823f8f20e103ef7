"""The scored samples in a queue, for `assay worst queue` and all else that takes a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay._util.sqlite import as_store_error
from assay._util.terminal import pluralize
from assay.data.outputs.records import Output, OutputRow
from assay.data.unreadable import UnreadableRow
from assay.live.queue.queue_file import DELIVERED, PARKED, WAITING, QueueFile
from assay.live.queue.rows import scored_of
from assay.live.queue.transitions import IN_WORK, SCORED

PAGE = 500  # rows read at a time

_ROWS = (
    "SELECT number, sample, scores FROM results JOIN contents USING (number) JOIN samples USING (number) "
    f"WHERE number > ? AND state IN (?, ?, ?) ORDER BY number LIMIT {PAGE}"
)


def open_queue(folder: str | Path) -> Output:
    """Open the scored samples that a queue still has: those to be delivered, delivered and parked.

    Args:
        folder: Folder of the queue, which is there.

    Returns:
        The rows, and notes on samples that the queue has without scores or has forgotten.

    Raises:
        StoreError: The queue cannot be read.
    """
    file = QueueFile(Path(folder))
    with as_store_error(f"queue {str(file.path)!r} cannot be read"):
        notes = tuple(_notes(file))
        file.close()
    return Output(lambda: _rows(file), notes=notes)


def _notes(file: QueueFile) -> Iterator[str]:
    totals, counts = file.totals(), file.counts()
    waiting = totals.get(WAITING, 0) + totals.get(IN_WORK, 0)
    if waiting:
        yield f"{pluralize(waiting, 'sample')} of the queue {'is' if waiting == 1 else 'are'} not scored yet"
    gone = counts.get("delivered", 0) - totals.get(DELIVERED, 0)
    if gone > 0:
        yield f"{pluralize(gone, 'delivered sample')} {'is' if gone == 1 else 'are'} not in the queue any more"


def _rows(file: QueueFile) -> Iterator[OutputRow]:
    last = -1
    try:
        while True:
            with as_store_error(f"queue {str(file.path)!r} cannot be read"):
                page = file.rows(_ROWS, last, SCORED, DELIVERED, PARKED)
            if not page:
                return
            yield from (_row(*found) for found in page)
            last = page[-1][0]
    finally:
        file.close()


def _row(number: int, sample: str, scores: str) -> OutputRow:
    try:
        return OutputRow(None, scored_of(sample, scores))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:  # InputError is a ValueError
        return OutputRow(None, UnreadableRow(f"sample {number} of the queue cannot be read: {error}"))
