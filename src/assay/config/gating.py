"""The table [gates] of a configuration: what all rules have in common, and a table for each metric with its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.analysis.gates.rules import CONFIDENCE, COVERAGE, KINDS, Gate, GateRule, check_limit
from assay.config.judging import metric_by_name
from assay.config.table import Section, near
from assay.errors import InputError
from assay.metrics.base import Metric

_COMMON = ("baseline", "confidence", "cluster", "coverage", "leave_out", "any_judge", "noise", "thresholds")
_OF_A_RULE = (*KINDS, "by", "coverage", "leave_out")


@dataclass(frozen=True, slots=True)
class GateSettings:
    """The gate, and the run that it holds others against, where one is named."""

    gate: Gate
    baseline: str | None = None


def gate_in(section: Section, metrics: tuple[Metric, ...], folder: Path) -> GateSettings | None:
    """The gate; None where no metric has a rule. `metrics` are those that are measured, () where none is named; paths
    count from `folder`.

    Raises InputError naming key and line, for what is no metric and no limit among others.
    """
    if not section.values:
        return None
    rules: list[GateRule] = []
    for key, value in section.values.items():
        if isinstance(value, dict):
            rules += _rules(section.section(key), _metric(section, key, metrics), section)
        elif key not in _COMMON:
            known = (*_COMMON, *(metric.label for metric in metrics))
            said = f"there is no such key{near(key, known)}; rules stand in a table of their metric"
            raise section.error(key, f"{said}, as [gates.faithfulness]")
    baseline, cluster, any_judge = section.text("baseline"), section.text("cluster"), section.flag("any_judge")
    confidence = section.number("confidence")
    _share(section)
    if not rules:
        raise section.error(None, "it has no rules: give a metric one, as [gates.faithfulness] at_least = 0.8")
    noise, labelled = section.text("noise"), section.text("thresholds")
    by_labels = next((rule.metric for rule in rules if rule.kind == "good_share"), None)
    if by_labels is not None and labelled is None:
        raise section.section(by_labels).error(
            "good_share", 'name what `assay judge align LABELS --write FILE` wrote, as [gates] thresholds = "FILE"'
        )
    try:
        gate = Gate(  # files are read when they are used: a command may yet write them
            tuple(rules), CONFIDENCE if confidence is None else confidence, cluster, any_judge,
            None if noise is None else folder / noise, None if labelled is None else folder / labelled,
        )  # fmt: skip
    except InputError as error:
        raise section.error("confidence", str(error).removeprefix("gate: confidence: ")) from None
    return GateSettings(gate, baseline)


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


def _rules(section: Section, metric: Metric, common: Section) -> list[GateRule]:
    section.only(_OF_A_RULE)
    limits = {kind: section.number(kind) for kind in KINDS if kind in section.values}
    if not limits:
        raise section.error(None, f"it says no limit: {', '.join(KINDS)}")
    coverage = _share(section) if "coverage" in section.values else _share(common)
    leave_out = section.texts("leave_out") or common.texts("leave_out")
    by = section.text("by") or "mean"
    if by == "interval" and not {"at_least", "at_most"} & limits.keys():
        raise section.error("by", "goes with at_least and at_most; the others go by what the rows show anyway")
    return [
        _rule(section, metric, kind, limit, {"by": by} if kind in ("at_least", "at_most") else {}, coverage, leave_out)
        for kind, limit in limits.items()
        if limit is not None
    ]


def _rule(
    section: Section,
    metric: Metric,
    kind: Any,
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


def _share(section: Section) -> float:
    found = section.number("coverage")
    if found is not None and not 0.0 <= found <= 1.0:
        raise section.error("coverage", f"expected a number from 0 to 1, got {found:g}")
    return COVERAGE if found is None else found
