"""Export over OTLP/HTTP that says what became of it, which the SDK's processors do not."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import requests
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource

from assay import __version__
from assay.extension import Busy, Refused
from assay_opentelemetry.conventions import SCHEMA_URL

if TYPE_CHECKING:
    from opentelemetry._logs import LogRecord

_TRY_AGAIN = frozenset({408, 425, 429})
_DEFAULT = "http://localhost:4318"


def endpoint_of_environment() -> str:
    """The receiver that OpenTelemetry's own variables name, or its default on this machine."""
    logs = os.environ.get("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT")
    return logs or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or _DEFAULT


class DirectExport:
    """A logger provider and an OTLP exporter of our own: `export` raises what went wrong. For one thread at a time."""

    def __init__(self, url: str, headers: Mapping[str, str] | None, timeout: float) -> None:
        self._session = _Session()
        self._exporter: Any = OTLPLogExporter(
            endpoint=url,
            headers=None if headers is None else dict(headers),
            timeout=timeout,  # type: ignore[arg-type,unused-ignore]  # older exporters declare whole seconds
            session=self._session,
        )
        self._kept = _MemoryExporter()
        resource = Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME", "assay")})
        provider = LoggerProvider(resource=resource, shutdown_on_exit=False)
        kept: Any = self._kept  # by its methods an exporter: its base class has another name in older SDKs
        provider.add_log_record_processor(SimpleLogRecordProcessor(kept))
        self._logger = provider.get_logger("assay", __version__, SCHEMA_URL)

    def export(self, records: Sequence[LogRecord]) -> None:
        """Send all records in one request. Raises Refused, Busy or ConnectionError."""
        self._kept.records = []
        self._session.last = None
        for record in records:
            self._logger.emit(record)
        if len(self._kept.records) != len(records):
            raise Refused("the OpenTelemetry SDK took none of it: OTEL_SDK_DISABLED is set")
        result = self._exporter.export(self._kept.records)
        answer = self._session.last
        if result.name != "SUCCESS":
            _explain(answer)
        rejected = 0 if answer is None else _rejected(answer)
        if rejected:
            raise Refused(f"the OTLP receiver rejects {rejected} of {len(records)} records")

    def close(self) -> None:
        """Close the connections."""
        self._exporter.shutdown()


class _Session(requests.Session):
    """Remembers the last answer: the exporter itself only says whether there was a good one."""

    def __init__(self) -> None:
        super().__init__()
        self.last: requests.Response | None = None

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        self.last = None
        self.last = super().send(request, **options)
        return self.last


class _MemoryExporter:
    """An exporter that keeps what the SDK has made of the records, in the form that other exporters take."""

    def __init__(self) -> None:
        self.records: list[Any] = []

    def export(self, batch: Sequence[Any]) -> None:
        self.records += batch

    def shutdown(self) -> None:
        pass

    def force_flush(self, timeout_millis: int = 0) -> bool:
        return True


def _explain(answer: requests.Response | None) -> None:
    if answer is None:
        raise ConnectionError("the OTLP receiver cannot be reached")
    if answer.status_code in _TRY_AGAIN or answer.status_code >= 500:
        raise Busy(f"the OTLP receiver answers HTTP {answer.status_code}")
    raise Refused(f"the OTLP receiver refuses it: HTTP {answer.status_code}")


def _rejected(answer: requests.Response) -> int:
    try:
        found = ExportLogsServiceResponse.FromString(answer.content)
    except Exception:  # not all receivers answer in protobuf
        logging.getLogger("assay.sinks").debug("assay: the answer of the OTLP receiver cannot be read")
        return 0
    return int(found.partial_success.rejected_log_records)
