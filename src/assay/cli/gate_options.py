"""What a run is held against when it is done: the rules that are given, or those of the configuration."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import typer

from assay._util.output_files import write_output
from assay.cli.config_defaults import configuration_in_use
from assay.cli.output import say, show
from assay.cli.run_argument import load_run
from assay.errors import InputError

if TYPE_CHECKING:
    from assay.analysis.gates import Gate, GateDecision, GateRule
    from assay.analysis.gates.early_stopping import Early
    from assay.data import Data
    from assay.evaluation.result import Result
    from assay.judges import JudgeSpec
    from assay.metrics.names import MetricSpec

FailBelowOption = Annotated[
    list[str] | None,
    typer.Option(metavar="METRIC=LIMIT", help="Fail if the mean is lower; repeatable."),
]
FailAboveOption = Annotated[
    list[str] | None,
    typer.Option(metavar="METRIC=LIMIT", help="Fail if the mean is above this, for metrics where lower is better."),
]
BaselineOption = Annotated[str | None, typer.Option(metavar="RUN", help="Baseline of the gate.")]
NoiseOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="What `assay judge noise --out` wrote: the judge's variance.")
]
SummaryOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help='Append the verdict as Markdown to this file, as "$GITHUB_STEP_SUMMARY".'),
]


def rules_given(fail_below: list[str] | None, fail_above: list[str] | None) -> tuple[GateRule, ...]:
    """The rules of the options of these names. Raises InputError for what is no METRIC=LIMIT."""
    from assay.analysis.gates.rules import limits_of

    return (
        *limits_of("at_least", fail_below or (), "--fail-below"),
        *limits_of("at_most", fail_above or (), "--fail-above"),
    )


def gate_meant(given: tuple[GateRule, ...], *, required: bool) -> Gate:
    """The gate of these rules; without any, that of the configuration. Raises InputError where there is none."""
    from assay.analysis.gates import Gate

    config = configuration_in_use()
    configured = None if config is None or config.gates is None else config.gates.gate
    if given:
        return Gate(given) if configured is None else replace(configured, rules=given)
    if configured is None:
        where = "there is no configuration" if config is None else f"{config.file} has no [gates]"
        said = "give one, as --fail-below faithfulness=0.8, or" if required else ""
        raise InputError(
            f"gate: there are no rules: {where}; {said} write them there (`assay init`)".replace("  ", " ")
        )
    return configured


def configured_baseline() -> str | None:
    """The run that the configuration names as the baseline."""
    config = configuration_in_use()
    return None if config is None or config.gates is None else config.gates.baseline


def write_decision(decision: GateDecision, summary: Path | None, junit: Path | None) -> None:
    """Append the decision as Markdown to one file, and write it as JUnit XML to another."""
    if summary is not None:
        from assay.analysis.gates.markdown import as_markdown

        with summary.open("a", encoding="utf-8") as out:
            out.write(as_markdown(decision) + "\n")
    if junit is not None:
        from assay.report.junit import as_junit

        write_output(junit, as_junit(decision))


@dataclass(frozen=True)
class Stakes:
    """What `assay score` holds its run against when it is done. Wrong rules are found before anything is scored."""

    gate: Gate
    baseline: Result | None

    @classmethod
    def of(
        cls,
        fail_below: list[str] | None,
        fail_above: list[str] | None,
        wanted: bool,
        baseline: str | None,
        store: Path,
        metrics: MetricSpec | None,
    ) -> Self | None:
        """What the options ask for; None where they ask for nothing. Raises InputError for rules that cannot hold."""
        from assay.analysis.gates import Gate

        given = rules_given(fail_below, fail_above)
        if not given and not wanted:
            if baseline is not None:
                raise InputError("--baseline: goes with --gate")
            return None
        meant = gate_meant((), required=False) if wanted else Gate(given)
        if wanted and given:
            meant = replace(meant, rules=(*meant.rules, *given))
        _check_rules(meant, metrics)
        against = baseline or (configured_baseline() if meant.relative else None)
        if meant.relative and against is None:
            raise InputError("--gate: some rules compare a run with a baseline; name it with --baseline")
        return cls(meant, None if against is None else load_run(against, store))

    def check_thresholds(self, judge: JudgeSpec) -> None:
        """Raise InputError for rules good_share without a threshold that was found on values of this judge."""
        if any(rule.kind == "good_share" for rule in self.gate.rules):
            from assay.analysis.gates.label_share import thresholds_of_judge
            from assay.judges.resolve import resolve_judge

            thresholds_of_judge(self.gate, resolve_judge(judge).fingerprint)

    def settle(self, result: Result, summary: Path | None, early: Early | None = None, *, aside: bool) -> int:
        """Hold the run against it, and say what was found. Gives the exit code: 0, 5 or 6."""
        from assay.analysis.gates import check

        decision = check(self.gate, result, self.baseline) if early is None else early.decision(result)
        if aside:
            say(f"\n{decision}", aside=True)
        else:
            from assay.analysis.gates.rich_text import as_rich

            say("")
            show(as_rich(decision))
        write_decision(decision, summary, None)
        return decision.exit_code


def watch(stakes: Stakes | None, rows: Data, metrics: MetricSpec | None, judge: JudgeSpec) -> tuple[Data, Early]:
    """The rows in an order by chance, and what looks at each. Raises InputError where there is no gate."""
    from assay.analysis.gates.early_stopping import Early
    from assay.data.shuffle import ShuffledData
    from assay.evaluation.evaluate import chosen_for
    from assay.judges.no_judge import judge_if_asked
    from assay.metrics.names import resolve_metrics

    if stakes is None:
        raise InputError("--sequential: goes with --gate, --fail-below and --fail-above")
    metrics = None if metrics is None else resolve_metrics(metrics)
    resolved = judge_if_asked(metrics is None or any(metric.may_ask for metric in metrics), judge)
    chosen = chosen_for(metrics, rows, resolved)
    shuffled = ShuffledData(rows)
    return shuffled, Early(stakes.gate, chosen, shuffled.rows, resolved.fingerprint, stakes.baseline)


def _check_rules(gate: Gate, metrics: MetricSpec | None) -> None:
    """Raise InputError for rules about metrics that are not measured, or that no score can break."""
    from assay.analysis.gates.rules import check_limit
    from assay.metrics.names import resolve_metrics

    measured = None if metrics is None else {metric.label: metric for metric in resolve_metrics(metrics)}
    for rule in gate.rules:
        if measured is None:
            (metric,) = resolve_metrics(rule.metric)
        elif rule.metric in measured:
            metric = measured[rule.metric]
        else:
            raise InputError(
                f"gate {rule.metric}: it is not among the metrics that are measured, {', '.join(measured)}"
            )
        check_limit(rule, metric.low, metric.high, metric.direction)
