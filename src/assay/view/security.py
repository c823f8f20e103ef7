"""What every request has to pass, and the headers of every response.

Another site must not read a store through the browser of somebody who has it open: the `Host` has to be a name of this
server (DNS rebinding), an `Origin` has to be this server itself, and requests that a browser makes for another site are
refused unless they open the page. Beyond loopback, a token is needed as well.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'"
)
HEADERS = {
    "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
METHODS = ("GET", "HEAD")  # pages read only; what changes a store will need a CSRF token
TOKEN = "token"  # noqa: S105  # the name of the parameter
_LONGEST_ADDRESS = 16_000  # bytes


def is_loopback(host: str) -> bool:
    """Whether an address or a name is this machine alone."""
    address = _address(host)
    return host.lower() == "localhost" if address is None else address.is_loopback


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None


def host_of(header: str) -> str:
    """The name in a `Host` header, in lower case, without its port; an address of IPv6 without brackets."""
    name = header.strip().lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.partition(":")[0]


@dataclass(frozen=True, slots=True)
class AccessRules:
    """Who may read the pages.

    Attributes:
        host: The address that the server listens on.
        names: Further names that it is reached by.
        token: What the first address has to hold; None: nothing, on loopback.
        session: The value of the cookie that the token is exchanged for.
        cookie: The name of the cookie.
    """

    host: str = "127.0.0.1"
    names: Sequence[str] = ()
    token: str | None = None
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    cookie: str = "assay_view"

    def knows(self, header: str) -> bool:
        """Whether a `Host` header names this server. Addresses cannot be rebound; names of other machines can."""
        name = host_of(header)
        if name in {one.lower() for one in self.names} or is_loopback(name):
            return True
        return not is_loopback(self.host) and (_address(name) is not None or name == self.host.lower())

    def refusal(self, headers: dict[str, str], method: str) -> tuple[int, str] | None:
        """Status and reason where a request is refused, whoever sends it; None where not."""
        if method not in METHODS:
            return 405, "These pages are read-only: only GET and HEAD are served."
        host = headers.get("host", "")
        if not self.knows(host):
            return 421, "The address in the browser is no name of this server. Start it with --allow-host NAME."
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2].lower() != host.strip().lower():
            return 403, "Requests of other sites are refused."
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and not (
            headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
        ):
            return 403, "Requests of other sites are refused."
        return None

    def is_token(self, given: str) -> bool:
        """Whether this is the token, in a time that does not tell how much of it is right."""
        return self.token is not None and hmac.compare_digest(given.encode(), self.token.encode())

    def has_session(self, headers: dict[str, str]) -> bool:
        """Whether the request may read: it has the cookie, or none is needed."""
        if self.token is None:
            return True
        cookies = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
        return any(
            name == self.cookie and hmac.compare_digest(value.encode(), self.session.encode())
            for name, _, value in cookies
        )


class Guard:
    """Refuses requests that the rules refuse, exchanges the token for the cookie, and adds the headers."""

    def __init__(self, app: ASGIApp, rules: AccessRules) -> None:
        self._app, self._rules = app, rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return  # web sockets: there are none

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                found = [*message.get("headers", ())]
                known = {name.lower() for name, _ in found}
                found += [(name.encode(), value.encode()) for name, value in HEADERS.items()
                          if name.lower().encode() not in known]  # fmt: skip
                if b"cache-control" not in known:
                    found.append((b"cache-control", b"no-store"))
                message["headers"] = found
            await send(message)

        response = self._answer(scope)
        await (self._app if response is None else response)(scope, receive, with_headers)

    def _answer(self, scope: Scope) -> ASGIApp | None:
        """The answer in place of the page; None where the page may be read."""
        from starlette.responses import PlainTextResponse, RedirectResponse

        names = [name for name, _ in scope["headers"]]
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if names.count(b"host") != 1 or names.count(b"origin") > 1:
            return PlainTextResponse("expected one Host header", 400)
        if len(scope["query_string"]) + len(scope["path"]) > _LONGEST_ADDRESS:
            return PlainTextResponse("the address is too long", 414)
        refused = self._rules.refusal(headers, scope["method"])
        if refused is not None:
            return PlainTextResponse(refused[1], refused[0])
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in pairs if name == TOKEN]
        if given and self._rules.is_token(given[0]):
            rest = urlencode([pair for pair in pairs if pair[0] != TOKEN])
            # one slash: "//host" would lead to another server
            answer = RedirectResponse("/" + scope["path"].lstrip("/\\") + (f"?{rest}" if rest else ""), 303)
            # Lax: a link that a colleague sent still opens
            answer.set_cookie(self._rules.cookie, self._rules.session, httponly=True, samesite="lax", path="/")
            return answer
        if not self._rules.has_session(headers):
            return PlainTextResponse(
                "This store needs the token: open the address that `assay view` printed, which ends in ?token=...", 401
            )
        return None
