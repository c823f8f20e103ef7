"""The command `assay size`: how long scoring so many rows takes, and what it costs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import JsonOption, StoreOption
from assay.cli.output import say, say_json
from assay.cli.runs import opened
from assay.errors import InputError


def size(
    rows: Annotated[int, typer.Argument(help="How many rows are to be scored.")],
    judge: Annotated[str, typer.Option(help="'embedded', or an LLM judge; batches cost half.")] = "embedded",
    contexts: Annotated[float, typer.Option(help="Passages of a row.")] = 5,
    cores: Annotated[int, typer.Option(help="Cores, of one machine or of several.")] = 2,
    prompt_price: Annotated[float | None, typer.Option(help="Dollars per million tokens of prompts.")] = None,
    completion_price: Annotated[float | None, typer.Option(help="Dollars per million tokens of replies.")] = None,
    calls_per_minute: Annotated[float | None, typer.Option(help="What the endpoint, or the budget, allows.")] = None,
    tokens_per_minute: Annotated[float | None, typer.Option(help="What the endpoint, or the budget, allows.")] = None,
    like: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="A run of your own rows, none of them in the store before, that says tokens."),
    ] = None,
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
) -> None:
    """Say how long scoring so many rows takes and what it costs, by what was measured."""
    from assay.evaluation.result import Result
    from assay.evaluation.sharded.estimate import estimate
    from assay.judges.budget.budget import Prices

    if (prompt_price is None) != (completion_price is None):
        raise InputError("--prompt-price, --completion-price: give both")
    prices = None
    if prompt_price is not None and completion_price is not None:
        prices = Prices(prompt=prompt_price, completion=completion_price)
    found = estimate(
        rows,
        judge=judge,
        contexts=contexts,
        cores=cores,
        prices=prices,
        calls_per_minute=calls_per_minute,
        tokens_per_minute=tokens_per_minute,
        like=None if like is None else Result.load(like, opened(store)),
    )
    if as_json:
        say_json(asdict(found), indent=2)
        return
    say(found)
