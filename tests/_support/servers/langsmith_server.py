"""A local server that speaks the part of LangSmith's API that feedback and tracing need.

Checked against what the `langsmith` client sends; feedback with an id that exists is replaced, or answered with a
conflict where `conflicts` is set.
"""

from __future__ import annotations

import gzip
import json
import re
import uuid
from typing import Any

from tests._support.servers.service import FakeService, Reply, Request, check

KEY = "lsv2_pt_0123456789abcdef_secret"
PROJECT = "11111111-2222-4333-8444-555555555555"

_FEEDBACK = {
    *("id", "run_id", "trace_id", "key", "score", "value", "comment", "correction", "feedback_source", "created_at"),
    *("modified_at", "session_id", "start_time", "feedback_config", "extend_trace_retention", "error", "extra"),
}


class LangSmithServer(FakeService):
    """`runs` are the runs it knows, `feedback` what was said of them; `late` counts down the looks at unknown runs
    until they are there."""

    reject_status = 422

    def __init__(self) -> None:
        super().__init__()
        self.runs: dict[str, dict[str, Any]] = {}
        self.feedback: dict[str, dict[str, Any]] = {}
        self.late: dict[str, int] = {}
        self.conflicts = False
        self.traced: list[dict[str, Any]] = []

    def add_run(self, run_id: str) -> None:
        self.runs[run_id] = {"session_id": PROJECT, "start_time": "2026-03-01T12:00:00+00:00", "trace_id": run_id}

    def is_write(self, request: Request) -> bool:
        return request.method == "POST" and request.path == "/feedback"

    def answer(self, request: Request, keep: bool) -> Reply:
        if request.path == "/info":
            return Reply(200, {"version": "0.12.0", "instance_flags": {}, "batch_ingest_config": {}})
        if request.headers.get("x-api-key") != KEY:
            return Reply(403, {"detail": "Forbidden"})
        if match := re.fullmatch(r"/runs/([0-9a-f-]{36})", request.path):
            return self._run(match[1])
        if request.path == "/feedback":
            return self._create(request, keep) if request.method == "POST" else self._list(request)
        if match := re.fullmatch(r"/feedback/([0-9a-f-]{36})", request.path):
            return self._one(request, match[1])
        if request.path.startswith(("/sessions", "/datasets/")):
            return self._experiment(request)
        if request.path in ("/runs/multipart", "/runs/batch") and request.method == "POST":
            return self._trace(request)
        return Reply(404, {"detail": f"unknown path {request.path}"})

    def _experiment(self, request: Request) -> Reply:
        """What `langsmith.evaluate` asks of its data set and the experiment that it makes of it."""
        when = "2026-03-01T12:00:00+00:00"
        if request.path.startswith("/datasets/"):
            return Reply(200, {"id": request.path.split("/")[2], "name": "cats", "created_at": when})
        if request.path == "/sessions" and request.method == "GET":
            return Reply(200, [{"id": PROJECT, "name": "default"}])
        said = request.json() if request.method in ("POST", "PATCH") else {}
        session = {"id": PROJECT, "tenant_id": PROJECT, "name": "experiment", "start_time": when}
        return Reply(200, {"reference_dataset_id": PROJECT, **session, **said})

    def _run(self, run: str) -> Reply:
        if run in self.late:
            self.late[run] -= 1
            if self.late[run] <= 0:
                del self.late[run]
                self.add_run(run)
        return (
            Reply(200, {"id": run, **self.runs[run]}) if run in self.runs else Reply(404, {"detail": "Run not found"})
        )

    def _create(self, request: Request, keep: bool) -> Reply:
        check(request.headers.get("content-type") == "application/json", "feedback is JSON")
        data = request.json()
        check(set(data) <= _FEEDBACK, f"unknown fields {set(data) - _FEEDBACK}")
        for name in ("id", "run_id"):
            uuid.UUID(data[name])
        check(isinstance(data["key"], str) and data["key"], "no key")
        check(data["run_id"] in self.runs, f"feedback for the unknown run {data['run_id']}")
        check(data.get("session_id") == PROJECT, "session_id: not the project of the run")
        check("score" in data or "value" in data, "neither score nor value")
        check(isinstance(data.get("score", 0.0), (int, float)), "score: not a number")
        check(isinstance(data.get("comment", ""), str), "comment: not a text")
        check(isinstance(data.get("extend_trace_retention"), bool), "extend_trace_retention: not said")
        check(data["feedback_source"]["type"] in ("api", "model"), "feedback_source.type")
        check(isinstance(data["feedback_source"]["metadata"], dict), "feedback_source.metadata")
        if self.conflicts and data["id"] in self.feedback:
            return Reply(409, {"detail": "Conflict"})
        if keep:
            self.feedback[data["id"]] = data
        return Reply(200, data)

    def _list(self, request: Request) -> Reply:
        runs, keys = request.query.get("run", []), request.query.get("key")
        check(runs, "no run")
        found = [one for one in self.feedback.values() if one["run_id"] in runs and (not keys or one["key"] in keys)]
        start, limit = int(request.query["offset"][0]), int(request.query["limit"][0])
        return Reply(200, [{"trace_id": None, **one} for one in found[start : start + limit]])

    def _one(self, request: Request, id: str) -> Reply:
        if id not in self.feedback:
            return Reply(404, {"detail": "Feedback not found"})
        if request.method == "DELETE":
            return Reply(200, self.feedback.pop(id))
        return Reply(200, {"trace_id": None, **self.feedback[id]})

    def _trace(self, request: Request) -> Reply:
        """Runs as the tracer sends them: parts named post.ID, post.ID.inputs, patch.ID.outputs …"""
        body = request.body
        if request.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        elif request.headers.get("content-encoding") == "zstd":
            import zstandard

            body = zstandard.ZstdDecompressor().stream_reader(body).read()
        if request.path == "/runs/batch":
            data = json.loads(body)
            for run in [*data.get("post", []), *data.get("patch", [])]:
                self._merge(run["id"], run)
            return Reply(202, {})
        boundary = re.search(r'boundary="?([^";]+)', request.headers["content-type"])
        assert boundary is not None
        for part in body.split(b"--" + boundary[1].encode())[1:-1]:
            head, _, content = part.strip(b"\r\n").partition(b"\r\n\r\n")
            name = re.search(rb'name="([^"]+)"', head)
            assert name is not None
            pieces = name[1].decode().split(".")
            if pieces[0] not in ("post", "patch", "feedback"):
                continue
            value = json.loads(content)
            if pieces[0] == "feedback":
                self.feedback[pieces[1]] = value
                continue
            self._merge(pieces[1], value if len(pieces) == 2 else {pieces[2]: value})
        return Reply(202, {})

    def _merge(self, id: str, data: dict[str, Any]) -> None:
        run = next((run for run in self.traced if run["id"] == id), None)
        if run is None:
            run = {"id": id}
            self.traced.append(run)
        run.update({name: value for name, value in data.items() if value is not None})
