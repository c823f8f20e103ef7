"""Every parameter of every metric is held to the kind that its annotation says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import partial

import pytest

from assay.errors import InputError
from assay.metrics import AspectCritique, Metric, systems
from assay.metrics.names import names, resolve_metrics
from tests._support.laws import check_laws

pytestmark = pytest.mark.long


class Nothing:
    """Of no kind that any parameter takes."""


#: Kinds that are made with classes of the room, and checked there.
UNKNOWN_KINDS = {"graph", "rubric", "expected_schema", "tool_args_match_overrides", "metrics", "title", "name"}


def parameters(metric: Metric) -> list[str]:
    """The parameters of a metric whose kind is known."""
    return [one.name for one in fields(metric) if one.init and one.name not in UNKNOWN_KINDS]


def refuses_another_kind(metric: Metric, parameter: str) -> None:
    needed = {"name": "n", "definition": "d"} if isinstance(metric, AspectCritique) else {}
    with pytest.raises(InputError, match=rf"^{type(metric).__name__}: {parameter}: expected .*, not <"):
        type(metric)(**{**needed, parameter: Nothing()})


@pytest.mark.parametrize("system", [*systems.SYSTEMS, "own"])
def test_a_parameter_of_another_kind_is_refused_by_name(system: str) -> None:
    found = {type(metric): metric for name in names_of(system) for metric in resolve_metrics(name)}
    checks = {
        f"{kind.__name__}.{name}": (metric, name) for kind, metric in found.items() for name in parameters(metric)
    }
    assert checks
    check_laws([partial(refuses_another_kind, *one) for one in checks.values()])


def names_of(system: str) -> Sequence[str]:
    return names() if system == "own" else systems.names(system)
