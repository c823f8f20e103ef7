"""Scores as JSON lines: one line per scored sample, appended whole."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay._util.call_repr import call_repr
from assay._util.forks import own_lock
from assay._util.permissions import private_folder, private_opener
from assay.errors import InputError
from assay.records import ScoredSample
from assay.sinks.base import Mask, Receipt
from assay.sinks.masking import hidden_texts, hider


class JsonlSink:
    """Append scored samples to a file, one JSON line each.

    A new file is readable for its owner alone (0600). A line is written by one call on a file opened for appending, so
    several threads and processes may share a file on a local disk (not with `max_bytes`, which is for one process).
    `close` may be followed by further writes.

    Args:
        path: The file.
        fsync: Wait until a line is on disk before `write` returns.
        max_bytes: Before the file would grow beyond this it is renamed to `PATH.1`, which replaces the one before.
        mask: Applied to every text of the sample and its evidence, metadata included.
        texts: False writes SHA-256 hashes in place of texts.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        fsync: bool = False,
        max_bytes: int | None = None,
        mask: Mask | None = None,
        texts: bool = True,
    ) -> None:
        if not str(path):
            raise InputError("path: expected a file to append to, got an empty one")
        if max_bytes is not None and max_bytes < 1:
            raise InputError(f"max_bytes: expected at least 1, got {max_bytes}")
        self.path = Path(path)
        self._fsync = fsync
        self._max_bytes = max_bytes
        self._hide = hider(mask, texts)
        self._lock = own_lock(self)
        self._file: int | None = None

    def __repr__(self) -> str:
        return call_repr(self, str(self.path))

    def write(self, scored: ScoredSample) -> Receipt:
        """Append one line.

        Args:
            scored: The sample with its scores.

        Returns:
            What was written.

        Raises:
            OSError: The file cannot be written.
        """
        data = scored.to_dict()
        if self._hide is not None:
            data = hidden_texts(data, self._hide)
        line = (json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8", "replace")
        with self._lock:
            file = self._opened(len(line))
            written = os.write(file, line)
            if written != len(line):
                # a full disk: end the torn line, so that the next one stands alone
                os.write(file, b"\n")
                raise OSError(f"{self.path}: only {written} of {len(line)} bytes of a line were written")
            if self._fsync:
                os.fsync(file)
        return Receipt(sent=len(scored.scores), confirmed=len(scored.scores))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._close()

    def _opened(self, size: int) -> int:
        if self._file is not None and self._max_bytes is not None:
            held = os.fstat(self._file).st_size
            if held and held + size > self._max_bytes:
                self._close()
                self.path.replace(self.path.with_name(self.path.name + ".1"))
        if self._file is None:
            private_folder(self.path.parent)
            self._file = private_opener(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            self._end_torn_line()
        return self._file

    def _end_torn_line(self) -> None:
        """A process that was killed may have left half a line: give it an end before the next one is appended."""
        assert self._file is not None
        with self.path.open("rb") as file:
            if file.seek(0, os.SEEK_END):
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    os.write(self._file, b"\n")

    def _close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


class MemorySink:
    """Keeps what it is given, in `written`: for tests."""

    def __init__(self) -> None:
        self.written: list[ScoredSample] = []
        self.closed = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.written)} samples>"

    def write(self, scored: ScoredSample) -> None:
        self.written.append(scored)

    def close(self) -> None:
        self.closed = True


@dataclass(frozen=True, slots=True)
class JsonlFile:
    """The lines of a file: `rows`, and in `torn` the numbers (from 1) of lines that could not be read."""

    rows: tuple[dict[str, Any], ...] = ()
    torn: tuple[int, ...] = ()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def samples(self) -> list[ScoredSample]:
        """The rows as records. Rows written with `texts=False` are records as well, of hashes."""
        return [ScoredSample.from_dict(row) for row in self.rows]


def read_jsonl(path: str | os.PathLike[str]) -> JsonlFile:
    """Read what `JsonlSink` wrote. Lines that were cut by a crash are left out, and their numbers are in `torn`."""
    rows, torn = [], []
    with Path(path).open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if isinstance(row, dict):
                rows.append(row)
            else:
                torn.append(number)
    return JsonlFile(rows=tuple(rows), torn=tuple(torn))
