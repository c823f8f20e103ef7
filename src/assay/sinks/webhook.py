"""Scores posted to an address of one's own, as JSON."""

from __future__ import annotations

import hashlib
import hmac
import json
import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import Unpack

from assay._util.call_repr import call_repr
from assay.errors import InputError
from assay.records import Sample
from assay.sinks.annotations import NAMESPACE, Annotation
from assay.sinks.http_post import checked_url, post
from assay.sinks.remote import RemoteOptions, RemoteSink

#: Header names, as the receiver reads them.
IDEMPOTENCY, SIGNATURE = "Idempotency-Key", "X-Assay-Signature-256"


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
        self._url, self._host = checked_url(url)
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
        post(self._url, body, headers, self._timeout)

    def read_back(self, target: str, annotations: Sequence[Annotation], sample: Sample) -> Collection[str] | None:
        """All that was sent: its answer said that the receiver has them."""
        return {annotation.id for annotation in annotations}
