"""A server whose reply to anything is blanks without an end."""

from __future__ import annotations

import socket
import threading
from types import TracebackType
from typing import Self


class EndlessServer:
    """`sent` counts the bytes of all replies."""

    def __enter__(self) -> Self:
        self.sent = 0
        self._server = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.close()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.getsockname()[1]}/v1"

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._reply, args=(connection,), daemon=True).start()

    def _reply(self, connection: socket.socket) -> None:
        with connection:
            try:
                connection.recv(1 << 20)
                connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n")
                while True:
                    connection.sendall(b" " * 65536)
                    self.sent += 65536
            except OSError:
                return
