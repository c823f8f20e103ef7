"""The HTTP client of an endpoint: the `openai` package through its public interface, or a client of the user's own.

Nothing of the environment goes to an endpoint that is not OpenAI's: the client would take an organisation, a project
and headers from there. Redirects are not followed: texts and keys go to the address that was given, or nowhere.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from assay._util.install_hints import install_package
from assay.errors import InputError, MissingExtra

OPENAI = "https://api.openai.com/v1"

#: Headers that a request needs, whatever the environment says. The client's own begin with x-stainless.
_NEEDED = frozenset(
    {"host", "accept", "accept-encoding", "connection", "content-type", "content-length", "user-agent", "authorization"}
)


@dataclass(frozen=True)
class Address:
    """Where an endpoint is, and what opens it.

    `url` is up to the version, without user, password and query; `path_of` the path of a request there. `key_header`:
    what the key is sent in, where not as `Authorization: Bearer`.
    """

    url: str
    key: str
    query: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    azure: bool = False
    key_header: str | None = None

    @classmethod
    def of(
        cls,
        base_url: str | None,
        key: str,
        headers: Mapping[str, str],
        azure_endpoint: str | None = None,
        api_version: str | None = None,
    ) -> Address:
        """The address that these arguments mean. Raises InputError for what is none."""
        if azure_endpoint is not None and base_url is not None:
            raise InputError("base_url and azure_endpoint exclude each other")
        if azure_endpoint is not None and api_version is None:
            raise InputError("azure_endpoint needs api_version")
        parts = urlsplit(azure_endpoint or base_url or OPENAI)
        if not parts.scheme or not parts.hostname:
            raise InputError(f"base_url: expected an address like http://localhost:8000/v1, got {base_url!r}")
        query = parse_qsl(parts.query, keep_blank_values=True)
        if api_version is not None:
            query.append(("api-version", api_version))
        path = parts.path.rstrip("/") + ("/openai" if azure_endpoint is not None else "")
        host = _host(parts.hostname, parts.port)
        credentials = ((parts.username or "") + ":" + (parts.password or "") + "@") if parts.username else ""
        url = urlunsplit((parts.scheme, credentials + host, path, "", ""))
        azure = azure_endpoint is not None
        return cls(url, key, tuple(query), tuple(headers.items()), azure, "api-key" if azure else None)

    @cached_property
    def name(self) -> str:
        """The address as people read it, without credentials."""
        parts = urlsplit(self.url)
        return urlunsplit((parts.scheme, _host(parts.hostname or "", parts.port), parts.path, "", ""))

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not stand in any message."""
        parts = urlsplit(self.url)
        return tuple(text for text in (self.key, parts.password, *(value for _, value in self.headers)) if text)

    def path_of(self, model: str, path: str) -> str:
        """The path of a request about this model."""
        return f"/deployments/{model}{path}" if self.azure else path

    def client(self, timeout: float) -> Any:
        """An `openai.AsyncOpenAI` for this address."""
        openai = _openai()
        own = {name.lower() for name, _ in self.headers} | ({self.key_header} if self.key_header else set())

        async def strip(request: Any) -> None:
            for name in [name for name in request.headers if name not in _NEEDED and name not in own]:
                if not name.startswith("x-stainless"):
                    del request.headers[name]
            if self.key_header:
                request.headers.pop("authorization", None)
            elif "authorization" not in own and not request.headers.get("authorization", "").startswith("Basic "):
                request.headers["authorization"] = f"Bearer {self.key}"

        headers = dict(self.headers) | ({self.key_header: self.key} if self.key_header else {})
        # it looks at every header, which takes a while: only where there is something to take away
        foreign = self.url != OPENAI and any(name.startswith("OPENAI_") for name in os.environ)
        hooks = {"request": [strip]} if foreign or self.key_header else {}
        return openai.AsyncOpenAI(
            api_key=self.key,
            base_url=self.url,
            default_headers=headers,
            default_query=dict(self.query),
            max_retries=0,
            timeout=timeout,
            http_client=openai.DefaultAsyncHttpxClient(
                follow_redirects=False,
                event_hooks=hooks,
                verify=_certificates(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")),
            ),
        )


@cache
def _certificates(file: str | None, folder: str | None) -> Any:
    """What the library trusts with these variables. Each client would read the certificates anew, in 0.05 s."""
    return http_library().create_ssl_context()


def _openai() -> Any:
    try:
        import openai
    except ImportError as error:
        raise MissingExtra(f"OpenAI-compatible judges need openai: {install_package('openai>=2,<4')}") from error
    return openai


def http_library() -> Any:
    """The HTTP library that the `openai` package is built on."""
    if int(_openai().__version__.partition(".")[0]) >= 3:
        import httpx2

        return httpx2
    import httpx

    return httpx


def _host(name: str, port: int | None) -> str:
    name = f"[{name}]" if ":" in name else name
    return name if port is None else f"{name}:{port}"
