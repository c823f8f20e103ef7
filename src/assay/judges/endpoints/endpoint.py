"""One OpenAI-compatible endpoint: its clients, its throttle, its errors. Chat and embeddings both go through here."""

from __future__ import annotations

import asyncio
import json
import re
import weakref
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from assay.errors import Cause, InputError, JudgeFailure, MissingExtra
from assay.judges.base import SPENDING, Reservation
from assay.judges.endpoints.retries import PASSING, Retries, Trouble, cause_of_status, retry_after
from assay.judges.endpoints.throttle import Throttle, shared_throttle
from assay.judges.writing.judge import UNCOUNTED, Patience
from assay.records import Usage

OPENAI = "https://api.openai.com/v1"
_RAW = 4000  # characters of an error body that are kept

_FILTERED = re.compile(
    r"content_filter|content_policy|content management policy|responsibleai|moderation|was flagged", re.IGNORECASE
)
_TOO_LONG = re.compile(
    r"context_length_exceeded|maximum context length|context window|exceeds? (?:the )?(?:available |maximum )?context"
    r"|prompt is too long|input (?:is )?too long",
    re.IGNORECASE,
)
_QUOTA = re.compile(r"insufficient_quota|billing_hard_limit", re.IGNORECASE)

#: Parts of a response that are there although nothing is in them: then each question is without an answer.
_MAY_BE_EMPTY = frozenset({"answers"})

Body = dict[str, Any]
#: Takes the budget for a request: its prompt tokens, and the completion tokens that it allows at most.
Reserve = Callable[[int, int], None]
#: Sends one request with a client. It calls the second argument right before.
Send = Callable[[Any, Reserve], Awaitable[Any]]

#: The endpoint turned the request away before any model read it: it took no tokens.
_UNREAD = frozenset({Cause.AUTH, Cause.NO_MODEL, Cause.RATE_LIMITED})


class Endpoint:
    """Sends requests with the `openai` client: one client per event loop, its own retries and environment unused.

    timeout  seconds of one attempt
    limits   `maximum`, `requests_per_minute` and `tokens_per_minute` of the throttle

    With a `base_url` of its own, no key, organisation or header meant for OpenAI is sent.
    """

    def __init__(
        self,
        *,
        base_url: str | None,
        api_key: str,
        azure_endpoint: str | None = None,
        api_version: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 60.0,
        retries: Retries | None = None,
        limits: Mapping[str, Any] | None = None,
    ) -> None:
        if azure_endpoint is not None and base_url is not None:
            raise InputError("base_url and azure_endpoint exclude each other")
        if azure_endpoint is not None and api_version is None:
            raise InputError("azure_endpoint needs api_version")
        self.name = _without_credentials(azure_endpoint or base_url or OPENAI)
        self._address: dict[str, Any] = {"base_url": base_url or OPENAI}
        if azure_endpoint is not None:
            self._address = {"azure_endpoint": azure_endpoint, "api_version": api_version}
        self._key = api_key
        self._headers = dict(headers or {})
        self._timeout = timeout
        self.retries = retries or Retries()
        self._limits = dict(limits or {})
        self._clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = weakref.WeakKeyDictionary()

    def __repr__(self) -> str:
        return f"Endpoint({self.name!r})"

    def throttle(self, model: str) -> Throttle:
        """The throttle of this endpoint, key and model in the running event loop."""
        return shared_throttle((self.name, self._key, model), **self._limits)

    async def call(
        self, model: str, send: Send, *, tokens: int, patience: Patience | None = None, expected: str = "choices"
    ) -> Body:
        """The body of the response to `send`, retried as `Retries` says. Every attempt is taken from the budget.

        `tokens` is an estimate for the throttle; a response without the key `expected` is no answer. Raises
        JudgeFailure. Its `detail` has the status and, as far as the endpoint told, `code`, `param` and `request_id`.
        """
        from assay.judges.writing.chat import usage_of  # that module reads what this one fetches

        patience = patience or Patience()
        throttle = self.throttle(model)

        async def attempt() -> Body:
            with patience.stopped():
                turn = await throttle.enter(tokens)
            used, succeeded = None, False
            bill = _Bill()
            try:
                body = await self._once(model, send, expected, bill)
                used, succeeded = _total(body), True
                bill.usage = usage_of(body.get("usage"))
                return body
            except Trouble as trouble:
                bill.refused(trouble.failure.cause)
                if trouble.limited:
                    throttle.refused(turn, self.retries.pause(trouble.retry_after, throttle.refusals + 1))
                raise
            except JudgeFailure as failure:
                bill.refused(failure.cause)
                raise
            finally:
                bill.settle()
                throttle.leave(turn, tokens=used, succeeded=succeeded)

        return await self.retries.run(attempt, heard=patience.note)

    async def release(self) -> None:
        """Close the client of the running event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    async def _once(self, model: str, send: Send, expected: str, bill: _Bill) -> Body:
        import openai

        client = self._client()
        trouble: Exception
        try:
            response = await send(client, bill.reserve)
            return self._body(model, response, expected)
        except openai.APITimeoutError:
            trouble = Trouble(JudgeFailure(Cause.TIMEOUT, f"{self.name}: no reply within {self._timeout:g} s"))
        except openai.APIConnectionError as error:
            reason = self.scrub(str(error.__cause__ or error)) or type(error.__cause__).__name__
            trouble = Trouble(JudgeFailure(Cause.CONNECTION, f"{self.name} cannot be reached: {reason}"))
        except openai.APIStatusError as error:
            headers = error.response.headers
            trouble = self._trouble(model, error.status_code, error.response.text, headers)
        # raised out here, so that the client's exception, which holds the request and its headers, is not its context
        raise trouble

    def _client(self) -> Any:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = self._clients[loop] = self._new_client()
        return client

    def _new_client(self) -> Any:
        try:
            import openai
        except ImportError as error:
            raise MissingExtra("OpenAI-compatible judges need the openai package: pip install 'openai>=2'") from error
        options: dict[str, Any] = {
            "api_key": self._key,
            "timeout": self._timeout,
            "max_retries": 0,
            "default_headers": self._headers,
        }
        if "azure_endpoint" in self._address:
            azure: Any = openai.AsyncAzureOpenAI(**options, **self._address)
            # openai 2 prefers a token of the environment, meant for something else, to the key that was given
            azure._azure_ad_token = None
            return azure
        client: Any = openai.AsyncOpenAI(**options, **self._address)
        if self._address["base_url"] != OPENAI:
            # the client takes these from the environment; they are OpenAI's, not this endpoint's
            client.organization = client.project = None
            for name in ("admin_api_key", "webhook_secret"):
                if hasattr(client, name):
                    setattr(client, name, None)
            client._custom_headers = dict(self._headers)
        return client

    def _body(self, model: str, response: Any, expected: str) -> Body:
        try:
            body = json.loads(response.content)
        except ValueError:
            body = None
        if isinstance(body, dict) and (body.get(expected) or (expected in _MAY_BE_EMPTY and expected in body)):
            return body
        text = response.content.decode("utf-8", "replace")
        error = body.get("error") if isinstance(body, dict) else None
        if isinstance(error, dict):  # gateways answer 200 and put the error of the endpoint behind them in the body
            status = error.get("code") if isinstance(error.get("code"), int) else error.get("status")
            raise self._trouble(model, status if isinstance(status, int) else 502, text, response.headers)
        message = f"{self.name} sent no {expected} in its response; is it an OpenAI-compatible endpoint?"
        raise Trouble(JudgeFailure(Cause.CONNECTION, message, raw=self.scrub(text[:_RAW])))

    def _trouble(self, model: str, status: int, text: str, headers: Mapping[str, str]) -> Exception:
        """What an error response means: trouble that may pass, or a failure for good."""
        error = _error_of(text)
        said = self.scrub(str(error.get("message") or text).strip()[:500])
        cause = cause_of_status(status)
        message = f"{self.name}: HTTP {status}: {said}"
        if _FILTERED.search(text) and status in (400, 403, 422):
            cause = Cause.CONTENT_FILTER
        elif _TOO_LONG.search(text) and status in (400, 413, 422):
            cause = Cause.TOO_LONG
            message += "; lower window_tokens to what the model has"
        elif status == 401:
            message = f"{self.name} refuses the key: {said}"
        elif status == 404:
            message = f"{self.name} does not know the model {model!r} or the path: {said}"
        detail = {"status": status, "request_id": headers.get("x-request-id"), "said": said}
        detail |= {name: str(error[name]) for name in ("code", "param") if error.get(name) is not None}
        failure = JudgeFailure(cause, message, raw=self.scrub(text[:_RAW]), detail=detail)
        if status not in PASSING or _QUOTA.search(text):
            return failure
        return Trouble(failure, retry_after=retry_after(headers), limited=status == 429)

    def scrub(self, text: str) -> str:
        """The text without the secrets that were given to this endpoint."""
        for secret in (self._key, *self._headers.values()):
            if len(secret) >= 6:
                text = text.replace(secret, "***")
        return text


class _Bill:
    """What one attempt takes from the budget of its context."""

    __slots__ = ("_reservation", "usage")

    def __init__(self) -> None:
        self._reservation: Reservation | None = None
        self.usage: Usage = UNCOUNTED

    def reserve(self, prompt_tokens: int, completion_tokens: int) -> None:
        budget = SPENDING.get()
        if budget is not None:
            self._reservation = budget.reserve(prompt_tokens, completion_tokens)

    def refused(self, cause: Cause) -> None:
        if cause in _UNREAD:
            self.usage = Usage(calls=1)

    def settle(self) -> None:
        if self._reservation is not None:
            self._reservation.settle(self.usage)


def _error_of(text: str) -> Mapping[str, Any]:
    """The error object of a body, in the shapes that servers use."""
    try:
        body = json.loads(text)
    except ValueError:
        return {}
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict):
        return {}
    error = body.get("error", body)
    if isinstance(error, dict):
        return error if "message" in error else {**error, "message": error.get("detail")}
    return {"message": str(error)}


def _total(body: Body) -> int | None:
    usage = body.get("usage")
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    return total if isinstance(total, int) else None


def _without_credentials(url: str) -> str:
    """The address without user, password and query."""
    parts = urlsplit(url)
    if not parts.scheme or not parts.hostname:
        raise InputError(f"base_url: expected an address like http://localhost:8000/v1, got {url!r}")
    host = parts.hostname if parts.port is None else f"{parts.hostname}:{parts.port}"
    return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))
