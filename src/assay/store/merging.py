"""Scored samples that become rows under their keys: new rows at the end of a run, or scores on rows that it has.

Many are merged in one transaction. What is new is packed before it begins, so that it holds up other writers for less.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from assay.records import Score, ScoredSample
from assay.store.rows import PAGE, PackedRow, clean, packed_row, put_rows, stored_scores
from assay.store.score_columns import RowColumns, stored_times
from assay.store.tables import Statements, read_all


@dataclass(frozen=True, slots=True)
class MergedRow:
    """A scored sample, packed as the row that it is if its key is new.

    Attributes:
        key: Key of the sample, as it is stored.
        scored: The sample with its scores.
        body: The packed row.
        columns: Its columns, without the number.
    """

    key: str
    scored: ScoredSample
    body: bytes
    columns: RowColumns

    @classmethod
    def of(cls, scored: ScoredSample, at: float | None = None) -> MergedRow:
        """Pack a scored sample; `at`: see `RowColumns.of`."""
        key = clean(scored.sample.key()) or ""
        return cls(key, scored, packed_row(scored), RowColumns.of(0, key, scored, at=at))

    def packed(self, number: int) -> PackedRow:
        """The row, as it is written under a number."""
        return PackedRow(number, self.key, self.body, replace(self.columns, number=number))

    def merged(self, before: dict[str, Score], at: float | None) -> MergedRow:
        """The sample with the scores that its row has, besides its own; `at`: see `RowColumns.of`."""
        return MergedRow.of(replace(self.scored, scores={**before, **self.scored.scores}), at)


def merge_rows(db: Statements, run: str, rows: Sequence[MergedRow]) -> list[int]:
    """Write scored samples under their keys.

    Args:
        db: The transaction, in which nobody else merges rows of the run.
        run: Name of the run.
        rows: The samples.

    Returns:
        The number of the row of each.
    """
    last: dict[str, MergedRow] = {}
    for row in rows:
        there = last.get(row.key)
        last[row.key] = row if there is None else row.merged(dict(there.scored.scores), None)
    found = _rows_of(db, run, last)
    times = stored_times(db, run, [number for number, _ in found.values()])
    (highest,) = db.execute("SELECT COALESCE(MAX(number), 0) FROM rows WHERE run = ?", (run,)).fetchone()
    numbers = {key: found[key][0] for key in found}
    numbers |= {key: int(highest) + n for n, key in enumerate((key for key in last if key not in found), 1)}
    for key, (number, body) in found.items():  # a row that is there stays where it is in time
        last[key] = last[key].merged(stored_scores(body), times.get(number))
    put_rows(db, run, [row.packed(numbers[key]) for key, row in last.items()], at_once=len(last) > 1)
    return [numbers[row.key] for row in rows]


def _rows_of(db: Statements, run: str, keys: Iterable[str]) -> dict[str, tuple[int, bytes]]:
    """Number and body of the rows of these keys that a run has; of several of one key the first."""
    found: dict[str, tuple[int, bytes]] = {}
    wanted = list(keys)
    as_stored = {key.replace("\0", "\ufffd"): key for key in wanted} | {key: key for key in wanted}  # see `postgres`
    for start in range(0, len(wanted), PAGE):
        some = wanted[start : start + PAGE]
        sql = f"SELECT id, number, body FROM rows WHERE run = ? AND id IN ({', '.join('?' * len(some))})"
        for key, number, body in sorted(read_all(db, sql, (run, *some)), key=lambda row: int(row[1])):
            found.setdefault(as_stored[str(key)], (int(number), body))
    return found
