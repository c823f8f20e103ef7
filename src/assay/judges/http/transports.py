"""How a request leaves: through an `openai` client, or through aiohttp (extra `fast`) where that means the same.

A client takes several times the CPU that aiohttp takes. It means the same where nothing of the environment has a say:
no proxy, and for OpenAI itself no organisation, project or header. A client of the user's own is always used.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import ssl
import urllib.request
import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from inspect import signature
from typing import Any, Literal, Protocol
from urllib.parse import unquote, urlsplit, urlunsplit

from assay.judges.http.client import OPENAI, Address, http_library
from assay.judges.http.reply_bytes import (
    ACCEPTED,
    BrokenReply,
    ReplyLimit,
    ReplyReader,
    ReplyTooLarge,
    check_encoding,
    check_values,
    count_replies,
    limited_replies,
    too_large_in,
)

#: Seconds that a connection without a request is kept: less than the 5 s after which common servers close it.
_KEPT = 4.0
_MOST_CONNECTIONS = 1000

#: What the `openai` client adds to requests to OpenAI itself.
_OF_OPENAI = ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS")


class TimedOut(Exception):
    """Nothing came within the seconds that the attempt had."""


class Unreachable(Exception):
    """No response, for a reason that may pass."""


@dataclass(frozen=True, slots=True)
class Response:
    """What came back, with any status."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    charset: str | None = None

    @property
    def text(self) -> str:
        """The content as text, whatever it is."""
        try:
            return self.content.decode(self.charset or "utf-8", "replace")
        except LookupError:
            return self.content.decode("utf-8", "replace")

    def body(self) -> Any:
        """The JSON of the content; None where it holds none. Raises ReplyTooLarge."""
        check_values(self.content)
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError):
            return None


class Transport(Protocol):
    """What carries requests, within one event loop."""

    async def post(self, path: str, body: Mapping[str, Any], seconds: float) -> Response:
        """The response to one request, of any status; redirects are not followed.

        Raises TimedOut, Unreachable, ReplyTooLarge.
        """

    async def close(self) -> None:
        """Close what is open."""


def transport_to(address: Address, timeout: float) -> Transport:
    """The cheapest transport that means the same, for the running event loop."""
    if address.authorize is not None or _added_by_environment(address) or not _has_aiohttp():
        return ClientTransport(address.client(timeout))
    return PlainTransport(address)


class ClientTransport:
    """Over an `openai` client, through its public interface."""

    def __init__(self, client: Any) -> None:
        self._client = client
        count_replies(client)

    async def post(self, path: str, body: Mapping[str, Any], seconds: float) -> Response:
        return await self.exchange("POST", path, seconds, body=body)

    @property
    def streams(self) -> bool:
        """Whether `exchange` takes `content`; earlier versions of the client do not."""
        return "content" in signature(self._client.post).parameters

    async def exchange(
        self,
        method: Literal["GET", "POST"],
        path: str,
        seconds: float,
        *,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        limit: ReplyLimit | None = None,
        **content: Any,
    ) -> Response:
        """As `post`, also what is no JSON; `content`: body, content or files; `limit`: what the reply may take."""
        import openai

        options: dict[str, Any] = {"max_retries": 0, "timeout": seconds, "follow_redirects": False}
        if params is not None:
            options["params"] = dict(params)
        if headers is not None:
            options["headers"] = dict(headers)
        limit = limit or ReplyLimit()
        trouble: Exception
        try:
            # asked for the response class of its HTTP library, the client hands a response over as it is
            asked = self._client.get if method == "GET" else self._client.post
            with limited_replies(limit):
                came = await asked(path, cast_to=http_library().Response, options=options, **content)
            return _written(Response(came.status_code, came.headers, came.content, came.charset_encoding), limit)
        except openai.APITimeoutError:
            trouble = TimedOut()
        except (openai.APIConnectionError, ReplyTooLarge, BrokenReply) as error:
            trouble = _trouble_of(error)
        except openai.APIStatusError as error:
            came = error.response
            return Response(error.status_code, came.headers, came.content, came.charset_encoding)
        # raised out here, so that the client's exception, which holds the request and its headers, is not its context
        raise trouble

    async def close(self) -> None:
        await self._client.close()


class PlainTransport:
    """Over aiohttp: one session, whose connections are kept for the next request."""

    def __init__(self, address: Address) -> None:
        import aiohttp

        parts = urlsplit(address.url)
        self._base = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
        self._query = address.query
        trusted: ssl.SSLContext | bool = http_library().create_ssl_context() if parts.scheme == "https" else True
        connector = _connector_type()(limit=_MOST_CONNECTIONS, keepalive_timeout=_KEPT, ssl=trusted)
        headers = _headers(address) | {"Accept-Encoding": ACCEPTED}
        self._session = aiohttp.ClientSession(connector=connector, headers=headers, auto_decompress=False)
        # where nobody closes it, aiohttp would complain to the log of the host; this holds it until it is put away
        weakref.finalize(self, _close_connections, self._session, asyncio.get_running_loop(), os.getpid())

    async def post(self, path: str, body: Mapping[str, Any], seconds: float) -> Response:
        import aiohttp

        content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        # of each wait, as the client has it: a reply that keeps coming is no silence
        timeout = aiohttp.ClientTimeout(connect=seconds, sock_connect=seconds, sock_read=seconds)
        trouble: Exception
        try:
            async with self._session.post(
                self._base + path, params=self._query, data=content, timeout=timeout, allow_redirects=False
            ) as came:
                content = await _read(came)
                return Response(came.status, came.headers, content, came.charset)
        except TimeoutError:
            trouble = TimedOut()
        except (aiohttp.ClientError, OSError, ValueError, BrokenReply) as error:
            trouble = Unreachable(str(error) or type(error).__name__)
        raise trouble

    async def close(self) -> None:
        await self._session.close()


async def _read(came: Any) -> bytes:
    """The content of a response, of which nobody knows whether it ends. Raises ReplyTooLarge, BrokenReply."""
    encoding = came.headers.get("content-encoding")
    check_encoding(encoding)
    reader = ReplyReader(came.status, encoding, ReplyLimit())
    pieces: list[bytes] = []
    try:
        async for raw in came.content.iter_any():
            pieces.extend(reader.feed(raw))
            if reader.ended:
                break
        return b"".join(pieces)
    finally:
        reader.close()


def _trouble_of(error: BaseException) -> Exception:
    """What a client means that could not get a reply, without its exception, which holds the request."""
    cause = error.__cause__ or error
    return too_large_in(error) or Unreachable(str(cause) or type(cause).__name__)


def _written(response: Response, limit: ReplyLimit) -> Response:
    """The response of a client whose bytes could not be counted on their way: counted now, and written where asked."""
    if len(response.content) > limit.size:
        raise ReplyTooLarge(f"its reply has {len(response.content):,} bytes, more than {limit.size:,}")
    if limit.into is not None and response.content and 200 <= response.status < 300:
        limit.into.write_bytes(response.content)
        return replace(response, content=b"")
    return response


def _close_connections(session: Any, loop: asyncio.AbstractEventLoop, pid: int) -> None:
    """Close the connections of a transport that is gone: on their loop, or, where that has ended, here."""
    with suppress(Exception):
        connector = session.connector
        if connector is None:
            return
        session.detach()
        if os.getpid() != pid:  # a forked child: the loop's selector is shared with the parent, which goes on
            return
        if not loop.is_closed():
            loop.call_soon_threadsafe(_close, connector)
            return
        work = _closed(connector)
        for _ in range(_STEPS):  # it has nothing to wait for any more
            work.send(None)


@cache
def _connector_type() -> Any:
    import aiohttp

    class Connector(aiohttp.TCPConnector):
        """Closes nothing by being collected: see `_put_away`."""

        def __del__(self, _warnings: Any = None) -> None:
            return

    return Connector


async def _closed(connector: Any) -> None:
    await connector.close()


def _close(connector: Any) -> None:
    """Close a connector from a callback of its loop."""
    task = asyncio.ensure_future(_closed(connector))
    _CLOSING.add(task)
    task.add_done_callback(_CLOSING.discard)


_STEPS = 8
_CLOSING: set[asyncio.Future[None]] = set()  # a loop holds its tasks weakly


def _headers(address: Address) -> dict[str, str]:
    """What every request says."""
    headers = {"Accept": "application/json", "Content-Type": "application/json", "User-Agent": _user_agent()}
    parts = urlsplit(address.url)
    if parts.username:
        credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Authorization"] = "Basic " + base64.b64encode(credentials.encode()).decode()
    elif not address.key_header:
        headers["Authorization"] = f"Bearer {address.key}"
    if address.key_header:
        headers[address.key_header] = address.key
    own = dict(address.headers)
    replaced = {name.lower() for name in own}
    return {name: value for name, value in headers.items() if name.lower() not in replaced} | own


def _added_by_environment(address: Address) -> bool:
    if any(name in urllib.request.getproxies() for name in ("http", "https", "all")):
        return True
    return address.url == OPENAI and any(os.environ.get(name) for name in _OF_OPENAI)


@cache
def _has_aiohttp() -> bool:
    return find_spec("aiohttp") is not None


@cache
def _user_agent() -> str:
    try:
        return f"assay-rag/{version('assay-rag')}"
    except PackageNotFoundError:  # run from its sources
        return "assay-rag"
