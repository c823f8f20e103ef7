"""The same application used in another way: what a test calls with `invoke` is awaited, streamed, or both."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from langchain_classic.chains.base import Chain
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.base import RunnableBindingBase, RunnableSequence
from langchain_core.runnables.passthrough import RunnableAssign
from langgraph.pregel import Pregel

#: What users call `invoke` on; each of these has one of its own.
KINDS = (Pregel, RunnableSequence, RunnableAssign, RunnableLambda, RunnableBindingBase, Chain)

Form = Callable[[Any, Any, Any, dict[str, Any]], Any]


def ainvoke(app: Any, given: Any, config: Any, more: dict[str, Any]) -> Any:
    return asyncio.run(app.ainvoke(given, config, **more))


def stream(app: Any, given: Any, config: Any, more: dict[str, Any]) -> Any:
    return _whole(app, list(app.stream(given, config, **_all_values(app), **more)))


def astream(app: Any, given: Any, config: Any, more: dict[str, Any]) -> Any:
    async def read() -> list[Any]:
        return [piece async for piece in app.astream(given, config, **_all_values(app), **more)]

    return _whole(app, asyncio.run(read()))


FORMS: dict[str, Form] = {"ainvoke": ainvoke, "stream": stream, "astream": astream}


def _all_values(app: Any) -> dict[str, Any]:
    return {"stream_mode": "values"} if isinstance(app, Pregel) else {}


def _whole(app: Any, pieces: list[Any]) -> Any:
    """What `invoke` would have returned: the last state of a graph, the sum of the pieces of a chain."""
    if isinstance(app, Pregel):
        return pieces[-1]
    whole = pieces[0]
    for piece in pieces[1:]:
        whole = {**whole, **{key: whole[key] + piece[key] if key in whole else piece[key] for key in piece}} \
            if isinstance(whole, dict) else whole + piece  # fmt: skip
    return whole


@contextlib.contextmanager
def used_as(form: Form) -> Iterator[list[str]]:
    """In the block, a call of `invoke` with callbacks in its config is made in that form. Gives the calls made so."""
    made: list[str] = []

    def patched(original: Any) -> Any:
        def invoke(self: Any, given: Any, config: Any = None, **more: Any) -> Any:
            # only what the application's user calls hands over handlers; calls inside inherit a manager
            if made_now.active or not isinstance((config or {}).get("callbacks"), list):
                return original(self, given, config, **more)
            made_now.active = True
            try:
                made.append(type(self).__name__)
                return form(self, given, config, more)
            finally:
                made_now.active = False

        return invoke

    made_now = _Now()
    with contextlib.ExitStack() as stack:
        for kind in KINDS:
            if "invoke" in vars(kind):
                stack.enter_context(mock.patch.object(kind, "invoke", patched(vars(kind)["invoke"])))
        yield made


class _Now:
    active = False
