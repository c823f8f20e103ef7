"""A local receiver of webhooks that checks the signature and keeps each delivery once, by its idempotency key."""

from __future__ import annotations

import hashlib
import hmac
import uuid
from typing import Any

from tests._support.servers.service import FakeService, Reply, Request, check

SECRET, TOKEN = "hook-0123456789-secret", "Bearer hook-token-secret"


class WebhookReceiver(FakeService):
    """`deliveries` by idempotency key. `redirect` is where it sends callers on to: a status and a location."""

    def __init__(self) -> None:
        super().__init__()
        self.deliveries: dict[str, dict[str, Any]] = {}
        self.redirect: tuple[int, str] | None = None

    def is_write(self, request: Request) -> bool:
        return request.method == "POST"

    def answer(self, request: Request, keep: bool) -> Reply:
        check(request.method == "POST", "not a POST")
        if self.redirect is not None and request.path != "/moved":
            return Reply(self.redirect[0], None, {"Location": self.redirect[1]})
        check(request.headers.get("content-type") == "application/json", "not JSON")
        check(request.headers.get("authorization") == TOKEN, "no token")
        wanted = "sha256=" + hmac.new(SECRET.encode(), request.body, hashlib.sha256).hexdigest()
        check(hmac.compare_digest(request.headers.get("x-assay-signature-256", ""), wanted), "a wrong signature")
        data = request.json()
        check(set(data) == {"id", "sample", "ids", "annotations"}, f"fields {sorted(data)}")
        check(request.headers.get("idempotency-key") == data["id"], "the key is not the id")
        for annotation in data["annotations"]:
            uuid.UUID(annotation["id"])
            check(isinstance(annotation["name"], str), "no name")
        if keep:
            self.deliveries[data["id"]] = data
        return Reply(204)
