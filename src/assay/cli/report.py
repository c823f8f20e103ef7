"""The command `assay report`: a run as one file to look at, to comment with, or to read by machines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.option_groups import grouped
from assay.cli.options import (
    ClusterOption,
    JudgeOptions,
    RunArgument,
    ScaleOption,
    SlicesOption,
    StoreOption,
    WhereOption,
)
from assay.cli.output import say
from assay.cli.run_argument import load_run, scales_of
from assay.errors import InputError


@grouped
def report(
    run: RunArgument = "last",
    *,
    baseline: Annotated[str | None, typer.Option(metavar="RUN", help="Baseline run.")] = None,
    out: Annotated[
        Path,
        typer.Option("-o", "--out", help="The file: .html, .md, .xml (JUnit), .csv, .parquet, .json."),
    ] = Path("report.html"),
    metrics: Annotated[
        str | None, typer.Option("-m", "--metrics", help="Names, separated by commas; all that the run has.")
    ] = None,
    slices: SlicesOption = None,
    cluster: ClusterOption = None,
    fail_below: Annotated[
        list[str] | None,
        typer.Option(
            "--fail-below",
            metavar="METRIC=NUMBER",
            help="In JUnit XML, a sample that is worse than this fails; repeated for several metrics.",
        ),
    ] = None,
    scale: ScaleOption = None,
    any_judge: Annotated[bool, typer.Option("--any-judge", help="Compare runs of different judges, too.")] = False,
    judge: JudgeOptions,
    where: WhereOption = None,
    store: StoreOption = Path(".assay"),
) -> None:
    """Write a report: HTML, Markdown, JUnit, CSV, Parquet or JSON.

    HTML is one file that needs no server and fetches nothing. Markdown is for the comment of a pull request, XML for
    CI systems that show JUnit. CSV and Parquet have a line for each sample and metric, JSON has every row with its
    scores and evidence. No judge is asked; where it is
    the run's, what `assay causes --read` found is looked up.
    """
    from assay.analysis.gates.rules import limits_of
    from assay.report.build import ReportOptions, report_of
    from assay.report.write import check_form, write_report

    suffix = check_form(out)
    least = {rule.metric: rule.limit for rule in limits_of("at_least", fail_below or [], "--fail-below")}
    if least and suffix != ".xml":
        raise InputError("--fail-below: goes with -o FILE.xml")
    scales = scales_of(scale)
    names = None if metrics is None else [name.strip() for name in metrics.split(",") if name.strip()]
    result = load_run(run, store, scales, where=where)
    found = report_of(
        result,
        None if baseline is None else load_run(baseline, store, scales, where=where),
        ReportOptions(names, tuple(slices or ()), cluster, any_judge, judge=lambda: judge.resolve_if(result.judge)),
    )
    write_report(found, out, least)
    say(found.sentence)
    say(f"report: {out}", aside=True)
