"""Scores as OpenTelemetry events, and OpenTelemetry spans as samples."""

from __future__ import annotations

from assay_opentelemetry.files import read_spans
from assay_opentelemetry.sink import OpenTelemetrySink
from assay_opentelemetry.source import Counts, read_traces, spans_to_samples
from assay_opentelemetry.span_data import Event, SpanData
from assay_opentelemetry.spans import run_of
from assay_opentelemetry.traces import TraceSamples, trace_samples

__all__ = [
    "Counts",
    "Event",
    "OpenTelemetrySink",
    "SpanData",
    "TraceSamples",
    "read_spans",
    "read_traces",
    "run_of",
    "spans_to_samples",
    "trace_samples",
]
