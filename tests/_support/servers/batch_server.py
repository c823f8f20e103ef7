"""The fake endpoint with batches: OpenAI's files and batches, and Anthropic's message batches.

    with BatchServer(lag=0.5) as server:
        judge = OpenAIBatchJudge("fake", base_url=server.base_url, poll=0.02)

A batch is answered, line by line, as the chat endpoint would, when it is first looked at after `takes` seconds.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

from assay.judges.batch.check_code import FIELD
from tests._support.servers.openai_server import Call, OpenAIServer, Say, _error

#: Told of each moment of the protocol, by name: "upload asked", "upload done", "create asked", "create made", "list
#: asked", "look asked", "results asked". A Say is the response instead (of "create made": it is made all the same).
Moment = Callable[[str, str], Say | None]
#: The line of the results for a request, and a change of it: None leaves it out, several lines are several.
Change = Callable[[int, dict[str, Any]], list[str] | None]


@dataclass
class Made:
    """A batch at the server."""

    id: str
    at: float
    requests: list[dict[str, Any]]
    file: str | None = None
    metadata: dict[str, str] = field(default_factory=dict)
    endpoint: str = ""
    status: str = "in_progress"
    failed: list[dict[str, Any]] | None = None
    output: list[str] | None = None


class BatchServer(OpenAIServer):
    """See the module.

    lag      seconds until a batch is in the list
    takes    seconds until it has ended
    lists    whether there is a list at all
    expires  of the n-th batch (from 0), the share of requests that expire
    moment, change   hooks, see above
    fails    of the n-th batch, the errors with which it fails as a whole
    """

    def __init__(
        self,
        *args: Any,
        lag: float = 0.0,
        takes: float = 0.0,
        lists: bool = True,
        metadata: bool = True,
        moment: Moment | None = None,
        change: Change | None = None,
        expires: Callable[[int], float] = lambda n: 0.0,
        fails: Callable[[int], list[dict[str, Any]] | None] = lambda n: None,
        **how: Any,
    ) -> None:
        super().__init__(*args, **how)
        self.lag, self.takes, self.lists, self.metadata = lag, takes, lists, metadata
        self.moment, self.change, self.expires, self.fails = moment, change, expires, fails
        self.files: dict[str, tuple[str, bytes]] = {}
        self.batches: dict[str, Made] = {}
        self.asked: list[str] = []
        self.seen_headers: list[dict[str, str]] = []

    @property
    def submitted(self) -> Counter[str]:
        """How often each request was in a batch that was made and not refused: by what it says."""
        return Counter(
            _words(request) for batch in self.batches.values() if not batch.failed for request in batch.requests
        )

    async def _answer(self, method: str, path: str, headers: dict[str, str], data: bytes) -> Say:
        parts = urlsplit(path)
        route = re.sub(r"^/(v1|openai)", "", parts.path)
        if not re.match(r"/(files|batches|messages/batches)\b", route):
            return await super()._answer(method, path, headers, data)
        self.seen_headers.append(headers)
        try:
            return self._batched(method, route, parse_qs(parts.query), headers, data)
        except Exception as error:  # a bug here must not look like a broken connection
            return _error(418, f"the fake server failed: {type(error).__name__}: {error}")

    def _told(self, moment: str, about: str = "") -> Say | None:
        self.asked.append(moment)
        return self.moment(moment, about) if self.moment else None

    def _batched(self, method: str, route: str, query: dict[str, Any], headers: dict[str, str], data: bytes) -> Say:
        anthropic = route.startswith("/messages")
        route = route.removeprefix("/messages")
        if route == "/files":
            return self._upload(headers, data)
        if route.startswith("/files/") and route.endswith("/content"):
            return self._told("results asked") or Say(body=self.files[route.split("/")[2]][1].decode())
        if route.endswith("/results"):
            batch = self.batches[route.split("/")[2]]
            return self._told("results asked", batch.id) or Say(body="\n".join(self._outcomes(batch, anthropic)))
        if route == "/batches" and method == "POST":
            return self._create(json.loads(data), anthropic)
        if route == "/batches":
            return self._list(query, anthropic)
        name = route.split("/")[2]
        said = self._told("look asked", name)
        if said is not None:
            return said
        if name not in self.batches:
            return _error(404, f"no batch {name}")
        return Say(body=self._shown(self.batches[name], anthropic, look=True))

    def _upload(self, headers: dict[str, str], data: bytes) -> Say:
        said = self._told("upload asked")
        if said is not None:
            return said
        boundary = b"--" + headers["content-type"].split("boundary=")[1].strip('"').encode()
        fields = {}
        for part in data.split(boundary)[1:-1]:
            head, _, content = part.partition(b"\r\n\r\n")
            name = re.search(rb'name="([^"]+)"', head)
            file = re.search(rb'filename="([^"]+)"', head)
            assert name is not None
            fields[name[1].decode()] = (file[1].decode() if file else "", content.removesuffix(b"\r\n"))
        assert fields["purpose"][1] == b"batch"
        found = f"file-{len(self.files)}"
        self.files[found] = fields["file"]
        shown = {"id": found, "object": "file", "filename": fields["file"][0], "bytes": len(fields["file"][1])}
        return self._told("upload done", found) or Say(body={**shown, "purpose": "batch", "status": "processed"})

    def _create(self, body: dict[str, Any], anthropic: bool) -> Say:
        said = self._told("create asked")
        if said is not None:
            return said
        if anthropic:
            requests = body["requests"]
        else:
            requests = [json.loads(line) for line in self.files[body["input_file_id"]][1].splitlines() if line.strip()]
        names = [request["custom_id"] for request in requests]
        assert len(set(names)) == len(names)
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names)
        number = len(self.batches)
        made = Made(
            f"batch_{number}", time.time(), requests, body.get("input_file_id"), endpoint=body.get("endpoint", "")
        )
        made.metadata = body.get("metadata", {}) if self.metadata else {}
        made.failed = self.fails(number)
        self.batches[made.id] = made
        return self._told("create made", made.id) or Say(body=self._shown(made, anthropic))

    def _list(self, query: dict[str, Any], anthropic: bool) -> Say:
        said = self._told("list asked")
        if said is not None:
            return said
        if not self.lists:
            return _error(404, "there is no such path")
        listed = [batch for batch in reversed(self.batches.values()) if batch.at <= time.time() - self.lag]
        after = (query.get("after") or query.get("after_id") or [None])[0]
        if after is not None:
            listed = listed[[batch.id for batch in listed].index(after) + 1 :]
        limit = int(query.get("limit", ["20"])[0])
        page = [self._shown(batch, anthropic) for batch in listed[:limit]]
        return Say(body={"object": "list", "data": page, "has_more": len(listed) > limit})

    def _shown(self, batch: Made, anthropic: bool, look: bool = False) -> dict[str, Any]:
        total, over = len(batch.requests), time.time() >= batch.at + self.takes
        if anthropic:
            status = "ended" if over else "in_progress"
            counts = {"processing": 0 if over else total, "succeeded": total if over else 0, "errored": 0}
            if batch.status == "cancelled":
                counts = {"processing": 0, "succeeded": total // 2, "canceled": total - total // 2}
            at = datetime.fromtimestamp(batch.at, UTC).isoformat()
            shown = {"id": batch.id, "type": "message_batch", "processing_status": status, "created_at": at}
            return {**shown, "request_counts": counts, "results_url": "https://elsewhere.example/results"}
        shown = {"id": batch.id, "object": "batch", "endpoint": batch.endpoint, "input_file_id": batch.file}
        shown |= {"status": batch.status, "created_at": int(batch.at), "metadata": batch.metadata}
        shown["request_counts"] = {"total": total, "completed": 0, "failed": 0}
        if look and over and batch.failed is not None:
            return {**shown, "status": "failed", "errors": {"object": "list", "data": batch.failed}}
        if look and over:
            lines = self._outcomes(batch, anthropic)
            split: dict[str, list[str]] = {"output": [], "error": []}
            for line in lines:
                split["error" if '"error": {' in line else "output"].append(line)
            for kind, found in split.items():
                if found:
                    self.files[f"{kind}-{batch.id}"] = ("", "\n".join(found).encode())
                    shown[f"{kind}_file_id"] = f"{kind}-{batch.id}"
            expired = any("batch_expired" in line for line in lines)
            if batch.status == "in_progress":
                batch.status = "expired" if expired else "completed"
            shown["status"] = batch.status
        return shown

    def _outcomes(self, batch: Made, anthropic: bool) -> list[str]:
        """The lines of its results, the last request first."""
        if batch.output is None:
            number = list(self.batches).index(batch.id)
            gone = int(self.expires(number) * len(batch.requests))
            made = []
            for n, request in enumerate(reversed(batch.requests)):
                line = self._expired(request, anthropic) if n < gone else self._line(request, anthropic)
                changed = self.change(n, line) if self.change else None
                made += [json.dumps(line)] if changed is None else changed
            batch.output = made
        return batch.output

    def _expired(self, request: dict[str, Any], anthropic: bool) -> dict[str, Any]:
        if anthropic:
            return {"custom_id": request["custom_id"], "result": {"type": "expired"}}
        error = {"code": "batch_expired", "message": "This request could not be executed in time."}
        return {"id": "x", "custom_id": request["custom_id"], "response": None, "error": error}

    def _line(self, request: dict[str, Any], anthropic: bool) -> dict[str, Any]:
        body = json.loads(json.dumps(_back(request["params"]) if anthropic else request["body"]))
        code = _code(body)
        path = "/v1/chat/completions" if anthropic else request["url"]
        call = Call(len(self.calls), path, body, {"authorization": f"Bearer {self.behaviour.key or ''}"})
        self.calls.append(call)
        say = self._say("POST", call)
        call.status = say.status
        if code is not None:
            _with_code(code, say)
        if not anthropic:
            response = {"status_code": say.status, "request_id": f"r{call.number}", "body": say.body}
            return {"id": f"l{call.number}", "custom_id": request["custom_id"], "response": response, "error": None}
        if say.status != 200:
            kind = {400: "invalid_request_error", 429: "rate_limit_error"}.get(say.status, "api_error")
            error = {"type": kind, "message": say.body["error"]["message"]}
            result: dict[str, Any] = {"type": "errored", "error": {"type": "error", "error": error}}
        else:
            result = {"type": "succeeded", "message": _message(say.body)}
        return {"custom_id": request["custom_id"], "result": result}


def _code(body: dict[str, Any]) -> str | None:
    """The code that a request asks for, which is taken out of it: what answers knows the prompts of judges alone."""
    schema = (body.get("response_format") or {}).get("json_schema", {}).get("schema", {})
    if next(iter(schema.get("properties", {})), None) != FIELD:
        return None
    (code,) = schema["properties"].pop(FIELD)["enum"]
    assert schema["required"].pop(0) == FIELD
    last = body["messages"][-1]
    text, _, line = last["content"].rpartition("\n\n")
    assert code in line
    last["content"] = text
    return code


def _with_code(code: str, say: Say) -> None:
    """What a server that follows schemas writes first."""
    message = say.body["choices"][0]["message"] if say.status == 200 else {}
    try:
        said = json.loads(message["content"])
    except (KeyError, TypeError, ValueError):
        return
    if isinstance(said, dict):
        message["content"] = json.dumps({FIELD: code, **said})


def _words(request: dict[str, Any]) -> str:
    body = request.get("body") or request.get("params")
    return json.dumps([request.get("url"), body], sort_keys=True)


def _back(params: dict[str, Any]) -> dict[str, Any]:
    """Anthropic's parameters as OpenAI's body, for the brain."""
    assert not {"seed", "response_format", "max_completion_tokens"} & params.keys()
    assert isinstance(params["max_tokens"], int)
    assert all(message["role"] != "system" for message in params["messages"])
    body = {**params, "messages": [{"role": "system", "content": params["system"]}, *params["messages"]]}
    wanted = params.get("output_config")
    if wanted:
        body["response_format"] = {"type": "json_schema", "json_schema": {"schema": wanted["format"]["schema"]}}
    return body


def _message(completion: dict[str, Any]) -> dict[str, Any]:
    choice, usage = completion["choices"][0], completion.get("usage") or {}
    ended = {"length": "max_tokens", "stop": "end_turn"}.get(choice["finish_reason"], choice["finish_reason"])
    if choice["message"].get("refusal"):
        ended = "refusal"
    return {
        "id": completion["id"],
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": choice["message"]["content"] or ""}],
        "stop_reason": ended,
        "usage": {
            "input_tokens": usage.get("prompt_tokens", 0),
            "output_tokens": usage.get("completion_tokens", 0),
            "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 0,
            "service_tier": "batch",
        },
    }
