"""Whether what spans tell of an exchange is what was captured live, or unknown: never another value."""

from __future__ import annotations

from collections.abc import Iterable

from assay.records import Sample
from tests.capture.shapes import Expected, observed

Contexts = tuple[tuple[str, bool | None], ...]


def other_values(from_spans: Iterable[Sample], live: Iterable[Sample]) -> list[Expected]:
    """The samples of spans that no live sample agrees with."""
    heard = [observed(sample) for sample in live]
    told = [observed(sample) for sample in from_spans]
    return [one for one in told if not any(_agree(one, other) for other in heard)]


def _agree(told: Expected, heard: Expected) -> bool:
    return (
        told.question in (None, heard.question)
        and told.answer in (None, heard.answer)
        and told.status == heard.status
        and [turn[:2] for turn in told.history] in ([], [turn[:2] for turn in heard.history])
        and _same_contexts(told.contexts, heard.contexts)
    )


def _same_contexts(told: Contexts | None, heard: Contexts | None) -> bool:
    if told is None:
        return True
    return heard is not None and len(told) == len(heard) and all(map(_same_context, told, heard))


def _same_context(told: tuple[str, bool | None], heard: tuple[str, bool | None]) -> bool:
    return told[0] == heard[0] and (None in (told[1], heard[1]) or told[1] == heard[1])
