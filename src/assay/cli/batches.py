"""The commands for batches of providers: what is under way, going on with it, and what to do where nobody can know."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from assay.cli.config_defaults import configured
from assay.cli.detached_jobs import DETACH, called_with, state_in
from assay.cli.options import JsonOption, StoreOption
from assay.cli.output import say, say_json
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.judges.batch.state import Batch, BatchJob, BatchState

#: Exit code: batches are under way, come back later.
UNDER_WAY = 7

_WORDS = {
    "intended": "not sent yet",
    "uploaded": "its file is there, the batch is not made yet",
    "creating": "may have been made",
    "running": "under way",
}

TagArgument = Annotated[str, typer.Argument(help="The batch's tag, as `assay store batches status` shows it.")]

batches = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Request batches at providers: status, collect, adopt, resubmit."
)


@batches.command()
@configured
def status(store: StoreOption = Path(".assay"), as_json: JsonOption = False) -> None:
    """Show the runs that wait for batches, and the batches. Contacts no provider."""
    state = state_in(store)
    jobs, known = ([], []) if state is None else (state.jobs(), state.batches())
    if as_json:
        say_json({"runs": [job.run for job in jobs], "batches": [_told(one) for one in known]}, indent=2)
        return
    for job in jobs:
        say(f"run {job.run} waits; in {job.folder}: assay store batches collect {job.run}")
    for one in known:
        ago = _span(time.time() - one.at)
        said = f" ({one.said})" if one.said else ""
        say(f"batch {one.tag}: {one.requests:,} requests of run {one.run}, {_WORDS[one.state]} since {ago}{said}")
    if not jobs and not known:
        say("no batches are under way", aside=True)


@batches.command()
@configured
def collect(
    context: typer.Context,
    run: Annotated[str | None, typer.Argument(help="One run; all that wait without it.", show_default=False)] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until it has ended.")] = False,
    store: StoreOption = Path(".assay"),
) -> None:
    """Continue detached runs: fetch finished batches, submit the next, print finished runs.

    Exit code 7: batches are still under way.
    """
    state = state_in(store)
    jobs = [] if state is None else [job for job in state.jobs() if run in (None, job.run)]
    if state is None or not jobs:
        which = "no run waits" if run is None else f"run {run!r} does not wait"
        raise InputError(f"{which} for batches in {str(store)!r}; `assay score ... --detach` begins one")
    code = 0
    for job in jobs:
        code = max(code, _go_on(context, state, job, wait))
    raise typer.Exit(code)


def _go_on(context: typer.Context, state: BatchState, job: BatchJob, wait: bool) -> int:
    """Call its command again; the exit code."""
    if Path(job.folder) != Path.cwd():
        raise InputError(f"run {job.run!r} was begun in {job.folder!r}; go on with it there, as its paths begin there")
    arguments = [argument for argument in job.arguments if not (wait and argument == DETACH)]
    root: Any = context.find_root().command
    with called_with(job.arguments):
        code = root.main(args=arguments, prog_name="assay", standalone_mode=False)
    waits = any(other.run == job.run for other in state.jobs())
    return UNDER_WAY if waits else int(code or 0)


@batches.command()
@configured
def adopt(
    tag: TagArgument,
    id: Annotated[str, typer.Argument(help="What the provider calls the batch.")],
    store: StoreOption = Path(".assay"),
) -> None:
    """Name the batch at the provider that a doubtful submission made."""
    state, found = _doubtful(store, tag)
    state.move(found, "running", id=id)
    say(f"batch {tag}: {found.requests:,} requests are in {id}; run the same command again to go on", aside=True)


@batches.command()
@configured
def resubmit(tag: TagArgument, store: StoreOption = Path(".assay")) -> None:
    """Submit the requests of a doubtful batch again; they may be paid twice."""
    state, found = _doubtful(store, tag)
    state.drop(found, "resubmitted")
    say(f"batch {tag}: given up; {found.requests:,} requests go out with the next run of the same command", aside=True)


def _doubtful(store: Path, tag: str) -> tuple[BatchState, Batch]:
    """The batch of this tag. Raises InputError where there is none that has not come back."""
    state = state_in(store)
    found = [] if state is None else [one for one in state.batches() if one.tag == tag]
    if state is None or not found:
        raise InputError(
            f"tag: no batch {tag!r} is under way in {str(store)!r}; `assay store batches status` lists them"
        )
    return state, found[0]


def _told(one: Batch) -> dict[str, Any]:
    return {name: value for name, value in asdict(one).items() if name != "number"}


def _span(seconds: float) -> str:
    minutes = int(seconds // 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h"
