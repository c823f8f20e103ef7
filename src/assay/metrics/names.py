"""Metrics by name: assay's own, those of other systems ("ragas:faithfulness"), and those of installed packages."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from assay.errors import InputError
from assay.metrics import systems
from assay.metrics.base import Metric
from assay.metrics.labels import check_unique_labels
from assay.metrics.registry import METRICS

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: What names metrics: a name, several separated by commas, a metric, or a sequence of names and metrics.
MetricSpec: TypeAlias = "str | Metric | Sequence[str | Metric]"

#: Packages add metrics under this group of entry points: a function with `@assay.metric`, a Metric or its class.
GROUP = "assay.metrics"


def resolve(spec: MetricSpec) -> tuple[Metric, ...]:
    """The metrics that `spec` names, in its order. Raises InputError for unknown names and for labels given twice."""
    metrics = tuple(_resolved([spec] if isinstance(spec, (str, Metric)) else spec))
    if not metrics:
        raise InputError("metrics: none is given; `assay metrics` lists all")
    check_unique_labels(metrics, "metrics")
    return metrics


def _resolved(items: Sequence[str | Metric]) -> list[Metric]:
    if not isinstance(items, Sequence):
        raise InputError(f"metrics: expected names or metrics, got {items!r}")
    metrics: list[Metric] = []
    for item in items:
        if isinstance(item, str):
            metrics += [_find(name.strip()) for name in item.split(",") if name.strip()]
        elif isinstance(item, Metric):
            metrics.append(item)
        elif isinstance(item, type) and issubclass(item, Metric):
            raise InputError(f"metrics: {item.__name__} is a class; pass an instance, {item.__name__}()")
        elif callable(item):
            raise InputError(f"metrics: expected a name or a metric, got {item!r}; make it one with @assay.metric")
        else:
            raise InputError(f"metrics: expected a name or a metric, got {item!r}")
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
