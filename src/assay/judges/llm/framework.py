"""Judges over a model object of a framework, which has an address, keys and proxies of its own.

    class MyFrameworksJudge(FrameworkJudge):
        def call(self, ask):                    # in a thread of our own, with nothing of the host's context
            reply = self._model.chat(ask.messages)
            return Reply(reply.text, usage=usage_of(reply.usage))

The model is asked through its sync interface, in a thread for each call: async clients belong to one event loop, and
the application may use the same client, or the pool of connections that its framework shares, in another one. Retries
are ours, taken from the budget and counted; those of the model are best switched off, on a copy.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass
from typing import Any, TypeVar, Unpack

from assay.errors import Cause, InputError, JudgeFailure
from assay.judges import prompt_rendering as fences
from assay.judges.http.deadlines import Deadline
from assay.judges.http.errors import meaning_of
from assay.judges.http.options import EndpointOptions, Settings
from assay.judges.http.refusals import refuses_system
from assay.judges.http.reply_bytes import limited_replies, too_large_in
from assay.judges.http.reservation import AttemptReservation
from assay.judges.http.retries import Retries, Trouble
from assay.judges.http.throttle import shared_throttle
from assay.judges.llm.capabilities import may_be_refused
from assay.judges.llm.judge import Reply, Request, TextJudge
from assay.judges.llm.openai import estimate_tokens, needs_vision, refuses_pictures
from assay.judges.protocol import JUDGING
from assay.judges.splitting import picture_tokens
from assay.records import fingerprint

T = TypeVar("T")

VOTES_AT = 0.7  # the temperature at which votes are sampled, as `OpenAIJudge` does

#: Calls whose time was up and whose threads still wait for the model; beyond this no more are begun.
LEFT_BEHIND = 32


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One attempt at one reply of a model.

    Attributes:
        messages: Messages with `role` ("system", "user", "assistant") and `content`, in order. With pictures, the
            content is a list of parts of text and image, in the form of OpenAI.
        schema: JSON schema that the model's API is to enforce. None: the messages describe the reply.
        temperature: Temperature of this call. None: that of the model.
    """

    messages: Sequence[Mapping[str, Any]]
    schema: Mapping[str, Any] | None
    temperature: float | None


class FrameworkJudge(TextJudge):
    """Base class of judges over a model object of a framework. Subclasses write `call`.

    Args:
        kind: Class of the model, for the fingerprint.
        model: Name of the model, for the fingerprint.
        parameters: All other parameters that can change an answer, as JSON values without secrets. The fingerprint has
            their hash.
        secrets: Texts that must not appear in a message. Texts of fewer than 6 characters are ignored.
        enforces: Whether the model's API accepts a JSON schema and enforces it, as far as is known before the first
            call.
        tempers: Whether the model accepts a temperature for a single call.
        vision: Whether the model may get pictures. A model that refuses them gives the failure cause needs_vision.
        mask: Function applied to all judged text, see `TextJudge`. With a mask the model gets no pictures. None: no
            mask.
        max_output_tokens: Tokens that the model can write at most. None: no limit of its own.
        options: Options of `EndpointOptions`, except `headers` and `extra_body`, which the model has itself.

    Raises:
        InputError: An option is unknown, is out of range, or belongs to the model.
    """

    reserves = True

    def __init__(
        self,
        kind: str,
        model: str,
        parameters: Mapping[str, Any],
        *,
        secrets: Sequence[str] = (),
        enforces: bool = False,
        tempers: bool = False,
        vision: bool = True,
        mask: fences.Mask | None = None,
        max_output_tokens: int | None = None,
        **options: Unpack[EndpointOptions],
    ) -> None:
        own = sorted({"headers", "extra_body"} & set(options))
        if own:
            raise InputError(f"{own[0]}: the model has its own; give it to the model")
        self.settings = Settings.of(options)
        self.model = model
        self.mask = mask
        self.max_output_tokens = max_output_tokens
        self.window_tokens = self.settings.window_tokens
        self.deadline = self.settings.deadline
        self.prefix_cache = True
        identity = [self.settings.identity] if self.settings.identity is not None else dict(parameters)
        self._fingerprint = f"{kind}/{model}#{fingerprint([identity])[:16]}"
        self._title = f"{kind} {model}"
        self._secrets = tuple(sorted((secret for secret in secrets if len(secret) >= 6), key=len, reverse=True))
        self._enforces = enforces
        self._takes_system = True
        self._tempers = tempers
        self._vision = vision
        self._retries = Retries(self.settings.max_attempts, self.settings.retry_base)
        self._left: list[threading.Thread] = []

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._title!r})"

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    @property
    def sees(self) -> bool:  # type: ignore[override]
        """Whether it is shown pictures. Not with a mask, which hides nothing on them."""
        return self._vision and self.mask is None

    @abstractmethod
    def call(self, ask: ModelCall) -> Reply:
        """Call the model once, through its synchronous interface.

        The call runs in a thread of its own and in an empty context in which `JUDGING` is True. `meaning_of`
        (assay.judges.http.errors) decides by the exception whether the judge tries again.

        Args:
            ask: Messages, schema and temperature of the call.

        Returns:
            The reply.

        Raises:
            JudgeFailure: The model declined to answer.
            Exception: Any exception of the model.
        """

    async def generate(self, request: Request) -> Reply:
        """Generate a reply. What the model's API refuses, a JSON schema or a system message, is not sent again.

        Args:
            request: The request.

        Returns:
            The reply.

        Raises:
            JudgeFailure: All attempts failed, or the model refuses pictures (needs_vision).
        """
        try:
            try:
                return await self._generated(request)
            except JudgeFailure as failure:
                if not (self._takes_system and _refuses_system(failure)):
                    raise
                request.deadline.note(failure.message)
                self._takes_system = False
            return await self._generated(request)
        except JudgeFailure as failure:
            if request.content.pictures and refuses_pictures(failure):
                raise needs_vision(failure) from None
            raise

    async def _generated(self, request: Request) -> Reply:
        pictures = request.content.pictures
        if self._enforces:
            try:
                return await self._attempts(request, request.content.schema)
            except JudgeFailure as failure:
                if not may_be_refused(failure):
                    raise
                if _refuses_system(failure) or (pictures and refuses_pictures(failure)):  # nothing of the schema
                    raise
                request.deadline.note(failure.message)
                reply = await self._attempts(request, None)
                self._enforces = False
                return reply
        return await self._attempts(request, None)

    async def _attempts(self, request: Request, schema: Mapping[str, Any] | None) -> Reply:
        messages = self.shown(request)
        ask = ModelCall(
            messages if self._takes_system else fences.merge_system(messages),
            schema,
            VOTES_AT if request.content.vote and self._tempers else None,
        )
        deadline = request.deadline
        return await self._retries.run(lambda: self._attempt(ask, request, deadline), heard=deadline.note)

    async def _attempt(self, ask: ModelCall, request: Request, deadline: Deadline) -> Reply:
        throttle = shared_throttle(self._fingerprint, **self.settings.limits)
        with deadline.stopped():
            turn = await throttle.enter(estimate_tokens(request.content))
        bill, used, succeeded = AttemptReservation(), None, False
        try:
            if bill.wanted:
                read = sum(fences.tokens_in(message["content"]) for message in self.messages(request))
                read += picture_tokens(request.content.material)
                wanted = (3 * request.content.output_tokens + 500) * (2 if request.more_room else 1)
                bill.reserve(read, self.max_output_tokens or wanted)
            reply = await self._once(ask)
            bill.usage = reply.usage
            counts = (reply.usage.prompt_tokens, reply.usage.completion_tokens)
            used, succeeded = sum(count or 0 for count in counts) or None, True
            return reply
        except Trouble as trouble:
            bill.refused(trouble.failure.cause)
            if trouble.limited:
                throttle.refused(turn, self._retries.pause(trouble.retry_after, throttle.refusals + 1))
            raise
        except JudgeFailure as failure:
            bill.refused(failure.cause)
            bill.usage = failure.detail.get("usage", bill.usage)
            raise
        finally:
            bill.settle()
            throttle.leave(turn, tokens=used, succeeded=succeeded)

    async def _once(self, ask: ModelCall) -> Reply:
        self._left = [thread for thread in self._left if thread.is_alive()]
        if len(self._left) >= LEFT_BEHIND:
            message = f"{self._title}: {len(self._left)} calls have not come back; give the model a timeout of its own"
            raise JudgeFailure(Cause.TIMEOUT, message)
        seconds = self.settings.timeout
        try:
            async with asyncio.timeout(seconds):
                reply, error = await self._in_a_thread(lambda: self.call(ask))
        except TimeoutError:
            raise Trouble(JudgeFailure(Cause.TIMEOUT, f"{self._title}: no reply within {seconds:.3g} s")) from None
        if error is not None:
            raise self._failure_of(error)
        return reply  # type: ignore[return-value]  # there is a reply where there is no error

    def _failure_of(self, error: BaseException) -> Trouble | JudgeFailure:
        """What to raise for what the model raised, without that itself: it may hold the request and its headers."""
        if isinstance(error, JudgeFailure):
            return error
        large = too_large_in(error)
        if large is not None:
            failure = JudgeFailure(Cause.TOO_LARGE, f"{self._title}: {large}")
            return Trouble(failure) if large.passing else failure
        said = meaning_of(error, self._title, self.model, self.scrub)
        return said or JudgeFailure(Cause.BUG, self.scrub(f"the model raised {type(error).__name__}: {error}")[:500])

    async def _in_a_thread(self, function: Callable[[], T]) -> tuple[T | None, BaseException | None]:
        """What the function gives or raises, from a daemon thread in an empty context. Cancelled, it is left alone.

        Whatever is raised there is the model's: no interrupt of the user and no cancellation of ours comes to a thread.
        """
        loop = asyncio.get_running_loop()
        done: asyncio.Future[tuple[T | None, BaseException | None]] = loop.create_future()

        def tell(value: T | None, error: BaseException | None) -> None:
            if not done.done():
                done.set_result((value, error))

        def work() -> None:
            JUDGING.set(True)
            value: T | None = None
            error: BaseException | None = None
            try:
                with limited_replies():
                    value = function()
            except BaseException as raised:
                error = raised
            with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(tell, value, error)

        thread = threading.Thread(target=Context().run, args=(work,), name="assay-judge", daemon=True)
        thread.start()
        try:
            return await done
        except asyncio.CancelledError:
            self._left.append(thread)
            raise

    def scrub(self, text: str) -> str:
        """Remove the secrets of the model from a text.

        Args:
            text: The text, such as an error message.

        Returns:
            The text with three asterisks in place of each secret.
        """
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text


def _refuses_system(failure: JudgeFailure) -> bool:
    return failure.cause is Cause.BAD_REQUEST and refuses_system(failure.message)
