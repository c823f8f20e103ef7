"""Retries, in the one place that has them: which failures are worth another attempt, and when.

The clients below retry nothing themselves; retries on two levels multiply.
"""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from assay.errors import Cause, JudgeFailure

T = TypeVar("T")

#: A refusal for rate costs the endpoint nothing, and says that the next attempt may do: it counts apart.
RATE_ATTEMPTS = 20

#: Retry-After beyond this many seconds is a quota that is used up, not a rate.
LONGEST_PAUSE = 300.0


class Trouble(Exception):
    """One attempt failed in a way that may pass. `limited`: refused for its rate (429)."""

    def __init__(self, failure: JudgeFailure, *, retry_after: float | None = None, limited: bool = False):
        super().__init__(failure.message)
        self.failure = failure
        self.retry_after = retry_after
        self.limited = limited


@dataclass(frozen=True, slots=True)
class Retries:
    """How often and when to try again.

    Attributes:
        max_attempts: Attempts in all, not counting refusals for rate, of which 20 are allowed.
        base: Seconds before the second attempt, doubled each time; each wait is drawn between half and all of it.
        longest: Upper bound of such a wait, seconds.
    """

    max_attempts: int = 5
    base: float = 0.5
    longest: float = 20.0

    async def run(self, attempt: Callable[[], Awaitable[T]], heard: Callable[[str], None] | None = None) -> T:
        """The result of the first attempt that succeeds. `heard` is told of each trouble on the way.

        Raises the last JudgeFailure when no attempts are left, and whatever else an attempt raises at once.
        """
        failed = limited = 0
        last: Trouble | None = None
        begun: Trouble | None = None

        async def counted() -> T:
            nonlocal failed, limited, last, begun
            if begun is not None:  # tried already
                trouble, begun = begun, None
                raise trouble
            try:
                return await attempt()
            except Trouble as trouble:
                last = trouble
                limited += trouble.limited
                failed += not trouble.limited
                if heard is not None:
                    heard(trouble.failure.message)
                raise

        def stop(state: Any) -> bool:
            spent = failed >= self.max_attempts or limited >= RATE_ATTEMPTS
            return spent or (last is not None and (last.retry_after or 0.0) > LONGEST_PAUSE)

        def wait(state: Any) -> float:
            # after a refusal for rate the throttle makes everybody wait, this call too
            return 0.0 if last is None or last.limited else self.pause(last.retry_after, failed)

        try:
            return await counted()
        except Trouble as trouble:
            begun = trouble
        # only now: it looks at each of its callables anew, which takes longer than what it is about
        from tenacity import AsyncRetrying, retry_if_exception_type

        try:
            retrying = AsyncRetrying(retry=retry_if_exception_type(Trouble), stop=stop, wait=wait, reraise=True)
            return await retrying(counted)
        except Trouble as trouble:
            failure = trouble.failure
        attempts = failed + limited
        message = f"{failure.message} (after {attempts} attempt{'s' * (attempts > 1)})"
        raise JudgeFailure(failure.cause, message, raw=failure.raw, detail=failure.detail)

    def pause(self, retry_after: float | None, attempt: int) -> float:
        """Seconds to wait after failed attempt number `attempt` (from 1)."""
        if retry_after is not None:
            return retry_after
        full: float = min(self.longest, self.base * 2.0 ** min(attempt - 1, 16))
        return full * random.uniform(0.5, 1.0)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the headers of a response ask to wait: `retry-after-ms`, or `retry-after` as seconds or a date."""
    for name, factor in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * factor
        except ValueError:
            try:
                seconds = parsedate_to_datetime(value).timestamp() - time.time()
            except (ValueError, TypeError, OverflowError):  # a date that no clock shows
                continue
        if seconds == seconds:  # not NaN
            return max(0.0, seconds)
    return None


#: Status codes that may pass by themselves.
PASSING = frozenset({408, 409, 425, 429}) | frozenset(range(500, 600))


def cause_of_status(status: int) -> Cause:
    """What an HTTP error status means for the score."""
    if status in (401, 403):
        return Cause.AUTH
    if status == 404:
        return Cause.NO_MODEL
    if status == 408:
        return Cause.TIMEOUT
    if status == 429:
        return Cause.RATE_LIMITED
    return Cause.CONNECTION if status in PASSING else Cause.BAD_REQUEST
