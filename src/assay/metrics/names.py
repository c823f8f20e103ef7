"""Metrics by name: assay's own, those of other systems ("ragas:faithfulness"), and those of installed packages."""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from assay.errors import InputError
from assay.metrics import systems
from assay.metrics.base import Metric
from assay.metrics.decorator import metric_of_function
from assay.metrics.labels import check_unique_labels
from assay.metrics.registry import METRICS
from assay.prompts.rating import RatingResult
from assay.records import Score, ScoreError, Verdict

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: What a function that is used as a metric may return: see `assay.metric`.
MetricValue: TypeAlias = float | Score | Verdict | RatingResult | ScoreError
MetricFunction: TypeAlias = Callable[..., MetricValue | Awaitable[MetricValue]]
#: A name, several names separated by commas, a metric, a function of sample fields, or a sequence of these.
MetricSpec: TypeAlias = str | Metric | MetricFunction | Sequence[str | Metric | MetricFunction]

#: Packages add metrics under this group of entry points: a function with `@assay.metric`, a Metric or its class.
GROUP = "assay.metrics"


def resolve_metrics(spec: MetricSpec) -> tuple[Metric, ...]:
    """The metrics that `spec` names, in its order.

    Args:
        spec: A name, several names separated by commas, a metric, a function whose parameters are fields of a
            sample or `judge`, or a sequence of these.

    Returns:
        The metrics, each with a label of its own.

    Raises:
        InputError: For unknown names, for functions with other parameters, and for labels given twice.
    """
    metrics = tuple(_resolved([spec] if isinstance(spec, str) or callable(spec) or isinstance(spec, Metric) else spec))
    if not metrics:
        raise InputError("metrics: none is given; `assay metrics` lists all")
    check_unique_labels(metrics, "metrics")
    return metrics


def join_specs(specs: Sequence[MetricSpec]) -> MetricSpec:
    """Join the metrics of several arguments: `evaluators("a", "b")` and `evaluators(["a", "b"])` mean the same.

    Args:
        specs: Names, metrics, functions, or sequences of these.

    Returns:
        One sequence for `resolve_metrics`.
    """
    joined: list[Any] = []
    for spec in specs:
        joined += spec if isinstance(spec, (list, tuple)) else [spec]
    return tuple(joined)


def _resolved(items: Sequence[str | Metric | MetricFunction]) -> list[Metric]:
    if not isinstance(items, Sequence):
        raise InputError(f"metrics: expected names, metrics or functions, got {items!r}")
    metrics: list[Metric] = []
    for item in items:
        if isinstance(item, str):
            metrics += [_find(name.strip()) for name in item.split(",") if name.strip()]
        elif isinstance(item, Metric):
            metrics.append(item)
        elif isinstance(item, type) and issubclass(item, Metric):
            raise InputError(f"metrics: {item.__name__} is a class; pass an instance, {item.__name__}()")
        elif callable(item) and not isinstance(item, type):
            metrics.append(metric_of_function(item))
        else:
            raise InputError(f"metrics: expected names, metrics or functions, got {item!r}")
    return metrics


def names() -> tuple[str, ...]:
    """The name of every metric: assay's own, then those of installed packages."""
    return (*METRICS, *sorted(_packaged().keys() - METRICS.keys()))


def _packaged() -> dict[str, EntryPoint]:
    """The metrics of other packages, by the name of their entry point."""
    from importlib.metadata import entry_points  # takes longer to import than all metrics, and is seldom needed

    return {point.name: point for point in entry_points(group=GROUP)}


def _find(name: str) -> Metric:
    if name in METRICS:
        return METRICS[name]()
    if ":" in name:
        return systems.named(name)
    packaged = _packaged()
    if name in packaged:
        return _loaded(packaged[name])
    known = [*METRICS, *packaged]
    written = name.lower().replace("-", "_").replace(" ", "_")
    longer = [one for one in known if one.startswith(f"{written}_")]  # one of ours has several forms
    meant = [*longer, *systems.names_of(name)] or difflib.get_close_matches(written, known, n=3)
    hint = f"did you mean {' or '.join(map(repr, meant[:3]))}? " if meant else ""
    raise InputError(f"metrics: there is no metric {name!r}; {hint}`assay metrics` lists all")


def _loaded(point: EntryPoint) -> Metric:
    where = f"metrics: {point.name!r} of {point.dist.name if point.dist is not None else point.value}"
    try:
        found = point.load()
        made = found() if isinstance(found, type) and issubclass(found, Metric) else found
    except Exception as error:  # another package's code
        raise InputError(f"{where} cannot be loaded: {type(error).__name__}: {error}") from error
    if not isinstance(made, Metric):
        raise InputError(f"{where} is {found!r}; expected a metric: a function with @assay.metric, or a Metric")
    return made
