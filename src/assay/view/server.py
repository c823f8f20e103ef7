"""The server of the pages: an address, a token where others can reach it, uvicorn."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay._util.install_hints import install_extra
from assay.errors import InputError, MissingExtra
from assay.store.store import Store
from assay.store.tables import store_may_exist
from assay.store.windows import UTC_NAME
from assay.view.open_store import OpenStore
from assay.view.security import TOKEN, AccessRules, is_loopback

if TYPE_CHECKING:
    import uvicorn

HOST, PORT = "127.0.0.1", 8410
_ANY = ("0.0.0.0", "::")  # noqa: S104  # compared with, not bound to
_LAST_REQUESTS = 3  # seconds that requests have to end in when the server stops


def serve(
    store: str | Path,
    *,
    host: str = HOST,
    port: int = PORT,
    names: Sequence[str] = (),
    timezone: str = UTC_NAME,
    opened: Callable[[str], None] = print,
) -> None:
    """Serve the pages of a store until the process is interrupted.

    Args:
        store: The store, its folder or its database URL.
        host: The address to listen on. Beyond loopback a token is needed, which stands in the first address.
        port: The port; 0 for a free one.
        names: Further names that the server is reached by.
        timezone: IANA name of the time zone of days.
        opened: Called with the address to open when the server listens.

    Raises:
        InputError: There is no such store, or the address cannot be listened on.
        MissingExtra: The extra `view` is not installed.
        StoreError: The store cannot be opened.
    """
    if not store_may_exist(store):
        raise InputError(f"store: there is none in {str(store)!r}; name yours, or score something first")
    listening = listen(host, port)
    with listening:
        found = OpenStore(Store(store), timezone)
        number = listening.getsockname()[1]
        token = None if is_loopback(host) else secrets.token_urlsafe(32)
        known = (*names, socket.gethostname()) if host in _ANY else tuple(names)
        server = make_server(found, AccessRules(host, known, token, cookie=f"assay_view_{number}"))
        opened(address_of(host, number, token))
        server.run(sockets=[listening])


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens. Raises InputError for an address that cannot be had."""
    if not 0 <= port <= 65535:
        raise InputError(f"--port: expected 0 to 65535, got {port}")
    name = host.removeprefix("[").removesuffix("]")
    try:
        family = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((name, port), family=family, backlog=128)
    except (OSError, UnicodeError) as error:
        raise InputError(f"--host, --port: cannot listen on {host}:{port}: {error}; give another --port") from None


def address_of(host: str, port: int, token: str | None) -> str:
    """The address that opens the pages."""
    name = host.removeprefix("[").removesuffix("]")
    name = socket.gethostname() if name in _ANY else f"[{name}]" if ":" in name else name
    return f"http://{name}:{port}/" + (f"?{TOKEN}={token}" if token is not None else "")


def make_server(store: OpenStore, rules: AccessRules) -> uvicorn.Server:
    """The server, not started. Raises MissingExtra."""
    try:
        import uvicorn
    except ImportError as error:
        raise MissingExtra(f"assay view needs uvicorn: {install_extra('view')}") from error
    from assay.view.app import make_app

    config = uvicorn.Config(
        make_app(store, rules),
        access_log=False,  # addresses hold the token, and names of runs
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=_LAST_REQUESTS,
    )
    return uvicorn.Server(config)
