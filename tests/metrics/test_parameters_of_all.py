"""Every parameter of every metric is held to the kind that its annotation says."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from assay.errors import InputError
from assay.metrics import AspectCritique, systems
from assay.metrics.names import names, resolve

pytestmark = pytest.mark.long


class Nothing:
    """Of no kind that any parameter takes."""


def parameters() -> list[Any]:
    """Every metric with each of its parameters whose kind is known."""
    found = {}
    for name in (*systems.names(), *names()):
        (metric,) = resolve(name)
        for parameter in fields(metric):
            if parameter.name not in UNKNOWN_KINDS and parameter.init:
                found[type(metric), parameter.name] = pytest.param(
                    metric, parameter.name, id=f"{name}-{parameter.name}"
                )
    return list(found.values())


#: Kinds that are made with classes of the room, and checked there.
UNKNOWN_KINDS = {"graph", "rubric", "expected_schema", "tool_args_match_overrides", "metrics", "title", "name"}


@pytest.mark.parametrize(("metric", "parameter"), parameters())
def test_a_parameter_of_another_kind_is_refused_by_name(metric: Any, parameter: str) -> None:
    named = {"name": "n", "definition": "d"} if isinstance(metric, AspectCritique) else {}
    with pytest.raises(InputError, match=rf"^{type(metric).__name__}: {parameter}: expected .*, not <"):
        type(metric)(**{**named, parameter: Nothing()})
