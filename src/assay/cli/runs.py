"""The command `assay runs`: the runs of a store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import JsonOption, StoreOption, opened
from assay.cli.output import say, say_json, show
from assay.errors import InputError


def runs(
    store: StoreOption = Path(".assay"),
    limit: Annotated[int | None, typer.Option("-n", "--limit", help="List only the latest runs, this many.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List the runs of a store, the latest first."""
    from assay.evaluation.run_names import runs_of
    from assay.report.lists import runs_list

    if limit is not None and limit < 1:
        raise InputError(f"--limit: expected at least 1, got {limit}")
    lines = runs_of(opened(store), limit)
    if as_json:
        say_json([line.to_dict() for line in lines], indent=2)
    elif lines:
        show(runs_list(lines))
    else:
        say("assay: the store has no runs yet", aside=True)
