"""The tables [[alerts]] of a configuration: one rule each."""

from __future__ import annotations

from collections.abc import Sequence

from assay._util.durations import seconds_in
from assay.config.models import AlertTable
from assay.config.table import Section
from assay.errors import AssayError, InputError
from assay.live.alerts.rules import FALSE_ALARMS, MIN_ROWS, MIN_ROWS_OF_DROP, AlertRule, AlertTarget, Kind
from assay.metrics.base import Metric
from assay.metrics.names import resolve_metrics

_KINDS: tuple[Kind, ...] = ("below", "above", "drop")
_OF_DROP = ("false_alarms", "period")


def alerts_in(
    sections: Sequence[Section], tables: Sequence[AlertTable], metrics: Sequence[Metric]
) -> tuple[AlertRule, ...]:
    """Make the alert rules of a file.

    Args:
        sections: The tables, for errors.
        tables: The same, checked.
        metrics: The metrics that the file names.

    Returns:
        The rules, in the order of the file.

    Raises:
        InputError: A rule has no condition or several, a name is used twice, or a value is wrong; with key and line.
    """
    found: dict[str, AlertRule] = {}
    for section, table in zip(sections, tables, strict=True):
        rule = _rule(section, table, metrics)
        if rule.name in found:
            raise section.error("name", f"the name {rule.name!r} is used twice")
        found[rule.name] = rule
    return tuple(found.values())


def _rule(section: Section, table: AlertTable, metrics: Sequence[Metric]) -> AlertRule:
    kind = _kind(section, table)
    _check_limit(section, table, kind, metrics)
    days = _seconds(section, "period", table.period) / 86400.0
    return AlertRule(
        name=_needed(section, "name", table.name),
        run=_needed(section, "run", table.run),
        metric=_needed(section, "metric", table.metric),
        kind=kind,
        limit=float(getattr(table, kind)),
        window=_seconds(section, "window", table.window),
        min_rows=table.min_rows or (MIN_ROWS_OF_DROP if kind == "drop" else MIN_ROWS),
        slices=tuple(dict.fromkeys(table.slices)),
        where=dict(table.where),
        cluster=table.cluster,
        quiet=_seconds(section, "quiet", table.quiet),
        to=_targets(section, table),
        secret_env=table.secret_env,
        include_text=table.include_text,
        link=table.link,
        error=section.error,
        false_alarms=FALSE_ALARMS if table.false_alarms is None else table.false_alarms,
        period_days=days,
    )


def _needed(section: Section, key: str, value: str | None) -> str:
    if value is None:
        raise section.error(None, f"it has no {key}")
    return value


def _kind(section: Section, table: AlertTable) -> Kind:
    said = [kind for kind in _KINDS if getattr(table, kind) is not None]
    if len(said) != 1:
        problem = f"it has {' and '.join(said)}" if said else "it has no condition"
        raise section.error(None, f"{problem}; give one of {', '.join(_KINDS)}")
    for key in _OF_DROP:
        if key in section.values and said != ["drop"]:
            raise section.error(key, "goes with drop")
    return said[0]


def _check_limit(section: Section, table: AlertTable, kind: Kind, metrics: Sequence[Metric]) -> None:
    """Check the limit where the metric is known: by the file, else by this installation."""
    metric = next((one for one in metrics if one.label == table.metric), None) or _find_metric(table.metric)
    if metric is None:
        return
    limit, width = float(getattr(table, kind)), metric.high - metric.low
    if kind == "drop" and limit >= width:
        raise section.error(kind, f"expected less than {width:g}, the range of {metric.label}, got {limit:g}")
    if kind != "drop" and not metric.low <= limit <= metric.high:
        raise section.error(kind, f"expected {metric.low:g} to {metric.high:g}, got {limit:g}")


def _find_metric(name: str | None) -> Metric | None:
    """A live run may have metrics that this installation does not know: they are no error here."""
    if name is None or len(name) > 200:
        return None
    try:
        found = resolve_metrics(name)
    except AssayError:
        return None
    return found[0] if len(found) == 1 else None


def _seconds(section: Section, key: str, value: str | float) -> float:
    try:
        return seconds_in(value, key) if isinstance(value, str) else float(value)
    except InputError as error:
        raise section.error(key, str(error).removeprefix(f"{key}: ")) from None


def _targets(section: Section, table: AlertTable) -> tuple[AlertTarget, ...]:
    found = []
    for text in dict.fromkeys(table.to):
        try:
            found.append(AlertTarget.of(text))
        except InputError as error:
            raise section.error("to", str(error).removeprefix("to: ")) from None
    if table.secret_env is not None and not any(target.channel == "webhook" for target in found):
        raise section.error("secret_env", "goes with a webhook")
    return tuple(found)
