"""Uses that LangChain would take in silence, and from which nothing would come."""

from __future__ import annotations

import logging
from typing import Any, NoReturn

from langchain_core.callbacks import BaseCallbackHandler

from assay import InputError
from assay.extension import describe

log = logging.getLogger("assay.capture")

_warned = False


class ClassIsNoHandler(InputError, AttributeError, TypeError):
    """The class stands where an object should: `callbacks=[AssayCallbackHandler]`."""


def _refuse(cls: type) -> NoReturn:
    raise ClassIsNoHandler(f"callbacks: {cls.__name__} is a class; give an object of it: {cls.__name__}(...)")


class HandlerType(type):
    """The type of our handler classes. LangChain asks a handler whether to leave an event out: a class refuses."""

    @property
    def raise_error(cls) -> bool:
        """LangChain passes on what such a handler raises."""
        return True

    @property
    def ignore_chain(cls) -> bool:
        _refuse(cls)

    ignore_llm = ignore_chat_model = ignore_retriever = ignore_agent = ignore_retry = ignore_chain


def object_not_class(handler: Any, where: str, kind: type) -> None:
    """Raises InputError for what is no handler, with the right way."""
    if isinstance(handler, kind):
        return
    if isinstance(handler, type) and issubclass(handler, kind):
        raise InputError(f"{where}: {handler.__name__} is a class; give an object of it: {handler.__name__}(...)")
    raise InputError(f"{where}: expected an {kind.__name__}, got {describe(handler)}")


class HandlerOfAnotherProcess(BaseCallbackHandler):
    """What a pickled handler is in another process: it hears nothing. Each process needs a handler of its own."""

    def __repr__(self) -> str:
        return "<a handler of another process: nothing is captured here>"


def of_another_process() -> BaseCallbackHandler:
    """Stands for a handler that was pickled elsewhere; says so once."""
    global _warned
    if not _warned:
        _warned = True
        log.warning(
            "assay: a handler was sent here by pickle from another process, and captures nothing in this one; make one "
            "where the work is done, for example assay_langchain.install(AssayCallbackHandler(...)) in each worker"
        )
    return HandlerOfAnotherProcess()
