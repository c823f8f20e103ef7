"""Whether our hooks run inline, answered so that no other handler loses an event.

`AsyncCallbackManager.on_llm_start` of langchain-core tells of a completion model either the inline handlers or the
others, never both: one that is inline takes the event from all that are not. It asks each handler whether it is inline;
there, and nowhere else, we say no. It then hands the event to all, and whoever calls our hook asks again.
"""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import Any

from langchain_core.callbacks import AsyncCallbackManager, BaseCallbackHandler

_METHOD: CodeType | None = getattr(getattr(AsyncCallbackManager, "on_llm_start", None), "__code__", None)

#: The code that must not hear of us as inline: that method and, before Python 3.12, its list comprehensions, which have
#: code of their own. By id, since this is looked up some forty times a request; empty in a release without the method.
_ASKS = {id(code) for code in (_METHOD, *getattr(_METHOD, "co_consts", ())) if isinstance(code, CodeType)}


def is_inline(handler: BaseCallbackHandler) -> bool:
    """Whether LangChain is to call the hooks on the spot. The getter of a property: LangChain asks thrice an event.

    Always, but where that method asks, for a list in which no other handler is inline: else those alone get the event.
    """
    here = sys._getframe(1)
    if id(here.f_code) not in _ASKS:
        return True
    asking: FrameType | None = here if here.f_code is _METHOD else here.f_back
    manager = None if asking is None else asking.f_locals.get("self")
    return any(_is_inline(other) for other in getattr(manager, "handlers", ()))


def _is_inline(other: Any) -> bool:
    return not hasattr(type(other), "takes_turns") and bool(getattr(other, "run_inline", False))
