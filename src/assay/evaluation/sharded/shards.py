"""Shards: pieces of files, told apart by what they hold. The same data gives the same shards on every machine.

A shard is named by its file's name, where in it its rows begin, and a hash of their content. What is appended to a file
changes its last shard and adds others. How many rows a shard has depends on nothing but its place in its file: the
first ones are small, so that small data is enough for several processes, and the last one is not waited for long.
Nothing is held in memory but the shard that is being cut.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, Self

from assay.data import ColumnMap, Data, RowError, open_data
from assay.data.files import kind_of, rows_of_lines
from assay.data.paths import STDIN, paths_of
from assay.data.safe_open import DAMAGED, TooLong, lines_of, open_bytes
from assay.errors import InputError
from assay.records import Sample, fingerprint

ROWS_PER_SHARD = 100
FEWEST = 8  # rows of a file's first shards
PART = 16  # a shard is at most one part in so many of the rows before it, until it is as large as shards get
BYTES = 8 << 20  # of rows; a shard ends with the row that reaches it


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """Rows of one file.

    file   its place among the files of the data, from 0; `name`: what it is called, without folders
    first  rows of the file before these; `rows`: how many these are
    hash   of their content
    start, stop, line  bytes and lines of a file of JSON lines; 0 where the rows are counted instead
    """

    file: int
    name: str
    first: int
    rows: int
    hash: str
    start: int = 0
    stop: int = 0
    line: int = 0

    @property
    def key(self) -> str:
        """What stands for the shard: 32 hexadecimal digits."""
        return fingerprint([self.name, self.first, self.rows, self.hash])[:32]

    def to_dict(self) -> dict[str, Any]:
        """The shard as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """What `to_dict` gave."""
        return cls(**data)


def next_shard_size(first: int, most: int) -> int:
    """How many rows a shard has, of `most`, that begins after so many rows of its file."""
    return min(most, max(FEWEST, first // PART))


class ShardRows(Protocol):
    """Reads shards, in a worker."""

    def rows(self, shard: Shard) -> list[tuple[int, Sample | RowError]]:
        """The rows with their numbers in the file. Raises InputError where it holds others than when planned."""


class ShardedData(Protocol):
    """The data of a job, as it is cut into shards. Workers get a copy, by pickle.

    named  what tells this data from other data, for the folder of its job
    """

    @property
    def named(self) -> Sequence[str]: ...

    def data(self) -> Data:
        """All of it, to learn what columns there are."""

    def plan(self) -> Iterator[Shard]:
        """The shards, in the order of the data."""

    def reader(self) -> ShardRows:
        """What a worker reads them with."""


@dataclass(frozen=True)
class ShardedFiles:
    """Files that are read in shards, and how; `rows` is how many a shard has at most.

    A file's first shards have 8 rows, later ones a sixteenth of the rows before them, until that is `rows`.

    Can be pickled: planners and workers, wherever they run, make it of the same arguments.
    """

    paths: tuple[Path, ...]
    column_map: ColumnMap | None = None
    format: str | None = None
    language: str | None = None
    rows: int = ROWS_PER_SHARD

    @classmethod
    def of(cls, data: object, **how: Any) -> Self:
        """Of a path, a pattern or a list of them. Raises InputError for data of other kinds."""
        paths = paths_of(data)
        if paths is None or any(str(path) == STDIN for path in paths):
            raise InputError("data: a job of several processes reads files: give paths or a pattern")
        return cls(tuple(path.expanduser() for path in paths), **how)

    def __post_init__(self) -> None:
        if self.rows < 1:
            raise InputError(f"rows: expected at least 1 in a shard, got {self.rows}")

    def names(self) -> list[str]:
        """What the files are called: without folders, and numbered where several are called the same."""
        seen: Counter[str] = Counter()
        names = []
        for path in self.paths:
            seen[path.name] += 1
            names.append(path.name if seen[path.name] == 1 else f"{path.name} ({seen[path.name]})")
        return names

    @property
    def named(self) -> list[str]:
        """Where the files are."""
        return [str(path.resolve()) for path in self.paths]

    def data(self) -> Data:
        """The rows of all files. Raises InputError."""
        return open_data(list(self.paths), column_map=self.column_map, format=self.format, language=self.language)

    def reader(self) -> ShardReader:
        """What reads shards of them."""
        return ShardReader(self)

    def open(self, file: int) -> Data:
        """The rows of one file. Raises InputError."""
        how = {"column_map": self.column_map, "format": self.format, "language": self.language}
        return open_data(self.paths[file], **how)  # type: ignore[arg-type]

    def has_lines(self, file: int) -> bool:
        """Whether rows of the file are found by their bytes."""
        kind = self.format or (kind_of(self.paths[file]) or "").removeprefix(".")
        return kind in ("jsonl", "ndjson") and self.paths[file].suffix.lower() != ".gz"

    def size(self, first: int) -> int:
        """How many rows a shard has at most that begins after so many rows of its file."""
        return next_shard_size(first, self.rows)

    def plan(self) -> Iterator[Shard]:
        """The shards, in the order of the data. Reads every file once. Raises InputError where one cannot be read."""
        for file, name in enumerate(self.names()):
            yield from self._by_bytes(file, name) if self.has_lines(file) else self._by_rows(file, name)

    def _by_bytes(self, file: int, name: str) -> Iterator[Shard]:
        with open_bytes(self.paths[file]) as opened:
            first = rows = start = line = lines = 0
            digest = hashlib.sha256()
            try:
                for found in lines_of(opened):
                    long = isinstance(found, TooLong)
                    digest.update(_TOO_LONG if isinstance(found, TooLong) else found)
                    lines, rows = lines + 1, rows + (long or not found.isspace())  # type: ignore[union-attr]
                    stop = opened.tell()
                    if rows >= self.size(first) or stop - start >= BYTES:
                        yield Shard(
                            file=file, name=name, first=first, rows=rows, hash=digest.hexdigest(),
                            start=start, stop=stop, line=line,
                        )  # fmt: skip
                        first, rows, start, line, digest = first + rows, 0, stop, lines, hashlib.sha256()
                if rows:
                    stop = opened.tell()
                    yield Shard(
                        file=file, name=name, first=first, rows=rows, hash=digest.hexdigest(),
                        start=start, stop=stop, line=line,
                    )  # fmt: skip
            except DAMAGED as error:
                raise InputError(f"{self.paths[file].name!r} cannot be read: {error}") from None

    def _by_rows(self, file: int, name: str) -> Iterator[Shard]:
        return (shard for shard, _ in cut_shards(self.open(file).items(), file, name, self.size))


_TOO_LONG = b"(too long)\n"


def content_of(item: object) -> bytes:
    """What a row holds, as bytes that are equal where the rows are."""
    return json.dumps(item, default=repr, separators=(",", ":")).encode() + b"\n"


def cut_shards(
    items: Iterable[object], file: int, name: str, size: Callable[[int], int]
) -> Iterator[tuple[Shard, list[object]]]:
    """The rows of one file in shards, each with its rows; `size`: see `Files.size`."""
    first, held, amount, digest = 0, list[object](), 0, hashlib.sha256()
    for item in items:
        content = content_of(item)
        digest.update(content)
        held.append(item)
        amount += len(content)
        if len(held) >= size(first) or amount >= BYTES:
            yield Shard(file=file, name=name, first=first, rows=len(held), hash=digest.hexdigest()), held
            first, held, amount, digest = first + len(held), [], 0, hashlib.sha256()
    if held:
        yield Shard(file=file, name=name, first=first, rows=len(held), hash=digest.hexdigest()), held


class ShardReader:
    """Reads shards of files. Where rows are counted it goes on from the last one, so the order should be the plan's."""

    def __init__(self, files: ShardedFiles) -> None:
        self._files = files
        self._names = files.names()
        self._data: tuple[int, Data] | None = None
        self._items: Iterator[object] = iter(())
        self._at = -1  # rows that went before what they give next; -1: nothing is open

    def rows(self, shard: Shard) -> list[tuple[int, Sample | RowError]]:
        """The rows with their numbers in the file. Raises InputError where the file holds others than when planned."""
        again = self._data is None or self._data[0] != shard.file
        data = self._files.open(shard.file) if again or self._data is None else self._data[1]
        if again:
            self._data, self._items, self._at = (shard.file, data), iter(()), -1
        lines = self._files.has_lines(shard.file)
        items, found = self._by_bytes(shard) if lines else self._by_rows(shard, data)
        if found != shard.hash or len(items) != shard.rows:
            raise InputError(
                f"{str(self._files.paths[shard.file])!r} was changed while it was read; start the job again"
            )
        numbered = ((number, data.sample(item, number)) for number, item in enumerate(items, shard.first + 1))
        return [(number, self._named(shard, row)) for number, row in numbered]

    def _by_bytes(self, shard: Shard) -> tuple[Sequence[object], str]:
        with open_bytes(self._files.paths[shard.file]) as file:
            file.seek(shard.start)
            block = file.read(shard.stop - shard.start)
        lines = list(lines_of(io.BytesIO(block)))
        digest = hashlib.sha256()
        for line in lines:
            digest.update(_TOO_LONG if isinstance(line, TooLong) else line)
        return [row for _, row in rows_of_lines(lines, shard.line) if row is not None], digest.hexdigest()

    def _by_rows(self, shard: Shard, data: Data) -> tuple[Sequence[object], str]:
        start = data.start_before(shard.first)
        if not start <= self._at <= shard.first:
            self._items, self._at = data.items(start), start
        digest = hashlib.sha256()
        items: list[object] = []
        for item in self._items:
            self._at += 1
            if self._at <= shard.first:
                continue
            items.append(item)
            digest.update(content_of(item))
            if len(items) == shard.rows:
                break
        return items, digest.hexdigest()

    def _named(self, shard: Shard, row: Sample | RowError) -> Sample | RowError:
        """As `open_data` has it of several files: their rows say which one they are of."""
        from dataclasses import replace

        if len(self._files.paths) == 1:
            return row
        name = str(self._files.paths[shard.file])
        if isinstance(row, RowError):
            return replace(row, message=f"{name}: {row.message}")
        return replace(row, metadata={"file": name, **row.metadata})
