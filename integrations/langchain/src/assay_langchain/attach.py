"""Attaching a handler without touching the chains, and how `assay.record_context` finds it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import cast

from assay.extension import Document, add_recorder
from assay_langchain.environment import going_on
from assay_langchain.handler import AssayCallbackHandler
from assay_langchain.switches import BLOCK, INSTALLED
from assay_langchain.usage_errors import object_not_class


@contextlib.contextmanager
def capture(handler: AssayCallbackHandler) -> Iterator[AssayCallbackHandler]:
    """Attach a handler to all that runs inside the `with` block: in this thread, and in tasks started from it.

    Args:
        handler: The handler.

    Yields:
        The same handler.

    Raises:
        InputError: It is no `AssayCallbackHandler`.
    """
    object_not_class(handler, "capture", AssayCallbackHandler)
    token = BLOCK.set(handler)
    try:
        yield handler
    finally:
        BLOCK.reset(token)


def install(handler: AssayCallbackHandler | None = None) -> AssayCallbackHandler | None:
    """Attach a handler to everything LangChain runs in this process, in all threads.

    It takes the place of one that was installed before.

    Args:
        handler: The handler. None: one with its defaults and what the environment says (see `assay.live.environment`);
            `uninstall` returns it, to be closed.

    Returns:
        The handler that was installed before; None where there was none.

    Raises:
        InputError: It is no `AssayCallbackHandler`.
    """
    if handler is None:
        handler = AssayCallbackHandler()
    object_not_class(handler, "install", AssayCallbackHandler)
    before, INSTALLED.handler = INSTALLED.handler, handler
    return cast("AssayCallbackHandler | None", before)


def uninstall() -> AssayCallbackHandler | None:
    """Undo `install`. The handler stays open: close it yourself.

    Returns:
        The handler that was installed; None where there was none.
    """
    before, INSTALLED.handler = INSTALLED.handler, None
    return cast("AssayCallbackHandler | None", before)


def _record(documents: tuple[Document, ...]) -> bool:
    """`assay.record_context` inside a chain: LangChain keeps in a context variable which run is going on."""
    manager = going_on().get("callbacks")
    run_id = getattr(manager, "parent_run_id", None)
    if run_id is None:
        return False
    handlers = [handler for handler in getattr(manager, "handlers", ()) if isinstance(handler, AssayCallbackHandler)]
    taken = [handler.listener.record(run_id, documents) for handler in handlers]
    return any(taken)


add_recorder(_record)
