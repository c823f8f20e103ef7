"""The two places in which LangChain looks for a handler that nobody passes: a block of code, and the process."""

from __future__ import annotations

from contextvars import ContextVar
from typing import cast

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.tracers.context import register_configure_hook

from assay.extension import JUDGING

#: The handler of the `with` block that is going on.
BLOCK: ContextVar[BaseCallbackHandler | None] = ContextVar("assay_langchain_capture", default=None)


class _HandlerVariable:
    """Stands where LangChain expects a context variable, and gives every thread the same handler.

    A context variable can be read in a new thread only through its default, which cannot be changed; LangChain asks
    nothing but `get()` of it.
    """

    def __init__(self) -> None:
        self.handler: BaseCallbackHandler | None = None

    def get(self) -> BaseCallbackHandler | None:
        return None if JUDGING.get() else self.handler


#: The handler of the process.
INSTALLED = _HandlerVariable()

register_configure_hook(BLOCK, inheritable=True)
register_configure_hook(cast("ContextVar[BaseCallbackHandler | None]", INSTALLED), inheritable=True)
