"""The command `assay failures`: the rows of a run whose values are on the wrong side of a threshold."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.config_defaults import configuration_in_use
from assay.cli.options import CsvOption, JsonOption, RunArgument, StoreOption
from assay.cli.output import STDOUT, check_csv, say, say_json, show, write_csv
from assay.cli.run_argument import run_held

if TYPE_CHECKING:
    from rich.table import Table

    from assay.analysis.diagnosis.threshold_failures import Threshold, ThresholdFailure
    from assay.analysis.gates import GateRule
    from assay.evaluation.result import Result

COLUMNS = ("number", "id", "metric", "value", "threshold")


def failures(
    run: RunArgument = "last",
    below: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC=NUMBER", help="List the rows with a value below this; repeatable."),
    ] = None,
    above: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC=NUMBER", help="List the rows with a value above this; repeatable."),
    ] = None,
    store: StoreOption = Path(".assay"),
    as_json: JsonOption = False,
    as_csv: CsvOption = None,
) -> None:
    """List the rows below (or above) a threshold: row, metric, value.

    Without --below and --above the thresholds are the limits at_least and at_most of the configuration's gates.
    Without these they are the defaults of `assay causes`. Rows without a value are in `assay errors`.
    """
    from assay.analysis.diagnosis.threshold_failures import threshold_failures

    check_csv(as_csv)
    result = run_held(run, store)
    thresholds = _thresholds(result, below or [], above or [])
    found = threshold_failures(result, thresholds)
    records = [{**asdict(one), "threshold": str(one.threshold)} for one in found]
    if as_json:
        say_json(records, indent=2)
    if as_csv is not None:
        write_csv(records, COLUMNS, as_csv)
    if as_json or as_csv == STDOUT:
        return
    if found:
        show(_table(found))
    else:
        limits = ", ".join(f"{one.metric} {one}" for one in thresholds)
        say(f"no row of run {result.run} fails: {limits}")


def _thresholds(result: Result, below: list[str], above: list[str]) -> list[Threshold]:
    """Those of the options, else of the configuration, else the defaults. Raises InputError."""
    from assay.analysis.diagnosis.threshold_failures import checked, default_thresholds
    from assay.analysis.gates.rules import limits_of

    if below or above:
        given = [*limits_of("at_least", below, "--below"), *limits_of("at_most", above, "--above")]
        return checked(result, [_threshold(rule) for rule in given])
    config = configuration_in_use()
    rules = () if config is None or config.gates is None else config.gates.gate.rules
    limits = [rule for rule in rules if rule.kind in ("at_least", "at_most") and rule.metric in result.metrics]
    return [_threshold(rule) for rule in limits] or default_thresholds(result)


def _threshold(rule: GateRule) -> Threshold:
    from assay.analysis.diagnosis.threshold_failures import Threshold

    return Threshold(rule.metric, rule.limit, below=rule.kind == "at_least")


def _table(failures: list[ThresholdFailure]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from assay._util.rich_text import SafeText

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in ("row", "id", "metric", "value", "threshold"):
        right = title in ("row", "value")
        table.add_column(title, justify="right" if right else "left", no_wrap=right, overflow="fold",
                         min_width=len(title), style="red" if title == "value" else "")  # fmt: skip
    for one in failures:
        table.add_row(
            str(one.number), SafeText(one.id or ""), SafeText(one.metric), f"{one.value:.3f}", str(one.threshold)
        )
    return table
