"""Capture: the span and event handlers that turn query and chat calls into samples.

A sample begins with the outermost span of a query or chat engine and ends when its answer is complete: when the call
returns, or with the last token of a stream. Spans tell everything except the tokens of chat streams, which come as
events. LlamaIndex swallows whatever a handler raises, so each hook catches and counts its own errors.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

from llama_index_instrumentation.base import BaseEvent
from llama_index_instrumentation.event_handlers import BaseEventHandler
from llama_index_instrumentation.span import BaseSpan
from llama_index_instrumentation.span_handlers import BaseSpanHandler
from pydantic import Field

from assay.records import Sample, SampleStatus
from assay_llama_index.exchanges import Exchange, Kind, Member, OpenExchanges
from assay_llama_index.faults import Faults
from assay_llama_index.records import (
    answer_of,
    contexts_of,
    has_base,
    node_ids,
    plain,
    question_of,
    turns_of,
)
from assay_llama_index.streams import atee, status_of, tee

#: Which methods of which classes matter.
_KINDS: tuple[tuple[str, frozenset[str], Kind], ...] = (
    ("BaseQueryEngine", frozenset({"query", "aquery"}), "exchange"),
    ("BaseChatEngine", frozenset({"chat", "achat", "stream_chat", "astream_chat"}), "exchange"),
    ("BaseRetriever", frozenset({"retrieve", "aretrieve"}), "retrieve"),
    ("BaseNodePostprocessor", frozenset({"_postprocess_nodes", "_apostprocess_nodes"}), "postprocess"),
    (
        "StreamingAgentChatResponse",
        frozenset({"write_response_to_history", "awrite_response_to_history"}),
        "write",
    ),
)

UUID_LENGTH = 37  # of the "-" and the UUID at the end of a span id


def kind_of(span_id: str, instance: Any) -> Kind:
    """What the span of this method of this object means to us."""
    cls: type = type(instance)
    return _kind(cls, span_id[:-UUID_LENGTH])


@lru_cache(maxsize=1024)
def _kind(cls: type, name: str) -> Kind:
    method = name.rpartition(".")[2]
    bases = {base.__name__ for base in cls.__mro__ if base.__module__.startswith("llama_index.")}
    return next((kind for base, methods, kind in _KINDS if base in bases and method in methods), "other")


class Capture:
    """The common ground of both handlers: what is open, where samples go, what went wrong."""

    def __init__(self, deliver: Callable[[Sample], Any], *, max_open: int = 2000, ttl: float = 3600.0) -> None:
        self._deliver = deliver
        self.open = OpenExchanges(max_open, ttl)
        self.faults = Faults()
        self.expired = 0

    # -- spans ------------------------------------------------------------------------------------------------------

    def enter(
        self, span_id: str, arguments: dict[str, Any], instance: Any, parent_id: str | None, tags: dict[str, Any] | None
    ) -> None:
        parent = self.open.member(parent_id)
        kind = kind_of(span_id, instance)
        if parent is not None:
            self.open.join(span_id, self._nested(parent, kind, arguments))
        elif kind == "exchange":
            self._begin(span_id, arguments, instance, tags)

    @staticmethod
    def _nested(parent: Member, kind: Kind, arguments: dict[str, Any]) -> Member:
        if parent.hidden:
            return parent
        if parent.kind == "retrieve":
            return Member(parent.exchange, "other", hidden=True)
        if kind == "postprocess":
            return Member(parent.exchange, kind, given=node_ids(arguments.get("nodes") or ()))
        if kind in ("retrieve", "write"):
            return Member(parent.exchange, kind)
        return parent if parent.kind == "other" else Member(parent.exchange, "other")

    def _begin(self, span_id: str, arguments: dict[str, Any], instance: Any, tags: dict[str, Any] | None) -> None:
        exchange = Exchange(
            id=span_id,
            question=question_of(arguments),
            engine=type(instance).__name__,
            history=turns_of(arguments.get("chat_history")),
            tags=plain(tags or {}),
        )
        self._give_up(self.open.open(exchange))

    def exit(self, span_id: str, arguments: dict[str, Any], instance: Any, result: Any) -> None:
        member = self.open.leave(span_id)
        if member is None or member.hidden:
            return
        if member.exchange.id == span_id:
            self._returned(member.exchange, result)
        elif member.kind == "retrieve":
            member.exchange.retrieved(question_of(arguments), contexts_of(result or ()))
        elif member.kind == "postprocess":
            member.exchange.replaced(member.given, contexts_of(result or ()))
        elif member.kind == "write":
            self._written(member.exchange, instance, None)

    def drop(self, span_id: str, instance: Any, error: BaseException | None) -> None:
        member = self.open.leave(span_id)
        if member is None:
            return
        if member.exchange.id == span_id:
            status, name = status_of(error) if error is not None else ("failed", None)
            self._settle(member.exchange, member.exchange.streamed(), status, name)
        elif member.kind == "write":
            self._written(member.exchange, instance, error)

    def delta(self, span_id: str | None, text: str) -> None:
        """One token of a chat stream."""
        member = self.open.member(span_id)
        if member is not None:
            member.exchange.pieces.append(text)

    # -- ends -------------------------------------------------------------------------------------------------------

    def _returned(self, exchange: Exchange, result: Any) -> None:
        exchange.sources = contexts_of(getattr(result, "source_nodes", None) or ())
        if has_base(result, "StreamingResponse", "AsyncStreamingResponse") and result.response_txt is None:
            self._listen(exchange, result, "response_gen", lambda token: token)
        elif has_base(result, "StreamingAgentChatResponse"):
            self._chat_returned(exchange, result)
        else:
            self._settle(exchange, answer_of(result), "complete", None)

    def _chat_returned(self, exchange: Exchange, result: Any) -> None:
        if not result.is_writing_to_memory:  # the reader drives the stream, nobody writes it to the history
            name = "chat_stream" if result.chat_stream is not None else "achat_stream"
            self._listen(exchange, result, name, lambda chunk: chunk.delta or "")
            return
        ended = self.open.returned(exchange)
        if ended is not None:
            self._settle(exchange, exchange.streamed() or answer_of(result), *ended)

    def _written(self, exchange: Exchange, response: Any, error: BaseException | None) -> None:
        status, name = status_of(error)
        if self.open.wrote(exchange, status, name):
            self._settle(exchange, exchange.streamed() or answer_of(response), status, name)

    def _listen(self, exchange: Exchange, result: Any, name: str, read: Callable[[Any], Any]) -> None:
        """Put our ear on the stream that `result` holds under `name`."""
        stream = getattr(result, name)

        def piece(token: Any) -> None:
            with self.guard("stream", exchange.id):
                exchange.pieces.append(read(token))

        wrap = atee if hasattr(stream, "__anext__") else tee
        exchange.heard = True
        setattr(result, name, wrap(stream, piece, partial(self._heard, exchange)))

    def _heard(self, exchange: Exchange, status: SampleStatus, error: str | None) -> None:
        with self.guard("stream", exchange.id):
            self._settle(exchange, exchange.streamed(), status, error)

    def _settle(self, exchange: Exchange, answer: str | None, status: SampleStatus, error: str | None) -> None:
        if self.open.settle(exchange):
            self._deliver(exchange.sample(answer, status, error))

    def _give_up(self, exchanges: list[Exchange]) -> None:
        for exchange in exchanges:
            self.expired += 1
            self._settle(exchange, exchange.streamed(), "abandoned", None)

    def sweep(self) -> None:
        """Give up what never ended."""
        with self.guard("sweep", None):
            self._give_up(self.open.overdue())

    def abandon(self, *, streams: bool = True) -> None:
        """Give up everything that is open; with `streams` False, not the streams that we hear to their end."""
        with self.guard("close", None):
            self._give_up([each for each in self.open.everything() if streams or not each.heard])

    # -- guards -----------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def guard(self, hook: str, span_id: str | None) -> Iterator[None]:
        """Nothing raised inside reaches the host."""
        try:
            yield
        except BaseException as error:
            self.failed(error, hook, span_id)

    def failed(self, error: BaseException, hook: str, span_id: str | None) -> None:
        """Count an error of ours. Where a hook failed, its exchange is closed, so that nothing is left behind."""
        with contextlib.suppress(Exception):  # there is nobody left to tell
            self.faults.add(error, hook, span_id)
            member = self.open.leave(span_id) if span_id is not None and hook != "enter" else None
            if member is not None and member.exchange.id == span_id:
                self.open.settle(member.exchange)
        if isinstance(error, KeyboardInterrupt):
            raise error  # the user's Ctrl-C, which came while we were at work


class AssaySpanHandler(BaseSpanHandler[BaseSpan]):
    """Hears where spans begin and end. Overrides the entry points, so that no span object is built or kept."""

    # a field, since pydantic is slow to find private attributes
    capture: Any = Field(default=None, exclude=True, repr=False)

    def __init__(self, capture: Capture) -> None:
        super().__init__()
        self.capture = capture

    @classmethod
    def class_name(cls) -> str:
        return "AssaySpanHandler"

    def span_enter(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any | None = None,
        parent_id: str | None = None,
        tags: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        try:
            self.capture.enter(id_, bound_args.arguments, instance, parent_id, tags)
        except BaseException as error:
            self.capture.failed(error, "enter", id_)

    def span_exit(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any | None = None,
        result: Any | None = None,
        **kwargs: Any,
    ) -> None:
        try:
            self.capture.exit(id_, bound_args.arguments, instance, result)
        except BaseException as error:
            self.capture.failed(error, "exit", id_)

    def span_drop(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any | None = None,
        err: BaseException | None = None,
        **kwargs: Any,
    ) -> None:
        try:
            self.capture.drop(id_, instance, err)
        except BaseException as error:
            self.capture.failed(error, "drop", id_)

    def close(self) -> None:
        """The dispatcher shuts down."""
        self.capture.abandon()

    # required by the base class, and never called since the entry points are overridden
    def new_span(self, *args: Any, **kwargs: Any) -> BaseSpan | None:
        return None

    def prepare_to_exit_span(self, *args: Any, **kwargs: Any) -> BaseSpan | None:
        return None

    def prepare_to_drop_span(self, *args: Any, **kwargs: Any) -> BaseSpan | None:
        return None


class AssayEventHandler(BaseEventHandler):
    """Hears the tokens of chat streams."""

    # a field, since pydantic is slow to find private attributes
    capture: Any = Field(default=None, exclude=True, repr=False)

    def __init__(self, capture: Capture) -> None:
        super().__init__()
        self.capture = capture

    @classmethod
    def class_name(cls) -> str:
        return "AssayEventHandler"

    def handle(self, event: BaseEvent, **kwargs: Any) -> None:
        try:
            if type(event).__name__ == "StreamChatDeltaReceivedEvent":
                self.capture.delta(event.span_id, getattr(event, "delta", ""))
        except BaseException as error:
            self.capture.failed(error, "event", event.span_id)
