"""Output files: private, and under their name only when they are whole."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from assay._util.permissions import FILE, private_opener

#: A file that is mounted by itself, as containers do, cannot be replaced, only written.
_MOUNTED = (errno.EBUSY, errno.EXDEV)


@contextlib.contextmanager
def output_file(path: str | Path, mode: str = "w", **options: Any) -> Iterator[IO[Any]]:
    """Write a file that is complete or not there: after a failure what stood in its place stands there still.

    A new file is readable by its owner alone; one that is replaced keeps its permissions, and a link its target's
    place. Devices and pipes are written directly.

    Args:
        path: The file.
        mode: "w" for text in UTF-8, "wb" for bytes.
        options: Those of `open`, such as `errors` and `newline`.

    Yields:
        The open file.

    Raises:
        OSError: It cannot be written; the error names the file.
    """
    if "b" not in mode:
        options = {"encoding": "utf-8", **options}
    target = Path(os.path.realpath(path))
    with _name_in_errors(path):
        before = _status(target)
        if before is not None and not stat.S_ISREG(before.st_mode):
            with open(target, mode, **options) as out:  # a folder raises here
                yield out
            return
        if before is not None and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        # a name has at most 255 bytes, whatever its letters
        beginning = os.fsencode(target.name)[:200].decode(errors="ignore")
        part = target.with_name(f".{beginning}.{secrets.token_hex(4)}.part")
        try:
            with open(part, mode, opener=private_opener, **options) as out:
                yield out
                out.flush()
                os.fsync(out.fileno())
            part.chmod(FILE if before is None else stat.S_IMODE(before.st_mode))
            _put_in_place(part, target)
        finally:
            part.unlink(missing_ok=True)


def write_output(path: str | Path, text: str, **options: Any) -> Path:
    """Write a text as a file. See `output_file`; returns the path."""
    with output_file(path, **options) as out:
        out.write(text)
    return Path(path)


def write_json(path: str | Path, value: Any) -> None:
    """Write a value as JSON that people can read, too."""
    write_output(path, json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _put_in_place(part: Path, target: Path) -> None:
    try:
        part.replace(target)
    except OSError as error:
        if error.errno not in _MOUNTED:
            raise
        shutil.copyfile(part, target)


@contextlib.contextmanager
def _name_in_errors(path: str | Path) -> Iterator[None]:
    """An error of a write on a full disk names no file, and one of the temporary file names that."""
    try:
        yield
    except OSError as error:
        if error.errno is None or (error.filename not in (None, str(path)) and not _is_part(error.filename)):
            raise
        raise type(error)(error.errno, error.strerror, str(path)) from error


def _is_part(name: Any) -> bool:
    return str(name).endswith(".part")
