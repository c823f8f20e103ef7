"""What an engine is: how the workers of a job are started, heard and replaced. `Processes` are those of one machine.

Others come by entry points in `assay.engines`: a callable that takes the number of workers, or None, and gives an
`Engine`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.metadata import entry_points
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from assay._util.plugins import load
from assay.errors import InputError
from assay.evaluation.sharded.scoring import ShardRecipe
from assay.evaluation.sharded.shards import ShardedData, ShardedFiles
from assay.evaluation.sharded.workers import ProcessPool, ShardTask
from assay.judges.budget.budget import Budget
from assay.judges.budget.ledger import MemoryLedger
from assay.judges.budget.sharing import SharedAllowance
from assay.judges.budget.sqlite_ledger import FileLedger

GROUP = "assay.engines"


class WorkerHandle(Protocol):
    """One worker as the driver sees it.

    Attributes:
        task: What it works on; None: it is idle.
        row: The number of the row that it began last, of a task whose rows are read alone.
        ready: It has begun: before, its death is no shard's fault.
    """

    task: ShardTask | None
    row: int | None
    ready: bool

    def give(self, task: ShardTask) -> None:
        """Set it to work. That it has died shows when it is heard."""


class WorkerPool(Protocol):
    """The workers of a job. `unborn`: what to tell a user of whom none begins."""

    unborn: str

    @property
    def workers(self) -> Sequence[WorkerHandle]: ...

    def begin(self, recipe: ShardRecipe) -> None:
        """Tell all what to do. Raises InputError for what cannot be sent."""

    def idle(self) -> Sequence[WorkerHandle]: ...

    def heard(self) -> Iterator[tuple[Any, str, Any]]:
        """Wait until some worker says something, and what they say: `ready`; `row`, with its number; `done`, with the
        entry; `failed`, with `words_of` the error; `died`; `lost`, where a worker went through nobody's fault.
        """

    def replace(self, dead: Any) -> None:
        """Another one in the place of one that died."""

    def end(self, *, now: bool = False) -> None:
        """Let all go; `now` without waiting for what they do."""


class Engine(Protocol):
    """Where the workers of a job run. `argument`: what the user calls the number of them."""

    @property
    def argument(self) -> str: ...

    def cut(self, data: object, **how: Any) -> ShardedData:
        """The data of a job, to be cut into shards. Raises InputError for kinds that the engine does not read.

        Args:
            how: Column_map, format, language and rows (of a shard at most).
        """

    def workers(self, data: ShardedData) -> AbstractContextManager[WorkerPool]:
        """Workers for this data, which are gone at the end of the block."""

    def shared(self, budget: Budget, spending: Path) -> Budget:
        """The budget as all workers and reruns keep to it. `spending`: where what was spent is kept."""


@dataclass(frozen=True)
class Processes:
    """So many processes of this machine. Raises InputError for less than one."""

    jobs: int
    argument: str = "jobs"

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise InputError(f"jobs: expected at least 1, got {self.jobs}")

    def cut(self, data: object, **how: Any) -> ShardedFiles:
        """See `Engine.cut`: files."""
        return ShardedFiles.of(data, **how)

    def workers(self, data: ShardedData) -> ProcessPool:
        """See `Engine.workers`. They start while the rest is looked at."""
        return ProcessPool(sum(1 for _ in islice(data.plan(), self.jobs)))

    def shared(self, budget: Budget, spending: Path) -> Budget:
        """See `Engine.shared`: a file, each process with a piece of it."""
        return budget.on(SharedAllowance(authority_of(budget, spending)))


def authority_of(budget: Budget, spending: Path) -> FileLedger:
    """Return the ledger that grants advances of a budget to the workers of a job.

    Args:
        budget: The budget.
        spending: File for the ledger of a budget that is not in a file. It is created if needed.

    Returns:
        The budget's own ledger where that is a `FileLedger`. Otherwise a new one at `spending`.

    Raises:
        StoreError: The file cannot be opened.
    """
    return budget.ledger if isinstance(budget.ledger, FileLedger) else FileLedger(spending)


def may_be_shared(budget: Budget) -> bool:
    """Whether the budget adds up in memory or in a file; a ledger of the user's own knows itself who shares it."""
    return isinstance(budget.ledger, (MemoryLedger, FileLedger))


def engine_by_name(name: str, jobs: int | None) -> Engine:
    """The engine of that name with so many workers. Raises InputError for an unknown one, MissingExtra for a missing
    package.
    """
    if name == "processes":
        if jobs is None:
            raise InputError("jobs: say how many processes")
        return Processes(jobs)
    points = {point.name: point for point in entry_points(group=GROUP)}
    make: Callable[[int | None], Engine] | None = load("engine", name, points)
    if make is None:
        raise InputError(f"engine: expected one of {', '.join(sorted({*points, 'processes', 'ray'}))}, got {name!r}")
    return make(jobs)
