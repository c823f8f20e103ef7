"""The callback handler: listens to chains, and hands finished traces to an intake.

The hooks run inline, note it in a bounded collector and return; what they raise never reaches the host. Everything
else (assembling the sample, scoring, delivery) happens on the intake's threads.
"""

from __future__ import annotations

import contextlib
import uuid
import weakref
from collections.abc import Callable
from contextvars import Token
from typing import TYPE_CHECKING, Any, Self, Unpack
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler

from assay.extension import (
    REMEMBERED,
    BaseHandler,
    CaptureRules,
    Intake,
    JudgeSpec,
    LiveOptions,
    Run,
    RunCollector,
    RunKind,
)
from assay_langchain.completions import notify_other_handlers
from assay_langchain.events import documents_of_tool, text_written
from assay_langchain.graph_events import graph_aware, hears_graphs
from assay_langchain.health import HandlerHealth
from assay_langchain.listener import Listener
from assay_langchain.switches import BLOCK, INSTALLED
from assay_langchain.usage_errors import HandlerType, of_another_process

if TYPE_CHECKING:
    from assay.extension import MetricSpec


class AssayCallbackHandler(BaseHandler[HandlerHealth], BaseCallbackHandler, metaclass=HandlerType):
    """Scores what LangChain chains, agents and graphs answer, while the application runs.

        handler = AssayCallbackHandler(metrics=["faithfulness"], sinks=[JsonlSink("scores.jsonl")])
        chain.invoke("Why do cats purr?", config={"callbacks": [handler]})

    With `metrics=()` nothing is scored and no judge is needed: `samples()` shows what is captured. As a context manager
    (`with`, `async with`) it also listens to all that runs in the block, and is closed at its end.

    One handler serves any number of threads, tasks and chains at once. A trace ends with its root: the run whose
    parent this handler has not seen. Streams that the reader left are marked abandoned and, like cancelled and failed
    ones, not scored unless `score_partial`. Earlier turns of a conversation (by `thread_id` or `session_id` in the
    metadata) are the sample's history, with the contexts they had.

    Args:
        metrics, judge, options: See `assay.live.LiveScorer`: sinks, on_score, sampling, budget, deadline …
        scorer: An intake of your own in place of those: a LiveScorer that several handlers share, or a queue. `close`
            flushes it and leaves it open.
        rules: Where question, answer and contexts are, if they are not found by themselves: see `CaptureRules`.
        include: Called on the application's own thread with the root run of each finished trace; False leaves it out.
        max_traces: Traces open at the same time; the oldest is given up for a new one.
        ttl: Seconds after which a trace that never ended is given up.
        enabled: False: nothing is heard, kept or started. None: as ASSAY_ENABLED in the environment says, or else True.
        remember: Newest captured samples that `samples()` and `last` still know, scored or not.
    """

    raise_error = False
    run_inline = True
    tells_the_others = True  # told by others of our kind: see `assay_langchain.completions`
    # as inherited, but for what a property takes: LangChain asks for one at each event
    ignore_chain = ignore_llm = ignore_chat_model = ignore_retriever = ignore_agent = False

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        return super().__new__(graph_aware(cls))

    def __init__(
        self,
        metrics: MetricSpec | None = None,
        judge: JudgeSpec = None,
        *,
        scorer: Intake | None = None,
        rules: CaptureRules | None = None,
        include: Callable[[Run], bool] | None = None,
        max_traces: int = 2000,
        ttl: float = 3600.0,
        remember: int = REMEMBERED,
        enabled: bool | None = None,
        **options: Unpack[LiveOptions],
    ) -> None:
        rules = rules or CaptureRules()
        super().__init__(metrics, judge, scorer, options, rules, remember=remember, enabled=enabled)
        self._blocks: list[Token[BaseCallbackHandler | None]] = []
        self.collector = RunCollector(max_traces=max_traces, ttl=ttl, keep=rules.runs)
        self.listener = Listener(self.collector, self.scorer, rules, include, self.remembered, self._hears_interrupts)
        self._token = uuid.uuid4().hex
        _HANDLERS[self._token] = self

    # -- what the user asks of the handler --------------------------------------------------------------------------

    def health(self) -> HandlerHealth:
        """Count what was seen, scored, left out, dropped and what went wrong.

        Returns:
            The counters at this moment.
        """
        collector = self.collector
        collector.sweep()
        return HandlerHealth(
            events=collector.events,
            open_traces=len(collector),
            expired=collector.expired,
            ignored=collector.ignored,
            interrupted=self.listener.interrupted,
            left_out=dict(self.listener.left_out),
            live=self.scorer.health(),
        )

    def _give_up(self) -> None:
        self.listener.give_up()

    def _begin(self) -> None:
        self._blocks.append(BLOCK.set(self))

    def _end(self) -> None:
        with contextlib.suppress(ValueError):  # a fixture or a server may end the block in another context
            BLOCK.reset(self._blocks.pop())

    # -- starts -----------------------------------------------------------------------------------------------------

    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: UUID, **about: Any) -> None:
        run_type = about.get("run_type")
        kind: RunKind = _CHAIN_KINDS.get(run_type, "chain") if run_type is not None else "chain"
        self.listener.start(kind, inputs, run_id=run_id, **about)

    def on_retriever_start(self, serialized: Any, query: str, *, run_id: UUID, **about: Any) -> None:
        self.listener.start("retriever", query, run_id=run_id, **about)

    def on_tool_start(
        self, serialized: Any, input_str: str, *, run_id: UUID, name: str | None = None, **about: Any
    ) -> None:
        tool = serialized if isinstance(serialized, dict) else {}
        arguments = about.get("inputs")
        self.listener.start(
            "tool", input_str if arguments is None else arguments, run_id=run_id, name=name or tool.get("name"),
            described=tool.get("description"), **about,
        )  # fmt: skip

    def on_chat_model_start(self, serialized: Any, messages: list[list[Any]], *, run_id: UUID, **about: Any) -> None:
        self.listener.start("llm", messages, run_id=run_id, described=about.get("invocation_params"), **about)

    def on_llm_start(self, serialized: Any, prompts: list[str], *, run_id: UUID, **about: Any) -> None:
        self.listener.start("llm", prompts, run_id=run_id, **about)
        with self.listener.counting("llm start"):
            notify_other_handlers()

    # -- ends -------------------------------------------------------------------------------------------------------

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        # only streams give their inputs at the end
        self.listener.end(run_id, "on_chain_end", outputs, inputs=kwargs.get("inputs"), streamed="inputs" in kwargs)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self.listener.end(run_id, "on_chain_error", error=error, inputs=kwargs.get("inputs"))

    def on_retriever_end(self, documents: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self.listener.end(run_id, "on_retriever_end", documents=documents)

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self.listener.end(run_id, "on_retriever_error", error=error)

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self.listener.end(run_id, "on_tool_end", output, find=documents_of_tool)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self.listener.end(run_id, "on_tool_error", error=error)

    def on_llm_end(self, response: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self.listener.end(run_id, "on_llm_end", response, read=text_written)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self.listener.end(run_id, "on_llm_error", error=error)

    # -- graphs, where LangGraph is loaded: see `graph_events` ------------------------------------------------------

    def on_interrupt(self, event: Any) -> None:
        """Take note that a graph waits for somebody.

        Args:
            event: What LangGraph says of it.
        """
        self.listener.note_graph(event, interrupted=True)

    def on_resume(self, event: Any) -> None:
        """Take note that a graph goes on.

        Args:
            event: What LangGraph says of it.
        """
        self.listener.note_graph(event, resumed=True)

    def _hears_interrupts(self) -> bool:
        """Whether LangGraph would tell us of an interrupt: those that are installed it does not know."""
        return hears_graphs(self) and self is not INSTALLED.handler and self is not BLOCK.get()

    # Tokens, texts, retries, agent actions, custom and protocol events say nothing that starts and ends do not: for
    # those the inherited hooks stand, which do nothing at all.

    # -- copies: configs are copied and sometimes pickled, the handler stays one ------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        return _handler_of, (self._token,)


_CHAIN_KINDS: dict[str, RunKind] = {"prompt": "prompt", "parser": "parser"}

_HANDLERS: weakref.WeakValueDictionary[str, AssayCallbackHandler] = weakref.WeakValueDictionary()


def _handler_of(token: str) -> BaseCallbackHandler:
    """The handler a pickle stands for: itself in its own process, one that does nothing in any other, and says so."""
    return _HANDLERS.get(token) or of_another_process()
