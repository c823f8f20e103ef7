"""The span and the event handler. LlamaIndex swallows what they raise: each hook catches and counts its own errors."""

from __future__ import annotations

import inspect
from typing import Any

from llama_index_instrumentation.base import BaseEvent
from llama_index_instrumentation.event_handlers import BaseEventHandler
from llama_index_instrumentation.span import BaseSpan
from llama_index_instrumentation.span_handlers import BaseSpanHandler
from pydantic import Field

from assay_llama_index.capture import Capture

_WRITTEN = ("LLMChatEndEvent", "LLMCompletionEndEvent")


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
            self.capture.faults.failed(error, "enter", id_)

    def span_exit(
        self,
        id_: str,
        bound_args: inspect.BoundArguments,
        instance: Any | None = None,
        result: Any | None = None,
        **kwargs: Any,
    ) -> None:
        try:
            self.capture.exit(id_, instance, result)
        except BaseException as error:
            self.capture.faults.failed(error, "exit", id_)

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
            self.capture.faults.failed(error, "drop", id_)

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
    """Hears the tokens of chat streams, and how models ended that streamed."""

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
            name = type(event).__name__
            if name == "StreamChatDeltaReceivedEvent":
                self.capture.delta(event.span_id, getattr(event, "delta", ""))
            elif name in _WRITTEN:
                self.capture.written(event.span_id, getattr(event, "response", None))
            elif name == "ExceptionEvent":
                self.capture.broke(event.span_id, getattr(event, "exception", None))
        except BaseException as error:
            self.capture.faults.failed(error, "event", event.span_id)
