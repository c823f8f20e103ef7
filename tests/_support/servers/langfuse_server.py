"""A local server that speaks the part of Langfuse's public API that scores and traces need.

Checked against the client's own types. As in the real service, a score replaces another only if id, name and the date
of its timestamp agree.
"""

from __future__ import annotations

import base64
import datetime
import re
from typing import Any

from tests._support.servers.service import FakeService, Reply, Request, check

PUBLIC, SECRET = "pk-lf-0123456789", "sk-lf-9876543210-secret"

_FIELDS = {
    *("id", "traceId", "sessionId", "observationId", "datasetRunId", "name", "value", "comment", "metadata"),
    *("environment", "queueId", "dataType", "configId", "source", "timestamp"),
}


class LangfuseServer(FakeService):
    """`scores` holds what it keeps, by id, name and date; `spans` the OTLP requests that brought traces.

    The SDK keeps one client per public key for the life of a process: each that traces needs a key of its own.
    """

    def __init__(self, public_key: str = PUBLIC) -> None:
        super().__init__()
        self.public_key = public_key
        self.scores: dict[tuple[str, str, str], dict[str, Any]] = {}
        self.spans: list[bytes] = []

    def is_write(self, request: Request) -> bool:
        return request.method == "POST" and request.path == "/api/public/scores"

    def answer(self, request: Request, keep: bool) -> Reply:
        basic = "Basic " + base64.b64encode(f"{self.public_key}:{SECRET}".encode()).decode()
        check(request.headers.get("authorization") == basic, "no or wrong keys")
        if request.path == "/api/public/otel/v1/traces":
            self.spans.append(request.body)
            return Reply(200, {})
        if request.path == "/api/public/scores" and request.method == "POST":
            return self._create(request.json(), keep)
        if request.path == "/api/public/v3/scores" and request.method == "GET":
            return self._list(request.query)
        return Reply(404, {"message": f"unknown path {request.method} {request.path}"})

    def _create(self, scores: Any, keep: bool) -> Reply:
        check(isinstance(scores, list) and scores, "the body is no list of scores")
        for score in scores:
            check(set(score) <= _FIELDS, f"unknown fields {set(score) - _FIELDS}")
            check(None not in score.values(), "a field that is null")
            check(isinstance(score.get("name"), str) and score["name"], "no name")
            check(isinstance(score.get("id"), str), "a score without id is never stored")
            check(re.fullmatch(r"[0-9a-f]{32}", score.get("traceId", "")), "traceId: not 32 hex digits")
            check(re.fullmatch(r"[0-9a-f]{16}", score.get("observationId", "0" * 16)), "observationId")
            kind, value = score.get("dataType", "NUMERIC"), score.get("value")
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            check(
                number if kind in ("NUMERIC", "BOOLEAN") else isinstance(value, str), f"value {value!r} is not {kind}"
            )
            check(isinstance(score.get("metadata", {}), dict), "metadata: not an object")
            moment = score.get("timestamp")
            if moment is None:  # the time of the request
                day = str(datetime.date(2026, 1, 1) + datetime.timedelta(days=self.today))
            else:
                parsed = datetime.datetime.fromisoformat(moment.replace("Z", "+00:00"))
                check(parsed.tzinfo is not None, "timestamp: no offset")
                day = str(parsed.astimezone(datetime.UTC).date())
            if keep:
                self.scores[score["id"], score["name"], day] = score
        return Reply(202, {"accepted": len(scores)})

    def _list(self, query: dict[str, list[str]]) -> Reply:
        limit = int(query.get("limit", ["50"])[0])
        check(limit <= 100, "limit: at most 100")
        ids = query["id"][0].split(",") if "id" in query else None
        traces = query["traceId"][0].split(",") if "traceId" in query else None
        found = [
            {
                **{"id": one["id"], "projectId": "p", "name": one["name"], "value": one["value"], "source": "API"},
                **{"dataType": one.get("dataType", "NUMERIC"), "environment": "default"},
                **dict.fromkeys(("timestamp", "createdAt", "updatedAt"), "2026-03-01T12:00:00.000Z"),
            }
            for one in self.scores.values()
            if (ids is None or one["id"] in ids) and (traces is None or one["traceId"] in traces)
        ]
        return Reply(200, {"data": found[:limit], "meta": {"limit": limit}})
