"""Where scores go: the sink protocol, and the sinks that need nothing but Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.sinks.base import Receipt, Sink
from assay.sinks.jsonl import JsonlFile, JsonlSink, MemorySink, read_jsonl

if TYPE_CHECKING:
    from assay.sinks.store import StoreSink
    from assay.sinks.webhook import WebhookSink

__all__ = [
    "JsonlFile",
    "JsonlSink",
    "MemorySink",
    "Receipt",
    "Sink",
    "StoreSink",
    "WebhookSink",
    "read_jsonl",
]


def __getattr__(name: str) -> Any:
    """The sinks that bring modules of their own, on first use."""
    if name == "StoreSink":
        from assay.sinks.store import StoreSink

        return StoreSink
    if name == "WebhookSink":
        from assay.sinks.webhook import WebhookSink

        return WebhookSink
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
