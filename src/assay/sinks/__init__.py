"""Where scores go: the sink protocol, and the sinks that need nothing but Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay._util.lazy_exports import lazy_exports, names_by_module
from assay.sinks.base import Receipt as Receipt
from assay.sinks.base import Sink as Sink
from assay.sinks.jsonl import JsonlFile as JsonlFile
from assay.sinks.jsonl import JsonlSink as JsonlSink
from assay.sinks.jsonl import MemorySink as MemorySink
from assay.sinks.jsonl import read_jsonl as read_jsonl

if TYPE_CHECKING:
    from assay.sinks.store import StoreSink as StoreSink
    from assay.sinks.webhook import WebhookSink as WebhookSink

_HOMES = {  # sinks that bring modules of their own
    "assay.sinks.base": "Receipt Sink",
    "assay.sinks.jsonl": "JsonlFile JsonlSink MemorySink read_jsonl",
    "assay.sinks.store": "StoreSink",
    "assay.sinks.webhook": "WebhookSink",
}

__all__ = [*names_by_module(_HOMES)]  # pyright: ignore[reportUnsupportedDunderAll]  # it reads the imports above

if not TYPE_CHECKING:  # type checkers would take any name at all for one of these
    __getattr__, __dir__ = lazy_exports(globals(), _HOMES)
