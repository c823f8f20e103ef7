"""A store that nobody keeps: rows stay in memory as they are, and are packed and written only where they are read.

Beyond a bound they are written to a file, many with one transaction, so that memory stays flat.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections import defaultdict
from functools import partial
from typing import NamedTuple

from assay._util.forks import own_lock
from assay.records import Sample, ScoredSample
from assay.store.rows import PackedRow, clean, put_rows
from assay.store.store import RowCounts, Store

#: Rows held in memory, and about how many characters of text.
MOST_ROWS = 1000
MOST_CHARS = 16_000_000


class _HeldRow(NamedTuple):
    run: str
    number: int
    scored: ScoredSample
    started: float | None
    facts: str | None


class TemporaryStore(Store):
    """A store in a temporary folder, which is deleted when it is closed or no longer used."""

    def __init__(self) -> None:
        self._held: dict[tuple[str, int], _HeldRow] = {}
        self._chars = 0
        self._holding = own_lock(self, "_holding")
        self._written: set[str] = set()  # runs with rows in the file
        folder = tempfile.mkdtemp(prefix="assay-")
        # not a TemporaryDirectory, which warns where it is deleted because it is no longer used
        self._delete = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        super().__init__(folder)

    def close(self) -> None:
        """Delete it. Closing twice is fine."""
        super().close()
        self._delete()

    def put_row(
        self, run: str, number: int, scored: ScoredSample, *, started: float | None = None, facts: str | None = None
    ) -> None:
        """See `Store.put_row`: here it is held in memory.

        Raises:
            ValueError: A score cannot be written.
        """
        for score in scored.scores.values():
            score.to_json()
        row = _HeldRow(run, number, scored, started, facts)
        with self._holding:
            self._held[run, number] = row
            self._chars += _chars(scored)
            full = len(self._held) >= MOST_ROWS or self._chars >= MOST_CHARS
        if full:
            self._write_held()

    def group_writer(self, run: str, started: float | None) -> None:
        """None: see `Store.group_writer`."""

    def _write_held(self) -> None:
        with self._holding:
            rows: dict[tuple[str, float | None], list[PackedRow]] = defaultdict(list)
            for one in self._held.values():
                rows[one.run, one.started].append(PackedRow.of(one.number, one.scored, one.facts))
            for (run, started), packed in rows.items():
                self._write(partial(put_rows, run=run, rows=packed, started=started))
                self._written.add(run)
            self._held, self._chars = {}, 0

    def row_counts(self, run: str) -> RowCounts:
        """See `Store.row_counts`: rows in memory are counted there, and have no digest yet."""
        with self._holding:
            held = 0 if self._written else sum(one.run == run for one in self._held.values())
        return RowCounts(held, held) if held else super().row_counts(run)

    def ids_of_several(self, run: str, most: int = 5) -> list[tuple[str, list[int]]]:
        """See `Store.ids_of_several`: the rows in memory are not written for it."""
        with self._holding:
            held = not self._written
            rows = [(clean(one.scored.sample.id), one.number) for one in self._held.values() if one.run == run]
        if not held:
            return super().ids_of_several(run, most)
        found: dict[str, list[int]] = {}
        for name, number in sorted(rows, key=lambda row: row[1]):
            if name is not None:
                found.setdefault(name, []).append(number)
        return [(name, numbers) for name, numbers in found.items() if len(numbers) > 1][:most]


def _chars(scored: ScoredSample) -> int:
    """About how many characters a row holds."""
    held = 1000 + _texts(scored.sample)
    return held + sum(len(one.reason or "") + 200 for score in scored.scores.values()
                      for group in score.verdicts.values() for one in group)  # fmt: skip


def _texts(sample: Sample) -> int:
    contexts = [*(sample.contexts or ()), *(sample.reference_contexts or ())]
    contexts += [context for turn in sample.history for context in turn.contexts]
    said = [sample.question, sample.answer, sample.reference]
    said += [text for turn in sample.history for text in (turn.question, turn.answer)]
    said += [message.content for message in sample.messages]
    return sum(len(text or "") for text in said) + sum(len(one.text) + len(one.image or "") for one in contexts)
