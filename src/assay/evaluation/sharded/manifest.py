"""The folder of a job: what is done, and by whose death a shard is suspected. Every file appears whole (`places`).

job.json              what is measured, by which judge; another question takes another folder
rows/KEY.jsonl        the scored rows of a shard, a line each
done/KEY.json         that they are there, and their summary: written after them
deaths/KEY.json       workers that died over a shard, its rows in quarantine, whether it was set aside
spending.db           the budget of the job; of one in an object store it lies in the folder of the store of runs
"""

from __future__ import annotations

import json
import platform
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from assay._util.compression import to_json
from assay._util.sqlite import as_store_error
from assay.errors import InputError, StoreError
from assay.evaluation.sharded.shards import Shard
from assay.evaluation.sharded.storage import is_address, place_of
from assay.records.migration import VERSION, VERSION_KEY, migrate_run


@dataclass(slots=True)
class Deaths:
    """What is known of the workers that died over a shard.

    Attributes:
        count: Since the last row was found guilty, or the job was last started.
        row: The number in its file of the row that was read alone when the last one died; None where rows were mixed.
        guilty: Numbers of rows that killed two workers in sequence, read alone: they are not read again.
    """

    count: int = 0
    row: int | None = None
    guilty: list[int] = field(default_factory=list)
    set_aside: bool = False


class Folder:
    """The folder of one job, or what stands for it in an object store. Raises StoreError where it cannot be read or
    written.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path if is_address(path) else Path(path)
        self._place = place_of(path)

    def begin(self, question: Mapping[str, Any]) -> None:
        """Make the folder, or go on in it. Raises InputError where it holds the results of another question."""
        self._place.begin(("rows", "done", "deaths"))
        known = self._read("job.json")
        if known is None and not self._place.create("job.json", _lines([question])):
            known = self._read("job.json")  # another driver began it just now
        if known is not None and known != json.loads(to_json(question)):
            differ = [name for name in question if known.get(name) != json.loads(to_json(question[name]))]
            raise InputError(f"out: {str(self.path)!r} holds a job of other {', '.join(differ)}; name another folder")

    @property
    def scratch(self) -> Path | None:
        """Where temporary files of the driver go; None: where the system has them."""
        return self.path if isinstance(self.path, Path) else None

    def check(self) -> None:
        """Raises InputError in a process that does not see what `begin` made."""
        if self._read("job.json") is None:
            raise InputError(
                f"out: {str(self.path)!r} is not seen on {platform.node()}; name a folder that all machines "
                "share, or an address as s3://BUCKET/PREFIX"
            )

    def finish(self, shard: Shard, rows: Iterable[Mapping[str, Any]], entry: Mapping[str, Any]) -> Mapping[str, Any]:
        """Put the rows of a shard in their place, and then the entry that says so; the entry that stands there.

        An entry of which nothing waits to be tried again is never replaced: another worker may have finished the same
        shard meanwhile, where this one was taken for dead.
        """
        name, noted = f"done/{shard.key}.json", {VERSION_KEY: VERSION, **entry}
        before = self.entry(shard)
        if before is not None and not before["waiting"]:
            return before
        self._place.write(f"rows/{shard.key}.jsonl", _lines(rows))
        if before is not None:
            self._place.write(name, _lines([noted]))
        elif not self._place.create(name, _lines([noted])):
            return self.entry(shard) or entry
        return entry

    def entry(self, shard: Shard) -> dict[str, Any] | None:
        """What `finish` said of a shard; None where it is not done."""
        found = self._read(f"done/{shard.key}.json")
        return None if found is None else migrate_run(found, f"'{self.path}': shard {shard.key}")

    def rows(self, shard: Shard) -> Iterator[dict[str, Any]]:
        """The scored rows of a shard that is done."""
        name = f"rows/{shard.key}.jsonl"
        found = self._place.read(name)
        if found is None:
            raise StoreError(f"'{self.path}/{name}' is gone; delete its entry in done/ to have it made again")
        yield from map(json.loads, found.splitlines())

    def deaths(self, shard: Shard) -> Deaths:
        """What is known of the workers that died over this shard."""
        known = self._read(f"deaths/{shard.key}.json")
        return Deaths() if known is None else Deaths(**known)

    def note(self, shard: Shard, deaths: Deaths) -> None:
        """Keep it."""
        self._place.write(f"deaths/{shard.key}.json", _lines([asdict(deaths)]))

    def _read(self, name: str) -> dict[str, Any] | None:
        data = self._place.read(name)
        try:
            found: dict[str, Any] | None = None if data is None else json.loads(data)
        except ValueError as error:
            raise StoreError(f"'{self.path}/{name}' cannot be read: {error}") from None
        return found


def _lines(items: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    return (to_json(item) + "\n" for item in items)


class ShardPlan:
    """The shards of a job as they were cut, so that data is read once for it. In a file that ends with its process."""

    def __init__(self, folder: Folder) -> None:
        with as_store_error(f"{str(folder.path)!r} cannot be written"):
            self._file = tempfile.TemporaryFile("w+", encoding="utf-8", dir=folder.scratch)  # noqa: SIM115
        self._said = f"the plan in {str(folder.path)!r} cannot be kept"

    def close(self) -> None:
        """Delete the file."""
        self._file.close()

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
