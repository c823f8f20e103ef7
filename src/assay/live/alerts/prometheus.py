"""The endpoint that Prometheus reads: GET /metrics, on loopback unless another host is named."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from assay.errors import InputError
from assay.live.alerts.gauges import CONTENT_TYPE

LOOPBACK = "127.0.0.1"
PATIENCE = 5.0  # seconds that a client may take for its request


class MetricsEndpoint:
    """Serves one text until `close`.

    Args:
        text: Writes the text.
        port: The port; 0: a free one.
        host: The host.

    Raises:
        InputError: The port cannot be listened on.

    Attributes:
        address: Where it listens: "HOST:PORT".
    """

    def __init__(self, text: Callable[[], str], port: int, host: str = LOOPBACK) -> None:
        try:
            self._server = _Server((host, port), _handler(text))
        except (OSError, OverflowError) as error:
            raise InputError(f"prometheus: {host}:{port} cannot be listened on: {error}") from None
        self.address = f"{host}:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, name="assay-metrics", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> MetricsEndpoint:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no error of ours."""


def _handler(text: Callable[[], str]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = PATIENCE
        server_version = "assay"
        sys_version = ""

        def do_GET(self) -> None:
            found = self.path.partition("?")[0] in ("/", "/metrics")
            body = text().encode("utf-8", "replace") if found else b"not found\n"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", CONTENT_TYPE if found else "text/plain")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            """Requests are not logged."""

    return Handler
