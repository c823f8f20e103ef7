"""Addresses of runs outside of the store at hand: a file, a queue's folder, a store with or without a run's name."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import NamedTuple

from assay._util.sqlite import has_table
from assay.data.outputs.content import INSTEAD, is_sqlite
from assay.data.outputs.records import Output
from assay.errors import InputError
from assay.store.tables import FILE_NAME, is_database

#: Between the address of a store and the name of a run in it: no name of a source and no path of Windows has it there.
MARK = "#"
#: The file of a queue in its folder, and the reader of its scored samples, which lies behind this folder of modules.
QUEUE_FILE = "spool.db"
_QUEUE = EntryPoint("queue", "assay.live.queue.results:open_queue", "assay.runs")


class StoredRun(NamedTuple):
    """A run of a store: `STORE` or `STORE#RUN`. The run is "last" where none is named."""

    store: str | Path
    run: str = "last"


def path_at(address: str) -> Path | None:
    """The file or folder of this name; None where there is none."""
    try:
        path = Path(address).expanduser()
        return path if path.exists() else None
    except (OSError, ValueError, RuntimeError):  # too long for a path, or with characters that none has
        return None


def stored_run_at(address: str) -> StoredRun | None:
    """The run in a store that an address names.

    Args:
        address: A folder or file of a store, or a URL of PostgreSQL, each alone or followed by `#RUN`.

    Returns:
        Store and run; None where the address names no store.
    """
    if is_database(address):
        store, _, run = address.partition(MARK)
        return StoredRun(store, run or "last")
    path = path_at(address)
    if path is not None:
        return StoredRun(path) if _is_store(path) else None
    place = address.rfind(MARK)
    while place > 0:
        path = path_at(address[:place])
        if path is not None and _is_store(path):
            return StoredRun(path, address[place + 1 :] or "last")
        place = address.rfind(MARK, 0, place)
    return None


def queue_at(path: Path) -> Output | None:
    """The scored samples in a queue's folder or file; None where it is none."""
    file = path / QUEUE_FILE if path.is_dir() else path
    if not file.is_file() or not is_sqlite(file) or not has_table(file, "contents"):
        return None
    found: Output = _QUEUE.load()(file.parent)
    return found


def refuse_folder(path: Path) -> InputError:
    """The error for a folder that is neither a store nor a queue."""
    inside = next((name for name in (".assay", QUEUE_FILE, FILE_NAME) if (path / name).exists()), None)
    hint = f"; give {str(path / inside)!r}" if inside is not None else f"; {INSTEAD}"
    return InputError(f"{str(path)!r} is a folder without a store or a queue{hint}")


def _is_store(path: Path) -> bool:
    """Whether a folder or a file is a store. The folder of a queue is the queue, though its judgements lie there."""
    if path.is_dir():
        return not (path / QUEUE_FILE).exists() and (path / FILE_NAME).is_file()
    return path.is_file() and is_sqlite(path) and has_table(path, "rows")
