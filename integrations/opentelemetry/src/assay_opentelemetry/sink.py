"""Scores as OpenTelemetry events: log records named `gen_ai.evaluation.result`, below the span that was judged."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from assay import InputError, Sample, __version__
from assay.extension import Annotation, PerProcess, Refused, RemoteOptions, RemoteSink, call_repr, host_of
from assay_opentelemetry.conventions import EVALUATION, SCHEMA_URL, evaluation_attributes

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.context import Context

    from assay_opentelemetry.direct_export import DirectExport

SCOPE = "assay"

_LOGS = "/v1/logs"


def open_sink(address: str) -> OpenTelemetrySink:
    """The sink that `otel:ADDRESS` names, over OTLP/HTTP; without an address it is what OTEL_EXPORTER_OTLP_* say."""
    from assay_opentelemetry.direct_export import endpoint_of_environment

    return OpenTelemetrySink(endpoint=address or endpoint_of_environment())


class OpenTelemetrySink(RemoteSink):
    """Emits one event per score.

    The span is `ids["otel_trace_id"]` and `ids["otel_span_id"]`; where it is not known, `ids["gen_ai_response_id"]`
    says which answer was judged. Samples with neither, nor a trace id, are skipped, and counted as such.

    Attributes are those of OpenTelemetry's conventions for generative AI (`gen_ai.evaluation.name`, `.score.value`,
    `.score.label`, `.explanation`, `error.type` where there is no measurement), of the version that the scope's schema
    URL names (`assay_opentelemetry.conventions`), and judge, version, range and evidence under `assay.`. OpenTelemetry
    only appends: writing the same score again gives another event. Both carry the same `assay.id`, by which a store can
    tell.

    Args:
        endpoint: An OTLP/HTTP receiver such as `http://localhost:4318`. The sink then exports by itself, one request
            per sample, and knows what became of it.
        headers: Sent along to the endpoint; else those of OTEL_EXPORTER_OTLP_HEADERS.
        timeout: Seconds that one export may take, its own retries included.
        logger_provider: Where there is no endpoint: emits through it, or through the application's global one. The SDK
            tells nobody whether its exporter failed: such scores count as sent, unconfirmed.
        options: Those of every remote sink: attempts, patience, dry_run, mask, texts.
    """

    def __init__(
        self,
        logger_provider: LoggerProvider | None = None,
        *,
        endpoint: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 10.0,
        **options: Unpack[RemoteOptions],
    ) -> None:
        super().__init__(**options)
        if endpoint is not None and logger_provider is not None:
            raise InputError("endpoint: give either an endpoint or a logger_provider")
        if endpoint is None and headers is not None:
            raise InputError("headers: they belong to an endpoint")
        if not timeout > 0:
            raise InputError(f"timeout: expected a positive number of seconds, got {timeout}")
        self._provider = logger_provider
        self._host = None if endpoint is None else host_of(endpoint)
        self._timeout = timeout
        self._direct: PerProcess[DirectExport] | None = None
        if endpoint is not None:
            url = _logs_address(endpoint)

            def make() -> DirectExport:
                from assay_opentelemetry.direct_export import DirectExport

                return DirectExport(url, headers, timeout)

            self._direct = PerProcess(make)

    def __repr__(self) -> str:
        return call_repr(self, logger_provider=self._provider, endpoint=self._host)

    def target_of(self, sample: Sample) -> str | None:
        trace, span = _hex(sample.ids.get("otel_trace_id"), 32), _hex(sample.ids.get("otel_span_id"), 16)
        if trace and span:
            return f"{trace}/{span}"
        return sample.ids.get("gen_ai_response_id") or trace

    def send(self, target: str, annotations: Sequence[Annotation], sample: Sample) -> None:
        from opentelemetry._logs import LogRecord, SeverityNumber

        now = time.time_ns()
        context = _context(target)
        records = [
            LogRecord(
                timestamp=now,
                observed_timestamp=now,
                context=context,
                severity_number=SeverityNumber.INFO,
                event_name=EVALUATION,
                attributes=evaluation_attributes(annotation, sample.ids.get("gen_ai_response_id")),
            )
            for annotation in annotations
        ]
        if self._direct is not None:
            self._direct.get().export(records)
        else:
            self._emit(records)

    def close(self) -> None:
        """Flush the provider, or close the sink's own connections."""
        if self._direct is None:
            self._flush(self._provider)
        elif (direct := self._direct.take()) is not None:
            direct.close()

    def _emit(self, records: Sequence[Any]) -> None:
        from opentelemetry._logs import NoOpLogger, get_logger_provider

        provider = self._provider or get_logger_provider()
        logger = provider.get_logger(SCOPE, __version__, SCHEMA_URL)
        if isinstance(logger, NoOpLogger) or _unset(logger):
            raise Refused("no logger provider is set up: give endpoint= or logger_provider=")
        for record in records:
            logger.emit(record)
        if not self._flush(provider):
            raise TimeoutError("the logger provider did not flush in time")

    def _flush(self, provider: LoggerProvider | None) -> bool:
        flush = getattr(provider, "force_flush", None)
        return True if flush is None else flush(int(self._timeout * 1000)) is not False


def _context(target: str) -> Context:
    """A context in which the judged span is the current one; an empty one where the span is not known."""
    from opentelemetry.context import Context
    from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

    trace, slash, span = target.partition("/")
    if not slash or not _hex(trace, 32):
        # never the span that happens to be current in this thread; and never falsy, for then the SDK takes that one
        return set_span_in_context(NonRecordingSpan(SpanContext(0, 0, is_remote=False)), Context())
    place = SpanContext(int(trace, 16), int(span, 16), is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
    return set_span_in_context(NonRecordingSpan(place), Context())


def _hex(value: str | None, length: int) -> str | None:
    """An id of so many hex digits that is not all zeros; None for anything else."""
    if value is None or len(value) != length:
        return None
    try:
        return value if int(value, 16) else None
    except ValueError:
        return None


def _unset(logger: Any) -> bool:
    """Whether this is the API's stand-in for a provider that nobody has set."""
    from opentelemetry._logs import NoOpLogger

    return type(logger).__name__ == "ProxyLogger" and isinstance(getattr(logger, "_logger", None), NoOpLogger)


def _logs_address(endpoint: str) -> str:
    if not endpoint.startswith(("http://", "https://")):
        raise InputError("endpoint: expected an http or https address of an OTLP/HTTP receiver")
    return endpoint if endpoint.rstrip("/").endswith(_LOGS) else endpoint.rstrip("/") + _LOGS
