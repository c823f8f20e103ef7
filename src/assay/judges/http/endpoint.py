"""One OpenAI-compatible endpoint: requests go out here, with their turn, their budget, their time and their retries."""

from __future__ import annotations

import asyncio
import json
import weakref
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from assay.errors import Cause, JudgeFailure
from assay.judges.http.client import Address
from assay.judges.http.deadlines import Deadline
from assay.judges.http.error_bodies import error_in, first_event
from assay.judges.http.latency import Latency
from assay.judges.http.native_bodies import completion_of, is_part
from assay.judges.http.options import Settings
from assay.judges.http.replies import count_of, failure_of, usage_of
from assay.judges.http.reply_bytes import ERROR, ReplyTooLarge
from assay.judges.http.reservation import AttemptReservation
from assay.judges.http.retries import LONGEST_PAUSE, Retries, Trouble, retry_after
from assay.judges.http.throttle import shared_throttle
from assay.judges.http.transports import ClientTransport, Response, TimedOut, Transport, Unreachable, transport_to
from assay.judges.prompt_rendering import tokens_in

_RAW = 4000  # characters of an error body that are kept

#: Parts of a response that are there although nothing is in them: then each question is without an answer.
_MAY_BE_EMPTY = frozenset({"answers"})

Body = dict[str, Any]


class Endpoint:
    """Sends requests: over one transport per event loop, or the client that the user handed over, whose keys, proxies
    and headers stay. A client's own retries are off: they are here, counted in budget and usage.
    """

    def __init__(self, address: Address, settings: Settings, client: Any = None) -> None:
        self.address = address
        self.name = address.name
        self.settings = settings
        self.retries = Retries(settings.max_attempts, settings.retry_base)
        self._given = None if client is None else ClientTransport(client)
        self._transports: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Transport] = weakref.WeakKeyDictionary()
        self._latencies: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Latency] = weakref.WeakKeyDictionary()

    def __repr__(self) -> str:
        return f"Endpoint({self.name!r})"

    @property
    def identity(self) -> list[Any]:
        """What of the endpoint can change what answers, besides its `title`: for fingerprints, where it is hashed.

        Without the address itself, so that fingerprints tell whether two judges differ by that alone.
        """
        settings = self.settings
        if settings.identity is not None:
            return ["named", settings.extra_body]
        return [self.address.query, sorted(settings.headers.items()), settings.extra_body]

    @property
    def title(self) -> str:
        """The address as fingerprints show it, without its query, or what stands for it."""
        return self.settings.identity or self.name

    async def call(
        self,
        model: str,
        path: str,
        make: Callable[[], Body],
        *,
        tokens: int,
        reply: int,
        deadline: Deadline | None = None,
        expected: str = "choices",
        most: Callable[[Body], int] = lambda body: 0,
    ) -> Body:
        """The body of the response to the body that `make` makes, once it is this request's turn.

        Retried as `Retries` says; every attempt is taken from the budget. Raises JudgeFailure. Its `detail` has the
        status and, as far as the endpoint told, `code`, `param` and `request_id`.

        Args:
            tokens: An estimate for the throttle, with the `reply` that is expected, also in tokens.
            expected: A key without which a response is no answer.
            most: Completion tokens that a body allows at most, for the budget.
        """
        deadline = deadline or Deadline()
        throttle = shared_throttle((self.name, self.address.key), **self.settings.limits)
        attempts = 0

        async def attempt() -> Body:
            nonlocal attempts
            turn = throttle.enter_now(tokens)
            if turn is None:
                with deadline.stopped():
                    turn = await throttle.enter(tokens)
            used, succeeded, bill = None, False, AttemptReservation()
            try:
                body = make()
                if bill.wanted:
                    bill.reserve(tokens_in(json.dumps(body, ensure_ascii=False)), most(body))
                found = await self._once(model, self.address.path_of(model, path), body, reply, attempts, expected)
                used, succeeded = _total(found), True
                if bill.wanted:
                    bill.usage = usage_of(found.get("usage"))
                return found
            except Trouble as trouble:
                bill.refused(trouble.failure.cause)
                if trouble.failure.cause is Cause.RATE_LIMITED:
                    throttle.refused(turn, self._pause(trouble, throttle.refusals + 1))
                raise
            except JudgeFailure as failure:
                bill.refused(failure.cause)
                raise
            finally:
                attempts += 1
                bill.settle()
                throttle.leave(turn, tokens=used, succeeded=succeeded)

        return await self.retries.run(attempt, heard=deadline.note)

    async def release(self) -> None:
        """Close what is open in the running event loop. A client that was handed over is the user's to close."""
        transport = self._transports.pop(asyncio.get_running_loop(), None)
        if transport is not None:
            await transport.close()

    def scrub(self, text: str) -> str:
        """The text without the secrets that were given to this endpoint."""
        for secret in self.address.secrets:
            if len(secret) >= 6:
                text = text.replace(secret, "***")
        return text

    def _pause(self, trouble: Trouble, refusals: int) -> float:
        """Seconds for which nobody asks after a refusal for rate, in which no deadline runs.

        What asks for longer than a rate can take has ended its own call; the others are not to wait a year for it.
        """
        asked = trouble.retry_after
        return self.retries.pause(None if asked is not None and asked > LONGEST_PAUSE else asked, refusals)

    # ---- one attempt

    async def _once(self, model: str, path: str, body: Body, reply: int, attempt: int, expected: str) -> Body:
        loop = asyncio.get_running_loop()
        latency, timeout = self._latency(), self.settings.timeout
        silence = latency.silent_for(loop.time(), timeout)
        if silence is not None:
            raise JudgeFailure(Cause.TIMEOUT, f"{self.name} has not answered anything for {silence:.0f} s")
        allowed = latency.allowed(reply, timeout, attempt)
        trouble: Exception
        began = loop.time()
        latency.began(began)
        try:
            # `allowed` is for each wait: what keeps coming, a byte at a time, would never be over
            async with asyncio.timeout(timeout):
                response = await self._transport().post(path, body, allowed)
            latency.answered(loop.time() - began, reply, loop.time())
            return self._found(model, response, expected)
        except (TimedOut, TimeoutError) as error:
            latency.unanswered()
            waited = allowed if isinstance(error, TimedOut) else timeout
            trouble = Trouble(JudgeFailure(Cause.TIMEOUT, f"{self.name}: no reply within {waited:.3g} s"))
        except Unreachable as error:
            message = f"{self.name} cannot be reached: {self.scrub(str(error))}"
            trouble = Trouble(JudgeFailure(Cause.CONNECTION, message))
        except ReplyTooLarge as error:
            trouble = self.too_large(error)
        except RuntimeError as error:
            # a client that was handed over may hold connections of an event loop that has ended; each is tried once
            if self._given is None or "loop" not in str(error):
                raise
            trouble = Trouble(JudgeFailure(Cause.CONNECTION, f"{self.name}: the client's connection is gone: {error}"))
        # raised out here, so that no client's exception, which holds the request and its headers, is its context
        raise trouble

    def too_large(self, error: ReplyTooLarge) -> Exception:
        """What a reply means that takes more bytes than it may: the same request would get it again."""
        failure = JudgeFailure(Cause.TOO_LARGE, f"{self.name}: {error}")
        return Trouble(failure) if error.passing else failure

    def _latency(self) -> Latency:
        loop = asyncio.get_running_loop()
        if loop not in self._latencies:
            self._latencies[loop] = Latency()
        return self._latencies[loop]

    def _transport(self) -> Transport:
        if self._given is not None:
            return self._given
        loop = asyncio.get_running_loop()
        transport = self._transports.get(loop)
        if transport is None:
            transport = self._transports[loop] = transport_to(self.address, self.settings.timeout)
        return transport

    def _found(self, model: str, response: Response, expected: str) -> Body:
        if not 200 <= response.status < 300:
            raise self._trouble(model, response.status, response.text, response.headers)
        body = response.body()
        if expected == "choices":
            body = self._completion(body)
        present = isinstance(body, dict) and (body.get(expected) or (expected in _MAY_BE_EMPTY and expected in body))
        if present and (expected != "choices" or error_in(body) is None):
            return body  # type: ignore[no-any-return]  # a dict, as JSON has them
        raise self._no_answer(model, response, body, expected)

    def _completion(self, body: Any) -> Any:
        """The body of a response as a chat completion, where it is one in another form."""
        return completion_of(body)

    def _no_answer(self, model: str, response: Response, body: Any, expected: str) -> Exception:
        """What a response with HTTP 200 means that holds no answer."""
        text = response.content[:ERROR].decode("utf-8", "replace")
        event = body if is_part(body) else first_event(text) if body is None else None
        error = error_in(body if event is None else event)
        if error is not None:
            trouble = self._trouble(model, *error, response.headers)
            if isinstance(trouble, Trouble):  # no header says when to come back: tried as often as any other error
                trouble.limited = False
            return trouble
        raw = self.scrub(text)[:_RAW]
        if event is not None:
            message = f"{self.name} streams its reply, which was not asked for; turn streaming off there"
            return JudgeFailure(Cause.BAD_REQUEST, message, raw=raw)
        message = f"{self.name} sent no {expected} in its response; is it an OpenAI-compatible endpoint?"
        return Trouble(JudgeFailure(Cause.CONNECTION, message, raw=raw))

    def _trouble(self, model: str, status: int, text: str, headers: Mapping[str, str]) -> Exception:
        """What an error response means: trouble that may pass, or a failure for good."""
        if 300 <= status < 400:
            to = urlsplit(headers.get("location", "")).netloc or "elsewhere"
            message = f"{self.name} redirects to {to}; redirects are not followed: give that address as base_url"
            return JudgeFailure(Cause.BAD_REQUEST, message, detail={"status": status})
        failure, may_pass = failure_of(self.name, model, status, text, self.scrub)
        failure.raw = self.scrub(text)[:_RAW]
        failure.detail["request_id"] = headers.get("x-request-id")
        if not may_pass:
            return failure
        return Trouble(failure, retry_after=retry_after(headers), limited=status == 429)


def _total(body: Body) -> int | None:
    usage = body.get("usage")
    return count_of(usage, "total_tokens") if isinstance(usage, dict) else None
