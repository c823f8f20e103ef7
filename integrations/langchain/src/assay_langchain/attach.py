"""Attaching a handler without touching the chains, and how `assay.record_context` finds it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import cast

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tracers.context import register_configure_hook

from assay.capture.recording import add_recorder
from assay.capture.tree import Found
from assay.judges.base import JUDGING
from assay_langchain.handler import AssayCallbackHandler
from assay_langchain.surroundings import going_on

_CAPTURE: ContextVar[BaseCallbackHandler | None] = ContextVar("assay_langchain_capture", default=None)


class _Installed:
    """Stands where LangChain expects a context variable, and gives every thread the same handler.

    A context variable can be read in a new thread only through its default, which cannot be changed; LangChain asks
    nothing but `get()` of it.
    """

    def __init__(self) -> None:
        self.handler: AssayCallbackHandler | None = None

    def get(self) -> BaseCallbackHandler | None:
        return None if JUDGING.get() else self.handler


_INSTALLED = _Installed()
register_configure_hook(_CAPTURE, inheritable=True)
register_configure_hook(cast("ContextVar[BaseCallbackHandler | None]", _INSTALLED), inheritable=True)


@contextlib.contextmanager
def capture(handler: AssayCallbackHandler) -> Iterator[AssayCallbackHandler]:
    """Attach `handler` to all that runs inside the `with` block: in this thread, and in tasks started from it."""
    token = _CAPTURE.set(handler)
    try:
        yield handler
    finally:
        _CAPTURE.reset(token)


def install(handler: AssayCallbackHandler | None = None) -> AssayCallbackHandler | None:
    """Attach `handler` to everything LangChain runs in this process, in all threads. Returns the one that it replaces.

    Without one, a handler with its defaults and what the environment says (see `assay.live.environment`); `uninstall`
    returns it, to be closed.
    """
    before = _INSTALLED.handler
    _INSTALLED.handler = AssayCallbackHandler() if handler is None else handler
    return before


def uninstall() -> AssayCallbackHandler | None:
    """Undo `install`. Returns the handler that was installed: it stays open; close it yourself."""
    before, _INSTALLED.handler = _INSTALLED.handler, None
    return before


def _record(documents: tuple[Found, ...]) -> bool:
    """`assay.record_context` inside a chain: LangChain keeps in a context variable which run is going on."""
    manager = going_on().get("callbacks")
    run_id = getattr(manager, "parent_run_id", None)
    if run_id is None:
        return False
    handlers = [handler for handler in getattr(manager, "handlers", ()) if isinstance(handler, AssayCallbackHandler)]
    taken = [handler.listener.record(run_id, documents) for handler in handlers]
    return any(taken)


add_recorder(_record)
