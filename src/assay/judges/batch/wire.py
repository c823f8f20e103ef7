"""How a provider's batches are reached: single requests over the endpoint's client, with or without retries."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from assay.errors import Cause, JudgeFailure
from assay.judges.endpoints.client import body_of, send
from assay.judges.endpoints.endpoint import Endpoint
from assay.judges.endpoints.retries import Trouble

T = TypeVar("T")

#: Seconds that bringing or fetching a file may take.
TRANSFER = 600.0
_CHUNK = 1 << 16


class Wire(Endpoint):
    """An endpoint, as far as its batches go."""

    async def get(self, path: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """A JSON object, tried again as `Retries` says. Raises JudgeFailure."""
        return await self.patiently(lambda: self._object("GET", path, params=params))

    async def fetch(self, path: str) -> bytes:
        """A file, tried again as `Retries` says. Raises JudgeFailure."""

        async def once() -> bytes:
            response = await self._exchange("GET", path, seconds=TRANSFER)
            return bytes(response.content)

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

    async def post_once(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """One attempt. Raises JudgeFailure where it was refused, Trouble where nobody knows what became of it."""
        return await self._object("POST", path, body=dict(body))

    async def post_file_once(self, path: str, file: Path) -> dict[str, Any]:
        """The same, with the content of a file as the body."""
        if "content" not in signature(self._client().post).parameters:  # of earlier versions of the client
            body = json.loads(await asyncio.to_thread(file.read_bytes))
            return await self._object("POST", path, body=body, seconds=TRANSFER)
        size = await asyncio.to_thread(os.path.getsize, file)
        headers = {"Content-Type": "application/json", "Content-Length": str(size)}
        return await self._object("POST", path, content=_chunks(file), headers=headers, seconds=TRANSFER)

    async def patiently(self, once: Callable[[], Awaitable[T]]) -> T:
        """The result of the first attempt that succeeds."""
        return await self.retries.run(once)

    async def _object(self, method: str, path: str, **how: Any) -> dict[str, Any]:
        response = await self._exchange(method, path, **how)
        found = body_of(response)
        if isinstance(found, dict):
            return found
        raise Trouble(JudgeFailure(Cause.CONNECTION, f"{self.name} sent no JSON object for {path}"))

    async def _exchange(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        seconds: float | None = None,
        **content: Any,
    ) -> Any:
        import openai

        trouble: Exception
        try:
            allowed = seconds or self.settings.timeout
            return await send(self._client(), method, path, allowed, params=params, headers=headers, **content)
        except openai.APITimeoutError:
            trouble = Trouble(JudgeFailure(Cause.TIMEOUT, f"{self.name}: no reply to {method} {path}"))
        except openai.APIConnectionError as error:
            reason = self.scrub(str(error.__cause__ or error)) or type(error.__cause__).__name__
            trouble = Trouble(JudgeFailure(Cause.CONNECTION, f"{self.name} cannot be reached: {reason}"))
        except openai.APIStatusError as error:
            trouble = self._trouble("", error.status_code, error.response.text, error.response.headers)
        if isinstance(trouble, Trouble) and trouble.limited:  # there is no throttle here that would hold others back
            trouble = Trouble(trouble.failure, retry_after=trouble.retry_after)
        raise trouble


def part(name: str) -> str:
    """What a provider calls something, as a part of a path: it cannot lead elsewhere."""
    return quote(name, safe="")


async def _chunks(file: Path) -> AsyncIterator[bytes]:
    with file.open("rb") as opened:
        while chunk := opened.read(_CHUNK):
            yield chunk
