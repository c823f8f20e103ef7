"""The command `assay worst`: the rows with the worst values of a metric."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import CsvOption, JsonOption, RunArgument, StoreOption, WhereOption
from assay.cli.output import STDOUT, check_csv, say, say_json, show, write_csv
from assay.cli.run_argument import load_run
from assay.errors import InputError


def worst(
    metric: Annotated[str, typer.Argument(help="The metric to sort by.")],
    run: RunArgument = "last",
    n: Annotated[int, typer.Option("-n", "--rows", help="How many rows.")] = 10,
    where: WhereOption = None,
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
    as_csv: CsvOption = None,
) -> None:
    """Show the rows with the worst values of a metric, with evidence."""
    from assay.report.lists import worst_list
    from assay.store.rows import flat_record

    check_csv(as_csv)
    if n < 1:
        raise InputError(f"-n: expected at least 1, got {n}")
    result = load_run(run, store, notes=True, where=where)
    rows = result.worst(metric, n)
    if as_json:
        say_json([{"row": row.number, **row.scored.to_dict()} for row in rows], indent=2)
    if as_csv is not None:
        write_csv((flat_record(row.number, row.scored) for row in rows), result.columns, as_csv)
    if not as_json and as_csv != STDOUT:
        show(worst_list(rows, metric)) if rows else say(f"no row of run {result.run} has a value of {metric}")
