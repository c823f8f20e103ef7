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
    """Attach `handler` to all that runs inside the `with` block: in this thread, and in tasks started from it."""
    object_not_class(handler, "capture", AssayCallbackHandler)
    token = BLOCK.set(handler)
    try:
        yield handler
    finally:
        BLOCK.reset(token)


def install(handler: AssayCallbackHandler | None = None) -> AssayCallbackHandler | None:
    """Attach `handler` to everything LangChain runs in this process, in all threads.

    Without one, a handler with its defaults and what the environment says (see `assay.live.environment`); `uninstall`
    returns it, to be closed. It takes the place of one that was installed before, which is returned. Raises InputError
    for what is no handler.
    """
    if handler is None:
        handler = AssayCallbackHandler()
    object_not_class(handler, "install", AssayCallbackHandler)
    before, INSTALLED.handler = INSTALLED.handler, handler
    return cast("AssayCallbackHandler | None", before)


def uninstall() -> AssayCallbackHandler | None:
    """Undo `install`, and return the handler that was installed. It stays open; close it yourself."""
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
