"""A gateway in front of a real store: passes everything on, keeps what it saw, and misbehaves when asked."""

from __future__ import annotations

import httpx

from tests._support.servers.service import FakeService, Reply, Request

#: Headers of one connection, which are not for the next one.
_OF_CONNECTION = ("host", "connection", "content-length", "accept-encoding", "transfer-encoding")


class Gateway(FakeService):
    """Passes requests on to the server at `target`; all but reads count as writes."""

    def __init__(self, target: str) -> None:
        super().__init__()
        self._client = httpx.Client(base_url=target, timeout=60)

    def is_write(self, request: Request) -> bool:
        return request.method != "GET"

    def answer(self, request: Request, keep: bool) -> Reply:
        if not keep:
            return Reply(200, {"data": [], "assessment": {}})
        response = self._client.request(
            request.method,
            request.path,
            params=[(name, value) for name, values in request.query.items() for value in values],
            headers={name: value for name, value in request.headers.items() if name not in _OF_CONNECTION},
            content=request.body,
        )
        headers = {"Content-Type": response.headers.get("content-type", "application/json")}
        return Reply(response.status_code, response.content, headers)

    def stop(self) -> None:
        super().stop()
        self._client.close()
