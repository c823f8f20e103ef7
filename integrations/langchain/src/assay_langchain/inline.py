"""Whether our hooks run inline, answered so that no other handler loses an event.

`AsyncCallbackManager.on_llm_start` of langchain-core tells of a completion model either the inline handlers or the
others, never both: one that is inline takes the event from all that are not. It asks each handler whether it is inline;
there, and nowhere else, we say no. It then hands the event to all, and whoever calls our hook asks again.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from langchain_core.callbacks import AsyncCallbackManager, BaseCallbackHandler

#: The code that must not hear of us as inline; None in a release that has no such method.
_ASKS = getattr(getattr(AsyncCallbackManager, "on_llm_start", None), "__code__", None)


def is_inline(handler: BaseCallbackHandler) -> bool:
    """Whether LangChain is to call the hooks on the spot. The getter of a property: LangChain asks thrice an event.

    Always, but where that method asks, for a list in which no other handler is inline: else those alone get the event.
    """
    asking: FrameType | None = sys._getframe(1)
    if asking is not None and asking.f_code.co_name == "<listcomp>":  # before Python 3.12 it has a frame of its own
        asking = asking.f_back
    if asking is None or asking.f_code is not _ASKS:
        return True
    manager = asking.f_locals.get("self")
    return any(_is_inline(other) for other in getattr(manager, "handlers", ()))


def _is_inline(other: Any) -> bool:
    return not hasattr(type(other), "takes_turns") and bool(getattr(other, "run_inline", False))
