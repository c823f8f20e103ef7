"""What the fake stores share: a local HTTP server that keeps and checks every request, and misbehaves when asked."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

#: What may go wrong with a write.
FAULTS = (
    "delay",  # answers late
    "drop",  # hangs up before it takes anything
    "lose_reply",  # takes it, then hangs up
    "forget",  # says that it took it, and keeps nothing
    "reject",  # refuses for good
    "limited",  # HTTP 429 with Retry-After
    "broken",  # HTTP 503
)

DELAY = 0.2  # seconds


@dataclass
class Request:
    """One request, with the names of its headers in lower case."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Reply:
    """An answer; `body` is JSON unless it is bytes."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


class Wrong(Exception):
    """A request that the real service would not take."""


class FakeService:
    """A service on a free port of this machine. Subclasses write `is_write` and `answer`.

    requests  all that came, in order
    problems  what the real service would not have taken, in words; tests expect it to be empty
    faults    what goes wrong with the next writes, one name for each
    today     the service's own clock, in days; it stands still
    """

    #: the status of a refusal
    reject_status = 400

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.problems: list[str] = []
        self.faults: list[str] = []
        self.today = 0
        self.lock = threading.RLock()
        self._server: ThreadingHTTPServer | None = None

    def is_write(self, request: Request) -> bool:
        raise NotImplementedError

    def answer(self, request: Request, keep: bool) -> Reply:
        """Check the request and answer; `keep` False: only pretend to keep what it brings. May raise Wrong."""
        raise NotImplementedError

    # ---- life ----

    def __enter__(self) -> Any:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self._handle))
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Hang up and listen no more."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def writes(self) -> list[Request]:
        return [request for request in self.requests if self.is_write(request)]

    @property
    def wire(self) -> bytes:
        """All that came, as it came: addresses, headers and bodies."""
        parts = []
        for request in self.requests:
            parts += [request.path.encode(), json.dumps(request.query).encode(), json.dumps(request.headers).encode()]
            parts.append(request.body)
        return b"\n".join(parts)

    def _handle(self, request: Request) -> Reply | None:
        with self.lock:
            self.requests.append(request)
            fault = self.faults.pop(0) if self.faults and self.is_write(request) else None
        if fault == "delay":
            threading.Event().wait(DELAY)
        if fault == "drop":
            return None
        if fault == "reject":
            return Reply(self.reject_status, {"detail": "refused", "message": "refused", "error": "refused"})
        if fault == "limited":
            return Reply(429, {"detail": "slow down"}, {"Retry-After": "0"})
        if fault == "broken":
            return Reply(503, {"detail": "not now"})
        try:
            with self.lock:
                reply = self.answer(request, fault != "forget")
        except Wrong as error:
            self.problems.append(f"{request.method} {request.path}: {error}")
            return Reply(422, {"detail": str(error)})
        except Exception as error:  # a bug here must not look like trouble of the network
            self.problems.append(f"{request.method} {request.path}: the fake failed: {type(error).__name__}: {error}")
            return Reply(422, {"detail": "the fake failed"})
        return None if fault == "lose_reply" else reply


def check(condition: object, what: str) -> None:
    """Raise Wrong unless the condition holds."""
    if not condition:
        raise Wrong(what)


def _handler(handle: Callable[[Request], Reply | None]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            request = Request(
                self.command,
                parts.path,
                parse_qs(parts.query, keep_blank_values=True),
                {name.lower(): value for name, value in self.headers.items()},
                self.rfile.read(length),
            )
            reply = handle(request)
            if reply is None:
                self.close_connection = True
                with contextlib.suppress(OSError):
                    self.connection.shutdown(2)
                return
            is_bytes = isinstance(reply.body, bytes)
            data = reply.body if is_bytes else b"" if reply.body is None else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            self.send_header("Content-Length", str(len(data)))
            if "Content-Type" not in reply.headers:
                self.send_header("Content-Type", "application/json")
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = _serve

        def log_message(self, *arguments: object) -> None:
            pass

    return Handler
