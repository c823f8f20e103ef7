"""The command `assay data plan`: cost estimate of a run, or sample size (power) of a comparison."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from assay.cli.option_groups import grouped
from assay.cli.options import JsonOption, StoreOption
from assay.cli.plan_cost import CostOptions, print_cost
from assay.cli.plan_power import PowerOptions, print_power
from assay.errors import InputError


@grouped
def plan(
    run: Annotated[
        str | None, typer.Argument(help="Sample size: a past run with scores like those to come.", show_default=False)
    ] = None,
    *,
    rows: Annotated[int | None, typer.Option("-n", "--rows", help="Number of rows to score or to compare.")] = None,
    power: PowerOptions,
    cost: CostOptions,
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
) -> None:
    """Estimate time and cost of a run, or the sample size of a comparison.

    Cost estimate: --rows and the options of the judge. Sample size (power): a past RUN, --noise, --mean or --sd, with
    --drop for the rows that it takes, with --rows for the minimum detectable drop, with both for the power.
    """
    if run is not None or power.has_scores:
        _without(cost, "goes with a cost estimate, not with a past run, --noise, --mean and --sd")
        print_power(run, rows, power, store, as_json)
        return
    if rows is None or power.drop is not None:
        raise InputError(
            "plan: for a cost estimate give --rows; for a sample size give one of a run, --noise, and --mean (scores "
            "of 0 or 1) or --sd (graded scores)"
        )
    _without(power, "goes with a sample size: give a past run, --noise, --mean or --sd, too")
    print_cost(rows, cost, store, as_json)


def _without(options: Any, why: str) -> None:
    """Raise InputError where one of these options is given."""
    given = [field.name for field in fields(options) if getattr(options, field.name) != field.default]
    if given:
        raise InputError(f"{', '.join('--' + name.replace('_', '-') for name in given)}: {why}")
