"""The command `assay judge cascade`: which cases a cheap judge decides and which a better one, by your data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import BaseUrlOption, EmbeddingOption, KeyOption, WindowOption, column_map, options_of
from assay.cli.output import say
from assay.errors import InputError

OK, SCORES_MISSING = 0, 1


def cascade(
    data: Annotated[
        Path, typer.Argument(help="JSONL, JSON, CSV, TSV or Parquet: 100 to 300 rows like those to score.")
    ],
    judge: Annotated[str, typer.Option(help="The second, better judge, for example 'openai:MODEL'.")],
    out: Annotated[Path, typer.Option(help="Where to write the plan; score with --judge cascade:PATH.")] = Path(
        "cascade.json"
    ),
    agreement: Annotated[float, typer.Option(help="Share of verdicts to agree with the second judge on.")] = 0.95,
    confidence: Annotated[float, typer.Option(help="With which the agreement is shown.")] = 0.95,
    metrics: Annotated[str | None, typer.Option(help="Names, separated by commas; `assay metrics` lists them.")] = None,
    base_url: BaseUrlOption = None,
    api_key_env: KeyOption = None,
    embedding_model: EmbeddingOption = None,
    window_tokens: WindowOption = None,
    first: Annotated[str, typer.Option(help="The first, cheap judge.")] = "embedded",
    first_base_url: Annotated[str | None, typer.Option(help="Endpoint of the first judge, if it has one.")] = None,
    first_api_key_env: Annotated[
        str | None, typer.Option(help="Name of the environment variable that holds its key.")
    ] = None,
    price_prompt: Annotated[float | None, typer.Option(help="Dollars per million prompt tokens.")] = None,
    price_completion: Annotated[float | None, typer.Option(help="Dollars per million completion tokens.")] = None,
    columns: Annotated[
        list[str] | None, typer.Option("--map", help="FIELD=COLUMN, where a column has a name of your own.")
    ] = None,
    limit: Annotated[int, typer.Option(help="Read at most this many rows.")] = 300,
    store: Annotated[
        Path, typer.Option(envvar="ASSAY_STORE", help="Folder that keeps judgements; a rerun is free.")
    ] = Path(".assay"),
    seed: Annotated[int, typer.Option(help="Decides which rows order the bands and which test them.")] = 0,
) -> None:
    """Calibrate a cascade on your rows: which cases a second judge decides."""
    from assay.analysis.judges.calibrate_cascade import calibrate
    from assay.judges.budget.budget import Prices

    if (price_prompt is None) != (price_completion is None):
        raise InputError("--price-prompt and --price-completion: give both")
    prices = None
    if price_prompt is not None and price_completion is not None:
        prices = Prices(prompt=price_prompt, completion=price_completion)
    if not out.parent.is_dir():
        raise InputError(f"--out: there is no folder {str(out.parent)!r}")
    plan = calibrate(
        data,
        judge,
        first,
        agreement=agreement,
        confidence=confidence,
        metrics=metrics,
        then_options=options_of(judge, base_url, api_key_env, embedding_model, window_tokens),
        first_options=options_of(first, first_base_url, first_api_key_env, None, None),
        prices=prices,
        store=store,
        column_map=column_map(columns),
        limit=limit,
        seed=seed,
    )
    plan.save(out)
    say(plan.text())
    say(f"written: {out}; use it with --judge cascade:{out}")
    raise typer.Exit(SCORES_MISSING if plan.failures else OK)
