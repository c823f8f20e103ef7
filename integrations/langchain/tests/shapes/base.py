"""Ways in which applications are built with LangChain: see `tests.capture.shapes`."""

from __future__ import annotations

from typing import Any

from tests.capture import shapes
from tests.capture.shapes import ANSWER, BARK, CALM, HEAL, QUESTION, Attach, Expected, Right, Shape, compared, observed

__all__ = ["ANSWER", "BARK", "CALM", "HEAL", "QUESTION", "Expected", "Right", "Shape", "compared", "observed"]

#: Makes a handler to attach, with the options given.
HandlerFactory = Attach


class Group(shapes.Group):
    since = "1.0"  # of langchain-core


class Written(shapes.Written):
    since = "1.0"


def on(handler: Any, **more: Any) -> Any:
    """The config that attaches a handler."""
    return {"callbacks": [handler], **more}
