"""Attaching a handler without touching the chains, and telling it of documents that no retriever returned."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Any, cast

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.callbacks.manager import adispatch_custom_event, dispatch_custom_event
from langchain_core.documents import Document
from langchain_core.tracers.context import register_configure_hook

from assay_langchain.handler import CONTEXTS_EVENT, AssayCallbackHandler

_CAPTURE: ContextVar[BaseCallbackHandler | None] = ContextVar("assay_langchain_capture", default=None)


class _Installed:
    """Stands where LangChain expects a context variable, and gives every thread the same handler.

    A context variable can be read in a new thread only through its default, which cannot be changed; LangChain asks
    nothing but `get()` of it.
    """

    def __init__(self) -> None:
        self.handler: BaseCallbackHandler | None = None

    def get(self) -> BaseCallbackHandler | None:
        return self.handler


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


def install(handler: AssayCallbackHandler) -> None:
    """Attach `handler` to everything LangChain runs in this process, in all threads. Replaces an installed one."""
    _INSTALLED.handler = handler


def uninstall() -> None:
    """Undo `install`. The handler stays open; close it yourself."""
    _INSTALLED.handler = None


def record_contexts(documents: Iterable[Any]) -> bool:
    """Tell the handler what was found where no LangChain retriever was used.

    Call it inside a runnable, with texts or documents. Returns False outside of one: nothing is recorded then.
    """
    try:
        dispatch_custom_event(CONTEXTS_EVENT, _documents(documents))
    except RuntimeError:
        return False
    return True


async def arecord_contexts(documents: Iterable[Any]) -> bool:
    """`record_contexts` for async runnables."""
    try:
        await adispatch_custom_event(CONTEXTS_EVENT, _documents(documents))
    except RuntimeError:
        return False
    return True


def _documents(documents: Iterable[Any]) -> list[Any]:
    return [Document(page_content=item) if isinstance(item, str) else item for item in documents]
