"""Which runs of a store changed since they were last read, without reading them."""

from __future__ import annotations

from assay.store.store import _COUNTS, Store, StoredRun


def run_versions(store: Store) -> dict[str, str]:
    """Find what is another text after each change of a run or its rows: the counters and digests that writers keep.

    Args:
        store: The store.

    Returns:
        Name of a run -> its version; the run started last first.
    """
    sql = "SELECT id, info_digest, saved, pruned, digest FROM runs ORDER BY number DESC"
    return {str(run): repr(rest) for run, *rest in store.query(sql)}


def stored_run(store: Store, run: str) -> StoredRun | None:
    """Read what is known about one run, also where that is damaged; None where the store has no such run."""
    sql = f"SELECT id, started, info, info_digest, {_COUNTS} FROM runs WHERE id = ?"
    found = store.query(sql, run)
    return store._stored_run(*found[0]) if found else None
