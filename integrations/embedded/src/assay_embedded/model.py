"""What a directory of files holds is opened once per process and shared by all that read with it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from assay.extension import own_lock
from assay_embedded.graphs import cpus

T = TypeVar("T")


class OpenModels(Generic[T]):
    """What was opened, by directory. Safe to use from several threads and after a fork.

    Args:
        opens: Reads a directory; what it raises is raised to whoever asked, and the next who asks tries again.
    """

    def __init__(self, opens: Callable[[Path], T]) -> None:
        self._opens = opens
        self._found: dict[Path, T] = {}
        self._lock = own_lock(self)

    def of(self, directory: str | os.PathLike[str]) -> T:
        """The content of this directory."""
        path = Path(directory).resolve()
        with self._lock:
            if path not in self._found:
                self._found[path] = self._opens(path)
            return self._found[path]


def checked_threads(threads: int | None) -> int:
    """How many threads to read on; None: one for each CPU this process may use. Raises ValueError below 1."""
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    return cpus() if threads is None else threads
