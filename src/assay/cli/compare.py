"""The command `assay compare`: two runs on the rows they share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import JsonOption, StoreOption
from assay.cli.output import say, say_json, show
from assay.cli.runs import opened
from assay.errors import InputError


def compare(
    first: Annotated[str, typer.Argument(help="The run that is the baseline.")],
    second: Annotated[str, typer.Argument(help="The run that is held against it, or 'last'.")] = "last",
    metrics: Annotated[
        str | None, typer.Option("-m", "--metrics", help="Names, separated by commas; all that both have.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Rows with one value in this column hang together: a document, a conversation.")
    ] = None,
    n: Annotated[int, typer.Option("-n", "--rows", help="How many moved rows of each metric.")] = 5,
    any_judge: Annotated[bool, typer.Option("--any-judge", help="Compare runs of different judges, too.")] = False,
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
) -> None:
    """Say whether a run is better or worse than another on the rows they share, how sure that is, and what flipped.

    The sentence first; then each metric with its difference, and the rows that moved, those for the worse first.
    """
    from assay.comparison import compare as compared
    from assay.report.comparison_table import moved_table
    from assay.result import Result

    if n < 0:
        raise InputError(f"-n: expected 0 or more, got {n}")
    kept = opened(store)
    names = None if metrics is None else [name.strip() for name in metrics.split(",") if name.strip()]
    found = compared(
        Result.load(first, kept), Result.load(second, kept), names, cluster=cluster, moved=n, any_judge=any_judge
    )
    if as_json:
        say_json(found.to_dict(), indent=2)
        return
    say(found.headline)
    if found.only_first or found.only_second:
        say(f"{found.only_first} rows are in {found.first} alone, {found.only_second} in {found.second} alone.")
    for line in (*found.metrics.values(), *found.notes):
        say(line)
    moved = moved_table(found)
    if moved is not None:
        show(moved)
