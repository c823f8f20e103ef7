"""Commands that detach: what they were called with is kept, and `assay store batches collect` calls them again."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from assay.errors import InputError

if TYPE_CHECKING:
    from assay.judges.batch.state import BatchState

DETACH = "--detach"

#: What the command that runs was called with, where that is not the command line.
_ARGUMENTS: ContextVar[tuple[str, ...] | None] = ContextVar("assay_arguments", default=None)


def state_in(store: Path) -> BatchState | None:
    """The batches beside the store in this folder or file; None where there are none: looking makes no file."""
    from assay.judges.batch.state import FILE_NAME, BatchState
    from assay.store.tables import folder_of

    folder = folder_of(store)
    return BatchState(folder) if (folder / FILE_NAME).exists() else None


@contextmanager
def called_with(arguments: Sequence[str]) -> Iterator[None]:
    """Within, a command that detaches keeps these arguments."""
    token = _ARGUMENTS.set(tuple(arguments))
    try:
        yield
    finally:
        _ARGUMENTS.reset(token)


def check_detach(data: Sequence[str]) -> None:
    """Raises InputError for a call that cannot be repeated, or must not be kept."""
    if "-" in data:
        raise InputError("--detach: standard input cannot be read a second time; name a file")
    for argument in _arguments():
        if _has_secret(argument):
            raise InputError(
                "--detach: what the command was called with is kept, so no address may hold a password; name the "
                "variable that holds the key with --api-key-env"
            )


def keep_job(store: Path, run: str, named: bool) -> None:
    """Keep what the command that runs was called with, for `run`; `named`: the call names it itself."""
    from assay.judges.batch.state import BatchJob

    state = state_in(store)
    assert state is not None  # its batches are there
    arguments = _arguments()
    arguments += () if named else ("--name", run)
    arguments += () if "--replace" in arguments else ("--replace",)
    state.put_job(BatchJob(run, str(Path.cwd()), arguments))
    state.close()


def end_job(store: Path, run: str) -> None:
    """The run has ended: nobody needs to call its command again."""
    state = state_in(store)
    if state is not None:
        state.end_job(run)
        state.close()


def _arguments() -> tuple[str, ...]:
    kept = _ARGUMENTS.get()
    return tuple(sys.argv[1:]) if kept is None else kept


def _has_secret(argument: str) -> bool:
    """Whether it holds an address with a user, and so perhaps a password."""
    _, sign, rest = argument.partition("://")
    return bool(sign) and "@" in rest.partition("/")[0]
