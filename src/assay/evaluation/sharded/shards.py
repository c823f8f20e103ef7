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

from assay._util.byte_limits import TooLargeError
from assay.data import ColumnMap, Data, RowError, open_data
from assay.data.files import kind_of, rows_of_lines
from assay.data.paths import STDIN, paths_of
from assay.data.safe_open import DAMAGED, lines_of, open_bytes
from assay.errors import InputError
from assay.records import Sample, fingerprint

ROWS_PER_SHARD = 100
FEWEST = 8  # rows of a file's first shards
PART = 16  # a shard is at most one part in so many of the rows before it, until it is as large as shards get
BYTES = 8 << 20  # of rows; a shard ends with the row that reaches it


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """A sequence of rows of one file.

    Attributes:
        file: Index of the file in the data, from 0.
        name: Name of the file, without folders.
        first: Number of rows of the file before the shard.
        rows: Number of rows in the shard.
        hash: SHA-256 of the content of the rows, in hexadecimal digits.
        start: Offset of the first byte in a file of JSON lines. 0 where rows are located by their number.
        stop: Offset after the last byte. 0 as above.
        line: Number of lines before the shard. 0 as above.
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
        """Convert the shard to plain JSON values.

        Returns:
            Name of each field -> its value.
        """
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Create a shard from the result of `to_dict`.

        Args:
            data: Name of each field -> its value.

        Returns:
            The shard.
        """
        return cls(**data)


def next_shard_size(first: int, most: int) -> int:
    """Compute the size of the next shard of a file.

    A file's first shards have 8 rows. Later shards have a sixteenth of the rows before them, up to `most`.

    Args:
        first: Number of rows of the file before the shard.
        most: Greatest number of rows in a shard.

    Returns:
        The number of rows, at most `most`.
    """
    return min(most, max(FEWEST, first // PART))


class ShardRows(Protocol):
    """Reads shards, in a worker."""

    def rows(self, shard: Shard) -> list[tuple[int, Sample | RowError]]:
        """The rows with their numbers in the file. Raises InputError where it holds others than when planned."""


class ShardedData(Protocol):
    """Protocol of the data of a job that is scored in shards. Workers get a pickled copy.

    Attributes:
        named: Texts that identify the data, as the paths of its files. They select the default folder of the job.
    """

    @property
    def named(self) -> Sequence[str]: ...

    def data(self) -> Data:
        """Open all rows, to learn which columns there are.

        Returns:
            The data.

        Raises:
            InputError: The data cannot be read as a whole.
        """

    def plan(self) -> Iterator[Shard]:
        """Cut the data into shards.

        Returns:
            The shards, in the order of the data.

        Raises:
            InputError: The data cannot be read.
        """

    def reader(self) -> ShardRows:
        """Create the reader of shards for a worker.

        Returns:
            The reader.
        """


@dataclass(frozen=True)
class ShardedFiles:
    """Files of a job, with the options to read them in shards. It can be pickled.

    A file's first shards have 8 rows. Later shards have a sixteenth of the rows before them, up to `rows`. A shard also
    ends with the row that reaches 8 MiB.

    Attributes:
        paths: The files, in the order of the data.
        column_map: Field -> column, where the name of a column is not recognised. None: by accepted names.
        format: Format of files whose names do not show it: "jsonl", "csv" and the like. None: by the name.
        language: ISO 639-1 code of the rows that do not name theirs. None: detected row by row, else English.
        rows: Greatest number of rows in a shard.

    Raises:
        InputError: `rows` is less than 1.
    """

    paths: tuple[Path, ...]
    column_map: ColumnMap | None = None
    format: str | None = None
    language: str | None = None
    rows: int = ROWS_PER_SHARD

    @classmethod
    def of(cls, data: object, **how: Any) -> Self:
        """Create the data of a job from paths.

        Args:
            data: A path, a pattern, or a list of these.
            **how: The other attributes: `column_map`, `format`, `language` and `rows`.

        Returns:
            The files. Those of a pattern are sorted by path.

        Raises:
            InputError: The data is of another kind or standard input, no file fits a pattern, or `rows` is less than 1.
        """
        paths = paths_of(data)
        if paths is None or any(str(path) == STDIN for path in paths):
            raise InputError("data: a job of several processes reads files: give paths or a pattern")
        return cls(tuple(path.expanduser() for path in paths), **how)

    def __post_init__(self) -> None:
        if self.rows < 1:
            raise InputError(f"rows: expected at least 1 in a shard, got {self.rows}")

    def names(self) -> list[str]:
        """Name the files without their folders.

        Returns:
            One name per file, in the order of `paths`. Later files of the same name have a number, "a.csv (2)".
        """
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
        """Open the rows of all files.

        Returns:
            The data.

        Raises:
            InputError: The files cannot be read as a whole.
        """
        return open_data(list(self.paths), column_map=self.column_map, format=self.format, language=self.language)

    def reader(self) -> ShardReader:
        """Create a reader of shards of these files.

        Returns:
            The reader.
        """
        return ShardReader(self)

    def open(self, file: int) -> Data:
        """Open the rows of one file.

        Args:
            file: Index of the file in `paths`.

        Returns:
            The data.

        Raises:
            InputError: The file cannot be read as a whole.
        """
        how = {"column_map": self.column_map, "format": self.format, "language": self.language}
        return open_data(self.paths[file], **how)  # type: ignore[arg-type]

    def has_lines(self, file: int) -> bool:
        """Check whether shards of a file are located by byte offsets.

        Args:
            file: Index of the file in `paths`.

        Returns:
            True for files of JSON lines that are not compressed. False where rows are counted.
        """
        kind = self.format or (kind_of(self.paths[file]) or "").removeprefix(".")
        return kind in ("jsonl", "ndjson") and self.paths[file].suffix.lower() != ".gz"

    def size(self, first: int) -> int:
        """Compute the greatest size of the next shard of a file. See `next_shard_size`.

        Args:
            first: Number of rows of the file before the shard.

        Returns:
            The number of rows, at most `rows`.
        """
        return next_shard_size(first, self.rows)

    def plan(self) -> Iterator[Shard]:
        """Cut the files into shards. It reads every file once.

        Yields:
            The shards, in the order of the data. A file without rows has none.

        Raises:
            InputError: A file cannot be read.
        """
        for file, name in enumerate(self.names()):
            yield from self._by_bytes(file, name) if self.has_lines(file) else self._by_rows(file, name)

    def _by_bytes(self, file: int, name: str) -> Iterator[Shard]:
        with open_bytes(self.paths[file]) as opened:
            first = rows = start = line = lines = 0
            digest = hashlib.sha256()
            try:
                for found in lines_of(opened):
                    long = isinstance(found, TooLargeError)
                    digest.update(_TOO_LONG if isinstance(found, TooLargeError) else found)
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
    """Cut the rows of one file into shards. It holds the rows of one shard in memory.

    Args:
        items: The rows, in the order of the file.
        file: Index of the file in the data, from 0.
        name: Name of the file.
        size: Function from the number of rows before a shard to its greatest number of rows. See `next_shard_size`.

    Yields:
        Each shard with its rows. A shard also ends with the row that reaches 8 MiB. No shard where `items` is empty.
    """
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
            digest.update(_TOO_LONG if isinstance(line, TooLargeError) else line)
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
