"""`assay data plan --rows N`: how long scoring the rows takes, and what it costs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.output import say, say_json
from assay.cli.run_argument import load_run
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.judges.budget.budget import Prices

PANEL = "Cost estimate"


@dataclass(frozen=True)
class CostOptions:
    """What the cost of a run depends on."""

    judge: Annotated[
        str, typer.Option(rich_help_panel=PANEL, help="'embedded', or an LLM judge; batches cost half.")
    ] = "embedded"
    contexts: Annotated[float, typer.Option(rich_help_panel=PANEL, help="Passages of a row.")] = 5
    cores: Annotated[int, typer.Option(rich_help_panel=PANEL, help="CPU cores, of one machine or of several.")] = 2
    prompt_price: Annotated[
        float | None, typer.Option(rich_help_panel=PANEL, help="Dollars per million tokens of prompts.")
    ] = None
    completion_price: Annotated[
        float | None, typer.Option(rich_help_panel=PANEL, help="Dollars per million tokens of replies.")
    ] = None
    calls_per_minute: Annotated[
        float | None, typer.Option(rich_help_panel=PANEL, help="Rate limit of the endpoint or the budget.")
    ] = None
    tokens_per_minute: Annotated[
        float | None, typer.Option(rich_help_panel=PANEL, help="Rate limit of the endpoint or the budget.")
    ] = None
    like: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=PANEL,
            metavar="RUN",
            help="A run of your own rows, without cache hits, whose tokens per row are taken.",
        ),
    ] = None

    @property
    def prices(self) -> Prices | None:
        """The prices of tokens. Raises InputError where one of two is given."""
        from assay.judges.budget.budget import Prices

        if (self.prompt_price is None) != (self.completion_price is None):
            raise InputError("--prompt-price, --completion-price: give both")
        if self.prompt_price is None or self.completion_price is None:
            return None
        return Prices(prompt=self.prompt_price, completion=self.completion_price)


def print_cost(rows: int, options: CostOptions, store: Path, as_json: bool) -> None:
    """Print the cost estimate of scoring so many rows."""
    from assay.evaluation.sharded.estimate import estimate

    found = estimate(
        rows,
        judge=options.judge,
        contexts=options.contexts,
        cores=options.cores,
        prices=options.prices,
        calls_per_minute=options.calls_per_minute,
        tokens_per_minute=options.tokens_per_minute,
        like=None if options.like is None else load_run(options.like, store),
    )
    if as_json:
        say_json(asdict(found), indent=2)
        return
    say(found)
