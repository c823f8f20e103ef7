"""The folder of a job: what is done, and by whose death a shard is suspected. Every file appears whole, by a rename.

job.json              what is measured, by which judge; another question takes another folder
rows/KEY.jsonl        the scored rows of a shard, a line each
done/KEY.json         that they are there, and their summary: written after them
deaths/KEY.json       workers that died over a shard, its rows in quarantine, whether it was set aside
spending.db           the budget of the job
"""

from __future__ import annotations

import json
import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from assay.database import as_store_error
from assay.errors import InputError, StoreError
from assay.packing import to_json
from assay.private import private_folder, private_opener
from assay.scale.shards import Shard


@dataclass(slots=True)
class Deaths:
    """What is known of the workers that died over a shard.

    count   since the last row was found guilty, or the job was last started
    row     the number in its file of the row that was read alone when the last one died; None where rows were mixed
    guilty  numbers of rows that killed two workers in sequence, read alone: they are not read again
    """

    count: int = 0
    row: int | None = None
    guilty: list[int] = field(default_factory=list)
    set_aside: bool = False


class Folder:
    """The folder of one job. Raises StoreError where it cannot be read or written."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def begin(self, question: Mapping[str, Any]) -> None:
        """Make the folder, or go on in it. Raises InputError where it holds the results of another question."""
        for name in ("rows", "done", "deaths"):
            private_folder(self.path / name)
        known = self._read(self.path / "job.json")
        if known is not None and known != json.loads(to_json(question)):
            differ = [name for name in question if known.get(name) != json.loads(to_json(question[name]))]
            raise InputError(f"out: {str(self.path)!r} holds a job of other {', '.join(differ)}; name another folder")
        for left in self.path.glob("*/*.part"):  # of processes that were killed
            left.unlink(missing_ok=True)
        if known is None:
            self._write(self.path / "job.json", [question])

    @property
    def spending(self) -> Path:
        return self.path / "spending.db"

    def finish(self, shard: Shard, rows: Iterable[Mapping[str, Any]], entry: Mapping[str, Any]) -> None:
        """Put the rows of a shard in their place, and then the entry that says so."""
        self._write(self.path / "rows" / f"{shard.key}.jsonl", rows)
        self._write(self.path / "done" / f"{shard.key}.json", [entry])

    def entry(self, shard: Shard) -> dict[str, Any] | None:
        """What `finish` said of a shard; None where it is not done."""
        return self._read(self.path / "done" / f"{shard.key}.json")

    def rows(self, shard: Shard) -> Iterator[dict[str, Any]]:
        """The scored rows of a shard that is done."""
        with (self.path / "rows" / f"{shard.key}.jsonl").open(encoding="utf-8") as file:
            yield from map(json.loads, file)

    def deaths(self, shard: Shard) -> Deaths:
        """What is known of the workers that died over this shard."""
        known = self._read(self.path / "deaths" / f"{shard.key}.json")
        return Deaths() if known is None else Deaths(**known)

    def note(self, shard: Shard, deaths: Deaths) -> None:
        """Keep it."""
        self._write(self.path / "deaths" / f"{shard.key}.json", [asdict(deaths)])

    def _read(self, path: Path) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = json.loads(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise StoreError(f"{str(path)!r} cannot be read: {error}") from None
        return found

    def _write(self, path: Path, items: Iterable[Mapping[str, Any]]) -> None:
        part = path.with_suffix(f".{secrets.token_hex(4)}.part")
        try:
            with open(part, "w", encoding="utf-8", opener=private_opener) as file:
                file.writelines(to_json(item) + "\n" for item in items)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except OSError as error:
            raise StoreError(f"{str(path)!r} cannot be written: {error}") from error


class Plan:
    """The shards of a job as they were cut, so that data is read once for it. In a file that ends with its process."""

    def __init__(self, folder: Folder) -> None:
        with as_store_error(f"{str(folder.path)!r} cannot be written"):
            self._file = tempfile.TemporaryFile("w+", encoding="utf-8", dir=folder.path)  # noqa: SIM115
        self._said = f"the plan in {str(folder.path)!r} cannot be kept"

    def noting(self, shards: Iterable[Shard]) -> Iterator[Shard]:
        """The same shards, each noted before it is given. Raises StoreError."""
        for shard in shards:
            with as_store_error(self._said):
                self._file.write(to_json(shard.to_dict()) + "\n")
            yield shard

    def __iter__(self) -> Iterator[Shard]:
        """Those that were noted, in their order. Raises StoreError."""
        with as_store_error(self._said):
            self._file.seek(0)
            lines = iter(self._file)
        while True:
            with as_store_error(self._said):
                line = next(lines, None)
            if line is None:
                return
            yield Shard.from_dict(json.loads(line))
