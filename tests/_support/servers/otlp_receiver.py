"""A local OTLP/HTTP receiver of logs: decodes real protobuf, and keeps the records."""

from __future__ import annotations

import gzip
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsPartialSuccess,
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from tests._support.servers.service import FakeService, Reply, Request, check

HEADER, KEY = "x-collector-key", "otlp-0123456789-secret"


class OtlpReceiver(FakeService):
    """`records` holds the log records as dicts, in the order of arrival. `rejects` records of each request are not
    taken, as a partial success."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[dict[str, Any]] = []
        self.rejects = 0

    def is_write(self, request: Request) -> bool:
        return request.method == "POST"

    def answer(self, request: Request, keep: bool) -> Reply:
        check(request.method == "POST" and request.path == "/v1/logs", "logs are posted to /v1/logs")
        check(request.headers.get("content-type") == "application/x-protobuf", "not protobuf")
        check(request.headers.get(HEADER) == KEY, "no key")
        body = gzip.decompress(request.body) if request.headers.get("content-encoding") == "gzip" else request.body
        sent = ExportLogsServiceRequest.FromString(body)
        found = []
        for of_resource in sent.resource_logs:
            for scope in of_resource.scope_logs:
                for record in scope.log_records:
                    check(record.event_name, "a record without event_name")
                    check(record.time_unix_nano, "a record without time")
                    check(len(record.trace_id) in (0, 16) and len(record.span_id) in (0, 8), "ids of a wrong length")
                    found.append(
                        {
                            "scope": scope.scope.name,
                            "schema": scope.schema_url,
                            "event": record.event_name,
                            "trace": record.trace_id.hex(),
                            "span": record.span_id.hex(),
                            "attributes": {one.key: _plain(one.value) for one in record.attributes},
                        }
                    )
        check(found, "no records")
        if keep:
            self.records += found[self.rejects :]
        answer = ExportLogsServiceResponse()
        if self.rejects:
            partial = ExportLogsPartialSuccess(rejected_log_records=self.rejects, error_message="too old")
            answer.partial_success.CopyFrom(partial)
        return Reply(200, answer.SerializeToString(), {"Content-Type": "application/x-protobuf"})


def _plain(value: AnyValue) -> Any:
    return getattr(value, str(value.WhichOneof("value")))
