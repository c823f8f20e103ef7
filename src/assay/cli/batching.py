"""The command `assay judge batching`: whether batched questions change a judge's verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.config_defaults import budget_meant
from assay.cli.option_groups import grouped
from assay.cli.options import ColumnsOption, JsonOption, JudgeOptions, StoreOption, column_map
from assay.cli.output import say, say_json


@grouped
def batching(
    data: Annotated[Path, typer.Argument(help="JSONL, JSON, CSV, TSV or Parquet: rows as they will be scored.")],
    *,
    judge: JudgeOptions,
    margin: Annotated[float, typer.Option(help="Points, of 100, that verdicts may differ by.")] = 2.0,
    limit: Annotated[int | None, typer.Option(help="Read at most this many rows.")] = None,
    columns: ColumnsOption = None,
    language: Annotated[
        str | None,
        typer.Option(help="Code of the rows that do not say theirs, as 'en'. Default: found out row by row."),
    ] = None,
    concurrency: Annotated[int, typer.Option(help="Rows in flight at the same time.")] = 16,
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
) -> None:
    """Check whether batched questions change the verdicts of a judge.

    Each row is asked in one request, and twice one question at a time. Groups: both_ways (claims of answer and
    reference, each against the other), answer and reference (the claims of the text against the contexts, and which
    contexts help to give it). The questions of groups that agree are batched from then on, by this judge with this
    store, unless --batched-questions says otherwise.
    """
    from assay.analysis.judges.batching_check import check_batching as check

    found = check(
        data,
        judge.resolve(),
        store=store,
        margin=margin,
        column_map=column_map(columns),
        language=language,
        limit=limit,
        concurrency=concurrency,
        budget=budget_meant(),
    )
    if as_json:
        say_json(found.to_dict(), indent=2)
    else:
        say(found)
