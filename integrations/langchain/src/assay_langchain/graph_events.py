"""LangGraph tells handlers of a class of its own where a graph stops and goes on; ours are of it where it is loaded."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from functools import lru_cache
from typing import Any, TypeVar, cast

_MODULE = "langgraph.callbacks"  # since LangGraph 1.1
HandlerT = TypeVar("HandlerT")


def graph_aware(kind: type[HandlerT]) -> type[HandlerT]:
    """The class of handlers that hears the events of graphs as well.

    Args:
        kind: A class of callback handlers, with `on_interrupt` and `on_resume`.

    Returns:
        A subclass with the same name. The class itself if LangGraph is not loaded, or has no such events.
    """
    base = getattr(sys.modules.get(_MODULE), "GraphCallbackHandler", None)
    if base is None or issubclass(kind, base):
        return kind
    return cast("type[HandlerT]", _both(cast("Hashable", kind), base))


def hears_graphs(handler: object) -> bool:
    """Whether LangGraph tells this handler where a graph stops."""
    base = getattr(sys.modules.get(_MODULE), "GraphCallbackHandler", None)
    return base is not None and isinstance(handler, base)


@lru_cache(maxsize=64)
def _both(kind: Any, base: Any) -> Any:
    own = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    return type(kind)(kind.__name__, (kind, base), own)
