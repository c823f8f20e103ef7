"""The command `assay judge noise`: the variance of a judge, from the same data scored twice or more."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.option_groups import grouped
from assay.cli.options import ColumnsOption, JsonOption, JudgeOptions, MetricsOption, StoreOption, column_map
from assay.cli.output import say, say_json
from assay.errors import InputError


@grouped
def noise(
    data: Annotated[Path, typer.Argument(help="JSONL, JSON, CSV, TSV or Parquet: the rows of a gate, or some.")],
    *,
    metrics: MetricsOption = None,
    judge: JudgeOptions,
    repeats: Annotated[int, typer.Option(help="How many times the data is scored.")] = 2,
    item: Annotated[
        str | None,
        typer.Option(help="Column of rows that answer the same question; by the question itself without it."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the variance as JSON, for gates.")] = None,
    limit: Annotated[int | None, typer.Option(help="Read at most this many rows.")] = None,
    columns: ColumnsOption = None,
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Measure the variance of a judge: score the same data twice or more.

    The repeats are independent. Two equal runs differ by less than the tolerance in 95 of 100 cases: a gate that is
    stricter fails by chance.
    """
    from assay.analysis.judges.noise import measure

    if out is not None and not out.parent.is_dir():
        raise InputError(f"--out: there is no folder {str(out.parent)!r} to write {out.name!r} into")
    found = measure(
        data,
        metrics,
        judge.resolve(),
        readings=repeats,
        item=item,
        store=store,
        column_map=column_map(columns),
        limit=limit,
        progress=not quiet,
    )
    if out is not None:
        found.save(out)
    if as_json:
        say_json(found.to_dict(), indent=2)
    else:
        say(found)
    if out is not None:
        say(f"written: {out}", aside=True)
