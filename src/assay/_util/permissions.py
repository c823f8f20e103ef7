"""Files and folders that nobody but their owner reads: what is judged may be confidential.

Only what is made here gets these permissions, whatever the umask; what stands already keeps its own. POSIX: Windows has
no such bits, there the folder's own rules hold.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from assay.errors import InputError

FOLDER = 0o700
FILE = 0o600


def private_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing. Raises OSError."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        if path == path.parent:
            break
        path = path.parent
    for one in reversed(missing):
        with contextlib.suppress(FileExistsError):  # made by somebody else meanwhile; a file there fails at its use
            one.mkdir(FOLDER)


def private_opener(path: str | os.PathLike[str], flags: int) -> int:
    """For `open(path, "w", opener=private_opener)`, or by itself: a file descriptor. Raises OSError."""
    return os.open(path, flags | getattr(os, "O_BINARY", 0), FILE)


def read_json(path: str | Path, what: str) -> Any:
    """What stands in the file. Raises InputError, beginning with `what` and naming the file, for what is none."""
    where = f"{what}: {str(path)!r}"
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{where} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):  # a long run of brackets is no JSON that could be read, either
        raise InputError(f"{where} is no JSON file") from None
