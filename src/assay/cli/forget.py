"""The command `assay forget`: drop judgements from a store, so that the judge is asked again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import opened
from assay.cli.output import say
from assay.errors import InputError


def forget(
    inquiry: Annotated[str | None, typer.Option(help="The name of an inquiry, as claims or support.")] = None,
    judge: Annotated[
        str | None, typer.Option(help="A judge's fingerprint or its beginning, as openai/MODEL; see --judges.")
    ] = None,
    run: Annotated[str | None, typer.Option(help="What this run used: its id, or 'last'.")] = None,
    rows: Annotated[bool, typer.Option("--rows", help="With --run: delete the run and its rows as well.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say how much it would be.")] = False,
    judges: Annotated[bool, typer.Option("--judges", help="Only list whose judgements there are.")] = False,
    store: Annotated[Path, typer.Option(help="Folder that keeps judgements and runs.")] = Path(".assay"),
) -> None:
    """Drop judgements, so that the judge is asked again. Several options narrow each other."""
    if rows and run is None:
        raise InputError("--rows: goes with --run")
    with opened(store) as kept:
        if judges:
            for fingerprint, count in kept.judges().items():
                say(f"{count:>8}  {fingerprint}")
            return
        if inquiry is None and judge is None and run is None:
            raise InputError("forget: say what: --inquiry, --judge or --run")
        named = None if run is None else kept.run_id(run)
        count = kept.forget(inquiry=inquiry, judge=judge, run=named, dry_run=dry_run)
        say(f"{'would forget' if dry_run else 'forgot'} {_many(count, 'judgement')}")
        if rows and named is not None:
            gone = len(kept.numbers(named)) if dry_run else kept.delete_run(named)
            say(f"{'would delete' if dry_run else 'deleted'} run {named} with {_many(gone, 'row')}")
        if not count and judge is not None:
            known = ", ".join(kept.judges()) or "nobody"
            say(f"assay: there are judgements by {known}", aside=True)


def _many(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")
