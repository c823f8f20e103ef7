"""Scores posted to an address of one's own, as JSON."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import urllib.error
import urllib.request
import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import IO, Any, Unpack
from urllib.parse import urlsplit, urlunsplit

from assay._util.call_repr import call_repr
from assay.errors import InputError
from assay.records import Sample
from assay.sinks.annotations import NAMESPACE, Annotation
from assay.sinks.remote import Busy, Refused, RemoteOptions, RemoteSink

#: Header names, as the receiver reads them.
IDEMPOTENCY, SIGNATURE = "Idempotency-Key", "X-Assay-Signature-256"

#: Answers that ask for another try.
_TRY_AGAIN = frozenset({408, 425, 429})

_AFTER = 3600.0  # seconds: a Retry-After beyond this counts as none


class WebhookSink(RemoteSink):
    """Posts the scores of a sample to `url`, in one request.

    The body is `{"id", "sample", "ids", "annotations"}`: an id of this very content, the sample's key, the ids of its
    origin, and `Annotation.to_dict()` of each score. The header `Idempotency-Key` repeats the id, so that a receiver
    that knows it already may answer without doing anything; each annotation has its own id besides. An answer of
    200 to 299 says that the receiver has them. 408, 425, 429 and 500 to 599 are tried again; other answers refuse.
    Redirects are followed to the same host only, and keep the method. Proxies are those of the environment.

    Args:
        headers: Sent along, for example `{"Authorization": "Bearer …"}`.
        secret: Signs the body: the header `X-Assay-Signature-256` is `sha256=` and the hex HMAC-SHA256 of its bytes.
        timeout: Seconds that one request may take.
        options: Those of every remote sink: verify, attempts, patience, dry_run, mask, texts.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        secret: str | bytes | None = None,
        timeout: float = 10.0,
        **options: Unpack[RemoteOptions],
    ) -> None:
        super().__init__(**options)
        self._url, self._host = _checked(url)
        if not timeout > 0:
            raise InputError(f"timeout: expected a positive number of seconds, got {timeout}")
        for name, value in (headers or {}).items():
            if not isinstance(name, str) or not isinstance(value, str) or "\n" in name + value or "\r" in name + value:
                raise InputError(f"headers: {name!r}: expected one line of text")
        if secret is not None and not secret:
            raise InputError("secret: expected a text of at least one character, got an empty one")
        self._headers = dict(headers or {})
        self._secret = secret.encode() if isinstance(secret, str) else secret
        self._timeout = timeout

    def __repr__(self) -> str:
        return call_repr(self, self._host)

    def target_of(self, sample: Sample) -> str:
        """The sample's key."""
        return sample.key()

    def send(self, target: str, annotations: Sequence[Annotation], sample: Sample) -> None:
        """Post all annotations in one request."""
        content = [annotation.to_dict() for annotation in annotations]
        identity = str(uuid.uuid5(NAMESPACE, json.dumps(content, sort_keys=True)))
        data = {"id": identity, "sample": target, "ids": dict(sample.ids), "annotations": content}
        body = json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        headers = {**self._headers, "Content-Type": "application/json", IDEMPOTENCY: identity}
        if self._secret is not None:
            headers[SIGNATURE] = "sha256=" + hmac.new(self._secret, body, hashlib.sha256).hexdigest()
        self._post(urllib.request.Request(self._url, data=body, headers=headers, method="POST"))  # noqa: S310

    def read_back(self, target: str, annotations: Sequence[Annotation], sample: Sample) -> Collection[str] | None:
        """All that was sent: its answer said that the receiver has them."""
        return {annotation.id for annotation in annotations}

    def _post(self, request: urllib.request.Request) -> None:
        opener = urllib.request.build_opener(_SameHost())
        try:
            with opener.open(request, timeout=self._timeout) as response:
                response.read(1)
        except urllib.error.HTTPError as error:
            with error:
                _judge(error.code, error.headers.get("Retry-After"))
        except urllib.error.URLError as error:
            reason = error.reason
            raise (reason if isinstance(reason, OSError) else OSError(type(error).__name__)) from None
        except http.client.HTTPException as error:
            raise ConnectionError(f"{type(error).__name__}") from None


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


def _judge(status: int, after: str | None) -> None:
    if status in _TRY_AGAIN or status >= 500:
        try:
            seconds = float(after or "")
        except ValueError:  # none, or a date
            seconds = -1.0
        raise Busy(f"the receiver answers HTTP {status}", after=seconds if 0 <= seconds <= _AFTER else None)
    raise Refused(f"the receiver refuses it: HTTP {status}")


def _checked(url: str) -> tuple[str, str]:
    """The address and, for messages, its host. The path may hold a key, so no message repeats it."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise InputError("url: expected an http or https address, got one that cannot be read") from None
    if not url.isascii() or any(character <= " " for character in url):
        raise InputError("url: expected an address with other characters than ASCII's, and blanks, percent-encoded")
    if parts.scheme not in ("http", "https") or not host:
        raise InputError(f"url: expected an http or https address, got one with scheme {parts.scheme!r}")
    if parts.username is not None or parts.password is not None:
        raise InputError("url: expected an address without user and password; give them in headers")
    return urlunsplit(parts._replace(fragment="")), host
