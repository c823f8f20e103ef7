"""The command `assay gate`: whether a run is good enough to go on with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assay.cli.gate_options import (
    BaselineOption,
    FailAboveOption,
    FailBelowOption,
    NoiseOption,
    SummaryOption,
    configured_baseline,
    gate_meant,
    rules_given,
    write_decision,
)
from assay.cli.options import ClusterOption, JsonOption, RunArgument, ScaleOption, StoreOption, WhereOption
from assay.cli.output import say, say_json, show
from assay.cli.run_argument import load_run, scales_of
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.analysis.gates import Gate
    from assay.analysis.gates.decision import GateDecision


def gate(
    run: RunArgument = "last",
    baseline: BaselineOption = None,
    fail_below: FailBelowOption = None,
    fail_above: FailAboveOption = None,
    max_drop: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC=DROP", help="Fail where it is shown that it got worse by more than this."),
    ] = None,
    margin: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC=MARGIN", help="Pass only where it is shown that it got worse by less than this."),
    ] = None,
    good_share: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC=SHARE", help="Pass only where it is shown that people would call so many rows good."
        ),
    ] = None,
    cluster: ClusterOption = None,
    scale: ScaleOption = None,
    any_judge: Annotated[bool, typer.Option("--any-judge", help="Compare runs of different judges, too.")] = False,
    noise: NoiseOption = None,
    thresholds: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="For --good-share: what `assay judge align LABELS --write FILE` wrote."),
    ] = None,
    allow_inconclusive: Annotated[
        bool,
        typer.Option(
            "--allow-inconclusive", help="End with 0 where the gate is inconclusive, too, unless a run is incomplete."
        ),
    ] = False,
    n: Annotated[int, typer.Option("-n", "--rows", help="How many rows to name for each rule.")] = 5,
    where: WhereOption = None,
    store: StoreOption = Path(".assay"),
    baseline_store: Annotated[
        Path | None, typer.Option(help="The store of the baseline, where it is another one.")
    ] = None,
    summary: SummaryOption = None,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the rules as JUnit XML.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Check a run: PASS (0), FAIL (5) or INCONCLUSIVE (6), and why.

    The rules are those of the configuration, its table `gates`, or those given here in their place.
    """
    from assay.analysis.gates import check
    from assay.analysis.gates.rules import limits_of

    if n < 0:
        raise InputError(f"-n: expected 0 or more, got {n}")
    if as_json and markdown:
        raise InputError("--json, --markdown: only one of them can go to stdout")
    given = (
        *rules_given(fail_below, fail_above),
        *limits_of("good_share", good_share or (), "--good-share"),
        *limits_of("max_drop", max_drop or (), "--max-drop"),
        *limits_of("margin", margin or (), "--margin"),
    )
    meant = _with_options(gate_meant(given, required=True), cluster, any_judge, noise, thresholds)
    scales = scales_of(scale)
    result = load_run(run, store, scales, notes=True, where=where, check=True)
    against = baseline or (configured_baseline() if meant.relative else None)
    before = (
        None
        if against is None
        else load_run(against, baseline_store or store, scales, notes=True, where=where, check=True)
    )
    decision = check(meant, result, before, witnesses=n)
    _print(decision, as_json, markdown)
    write_decision(decision, summary, junit)
    allowed = allow_inconclusive and decision.verdict == "INCONCLUSIVE" and not decision.incomplete
    raise typer.Exit(0 if allowed else decision.exit_code)


def _print(decision: GateDecision, as_json: bool, markdown: bool) -> None:
    from assay.analysis.gates.markdown import as_markdown
    from assay.analysis.gates.rich_text import as_rich

    if as_json:
        say_json(decision.to_dict(), indent=2)
    elif markdown:
        say(as_markdown(decision))
    else:
        show(as_rich(decision))


def _with_options(
    gate: Gate, cluster: str | None, any_judge: bool, noise: Path | None, thresholds: Path | None
) -> Gate:
    return replace(
        gate, cluster=cluster or gate.cluster, any_judge=any_judge or gate.any_judge, noise=noise or gate.noise,
        thresholds=thresholds or gate.thresholds,
    )  # fmt: skip
