"""Attaching assay to LlamaIndex: every query and chat engine of the process is heard, none is changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.dispatcher import Dispatcher

from assay.judges.base import BaseJudge
from assay.live import Health, LiveScorer
from assay.records import Record, Sample, ScoredSample
from assay.sinks.base import Sink
from assay_llama_index.handler import AssayEventHandler, AssaySpanHandler, Capture

if TYPE_CHECKING:
    from assay.metrics.registry import MetricSpec

#: Where LlamaIndex tells of the tokens of chat streams. A handler there is not called for any other event.
CHAT_STREAMS = "llama_index.core.chat_engine.types"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstrumentationHealth(Record):
    """The state of an instrumentation at one moment.

    attached      whether it listens
    exchanges     outermost query and chat calls that began
    open          those without an end so far, with the streams that are still being read
    open_spans    spans followed for them
    expired       exchanges given up: too many were open, or they never ended
    errors        exceptions caught in our hooks, by hook and type
    last_error    the newest of them
    live          what became of the samples: see `assay.live.Health`
    """

    attached: bool = False
    exchanges: int = 0
    open: int = 0
    open_spans: int = 0
    expired: int = 0
    errors: Mapping[str, int] = field(default_factory=dict)
    last_error: str | None = None
    live: Health = field(default_factory=Health)


class AssayInstrumentation:
    """Scores what LlamaIndex query and chat engines answer, while the application runs.

        with AssayInstrumentation(metrics=["faithfulness"], sinks=[JsonlSink("scores.jsonl")]) as assay:
            index.as_query_engine().query("Why do cats purr?")

    metrics, judge, sinks, on_score, max_queue, concurrency, deadline, score_partial, keep
                see `assay.live.LiveScorer`
    dispatcher  listen here only; the default is the root dispatcher, which hears the whole process
    max_open    exchanges open at the same time; the oldest is given up for a new one
    ttl         seconds after which an exchange that never ended is given up

    The outermost query or chat call is the sample; engines called inside it belong to it. Safe for any number of
    threads and tasks. Streams that the reader left are marked abandoned and, like cancelled and failed calls, not
    scored unless `score_partial`.
    """

    def __init__(
        self,
        metrics: MetricSpec | None = None,
        judge: BaseJudge | str | None = None,
        *,
        sinks: Sequence[Sink] = (),
        on_score: Callable[[ScoredSample], None] | None = None,
        max_queue: int = 1000,
        concurrency: int = 4,
        deadline: float = 120.0,
        score_partial: bool = False,
        keep: int = 256,
        dispatcher: Dispatcher | None = None,
        max_open: int = 2000,
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
        self._capture = Capture(self._submit, max_open=max_open, ttl=ttl)
        self._spans = AssaySpanHandler(self._capture)
        self._events = AssayEventHandler(self._capture)
        self._span_dispatcher = dispatcher if dispatcher is not None else get_dispatcher()
        self._event_dispatcher = dispatcher if dispatcher is not None else get_dispatcher(CHAT_STREAMS)
        self.attached = False

    def attach(self) -> Self:
        """Listen from now on. Calls under way are not heard."""
        if not self.attached:
            self._span_dispatcher.add_span_handler(self._spans)
            self._event_dispatcher.add_event_handler(self._events)
            self.attached = True
        return self

    def detach(self) -> None:
        """Listen no more. Query streams under way are heard to their end, other open calls given up."""
        if self.attached:
            # by identity: two handlers of one class are equal to pydantic, and `remove` would take the first
            spans, events = self._span_dispatcher, self._event_dispatcher
            spans.span_handlers = [handler for handler in spans.span_handlers if handler is not self._spans]
            events.event_handlers = [handler for handler in events.event_handlers if handler is not self._events]
            self.attached = False
            self._capture.abandon(streams=False)

    def __enter__(self) -> Self:
        return self.attach()

    def __exit__(self, *exception: object) -> None:
        self.close()

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all that was answered so far is scored and delivered. False when the time ran out first."""
        self._capture.sweep()
        return self.scorer.flush(timeout)

    def result(self, span_id: str, timeout: float | None = 0) -> ScoredSample | None:
        """The scores of the exchange whose outermost span has this id, if it is among the newest results.

        Waits up to `timeout` seconds; None waits for as long as anything is pending.
        """
        return self.scorer.result(span_id, timeout)

    def health(self) -> InstrumentationHealth:
        """What was heard, scored, given up and went wrong."""
        capture = self._capture
        capture.sweep()
        return InstrumentationHealth(
            attached=self.attached,
            exchanges=capture.open.seen,
            open=len(capture.open),
            open_spans=capture.open.spans,
            expired=capture.expired,
            errors=dict(capture.faults.counts),
            last_error=capture.faults.last,
            live=self.scorer.health(),
        )

    def close(self, timeout: float | None = 30) -> InstrumentationHealth:
        """Detach, wait for the samples in hand, close the sinks. What is pending in the result is lost."""
        self.detach()
        self._capture.abandon()
        self.scorer.close(timeout)
        return self.health()

    def _submit(self, sample: Sample) -> None:
        self.scorer.submit(sample)
