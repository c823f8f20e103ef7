"""Ways in which applications are built with LlamaIndex: see `tests.capture.shapes`."""

from __future__ import annotations

from dataclasses import dataclass

from integrations.llama_index.tests.fakes import ANSWER, PASSAGES, QUESTION
from tests.capture import shapes
from tests.capture.shapes import BARK, Attach, Shape, compared, observed

__all__ = ["ANSWER", "BARK", "CALM", "HEAL", "QUESTION", "Attach", "Shape", "compared", "observed"]

CALM, HEAL = PASSAGES


@dataclass(frozen=True, kw_only=True)
class Expected(shapes.Expected):
    contexts: tuple[tuple[str, bool | None], ...] | None = ((CALM, True), (HEAL, True))


@dataclass(frozen=True, kw_only=True)
class Right(shapes.Right):
    expect: tuple[shapes.Expected, ...] = (Expected(),)


class Group(shapes.Group):
    since = "0.13"  # of llama-index-core


class Written(shapes.Written):
    since = "0.13"
