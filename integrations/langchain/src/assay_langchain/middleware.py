"""assay as a middleware of `langchain.agents.create_agent`. Needs `pip install langchain`.

A middleware is no callback handler: it is asked before and after an agent, and around each call of a model or a tool.
It starts a trace of its own, and lets the handler hear what is called below; how a sample comes of that is the same.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, Unpack

from assay import InputError, MissingExtra
from assay.extension import JudgeSpec, LiveOptions, call_repr
from assay_langchain.environment import going_on, run_around
from assay_langchain.handler import AssayCallbackHandler
from assay_langchain.switches import BLOCK
from assay_langchain.usage_errors import object_not_class

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState
    from langchain.agents.middleware.types import PrivateStateAttr
    from langgraph.channels.untracked_value import UntrackedValue
    from langgraph.errors import GraphBubbleUp
except ImportError as error:
    raise MissingExtra("AssayMiddleware needs langchain: pip install 'langchain>=1.0,<2'") from error

if TYPE_CHECKING:
    from assay.extension import MetricSpec

RUN = "assay_run"  # the key of the agent's state: private, and in no checkpoint


class AssayState(AgentState[Any]):
    """The state of an agent, and which trace of ours is its."""

    assay_run: NotRequired[Annotated[uuid.UUID, UntrackedValue, PrivateStateAttr]]


class AssayMiddleware(AgentMiddleware):
    """Scores what an agent answers, attached where the agent is made.

        agent = create_agent(model, tools, middleware=[AssayMiddleware(["faithfulness"], sinks=[...])])

    `handler` is an attribute as well: `middleware.handler.flush()`, `.samples()`, `.close()`.

    Put it first. A middleware hears less than a handler: nothing of a stream that its reader leaves, nor of an agent
    that a tool aborts. After an interrupt, what was found before it is not known any more.

    Args:
        metrics, judge, options: As those of `AssayCallbackHandler`.
        handler: A handler of yours in place of them: then both may be attached, and give one sample.
    """

    state_schema = AssayState

    def __init__(
        self,
        metrics: MetricSpec | None = None,
        judge: JudgeSpec = None,
        *,
        handler: AssayCallbackHandler | None = None,
        **options: Unpack[LiveOptions],
    ) -> None:
        super().__init__()
        if isinstance(metrics, AssayCallbackHandler):
            raise InputError("AssayMiddleware: give a handler by name: AssayMiddleware(handler=...)")
        if handler is None:
            handler = _HandlerOfMiddleware(metrics, judge, **options)
        else:
            object_not_class(handler, "AssayMiddleware", AssayCallbackHandler)
            given = [name for name, value in (("metrics", metrics), ("judge", judge)) if value is not None]
            if given or options:
                raise InputError(
                    f"{', '.join([*given, *options])}: belongs to the handler; give either handler= or these"
                )
        self.handler = handler

    def __repr__(self) -> str:
        return call_repr(self, self.handler)

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        return self._begin(state)

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        return self._begin(state)

    def after_agent(self, state: Any, runtime: Any) -> None:
        self._end(state)

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        self._end(state)

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        with self._hearing(request.state, fails=True):
            return handler(request)

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        with self._hearing(request.state, fails=True):
            return await handler(request)

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        with self._hearing(request.state):
            return handler(request)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        with self._hearing(request.state):
            return await handler(request)

    # -- the trace --------------------------------------------------------------------------------------------------

    def _begin(self, state: Any) -> dict[str, Any] | None:
        listener = self.handler.listener
        with listener.counting("before_agent"):
            around = run_around()
            if around is not None and listener.knows(around):
                return None
            return {RUN: self._start(state)}
        return None

    def _start(self, state: Any) -> uuid.UUID:
        run = uuid.uuid4()
        config = going_on()
        metadata = dict(config.get("metadata") or {})
        name = metadata.get("lc_agent_name") or "agent"
        self.handler.listener.start(
            "chain", dict(state), run_id=run, name=str(name), tags=config.get("tags"), metadata=metadata
        )
        return run

    def _end(self, state: Any) -> None:
        listener = self.handler.listener
        with listener.counting("after_agent"):
            around = run_around()
            if around is not None and listener.knows(around):
                return
            run = state.get(RUN)
            if run is None or not listener.knows(run):  # it began before an interrupt
                run = self._start({**state, "messages": list(state.get("messages", ()))})
            outputs = {key: value for key, value in state.items() if key != RUN}
            listener.end(run, "after_agent", outputs)

    @contextlib.contextmanager
    def _hearing(self, state: Any, *, fails: bool = False) -> Iterator[None]:
        run = self._attach(state)
        if run is None:
            yield
            return
        token = BLOCK.set(self.handler)
        try:
            yield
        except GraphBubbleUp:  # it asks a human, or goes elsewhere
            raise
        except BaseException as error:
            if fails:
                self.handler.listener.end(run, "wrap_model_call", error=error)
            raise
        finally:
            BLOCK.reset(token)

    def _attach(self, state: Any) -> uuid.UUID | None:
        """Put the node that is going on below the trace, so that what it calls is heard as a part of it."""
        listener = self.handler.listener
        with listener.counting("middleware"):
            run = state.get(RUN) if isinstance(state, dict) else getattr(state, RUN, None)
            node = run_around()
            if run is None or node is None or not listener.knows(run):
                return None
            if not listener.knows(node):
                listener.start("chain", None, run_id=node, parent_run_id=run)
            return run  # type: ignore[no-any-return]
        return None


class _HandlerOfMiddleware(AssayCallbackHandler):
    """The handler that a middleware makes: named as what the user called."""


_HandlerOfMiddleware.__name__ = _HandlerOfMiddleware.__qualname__ = "AssayMiddleware"
