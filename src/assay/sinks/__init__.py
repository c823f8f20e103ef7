"""Where scores go: the sink protocol, and the sinks that need nothing but Python."""

from assay.sinks.base import Receipt, Sink
from assay.sinks.jsonl import JsonlFile, JsonlSink, MemorySink, read_jsonl

__all__ = ["JsonlFile", "JsonlSink", "MemorySink", "Receipt", "Sink", "read_jsonl"]
