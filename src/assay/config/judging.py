"""The tables [metrics] and [budget] of a configuration: what is measured, and what it may cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from assay.config.models import BudgetTable
from assay.config.table import Section, near
from assay.errors import AssayError
from assay.judges.budget.budget import Budget, Prices
from assay.metrics.base import Metric
from assay.metrics.decorator import FunctionMetric
from assay.metrics.labels import LabelledMetric
from assay.metrics.names import resolve_metrics


def metrics_in(whole: Section, named: tuple[str, ...] | Mapping[str, Mapping[str, Any]]) -> tuple[Metric, ...]:
    """Resolve the metrics of a file.

    Args:
        whole: The file as a table, for errors.
        named: The names of metrics, or a table for each with its parameters.

    Returns:
        The metrics; () where none is named.

    Raises:
        InputError: For what is no metric or no parameter of one, with its key and line.
    """
    if isinstance(named, tuple):
        found = [_metric(whole, "metrics", name) for name in named]
    elif named:
        found = [_in_table(whole.section("metrics"), name) for name in named]
    else:
        raise whole.error("metrics", "it names no metric; take the table out, or name one")
    try:
        return resolve_metrics(found)
    except AssayError as error:
        raise whole.error("metrics", _without_place(error)) from None


def _in_table(metrics: Section, name: str) -> Metric:
    """The metric of a table, which is called as its metric is, or else says with `of` whose variant it is."""
    section = metrics.section(name)
    of = section.values.get("of")
    if of is None:
        return _with_parameters(section, _metric(metrics, name, name))
    if not isinstance(of, str) or not of.strip():
        raise section.unlike("of", "a text")
    if not name.strip():
        raise metrics.error(name, "the name of a metric is not blank")
    parameters = replace(section, values={key: value for key, value in section.values.items() if key != "of"})
    return LabelledMetric(_with_parameters(parameters, _metric(section, "of", of)), name)


def metric_by_name(section: Section, key: str) -> Metric:
    """The metric that a key of a table names. Raises InputError with the key and its line."""
    return _metric(section, key, key)


def _metric(section: Section, key: str, name: str) -> Metric:
    if len(name) > 200:
        raise section.error(key, "there is no metric of such a long name")
    try:
        found = resolve_metrics(name)
    except AssayError as error:
        raise section.error(key, _without_place(error)) from None
    if len(found) != 1:
        raise section.error(key, f"expected the name of one metric, got {name!r}")
    return found[0]


def _with_parameters(section: Section, metric: Metric) -> Metric:
    known = _parameters(metric)
    for key in section.values:
        if key not in known:
            there = f"it takes {', '.join(known)}" if known else "it takes none"
            raise section.error(key, f"{metric.label} has no such parameter{near(key, known)}; {there}")
        expected = _unlike(getattr(metric, key), section.values[key])
        if expected is not None:
            raise section.error(key, f"expected {expected}, as {getattr(metric, key)!r}")
    try:
        return replace(metric, **_tuples(section.values)) if section.values else metric
    except (AssayError, TypeError, ValueError, AttributeError) as error:
        key = next((key for key in section.values if key in str(error)), next(iter(section.values)))
        raise section.error(key, str(error)) from None


def _parameters(metric: Metric) -> list[str]:
    """What may be said of a metric: its fields, but for one that is a function, or is made of other metrics."""
    made_by_fields = type(metric).__dataclass_params__.init  # type: ignore[attr-defined]
    if isinstance(metric, FunctionMetric) or not made_by_fields:
        return []
    return [field.name for field in fields(metric) if field.init]


def _unlike(default: object, value: object) -> str | None:
    """What kind of value is expected in place of this one, by the default; None where it is of that kind."""
    if isinstance(default, bool):
        return None if isinstance(value, bool) else "true or false"
    if isinstance(default, (int, float)):
        right = isinstance(value, (int, float)) and not isinstance(value, bool)
        whole = isinstance(default, float) or isinstance(value, int)
        return None if right and whole else "a whole number" if right else "a number"
    if isinstance(default, str):
        return None if isinstance(value, str) else "a text"
    if isinstance(default, tuple):
        return None if isinstance(value, list) else "a list"
    return None


def _tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values, lists as tuples: metrics are frozen, and so are their parameters."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}


def _without_place(error: AssayError) -> str:
    return str(error).removeprefix("metrics: ")


def budget_in(section: Section, table: BudgetTable) -> Budget | None:
    """Make the budget of a file.

    Args:
        section: The table [budget], for errors.
        table: The same, checked.

    Returns:
        The budget; None where the file has no table for it.

    Raises:
        InputError: For what `Budget` refuses, with the line.
    """
    if not section.values:
        return None
    prices = None if table.prices is None else Prices(**table.prices.model_dump())
    try:
        return Budget(**table.model_dump(exclude={"prices"}), prices=prices)
    except AssayError as error:
        raise section.error(None, str(error).removeprefix("budget: ")) from None
