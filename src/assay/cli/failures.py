"""The command `assay failures`: the rows of a run whose values are on the wrong side of a threshold."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay._util.terminal import pluralize, width
from assay.cli.config_defaults import configuration_in_use
from assay.cli.options import CsvOption, JsonOption, RunArgument, StoreOption, WhereOption
from assay.cli.output import STDOUT, check_csv, say, say_json, show, write_csv
from assay.cli.run_argument import load_run
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.analysis.diagnosis.threshold_failures import FailureSummary, Threshold
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
    where: WhereOption = None,
    store: StoreOption = Path(".assay"),
    n: Annotated[int, typer.Option("-n", "--rows", help="How many rows are shown.")] = 20,
    as_json: JsonOption = False,
    as_csv: CsvOption = None,
) -> None:
    """List the rows below (or above) a threshold, with their values.

    A line for each row: those on the wrong side of most thresholds first, then those farthest from one.
    --json and --csv list every value.

    Without --below and --above the thresholds are the limits at_least and at_most of the configuration's gates.
    Without these they are the defaults of `assay causes`. Rows without a value are in `assay errors`.
    """
    from assay.analysis.diagnosis.threshold_failures import summarize_failures, threshold_failures

    check_csv(as_csv)
    if n < 1:
        raise InputError(f"-n: expected at least 1, got {n}")
    result = load_run(run, store, notes=True, where=where)
    thresholds = _thresholds(result, below or [], above or [])
    if as_json or as_csv is not None:
        records = [{**asdict(one), "threshold": str(one.threshold)} for one in threshold_failures(result, thresholds)]
        if as_json:
            say_json(records, indent=2)
        if as_csv is not None:
            write_csv(records, COLUMNS, as_csv)
    if as_json or as_csv == STDOUT:
        return
    found = summarize_failures(result, thresholds, n)
    if found.rows:
        _show(result, found, n)
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


def _show(result: Result, found: FailureSummary, n: int) -> None:
    from assay.report.failure_list import failure_counts, failure_rows

    show(failure_counts(result, found))
    say("")
    show(failure_rows(found.first, width()))
    say(
        f"\n{min(n, found.rows):,} of {pluralize(found.rows, 'row')} shown"
        + (f"; all: -n {found.rows}" if n < found.rows else "")
    )
