"""The callback handler: listens to chains, and hands finished traces to a live scorer.

The hooks run inline, append to a bounded collector and return; what they raise never reaches the host. Everything
else (assembling the sample, scoring, delivery) happens on the scorer's threads.
"""

from __future__ import annotations

import contextlib
import functools
import uuid
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler

from assay.capture import Keys, Kind, Run, RunCollector, Trace, sample_of
from assay.judges.base import BaseJudge
from assay.live import LiveScorer
from assay.records import Sample, ScoredSample
from assay.sinks.base import Sink
from assay_langchain.health import HandlerHealth

if TYPE_CHECKING:
    from assay.metrics.registry import MetricSpec

ID = "langchain_run_id"

#: The event by which `record_contexts` tells of documents.
CONTEXTS_EVENT = "assay.contexts"


class AssayCallbackHandler(BaseCallbackHandler):
    """Scores what LangChain chains, agents and graphs answer, while the application runs.

        handler = AssayCallbackHandler(metrics=["faithfulness"], sinks=[JsonlSink("scores.jsonl")])
        chain.invoke("Why do cats purr?", config={"callbacks": [handler]})

    metrics, judge, sinks, on_score, max_queue, concurrency, deadline, score_partial, keep
                  see `assay.live.LiveScorer`
    question_key  key of the chain's input that holds the question, if it has no common name
    answer_key    key of the chain's output that holds the answer
    contexts_key  key of the output or input that holds the passages; takes the place of what retrievers returned
    include       called on the application's own thread with the root run of each finished trace; False leaves it out
    max_traces    traces open at the same time; the oldest is given up for a new one
    ttl           seconds after which a trace that never ended is given up

    One handler serves any number of threads, tasks and chains at once. A trace ends with its root: the run whose
    parent this handler has not seen. Streams that the reader left are marked abandoned and, like cancelled and failed
    ones, not scored unless `score_partial`.
    """

    run_inline = True
    raise_error = False

    def __init__(
        self,
        metrics: MetricSpec | None = None,
        judge: BaseJudge | str | None = None,
        *,
        sinks: Sequence[Sink] = (),
        on_score: Callable[[ScoredSample], None] | None = None,
        question_key: str | None = None,
        answer_key: str | None = None,
        contexts_key: str | None = None,
        include: Callable[[Run], bool] | None = None,
        max_queue: int = 1000,
        concurrency: int = 4,
        deadline: float = 120.0,
        score_partial: bool = False,
        keep: int = 256,
        max_traces: int = 2000,
        ttl: float = 3600.0,
    ) -> None:
        self.scorer = LiveScorer(
            metrics,
            judge,
            sinks=sinks,
            on_score=on_score,
            max_queue=max_queue,
            concurrency=concurrency,
            deadline=deadline,
            score_partial=score_partial,
            keep=keep,
        )
        self.collector = RunCollector(max_traces=max_traces, ttl=ttl)
        self._keys = Keys(question=question_key, answer=answer_key, contexts=contexts_key)
        self._include = include
        self._skipped: Counter[str] = Counter()
        self._token = uuid.uuid4().hex
        _HANDLERS[self._token] = self

    # -- what the user asks of the handler --------------------------------------------------------------------------

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all finished traces are scored and delivered. False when the time ran out first."""
        return self.scorer.flush(timeout)

    def result(self, run_id: UUID | str, timeout: float | None = 0) -> ScoredSample | None:
        """The scores of the trace whose root has this run id, if it is among the newest results.

        Waits up to `timeout` seconds; None waits for as long as anything is pending.
        """
        return self.scorer.result(str(run_id), timeout)

    def health(self) -> HandlerHealth:
        """What was seen, scored, left out, dropped and went wrong."""
        collector = self.collector
        return HandlerHealth(
            events=collector.events,
            open_traces=len(collector),
            expired=collector.expired,
            ignored=collector.ignored,
            left_out=dict(self._skipped),
            live=self.scorer.health(),
        )

    def close(self, timeout: float | None = 30) -> HandlerHealth:
        """Take no more traces, wait for those in hand, close the sinks. What is still pending in the result is lost."""
        self.scorer.close(timeout)
        return self.health()

    # -- starts -----------------------------------------------------------------------------------------------------

    def on_chain_start(
        self,
        serialized: Any,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        name: str | None = None,
        run_type: str | None = None,
        **kwargs: Any,
    ) -> None:
        kind: Kind = _CHAIN_KINDS.get(run_type, "chain") if run_type is not None else "chain"
        self._start(run_id, parent_run_id, kind, name, inputs, tags, metadata)

    def on_retriever_start(
        self,
        serialized: Any,
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        self._start(run_id, parent_run_id, "retriever", name, query, tags, metadata)

    def on_tool_start(
        self,
        serialized: Any,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        self._start(run_id, parent_run_id, "tool", name, input_str, tags, metadata)

    def on_chat_model_start(
        self,
        serialized: Any,
        messages: list[list[Any]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        self._start(run_id, parent_run_id, "llm", name, messages, tags, metadata)

    def on_llm_start(
        self,
        serialized: Any,
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: list[str] | None = None,
        metadata: dict[str, Any] | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        self._start(run_id, parent_run_id, "llm", name, prompts, tags, metadata)

    # -- ends -------------------------------------------------------------------------------------------------------

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        # only streams give their inputs at the end
        self._end(run_id, "on_chain_end", outputs, inputs=kwargs.get("inputs"), streamed="inputs" in kwargs)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self._end(run_id, "on_chain_error", error=error, inputs=kwargs.get("inputs"))

    def on_retriever_end(self, documents: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self._end(run_id, "on_retriever_end", documents=documents)

    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self._end(run_id, "on_retriever_error", error=error)

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        try:
            self.collector.end(run_id, output, documents=_documents_of_tool(output))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self._count(error, "on_tool_end")

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self._end(run_id, "on_tool_error", error=error)

    def on_llm_end(self, response: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self._end(run_id, "on_llm_end", response)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self._end(run_id, "on_llm_error", error=error)

    def on_custom_event(self, name: str, data: Any, *, run_id: UUID, **kwargs: Any) -> None:
        if name != CONTEXTS_EVENT:
            return
        try:
            self.collector.add_documents(run_id, data)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self._count(error, "on_custom_event")

    # Tokens, texts, retries, agent actions and protocol events say nothing that starts and ends do not: for those the
    # inherited hooks stand, which do nothing at all.

    # -- behind the hooks -------------------------------------------------------------------------------------------

    def _start(
        self,
        run_id: UUID,
        parent: UUID | None,
        kind: Kind,
        name: str | None,
        inputs: Any,
        tags: list[str] | None,
        metadata: dict[str, Any] | None,
    ) -> None:
        try:
            self.collector.start(run_id, parent, kind, name, inputs, tags, metadata)
        except KeyboardInterrupt:  # the user's Ctrl-C, which happened to come while we were at work
            raise
        except BaseException as error:
            self._count(error, f"{kind} start")

    def _end(self, run_id: UUID, where: str, outputs: Any = None, **how: Any) -> None:
        try:
            trace = self.collector.end(run_id, outputs, **how)
            if trace is not None:
                self._ended(trace)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self._count(error, where)

    def _ended(self, trace: Trace) -> None:
        if self._include is not None and not self._include(trace.root):
            self._skipped["excluded"] += 1
            return
        self.scorer.submit(functools.partial(self._sample, trace))

    def _sample(self, trace: Trace) -> Sample | None:
        """On the scorer's thread."""
        if trace.root.kind == "llm":
            trace.root.outputs = _message_of(trace.root.outputs)
        sample = sample_of(trace, self._keys, id_name=ID)
        if sample is None:
            self._skipped["no_answer"] += 1
        return sample

    def _count(self, error: BaseException, where: str) -> None:
        with contextlib.suppress(Exception):  # there is nobody left to tell
            self.scorer.count_error(error, where)

    # -- copies: configs are copied and sometimes pickled, the handler stays one ------------------------------------

    def __copy__(self) -> AssayCallbackHandler:
        return self

    def __deepcopy__(self, memo: Any) -> AssayCallbackHandler:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _handler_of, (self._token,)


_CHAIN_KINDS: dict[str, Kind] = {"prompt": "prompt", "parser": "parser", "llm": "llm"}

_HANDLERS: weakref.WeakValueDictionary[str, AssayCallbackHandler] = weakref.WeakValueDictionary()


def _handler_of(token: str) -> BaseCallbackHandler:
    """The handler a pickle stands for: itself in its own process, one that does nothing in any other."""
    return _HANDLERS.get(token) or BaseCallbackHandler()


def _documents_of_tool(output: Any) -> list[Any] | None:
    """The documents in a tool message's artifact."""
    artifact = getattr(output, "artifact", None)
    if not isinstance(artifact, list) or not artifact:
        return None
    return artifact if all(hasattr(item, "page_content") for item in artifact) else None


def _message_of(response: Any) -> Any:
    """The message, or the text, of a model's result."""
    generations = getattr(response, "generations", None)
    if not generations or not generations[0]:
        return None
    generation = generations[0][0]
    return getattr(generation, "message", None) or getattr(generation, "text", None)
