"""A local HTTP server that speaks the OpenAI protocol: chat completions, embeddings, models. Standard library only.

    with OpenAIServer() as server:
        judge = OpenAIJudge("fake", base_url=server.base_url)

It answers by reading the prompt (see `brain`), misbehaves as `Behaviour` and `Faults` say, and keeps every call. In
another process, for benchmarks: `with subprocess_server() as base_url`, or `python -m
tests._support.servers.openai_server`.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import hashlib
import json
import math
import re
import struct
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests._support.servers import brain, sight
from tests._support.servers.faults import Behaviour, Faults

__all__ = ["Behaviour", "Call", "Faults", "OpenAIServer", "Say", "subprocess_server"]


@dataclass
class Say:
    """A response. `body` replaces the whole JSON body, `text` only what the model says."""

    text: str = ""
    finish: str = "stop"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None
    refusal: str | None = None
    delay: float = 0.0
    hang: bool = False
    drop: bool = False


@dataclass
class Call:
    """One request. `attempt` counts equal requests, `honest` is the reply that an honest model would give.

    `pictures` are the SHA-256 of the bytes of each picture that came.
    """

    number: int
    path: str
    body: dict[str, Any]
    headers: dict[str, str]
    attempt: int = 1
    key: str = ""
    reading: brain.Reading | None = None
    honest: str = ""
    begun: float = 0.0
    status: int | None = None
    pictures: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """Which prompt a chat call asks: support, claims, ..."""
        return self.reading.kind if self.reading else self.path.rsplit("/", 1)[-1]


#: Overrides a reply; None leaves it as it is.
Hook = Callable[[Call], Say | str | None]


class OpenAIServer:
    """See the module. `plan` is a hook for chat calls; `calls` holds what came, `most` the most at one time."""

    def __init__(self, behaviour: Behaviour | None = None, *, plan: Hook | None = None, port: int = 0, **how: Any):
        self.behaviour = behaviour or Behaviour(**how)
        self.plan = plan
        self.calls: list[Call] = []
        self.now = 0
        self.most = 0
        self._port = port
        self._attempts: Counter[str] = Counter()
        self._passed: deque[float] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[Any]] = set()

    # ---- life ----

    def __enter__(self) -> OpenAIServer:
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self._thread.start()
        if not ready.wait(10):
            raise RuntimeError("the fake server did not start")
        return self

    def __exit__(self, *exc: object) -> None:
        assert self._loop is not None
        assert self._thread is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def chats(self) -> list[Call]:
        """The chat calls that got an answer other than an error."""
        return [call for call in self.calls if call.path.endswith("/chat/completions") and call.status == 200]

    def count(self, kind: str) -> int:
        """Calls of a kind (a prompt's name, "embeddings", "models"), whatever became of them."""
        return sum(call.kind == kind for call in self.calls)

    @property
    def connections(self) -> int:
        """Connections that are open now."""
        return len(self._tasks)

    def _run(self, ready: threading.Event) -> None:
        asyncio.run(self.serve(ready.set))

    async def serve(self, ready: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        ready()
        await self._stop.wait()
        self._server.close()
        await asyncio.sleep(0)  # what was accepted just now begins: a task that never runs closes nothing
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # ---- HTTP ----

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while (request := await self._request(reader)) is not None:
                self.now += 1
                self.most = max(self.most, self.now)
                try:
                    say = await self._answer(*request)
                finally:
                    self.now -= 1
                if say.drop:
                    break
                writer.write(_http(say))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def _request(self, reader: asyncio.StreamReader) -> tuple[str, str, dict[str, str], bytes] | None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.IncompleteReadError:
            return None
        first, *lines = head.rstrip().split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return method, path, headers, await reader.readexactly(int(headers.get("content-length", 0)))

    async def _answer(self, method: str, path: str, headers: dict[str, str], data: bytes) -> Say:
        path = path.split("?")[0]
        call = Call(len(self.calls), path, json.loads(data) if data else {}, headers, begun=time.monotonic())
        self.calls.append(call)
        try:
            say = self._say(method, call)
        except Exception as error:  # a bug here must not look like a broken connection
            say = _error(500, f"the fake server failed: {type(error).__name__}: {error}")
        call.status = say.status
        delay = say.delay or self.behaviour.delay
        if say.hang:
            await asyncio.Event().wait()
        if delay:
            await asyncio.sleep(delay)
        return say

    # ---- protocol ----

    def _say(self, method: str, call: Call) -> Say:
        how = self.behaviour
        wanted = call.headers.get("authorization", "").removeprefix("Bearer ") or call.headers.get("api-key", "")
        if how.key is not None and wanted != how.key:
            return _error(401, f"Incorrect API key provided: {wanted}.", code="invalid_api_key")
        if method == "GET" and call.path.endswith("/models"):
            names = sorted(how.models or {"fake"})
            return Say(body={"object": "list", "data": [{"id": name, "object": "model"} for name in names]})
        if call.path.endswith("/embeddings"):
            return self._embeddings(call)
        if not call.path.endswith("/chat/completions"):
            return _error(404, f"Unknown path {call.path}")
        if how.models is not None and call.body["model"] not in how.models:
            return _error(404, f"The model `{call.body['model']}` does not exist", code="model_not_found")
        return self._over_limit() or self._rejected(call) or self._chat(call)

    def _over_limit(self) -> Say | None:
        how, now = self.behaviour, time.monotonic()
        if how.allowed is None:
            return None
        while self._passed and self._passed[0] <= now - how.period:
            self._passed.popleft()
        if len(self._passed) < how.allowed:
            self._passed.append(now)
            return None
        return _limited(max(0.01, self._passed[0] + how.period - now))

    def _rejected(self, call: Call) -> Say | None:
        sent = dict(call.body)
        if (sent.get("response_format") or {}).get("type") == "json_schema":
            sent["json_schema"] = True
        for name in sorted(self.behaviour.rejects):
            if name in sent:
                if self.behaviour.vague:
                    return _error(400, "Bad request")
                param = "response_format" if name == "json_schema" else name
                instead = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}.get(name)
                hint = f" Use '{instead}' instead." if instead else ""
                said = f"Unsupported parameter: '{name}' is not supported with this model.{hint}"
                return _error(400, said, code="unsupported_parameter", param=param)
        return None

    def _chat(self, call: Call) -> Say:
        how, body = self.behaviour, call.body
        if sight.images_of(body):
            if not how.sees:
                return _error(400, how.blind)
            body, call.pictures = sight.flat(body)
        messages = json.dumps(body["messages"][:2]) + str(body.get("seed"))  # without corrections
        call.key = hashlib.sha256(re.sub(r"data-[0-9a-f]{16}", "data-", messages).encode()).hexdigest()[:16]
        self._attempts[call.key] += 1
        call.attempt = self._attempts[call.key]
        call.reading = brain.read(body)
        call.honest = json.dumps(brain.think(call.reading), ensure_ascii=False)
        say = self._planned(call) or self._faulty(call) or Say(self._dressed(call.honest))
        if say.status != 200 or say.body is not None or say.hang or say.drop:
            return say
        limits = [body.get("max_tokens"), body.get("max_completion_tokens"), how.max_output]
        limit = min((limit for limit in limits if limit is not None), default=None)
        read = sum(len(m["content"]) for m in body["messages"]) // 4
        if how.window is not None and read + (limit or 0) > how.window:
            said = (
                f"This model's maximum context length is {how.window} tokens. However, you requested {read} and more."
            )
            return _error(400, said, code="context_length_exceeded")
        if limit is not None and len(say.text) > 4 * limit:
            say.text, say.finish = say.text[: 4 * limit], "length"
        say.body = _completion(call, say, how, read)
        return say

    def _planned(self, call: Call) -> Say | None:
        said = self.plan(call) if self.plan else None
        return Say(said) if isinstance(said, str) else said

    def _dressed(self, text: str) -> str:
        if self.behaviour.think:
            text = f"<think>Let me see. Perhaps {{}} or {text[:20]}...</think>\n\n{text}"
        return f"Here it is:\n```json\n{text}\n```\nI hope this helps." if self.behaviour.ignores_format else text

    def _faulty(self, call: Call) -> Say | None:
        honest = call.honest
        fault = self.behaviour.faults.pick(call.key, call.attempt)
        if fault == "rate_limited":
            return _limited(self.behaviour.retry_after)
        return {
            None: None,
            "error_500": _error(500, "The server had an error."),
            "malformed": Say("Sorry, I would rather describe it: " + honest[: len(honest) // 2].replace("{", "(")),
            "truncated": Say(honest[: len(honest) // 2], finish="length"),
            "silent": Say(hang=True),
            "dropped": Say(drop=True),
            "content_filter": _error(400, "The prompt was filtered.", code="content_filter"),
            "refusal": Say(refusal="I cannot help with that."),
            "think": Say(f"<think>\nHm, {{so}} many claims.\n</think>\n{honest}"),
            "fenced": Say(f"Of course.\n```json\n{honest}\n```\nDone."),
        }[fault]

    def _embeddings(self, call: Call) -> Say:
        if not self.behaviour.embeddings:
            return _error(404, "This endpoint has no embeddings.")
        if call.body.get("encoding_format") in self.behaviour.rejects or (
            "encoding_format" in self.behaviour.rejects and call.body.get("encoding_format") == "base64"
        ):
            return _error(400, "encoding_format base64 is not supported", param="encoding_format")
        texts = call.body["input"]
        data: list[dict[str, Any]] = []
        for index, text in enumerate([texts] if isinstance(texts, str) else texts):
            vector: Any = brain.embed(text)
            if call.body.get("encoding_format") == "base64":
                vector = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
            data.append({"object": "embedding", "index": index, "embedding": vector})
        tokens = sum(map(len, texts)) // 4
        usage = {"usage": {"prompt_tokens": tokens, "total_tokens": tokens}} if self.behaviour.usage else {}
        return Say(body={"object": "list", "data": data, "model": call.body["model"], **usage})


def _completion(call: Call, say: Say, how: Behaviour, read: int) -> dict[str, Any]:
    message = {"role": "assistant", "content": None if say.refusal else say.text, "refusal": say.refusal}
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": say.finish, "logprobs": None}
    if call.body.get("logprobs") and how.logprobs:
        choice["logprobs"] = {"content": _logprobs(say.text, call), "refusal": None}
    body = {
        **{"id": f"chatcmpl-{call.number}", "object": "chat.completion", "created": 0, "model": call.body["model"]},
        "choices": [choice],
    }
    if how.usage:
        written = len(say.text) // 4
        read = int(4 * read / how.density)
        if how.num_ctx is not None and read > how.num_ctx:
            read = 4 + (how.num_ctx - 4) // 2
        details = {"prompt_tokens_details": {"cached_tokens": 0}}
        totals = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
        body["usage"] = totals | details
    return body


def _logprobs(text: str, call: Call) -> list[dict[str, Any]]:
    """Tokens with alternatives: 0.8 for what was said at a label, 0.15 shared by the other labels."""
    labels = sorted(set(re.findall(r'"enum": \[([^\]]*)\]', json.dumps(call.reading.schema if call.reading else {}))))
    known = [label.strip().strip('"') for label in ",".join(labels).split(",") if label.strip()]
    starts = {match.end() for match in re.finditer(r'"label":\s*"', text)}
    tokens = []
    for match in re.finditer(r"_?[^\W_]+|\s+|.", text, re.DOTALL):
        token, top = match[0], [(match[0], math.log(0.99))]
        if match.start() in starts:
            others = {re.findall(r"_?[^\W_]+", label)[0] for label in known} - {token}
            top = [(token, math.log(0.8))] + [(other, math.log(0.15 / len(others))) for other in sorted(others)]
        entries = [{"token": t, "logprob": p, "bytes": list(t.encode())} for t, p in top]
        tokens.append({**entries[0], "top_logprobs": entries})
    return tokens


def _error(status: int, message: str, *, code: str | None = None, param: str | None = None) -> Say:
    return Say(status=status, body={"error": {"message": message, "type": "error", "param": param, "code": code}})


def _limited(retry_after: float | None) -> Say:
    say = _error(429, "Rate limit reached", code="rate_limit_exceeded")
    if retry_after is not None:
        say.headers["retry-after"] = f"{retry_after:.3f}"
    return say


_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


def _http(say: Say) -> bytes:
    data = say.body.encode() if isinstance(say.body, str) else json.dumps(say.body).encode()
    head = f"HTTP/1.1 {say.status} {_REASONS.get(say.status, 'Status')}\r\ncontent-type: application/json\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in say.headers.items())
    return f"{head}content-length: {len(data)}\r\n\r\n".encode() + data


@contextlib.contextmanager
def subprocess_server() -> Iterator[str]:
    """The base URL of an honest server in another process."""
    command = [sys.executable, "-m", "tests._support.servers.openai_server"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(description="a fake OpenAI endpoint on this machine")
    parser.add_argument("--port", type=int, default=0)
    server = OpenAIServer(port=parser.parse_args().port)
    asyncio.run(server.serve(lambda: print(server.base_url, flush=True)))


if __name__ == "__main__":
    main()
