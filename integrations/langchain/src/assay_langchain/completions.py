"""Completion models in async code: other handlers hear of them although our hooks run inline.

`AsyncCallbackManager.on_llm_start` of langchain-core tells of a completion model either the handlers that run inline or
the others, never both: one that is inline takes the event from all that are not. Where all that are inline are ours, we
put the others' calls into the list of what it is about to await. A property `run_inline` that says no to that method
would do as well, but LangChain asks thrice for each event, and for any model.
"""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import Any

from langchain_core.callbacks import AsyncCallbackManager
from langchain_core.callbacks.manager import ahandle_event

_METHOD: CodeType | None = getattr(getattr(AsyncCallbackManager, "on_llm_start", None), "__code__", None)
_NAMES = {"self", "serialized", "prompts", "kwargs", "managers", "non_inline_tasks"}  # what it calls its own by
_WITHIN = 8  # frames above our hook in which that method is looked for: it is the third in today's releases


def notify_other_handlers() -> None:
    """In our hook, called by that method: have it tell the handlers that it leaves out. Nothing where it is not found.

    A release that leaves none out has begun their calls by now, or has not yet been through all prompts.
    """
    names = _local_names()
    if not names.keys() >= _NAMES:
        return
    manager, prompts, runs, calls = (names[name] for name in ("self", "prompts", "managers", "non_inline_tasks"))
    if calls or len(runs) != len(prompts):
        return
    others = [handler for handler in manager.handlers if not handler.run_inline]
    inline = [handler for handler in manager.handlers if handler.run_inline]
    if not others or not all(hasattr(type(handler), "tells_the_others") for handler in inline):
        return
    for prompt, run in zip(prompts, runs, strict=True):
        calls.append(
            ahandle_event(
                others, "on_llm_start", "ignore_llm", names["serialized"], [prompt], run_id=run.run_id,
                parent_run_id=manager.parent_run_id, tags=manager.tags, metadata=manager.metadata, **names["kwargs"],
            )
        )  # fmt: skip


def _local_names() -> dict[str, Any]:
    frame: FrameType | None = sys._getframe(2)
    for _ in range(_WITHIN):
        if frame is None or frame.f_code is _METHOD:
            break
        frame = frame.f_back
    else:
        frame = None
    return {} if frame is None else dict(frame.f_locals)
