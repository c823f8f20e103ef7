"""The columns of a long run that has ended, as arrays in blocks of bytes: a million values are read in milliseconds.

They repeat what the tables of scores and of rows say, and are taken only as long as both are the ones that they were
made from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from assay.store.store import Store
    from assay.store.tables import Statements

BLOCK = 2**20  # bytes
STATE = "state"  # the array that says what the others are of

_STATE_OF = (
    "SELECT saved, pruned, digest, scores_digest, (SELECT COUNT(*) FROM rows WHERE rows.run = runs.id) FROM runs "
    "WHERE id = ?"
)


class ColumnBlocks:
    """The arrays of one run.

    Args:
        store: The store.
        run: Number of the run's name.
    """

    def __init__(self, store: Store, run: int) -> None:
        self._store, self._run = store, run

    @classmethod
    def of(cls, store: Store, run: str, number: int) -> ColumnBlocks | None:
        """Open the arrays of a run.

        Args:
            store: The store.
            run: Name of the run.
            number: Number of its name.

        Returns:
            The arrays; None where there are none, or where the run is not the one any more that they were made from.
        """
        found = cls(store, number)
        state = found._bytes(STATE)
        if not state:
            return None
        return found if json.loads(state) == state_of(store, run) else None

    def array(self, name: str, kind: str) -> np.ndarray | None:
        """Read an array.

        Args:
            name: Name of the array.
            kind: Its dtype.

        Returns:
            The array, read-only; None where there is none of the name.
        """
        found = self._bytes(name)
        return np.frombuffer(found, dtype=kind) if found else None

    def _bytes(self, name: str) -> bytes:
        sql = "SELECT data FROM column_blocks WHERE run = ? AND name = ? ORDER BY part"
        return b"".join(bytes(data) for (data,) in self._store.query(sql, self._run, name))


def state_of(store: Store, run: str) -> list[Any] | None:
    """What a run is known by: its counts and digests; None where these are unknown."""
    found = store.query(_STATE_OF, run)
    return None if not found or None in found[0] else [int(one) for one in found[0]]


def write_blocks(store: Store, run: str, number: int, arrays: Mapping[str, np.ndarray]) -> None:
    """Store the arrays of a run in place of earlier ones, unless it has changed meanwhile.

    Args:
        store: The store.
        run: Name of the run.
        number: Number of its name.
        arrays: Name -> array.

    Raises:
        StoreError: The store cannot be written.
    """
    state = state_of(store, run)
    if state is None:
        return

    def write(db: Statements) -> None:
        db.execute("DELETE FROM column_blocks WHERE run = ?", (number,))
        for name, content in ((STATE, json.dumps(state).encode()), *((n, a.tobytes()) for n, a in arrays.items())):
            for part, start in enumerate(range(0, len(content), BLOCK)):
                values = (number, name, part, content[start : start + BLOCK])
                db.execute("INSERT INTO column_blocks (run, name, part, data) VALUES (?, ?, ?, ?)", values)

    store.write(write)
