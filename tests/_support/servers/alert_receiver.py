"""A receiver of alerts on loopback that keeps every message, and misbehaves as a script says."""

from __future__ import annotations

import contextlib
import json
import socket
import socketserver
import threading
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Message:
    """One request: its path, its headers by lower-case name, and its body."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def key(self) -> str:
        return self.headers.get("idempotency-key", "")

    def json(self) -> Any:
        return json.loads(self.body)


class AlertReceiver:
    """`messages` in order. `script`: what happens to the next requests; then, and by default, 204.

    A number is that status. "429:2" asks for 2 s. "302:URL" redirects. "hang" answers nothing until the end. "close"
    hangs up without an answer; "early" in the middle of its status line. "drip" sends a header every 50 ms, without
    end. "status" sends the line of 200 and then nothing.
    """

    def __init__(self, *script: int | str, port: int = 0) -> None:
        self.script: list[int | str] = list(script)
        self.messages: list[Message] = []
        self.arrived = threading.Condition()
        self.ended = threading.Event()
        self._server = _Server(("127.0.0.1", port), self._serve)
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def __enter__(self) -> AlertReceiver:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def stop(self) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()

    def wait_for(self, count: int, timeout: float = 30.0) -> list[Message]:
        """The messages, as soon as there are so many."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.messages) >= count, timeout), f"{len(self.messages)} came"
            return list(self.messages)

    def _serve(self, connection: socket.socket) -> None:
        message = _read(connection)
        if message is None:
            return
        with self.arrived:
            what = self.script.pop(0) if self.script else 204
            self.messages.append(message)
            self.arrived.notify_all()
        with contextlib.suppress(OSError):
            self._answer(connection, str(what))

    def _answer(self, connection: socket.socket, what: str) -> None:
        status, _, more = what.partition(":")
        if what == "hang":
            self.ended.wait()
        elif what == "early":
            connection.sendall(b"HTTP/1.1 2")
        elif what == "status":
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            self.ended.wait()
        elif what == "drip":
            connection.sendall(b"HTTP/1.1 500 No\r\n")
            for number in range(100_000):
                connection.sendall(f"X-{number}: 1\r\n".encode())
                if self.ended.wait(0.05):
                    return
        elif what != "close":
            name = {"429": "Retry-After", "302": "Location", "307": "Location"}.get(status, "X-Nothing")
            connection.sendall(f"HTTP/1.1 {status} Said\r\n{name}: {more}\r\nContent-Length: 0\r\n\r\n".encode())


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, address: tuple[str, int], serve: Any) -> None:
        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                serve(self.request)

        super().__init__(address, Handler)


def _read(connection: socket.socket) -> Message | None:
    connection.settimeout(30)
    data, length = b"", 0
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return None
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    length = int(headers.get("content-length", 0))
    while len(body) < length:
        body += connection.recv(65536)
    return Message(lines[0].split()[1], headers, body)


def until(condition: Any, timeout: float = 30.0) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)
