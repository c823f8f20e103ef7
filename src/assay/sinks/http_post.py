"""One POST with the standard library: what its answer means, and which redirects are followed.

Redirects are followed within the host only, and keep method and body. Proxies are those of the environment.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any
from urllib.parse import urlsplit, urlunsplit

from assay._util.steady_clock import steady
from assay.errors import InputError
from assay.sinks.remote import Busy, Refused

#: Answers that ask for another try.
_TRY_AGAIN = frozenset({408, 425, 429})

_AFTER = 3600.0  # seconds: a Retry-After beyond this counts as none


def post(url: str, body: bytes, headers: Mapping[str, str], timeout: float, *, until: float | None = None) -> None:
    """Send a body once. Returns where the answer is 200 to 299, as soon as its status is read.

    Args:
        url: Address, as `checked_url` returned it.
        body: The body.
        headers: The headers.
        timeout: Seconds of silence, at most.
        until: Time on `steady()` at which the exchange is ended, whatever the receiver sends meanwhile. Nothing is sent
            later. None: no such time.

    Raises:
        Refused: The receiver refuses it, or redirects to another host.
        Busy: The receiver asks for another try: 408, 425, 429 and 500 to 599.
        OSError: There is no answer.
    """
    request = urllib.request.Request(url, data=body, headers=dict(headers), method="POST")  # noqa: S310
    try:
        with _opener(until) as open_url, open_url(request, timeout):
            return
    except urllib.error.HTTPError as error:
        with error:
            _judge(error.code, error.headers.get("Retry-After"))
    except urllib.error.URLError as error:
        reason = error.reason
        raise (reason if isinstance(reason, OSError) else OSError(type(error).__name__)) from None
    except http.client.HTTPException as error:
        raise ConnectionError(f"{type(error).__name__}") from None


def checked_url(url: str, name: str = "url") -> tuple[str, str]:
    """Check an address. Its path may hold a key, so no message repeats it.

    Args:
        url: The address.
        name: Name of the argument, for messages.

    Returns:
        The address without fragment, and its host for messages.

    Raises:
        InputError: It is no http or https address, or holds a user or a password.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise InputError(f"{name}: expected an http or https address, got one that cannot be read") from None
    if not url.isascii() or any(character <= " " for character in url):
        raise InputError(f"{name}: expected an address with other characters than ASCII's, and blanks, percent-encoded")
    if parts.scheme not in ("http", "https") or not host:
        raise InputError(f"{name}: expected an http or https address, got one with scheme {parts.scheme!r}")
    if parts.username is not None or parts.password is not None:
        raise InputError(f"{name}: expected an address without user and password; give them in headers")
    return urlunsplit(parts._replace(fragment="")), host


def _judge(status: int, after: str | None) -> None:
    if status in _TRY_AGAIN or status >= 500:
        try:
            seconds = float(after or "")
        except ValueError:  # none, or a date
            seconds = -1.0
        raise Busy(f"the receiver answers HTTP {status}", after=seconds if 0 <= seconds <= _AFTER else None)
    raise Refused(f"the receiver refuses it: HTTP {status}")


class _SameHost(urllib.request.HTTPRedirectHandler):
    """Follows 307 and 308 within the host, with method and body. Others would lose the body, or leak it."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request:
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if code not in (307, 308) or (old.scheme, old.netloc) != (new.scheme, new.netloc):
            fp.close()
            raise Refused(f"the receiver redirects (HTTP {code}) to another host, or to a GET: give the final address")
        return urllib.request.Request(newurl, data=req.data, headers=dict(req.header_items()), method="POST")  # noqa: S310

    http_error_308 = urllib.request.HTTPRedirectHandler.http_error_307


@contextlib.contextmanager
def _opener(until: float | None) -> Iterator[Callable[[urllib.request.Request, float], Any]]:
    """A function that opens a request; with a time, every connection of the request ends then."""
    if until is None:
        plain = urllib.request.build_opener(_SameHost(), _Plain(None), _Encrypted(None))
        yield lambda request, timeout: plain.open(request, timeout=timeout)
        return
    with _Connections(until) as connections:
        opener = urllib.request.build_opener(_SameHost(), _Plain(connections), _Encrypted(connections))
        try:
            yield lambda request, timeout: opener.open(request, timeout=timeout)
        except (OSError, http.client.HTTPException):
            if connections.ended:
                raise TimeoutError("no answer in time") from None
            raise


class _Connections:
    """The connections of one request, which are shut down at a time."""

    def __init__(self, until: float) -> None:
        self._until = until
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        self._timer = threading.Timer(max(0.0, until - steady()), self._end)
        self._timer.daemon = True
        self.ended = False

    def __enter__(self) -> _Connections:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def add(self, connection: socket.socket) -> None:
        """A connection that is open. Raises TimeoutError where it came too late to send anything."""
        with self._lock:
            self.ended = self.ended or steady() >= self._until
            if self.ended:
                connection.close()
                raise TimeoutError("no connection in time")
            self._open.append(connection)

    def _end(self) -> None:
        with self._lock:
            self.ended = True
            for connection in self._open:
                with contextlib.suppress(OSError):  # not that of SSLSocket, which first forgets its encryption
                    socket.socket.shutdown(connection, socket.SHUT_RDWR)


class _Response(http.client.HTTPResponse):
    """A response whose status counts as soon as it is read, if it says that the receiver has the body."""

    def begin(self) -> None:
        try:
            super().begin()
        except (OSError, http.client.HTTPException):
            if not isinstance(self.status, int) or not 200 <= self.status < 300:
                raise
            self.headers = self.msg = http.client.HTTPMessage()
            self.length, self.chunked, self.will_close = 0, False, True


def _connection_of(kind: Any, connections: _Connections | None) -> Callable[..., Any]:
    """A function that makes connections of this kind, each in the list as soon as it is open."""

    def make(host: str, **options: Any) -> Any:
        made = kind(host, **options)
        made.response_class = _Response
        if connections is not None:
            connect = made.connect

            def connect_in_time() -> None:
                connect()
                connections.add(made.sock)

            made.connect = connect_in_time
        return made

    return make


class _Plain(urllib.request.HTTPHandler):
    def __init__(self, connections: _Connections | None) -> None:
        super().__init__()
        self._make = _connection_of(http.client.HTTPConnection, connections)

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._make, req)


class _Encrypted(urllib.request.HTTPSHandler):
    def __init__(self, connections: _Connections | None) -> None:
        super().__init__()
        self._make = _connection_of(http.client.HTTPSConnection, connections)

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(self._make, req)
