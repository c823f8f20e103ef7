"""What tells a SQLite file from one that was written over it in place: its inode stays, and SQLite does not look.

Each file that assay makes has a random number in its header, SQLite's application_id, which no transaction changes. It
is read from a descriptor that SQLite has open: to open and close another lets go of this process's locks on the file.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import sys
from contextlib import suppress

Identity = tuple[int, int]

_MAGIC, _HEADER = slice(0, 16), slice(68, 72)
_DESCRIPTORS = {"linux": "/proc/self/fd", "darwin": "/dev/fd"}  # elsewhere an open file cannot be written over


def stamp_new_file(db: sqlite3.Connection) -> None:
    """Write the number into a file without one. It has to be in the file itself, so before it is in WAL mode."""
    db.execute("BEGIN IMMEDIATE")  # another process may do the same
    if db.execute("PRAGMA application_id").fetchone() == (0,):
        db.execute(f"PRAGMA application_id = {secrets.randbelow(2**31 - 1) + 1}")
    db.execute("COMMIT")


class FileStamp:
    """The beginning of one open file, as it was when SQLite opened it.

    Args:
        identity: Device and inode of the file; None for a file that is not there.
    """

    def __init__(self, identity: Identity | None) -> None:
        self._identity = identity
        self._descriptor = -1
        self._found = self._read()

    def is_in_place(self) -> bool:
        """Whether the file still begins so, as far as that can be told."""
        now = self._read()
        return self._found is None or now is None or now == self._found

    def _read(self) -> bytes | None:
        with suppress(OSError):
            if not self._is_of_file(self._descriptor):
                self._descriptor = self._find()
            header = os.pread(self._descriptor, _HEADER.stop, 0)
            return header[_MAGIC] + header[_HEADER]
        return None

    def _find(self) -> int:
        folder = _DESCRIPTORS.get(sys.platform)
        names = os.listdir(folder) if folder is not None and self._identity is not None else []
        return next((int(name) for name in names if self._is_of_file(int(name))), -1)

    def _is_of_file(self, descriptor: int) -> bool:
        with suppress(OSError):
            found = os.fstat(descriptor)
            return (found.st_dev, found.st_ino) == self._identity
        return False
