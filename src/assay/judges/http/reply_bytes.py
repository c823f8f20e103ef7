"""The bytes of replies: unpacked piece by piece, counted, and cut off at a limit. All transports read replies here.

A reply may take REPLY bytes unpacked, 32 MiB: a chat completion with log-probabilities takes 1 MB, the vectors of 64
texts 6 MB. `ASSAY_MAX_REPLY_MIB=64` in the environment raises that. The body of an error is read up to ERROR bytes, and
no further. All replies that are read at the same time may take AT_ONCE bytes, beside the first FREE of each.

What a model wrote may have TEXT characters, whoever asked it. Clients of frameworks are their users': where they hold a
client of httpx, `count_replies` has it count the bytes of replies to judges.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from assay._util.byte_limits import MIB, VALUE
from assay._util.forks import own_lock, renewed


def _limit(value: str | None) -> int:
    return int(value) * MIB if value is not None and value.isdecimal() and int(value) > 0 else 32 * MIB


REPLY = _limit(os.environ.get("ASSAY_MAX_REPLY_MIB"))
ERROR = MIB
TEXT = 1 << 19
AT_ONCE = 256 * MIB
FREE = MIB

#: What a request says that it takes: what is unpacked here, and nothing else.
ACCEPTED = "gzip, deflate"
LAYERS = 4  # packings of one reply, one within the other
MEMBERS = 1000  # parts of one packing: an empty one takes time and gives no byte that could be counted
_PIECE = 1 << 18
_RAISED = "; ASSAY_MAX_REPLY_MIB in the environment raises the limit"
_PACKED = frozenset({"gzip", "x-gzip", "deflate"})
_PLAIN = frozenset({"", "identity", "none", "binary", "utf-8"})


class ReplyTooLarge(Exception):
    """A reply takes more bytes than it may. `passing`: only because of others at the same time."""

    def __init__(self, message: str, *, passing: bool = False) -> None:
        super().__init__(message)
        self.passing = passing


class BrokenReply(Exception):
    """A reply cannot be unpacked."""


class ReplyPool:
    """The bytes that all replies under way in this process take together. Usable from any thread."""

    def __init__(self) -> None:
        self._lock = own_lock(self)
        self._set_up()
        renewed(self)  # replies under way are the parent's

    def _set_up(self) -> None:
        self._used = 0

    def take(self, size: int) -> None:
        """Take room. Raises ReplyTooLarge where there is none."""
        with self._lock:
            if self._used + size > AT_ONCE:
                message = f"the replies that come at the same time take more than {AT_ONCE // MIB} MiB together"
                raise ReplyTooLarge(f"{message}; lower max_concurrency", passing=True)
            self._used += size

    def give_back(self, size: int) -> None:
        """Give room back."""
        with self._lock:
            self._used = max(0, self._used - size)


POOL = ReplyPool()


@dataclass(frozen=True, slots=True)
class ReplyLimit:
    """What the reply to a request may take.

    Attributes:
        most: Bytes, unpacked. None: REPLY.
        into: The file that the bytes of a reply without an error go into, in place of the memory.
    """

    most: int | None = None
    into: Path | None = None

    @property
    def size(self) -> int:
        """Bytes, unpacked."""
        return REPLY if self.most is None else self.most


class ReplyReader:
    """Reads one reply: `feed` unpacks and counts. Close it when all is read, or nothing more is wanted.

    Args:
        status: Its HTTP status.
        encoding: Its header Content-Encoding. None: it has none.
        limit: What it may take.
    """

    def __init__(self, status: int, encoding: str | None, limit: ReplyLimit) -> None:
        self._error = not 200 <= status < 300
        self._into = None if self._error or limit.into is None else limit.into.open("wb")
        self._most = ERROR if self._error else limit.size
        self._steps = [_Unpacking() for name in _encodings(encoding) if name in _PACKED]
        if len(self._steps) > LAYERS:
            raise BrokenReply(f"its reply is packed {len(self._steps)} times; expected at most {LAYERS}")
        self._size = self._between = self._pooled = 0
        self.ended = False

    def feed(self, raw: bytes) -> Iterator[bytes]:
        """The next bytes of the reply, unpacked.

        Raises:
            ReplyTooLarge: There are more than the limit allows.
            BrokenReply: They cannot be unpacked.
        """
        for piece in self._unpacked(len(self._steps), raw):
            if self.ended:
                return
            kept = self._counted(piece)
            if self._into is not None:
                self._into.write(kept)
            elif kept:
                yield kept

    def close(self) -> None:
        """Give the room of this reply back, and close its file."""
        if self._into is not None:
            self._into.close()
        POOL.give_back(self._pooled)
        self._pooled = 0

    def _unpacked(self, packings: int, raw: bytes) -> Iterator[bytes]:
        if not packings:
            yield raw
            return
        for piece in self._steps[packings - 1].feed(raw):
            if packings > 1:  # what comes out between two packings costs as much, and may end in nothing
                self._between += len(piece)
                if self._between > self._most + MIB:  # packed, a short reply may be longer than it is
                    raise ReplyTooLarge(f"its reply has more than {_in_mib(self._most)} within its packings")
            yield from self._unpacked(packings - 1, piece)

    def _counted(self, piece: bytes) -> bytes:
        room = self._most - self._size
        self._size += len(piece)
        if len(piece) > room:
            if not self._error:
                raise ReplyTooLarge(f"its reply has more than {_in_mib(self._most)}{'' if self._into else _RAISED}")
            self.ended = True  # its beginning says what is wrong
            piece = piece[:room]
        beyond = max(0, self._size - FREE) - self._pooled
        if self._into is None and beyond > 0:
            POOL.take(beyond)
            self._pooled += beyond
        return piece


def check_values(content: bytes) -> None:
    """Raise ReplyTooLarge for JSON whose values would take more than four times REPLY in memory. Parses nothing."""
    size = len(content) + VALUE * sum(content.count(mark) for mark in (b",", b"[", b"{"))
    if size > 4 * REPLY:
        raise ReplyTooLarge(f"the values of its reply take about {_in_mib(size)} in memory{_RAISED}")


def check_encoding(encoding: str | None) -> None:
    """Raise BrokenReply for a reply that is packed in a way that no request asks for."""
    unknown = [name for name in _encodings(encoding) if name not in _PACKED | _PLAIN]
    if unknown:
        raise BrokenReply(f"its reply is packed as {unknown[0][:40]!r}, which the request did not accept")


class _Unpacking:
    """One gzip or deflate layer."""

    def __init__(self) -> None:
        self._unpacker: Any = None
        self._members = 0

    def feed(self, raw: bytes) -> Iterator[bytes]:
        while raw:
            if self._unpacker is None:
                self._members += 1
                if self._members > MEMBERS:
                    raise BrokenReply(f"its reply is packed in more than {MEMBERS} parts")
                self._unpacker = zlib.decompressobj(_window(raw))
            try:
                piece = self._unpacker.decompress(raw, _PIECE)
            except zlib.error as error:
                raise BrokenReply(f"its reply is no sound gzip: {error}") from None
            raw = self._unpacker.unconsumed_tail
            if self._unpacker.eof:
                raw, self._unpacker = self._unpacker.unused_data, None
            if piece:
                yield piece


def _window(raw: bytes) -> int:
    """How zlib reads what begins so: gzip, zlib, or deflate without a header, which some servers send."""
    if raw[0] == 0x1F:
        return 31
    has_header = raw[0] & 0x0F == 8 and (len(raw) < 2 or int.from_bytes(raw[:2]) % 31 == 0)
    return 15 if has_header else -15


def _encodings(encoding: str | None) -> list[str]:
    return [name.strip().lower() for name in (encoding or "").split(",")]


def _in_mib(size: int) -> str:
    return f"{size // MIB:,} MiB"


# ---- clients of httpx, which read whole replies into memory by themselves

_LIMIT: ContextVar[ReplyLimit | None] = ContextVar("reply limit", default=None)


@contextmanager
def limited_replies(limit: ReplyLimit | None = None) -> Iterator[None]:
    """Limit the replies to requests of this context, by clients that `count_replies` was called for."""
    token = _LIMIT.set(limit or ReplyLimit())
    try:
        yield
    finally:
        _LIMIT.reset(token)


def count_replies(client: Any) -> None:
    """Make HTTP clients count the bytes of replies, in `limited_replies` alone.

    Args:
        client: A client of httpx or httpx2, sync or async, or an object that holds some: a client of a provider, a
            model of a framework. Others are left as they are.
    """
    for found in _http_clients(client):
        hooks = found.event_hooks
        is_async = hasattr(found, "aclose")
        request, response = (_async_request, _async_response) if is_async else (_sync_request, _sync_response)
        if response not in hooks["response"]:
            counting = {"request": [*hooks["request"], request], "response": [response, *hooks["response"]]}
            found.event_hooks = {**hooks, **counting}


#: Where clients of providers and models of frameworks hold the client below them.
_HOLDERS = ("_client", "client", "root_client", "_http_client", "http_client")


def _http_clients(holder: Any, depth: int = 3) -> Iterator[Any]:
    hooks = getattr(holder, "event_hooks", None)
    if isinstance(hooks, Mapping) and {"request", "response"} <= hooks.keys():
        yield holder
        return
    for name in _HOLDERS if depth else ():
        held = None
        with suppress(Exception):  # some are made when they are first asked for, which may need a key
            held = getattr(holder, name, None)
        if held is not None and held is not holder and not isinstance(held, (str, bytes, Mapping)):
            yield from _http_clients(held, depth - 1)


def too_large_in(error: BaseException | None) -> ReplyTooLarge | None:
    """The ReplyTooLarge that a client of somebody else's made its own exception of; None: it is another matter."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, ReplyTooLarge):
            return ReplyTooLarge(str(error), passing=error.passing)
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return None


def _sync_request(request: Any) -> None:
    if _LIMIT.get() is not None:
        request.headers["accept-encoding"] = ACCEPTED


async def _async_request(request: Any) -> None:
    _sync_request(request)


def _sync_response(response: Any) -> None:
    limit = _LIMIT.get()
    if limit is None or response.is_stream_consumed:
        return
    encoding = response.headers.pop("content-encoding", None)
    check_encoding(encoding)
    reader = ReplyReader(response.status_code, encoding, limit)
    response.stream = _stream_type(type(response).__module__.partition(".")[0])(response.stream, reader)


async def _async_response(response: Any) -> None:
    _sync_response(response)


@cache
def _stream_type(library: str) -> Any:
    """The stream of counted bytes for this library, httpx or httpx2."""
    http = import_module(library)

    class CountedStream(http.SyncByteStream, http.AsyncByteStream):  # type: ignore[misc,name-defined]
        def __init__(self, stream: Any, reader: ReplyReader) -> None:
            self._stream = stream
            self._reader = reader

        def __iter__(self) -> Iterator[bytes]:
            try:
                for raw in self._stream:
                    yield from self._reader.feed(raw)
                    if self._reader.ended:
                        return
            finally:
                self._reader.close()

        async def __aiter__(self) -> AsyncIterator[bytes]:
            try:
                async for raw in self._stream:
                    for piece in self._reader.feed(raw):
                        yield piece
                    if self._reader.ended:
                        return
            finally:
                self._reader.close()

        def close(self) -> None:
            self._reader.close()
            self._stream.close()

        async def aclose(self) -> None:
            self._reader.close()
            await self._stream.aclose()

    return CountedStream
