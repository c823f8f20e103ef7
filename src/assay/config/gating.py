"""The table [gates] of a configuration: what all rules have in common, and a table for each metric with its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.analysis.gates.rules import CONFIDENCE, COVERAGE, KINDS, Gate, GateRule, Kind, check_limit
from assay.config.judging import metric_by_name
from assay.config.models import GatesTable, RuleTable
from assay.config.table import Section, near
from assay.errors import InputError
from assay.metrics.base import Metric


@dataclass(frozen=True, slots=True)
class GateSettings:
    """The gate, and the run that it holds others against, where one is named."""

    gate: Gate
    baseline: str | None = None


def gate_in(section: Section, table: GatesTable, metrics: tuple[Metric, ...], folder: Path) -> GateSettings | None:
    """Make the gate of a file.

    Args:
        section: The table [gates], for errors.
        table: The same, checked.
        metrics: The metrics that are measured; () where none is named.
        folder: The folder that paths count from.

    Returns:
        The gate; None where the file has no table for it.

    Raises:
        InputError: For what is no metric or no limit among others, with its key and line.
    """
    if not section.values:
        return None
    rules = [
        rule
        for name, of_metric in table.rules.items()
        for rule in _rules(section.section(name), of_metric, _metric(section, name, metrics), table)
    ]
    if not rules:
        raise section.error(None, "it has no rules: give a metric one, as [gates.faithfulness] at_least = 0.8")
    by_labels = next((rule.metric for rule in rules if rule.kind == "good_share"), None)
    if by_labels is not None and table.thresholds is None:
        raise section.section(by_labels).error(
            "good_share", 'name what `assay judge align LABELS --write FILE` wrote, as [gates] thresholds = "FILE"'
        )
    noise, thresholds = (None if name is None else folder / name for name in (table.noise, table.thresholds))
    confidence = CONFIDENCE if table.confidence is None else table.confidence
    try:  # files are read when they are used: a command may yet write them
        gate = Gate(tuple(rules), confidence, table.cluster, table.any_judge, noise, thresholds)
    except InputError as error:
        raise section.error("confidence", str(error).removeprefix("gate: confidence: ")) from None
    return GateSettings(gate, table.baseline)


def _metric(section: Section, key: str, metrics: tuple[Metric, ...]) -> Metric:
    """The metric of this label among those that are measured; of any name where none is named."""
    if not metrics:
        return metric_by_name(section, key)
    found = next((metric for metric in metrics if metric.label == key), None)
    if found is None:
        labels = [metric.label for metric in metrics]
        raise section.error(
            None if key not in section.values else key,
            f"there is no metric {key!r} among those that are measured, {', '.join(labels)}{near(key, labels)}",
        )
    return found


def _rules(section: Section, table: RuleTable, metric: Metric, common: GatesTable) -> list[GateRule]:
    limits: dict[Kind, float] = {kind: limit for kind in KINDS if (limit := getattr(table, kind)) is not None}
    if not limits:
        raise section.error(None, f"it says no limit: {', '.join(KINDS)}")
    coverage = next((share for share in (table.coverage, common.coverage) if share is not None), COVERAGE)
    leave_out = table.leave_out or common.leave_out
    by = table.by or "mean"
    if by == "interval" and not {"at_least", "at_most"} & limits.keys():
        raise section.error("by", "goes with at_least and at_most; the others go by what the rows show anyway")
    return [
        _rule(section, metric, kind, limit, {"by": by} if kind in ("at_least", "at_most") else {}, coverage, leave_out)
        for kind, limit in limits.items()
    ]


def _rule(
    section: Section,
    metric: Metric,
    kind: Kind,
    limit: float,
    by: Mapping[str, Any],
    coverage: float,
    leave_out: tuple[str, ...],
) -> GateRule:
    try:
        rule = GateRule(metric.label, kind, limit, coverage=coverage, leave_out=leave_out, **by)
        check_limit(rule, metric.low, metric.high, metric.direction)
    except InputError as error:
        said = str(error).removeprefix(f"gate {metric.label}: ")
        key = next((key for key in (kind, "by", "leave_out") if said.startswith(f"{key}: ")), kind)
        raise section.error(key if key in section.values else None, said.removeprefix(f"{key}: ")) from None
    return rule
