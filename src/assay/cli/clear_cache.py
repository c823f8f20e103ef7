"""The command `assay store clear-cache`: delete judgements from a store, so that the judge is asked again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay._util.terminal import pluralize
from assay.cli.options import opened
from assay.cli.output import say
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.store.store import Store


def clear_cache(
    run: Annotated[
        str | None,
        typer.Argument(help="Delete what this run used: its name, or 'last'.", show_default=False),
    ] = None,
    prompt: Annotated[str | None, typer.Option(help="Name of a judge prompt, as claims or support.")] = None,
    judge: Annotated[
        str | None, typer.Option(help="A judge's fingerprint or its beginning, as openai/MODEL; see --judges.")
    ] = None,
    rows: Annotated[bool, typer.Option("--rows", help="With RUN: delete the run and its rows as well.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be deleted.")] = False,
    judges: Annotated[bool, typer.Option("--judges", help="Only count the judgements of each judge.")] = False,
    store: Annotated[Path, typer.Option(envvar="ASSAY_STORE", help="Folder that keeps judgements and runs.")] = Path(
        ".assay"
    ),
) -> None:
    """Delete judgements, so that the judge is asked again. Options combine with 'and'."""
    if rows and run is None:
        raise InputError("--rows: goes with RUN")
    with opened(store) as kept:
        if judges:
            _print_judges(kept)
            return
        if prompt is None and judge is None and run is None:
            raise InputError("clear-cache: name what to delete: RUN, --prompt or --judge")
        named = None if run is None else kept.run_id(run)
        count = kept.forget(prompt=prompt, judge=judge, run=named, dry_run=dry_run)
        verb = "would delete" if dry_run else "deleted"
        say(f"{verb} {pluralize(count, 'judgement')}")
        if rows and named is not None:
            gone = len(kept.numbers(named)) if dry_run else kept.delete_run(named)
            say(f"{verb} run {named} with {pluralize(gone, 'row')}")
        if not count and judge is not None:
            say(f"assay: there are judgements by {', '.join(kept.judges()) or 'no judge'}", aside=True)


def _print_judges(store: Store) -> None:
    for fingerprint, count in store.judges().items():
        say(f"{count:>8}  {fingerprint}")
