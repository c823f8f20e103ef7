"""How a provider's batches are reached: single requests over the endpoint's client, with or without retries."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import quote

from assay._util.byte_limits import MIB
from assay.errors import Cause, JudgeFailure
from assay.judges.http.endpoint import Endpoint
from assay.judges.http.reply_bytes import ReplyLimit, ReplyTooLarge
from assay.judges.http.retries import Trouble
from assay.judges.http.transports import ClientTransport, Response, TimedOut, Unreachable

T = TypeVar("T")

#: Seconds that bringing or fetching a file may take.
TRANSFER = 600.0
_CHUNK = 1 << 16
#: Bytes of a file of results: so many for each request, and so many in any case; never more than half of what is free.
PER_RESULT, RESULTS = MIB, 256 * MIB


@dataclass(frozen=True, slots=True)
class ResultFile:
    """A file of results on this machine. `complete`: it was not cut off."""

    path: Path
    complete: bool = True


class BatchClient(Endpoint):
    """An endpoint, as far as its batches go."""

    async def get(self, path: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """A JSON object, tried again as `Retries` says. Raises JudgeFailure."""
        return await self.patiently(lambda: self._object("GET", path, params=params))

    async def download(self, path: str, folder: Path, requests: int) -> ResultFile:
        """A file of results, piece by piece into a file in `folder`, tried again as `Retries` says.

        It may have PER_RESULT bytes for each of the `requests`; what comes beyond is cut off. Raises JudgeFailure.
        """
        file = folder / f"{part(path)[-100:]}.jsonl"

        async def once() -> ResultFile:
            limit = ReplyLimit(_most(requests, folder), file)
            try:
                await self._exchange("GET", path, seconds=TRANSFER, limit=limit)
            except ReplyTooLarge:
                return ResultFile(file, complete=False)
            return ResultFile(file)

        return await self.patiently(once)

    async def put_file(self, path: str, name: str, file: Path, fields: Mapping[str, str]) -> dict[str, Any]:
        """Bring a file, tried again as `Retries` says: a second copy of it costs nothing. Raises JudgeFailure."""

        async def once() -> dict[str, Any]:
            with file.open("rb") as opened:
                return await self._object(
                    "POST", path, body=dict(fields), files=[("file", (name, opened))], seconds=TRANSFER,
                    headers={"Content-Type": "multipart/form-data"},
                )  # fmt: skip

        return await self.patiently(once)

    async def post_without_retry(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """One attempt. Raises JudgeFailure where it was refused, Trouble where nobody knows what became of it."""
        return await self._object("POST", path, body=dict(body))

    async def post_file_without_retry(self, path: str, file: Path) -> dict[str, Any]:
        """The same, with the content of a file as the body."""
        if not self._transport().streams:
            body = json.loads(await asyncio.to_thread(file.read_bytes))
            return await self._object("POST", path, body=body, seconds=TRANSFER)
        size = await asyncio.to_thread(os.path.getsize, file)
        headers = {"Content-Type": "application/json", "Content-Length": str(size)}
        return await self._object("POST", path, content=_chunks(file), headers=headers, seconds=TRANSFER)

    async def patiently(self, once: Callable[[], Awaitable[T]]) -> T:
        """The result of the first attempt that succeeds."""
        return await self.retries.run(once)

    async def _object(self, method: Literal["GET", "POST"], path: str, **how: Any) -> dict[str, Any]:
        try:
            found = (await self._exchange(method, path, **how)).body()
        except ReplyTooLarge as error:
            raise self.too_large(error) from None
        if isinstance(found, dict):
            return found
        raise Trouble(JudgeFailure(Cause.CONNECTION, f"{self.name} sent no JSON object for {path}"))

    async def _exchange(
        self,
        method: Literal["GET", "POST"],
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        seconds: float | None = None,
        limit: ReplyLimit | None = None,
        **content: Any,
    ) -> Response:
        """A response without an error. Raises JudgeFailure, Trouble, ReplyTooLarge."""
        allowed = seconds or self.settings.timeout
        trouble: Exception
        try:
            transport = self._transport()
            found = await transport.exchange(
                method, path, allowed, params=params, headers=headers, limit=limit, **content
            )
            if 200 <= found.status < 300:
                return found
            trouble = self._trouble("", found.status, found.text, found.headers)
            if isinstance(trouble, Trouble) and trouble.limited:  # no throttle here would hold others back
                trouble = Trouble(trouble.failure, retry_after=trouble.retry_after)
        except TimedOut:
            trouble = Trouble(JudgeFailure(Cause.TIMEOUT, f"{self.name}: no reply to {method} {path}"))
        except Unreachable as error:
            message = f"{self.name} cannot be reached: {self.scrub(str(error))}"
            trouble = Trouble(JudgeFailure(Cause.CONNECTION, message))
        raise trouble

    def _transport(self) -> ClientTransport:
        """The client itself: files leave in pieces."""
        loop = asyncio.get_running_loop()
        known = self._given or self._transports.get(loop)
        if not isinstance(known, ClientTransport):
            known = self._transports[loop] = ClientTransport(self.address.client(self.settings.timeout))
        return known


def part(name: str) -> str:
    """What a provider calls something, as a part of a path: it cannot lead elsewhere."""
    return quote(name, safe="")


def _most(requests: int, folder: Path) -> int:
    return min(RESULTS + PER_RESULT * requests, shutil.disk_usage(folder).free // 2)


async def _chunks(file: Path) -> AsyncIterator[bytes]:
    with file.open("rb") as opened:
        while chunk := opened.read(_CHUNK):
            yield chunk
