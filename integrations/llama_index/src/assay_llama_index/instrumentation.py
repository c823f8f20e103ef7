"""Attaching assay to LlamaIndex: every engine, agent and workflow of the process is heard, none is changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, Unpack

from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.dispatcher import Dispatcher

from assay.extension import (
    REMEMBERED,
    BaseHandler,
    CaptureRules,
    Health,
    Intake,
    JudgeSpec,
    LiveOptions,
    Record,
    Tabular,
    is_off,
)
from assay_llama_index import recording
from assay_llama_index import usage_errors as misuse
from assay_llama_index.capture import Capture
from assay_llama_index.handler import AssayEventHandler, AssaySpanHandler

if TYPE_CHECKING:
    from assay.extension import MetricSpec

#: Where LlamaIndex tells of the tokens of chat streams, and of what models wrote. A handler there hears nothing else.
EVENTS = ("llama_index.core.chat_engine.types", "llama_index.core.llms.callbacks")


@dataclass(frozen=True, slots=True, kw_only=True)
class InstrumentationHealth(Tabular, Record):
    """The state of an instrumentation at one moment.

    Attributes:
        attached: Whether it listens.
        exchanges: Outermost calls that began.
        open: Those without an end so far, with the streams that are still being read.
        open_spans: Spans followed for them.
        expired: Exchanges given up: too many were open, or they never ended.
        left_out: Finished exchanges that gave no sample, by reason: `no_answer`; `captured_twice`, where two
            instrumentations hand over to one scorer.
        live: What became of the samples: see `assay.live.Health`.
    """

    _columns = (
        "attached exchanges open open_spans expired left_out submitted=live.submitted dropped=live.dropped "
        "pending=live.pending scored=live.scored no_value=live.no_value causes=live.causes errors=live.errors "
        "last_error=live.last_error"
    )

    attached: bool = False
    exchanges: int = 0
    open: int = 0
    open_spans: int = 0
    expired: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    live: Health = field(default_factory=Health)

    @property
    def errors(self) -> Mapping[str, int]:
        """Exceptions caught, by type."""
        return self.live.errors


class AssayInstrumentation(BaseHandler[InstrumentationHealth], metaclass=misuse.InstrumentationType):
    """Scores what LlamaIndex engines, agents and workflows answer, while the application runs.

        with AssayInstrumentation(metrics=["faithfulness"], sinks=[JsonlSink("scores.jsonl")]) as assay:
            index.as_query_engine().query("Why do cats purr?")

    It listens from `attach` to `detach`, or in a block (`with`, `async with`). It is no callback handler: LlamaIndex is
    given nothing. With `metrics=()` nothing is scored and no judge needed: `samples()` shows what is captured.

    The outermost call of a query engine, a chat engine, an agent, a synthesizer or a workflow that is asked something
    is the sample; what is called inside it belongs to it. LlamaIndex' own evaluators are no application. Safe for any
    number of threads and tasks. Streams that the reader left are marked abandoned and, like cancelled and failed calls,
    not scored unless `score_partial`.

    Args:
        metrics, judge: See `assay.live.LiveScorer`; so are the further options: sinks, on_score, sampling …
        scorer: An intake of your own, in place of metrics, judge and options: it stays open when this is closed.
        rules: Where question, answer and contexts are, if they are not found: see `CaptureRules`. Runs are named as
            their spans, `RetrieverQueryEngine.query`, and tools by their own names.
        dispatcher: Listen here only; the default is the root dispatcher, which hears the whole process.
        max_open: Exchanges open at the same time; the oldest is given up for a new one.
        ttl: Seconds after which an exchange that never ended is given up.
        remember: Newest captured samples that `samples()` and `last` still know, scored or not.
        enabled: False: nothing is heard, kept or started. None: as ASSAY_ENABLED says, or else True.
    """

    def __init__(
        self,
        metrics: MetricSpec | None = None,
        judge: JudgeSpec = None,
        *,
        scorer: Intake | None = None,
        rules: CaptureRules | None = None,
        dispatcher: Dispatcher | None = None,
        max_open: int = 2000,
        ttl: float = 3600.0,
        remember: int = REMEMBERED,
        enabled: bool | None = None,
        **options: Unpack[LiveOptions],
    ) -> None:
        rules = rules or CaptureRules()
        super().__init__(metrics, judge, scorer, options, rules, remember=remember, enabled=enabled)
        self._capture = Capture(self.scorer, rules=rules, max_open=max_open, ttl=ttl, remembered=self.remembered)
        self._spans = AssaySpanHandler(self._capture)
        self._events = AssayEventHandler(self._capture)
        self._span_dispatcher = dispatcher if dispatcher is not None else get_dispatcher()
        self._event_dispatchers = (dispatcher,) if dispatcher is not None else tuple(map(get_dispatcher, EVENTS))
        self.attached = False

    def attach(self) -> Self:
        """Listen from now on. Calls under way are not heard.

        Returns:
            This instrumentation.
        """
        if not self.attached and not is_off(self.scorer):
            self._span_dispatcher.add_span_handler(self._spans)
            for dispatcher in self._event_dispatchers:
                dispatcher.add_event_handler(self._events)
            recording.attach(self._capture)
            self.attached = True
        return self

    def detach(self) -> None:
        """Listen no more. Query streams under way are heard to their end, other open calls given up."""
        if self.attached:
            # by identity: two handlers of one class are equal to pydantic, and `remove` would take the first
            spans = self._span_dispatcher
            spans.span_handlers = [handler for handler in spans.span_handlers if handler is not self._spans]
            for events in self._event_dispatchers:
                events.event_handlers = [handler for handler in events.event_handlers if handler is not self._events]
            recording.detach(self._capture)
            self.attached = False
            self._capture.abandon(streams=False)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all that was answered so far is scored and delivered.

        Args:
            timeout: Seconds to wait at most; None: no limit.

        Returns:
            False when the time ran out first.
        """
        self._capture.sweep()
        return self.scorer.flush(timeout)

    def health(self) -> InstrumentationHealth:
        """Count what was heard, scored, given up and what went wrong.

        Returns:
            The counters at this moment.
        """
        capture = self._capture
        capture.sweep()
        return InstrumentationHealth(
            attached=self.attached,
            exchanges=capture.seen,
            open=len(capture.collector),
            open_spans=capture.open_spans,
            expired=capture.collector.expired,
            left_out=dict(capture.answers.left_out),
            live=self.scorer.health(),
        )

    def close(self, timeout: float | None = 30) -> InstrumentationHealth:
        """Detach, wait for the samples that were captured, close the sinks.

        Args:
            timeout: Seconds to wait at most; None: no limit.

        Returns:
            The last counters. What they call pending is lost.
        """
        self.detach()
        self._capture.abandon()
        return super().close(timeout)

    def _begin(self) -> None:
        self.attach()

    def __reduce__(self) -> Any:
        return misuse.of_another_process, ()

    if not TYPE_CHECKING:  # only asked for what there is not

        def __getattr__(self, name: str) -> Any:
            misuse.refuse_handler(type(self).__name__, name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
