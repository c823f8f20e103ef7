"""What a Parquet file knows of the run besides its rows: JSON in the metadata of the file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

#: Key of the metadata of a Parquet file.
RUN_METADATA = "assay"
#: What stands there of `Result.to_dict`: all that no row says.
_NAMES = (
    *("run", "started", "judge", "parameters", "cache_hits", "seconds", "stopped", "ended", "notes", "note", "data"),
    *("expected", "default_metrics"),
)


def run_facts(described: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a run, from `Result.to_dict`, that a table has no column for."""
    return {name: described[name] for name in _NAMES if described.get(name) is not None}


def facts_in(path: Path) -> dict[str, Any]:
    """Read the facts of a run from a Parquet file; none where another tool wrote it, or they cannot be read."""
    try:
        from pyarrow import parquet

        found = json.loads((parquet.read_schema(path).metadata or {})[RUN_METADATA.encode()])
    except Exception:  # damaged bytes make pyarrow raise errors of many types; the rows say it
        return {}
    return found if isinstance(found, dict) else {}
