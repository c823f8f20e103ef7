"""What assay's own metrics measure, in one line, from the docstrings of their files."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, fields
from functools import cache

from assay.metrics._aspect_critique import AspectCritique
from assay.metrics.base import Metric
from assay.metrics.registry import METRICS

_ENDS = re.compile(r"(?<=[.?!])\s")
#: Parameters that do not change what is measured.
_NAMES = ("name", "label", "profile", "definition")


@cache
def meaning_of(label: str) -> str | None:
    """Describe in one line what one of assay's own metrics measures, and which direction is good.

    The sentence is the first of the docstring of the metric's file, behind the name, or the definition of an aspect.

    Args:
        label: Label of the metric: "faithfulness".

    Returns:
        The description; None for a metric of another system or package: `assay metrics NAME` describes these.
    """
    factory = METRICS.get(label)
    sentence = None if factory is None else sentence_of(factory())
    return None if factory is None or sentence is None else f"{sentence} {factory().direction.capitalize()} is better."


def sentence_of(metric: Metric) -> str | None:
    """What one of assay's own metrics measures, in a sentence; None where docstrings were stripped."""
    if isinstance(metric, AspectCritique):
        return _first_sentence(metric.definition)
    module = inspect.getmodule(type(metric))
    doc = (module.__doc__ or "") if module is not None else ""
    sentence = _first_sentence(doc.partition(": ")[2] or doc)
    variant = _variant(metric)
    return f"{sentence} ({variant})" if sentence and variant else sentence


def _variant(metric: Metric) -> str:
    """The parameters in which a metric differs from the defaults of its class."""
    own = {one.name: getattr(metric, one.name) for one in fields(metric) if one.name not in _NAMES
           and one.default is not MISSING and getattr(metric, one.name) != one.default}  # fmt: skip
    return ", ".join(f"{name}: {value}" for name, value in own.items())


def _first_sentence(text: str) -> str | None:
    sentence = _ENDS.split(" ".join(text.strip().split("\n\n")[0].split()), maxsplit=1)[0]
    return f"{sentence[0].upper()}{sentence[1:]}" if sentence else None
