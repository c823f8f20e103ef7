"""How fast one endpoint may be asked: adaptive concurrency, requests and tokens a minute, pauses it asked for.

There is one throttle for each endpoint and key in an event loop, shared by every judge and metric there.
"""

from __future__ import annotations

import asyncio
import math
import weakref
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

START = 8  # calls in flight before anything is known of the endpoint


@dataclass(slots=True, eq=False)
class Throttle:
    """Lets calls through, in the order they came.

    Attributes:
        maximum: Calls in flight at most. The throttle starts at 8 (or `maximum`) and allows twice as many after each
            full round of successes; after a refusal for rate (429) half as many, at least 1, and from then on one more
            a round.
        requests_per_minute: Calls begun in any 60 s; None for no limit.
        tokens_per_minute: Tokens asked for in any 60 s, estimated before the call and corrected after it.
        period: Seconds of that minute; shorter in tests.
    """

    maximum: int = 32
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    period: float = 60.0
    limit: int = field(init=False)
    in_flight: int = field(init=False, default=0)
    refusals: int = field(init=False, default=0)  # since the last success
    _refused: bool = field(init=False, default=False)  # ever
    _successes: int = field(init=False, default=0)
    _waiting: deque[asyncio.Future[None]] = field(init=False, default_factory=deque)
    _begun: deque[Pass] = field(init=False, default_factory=deque)
    _paused_until: float = field(init=False, default=-math.inf)
    _halved_at: float = field(init=False, default=-math.inf)

    def __post_init__(self) -> None:
        self.limit = min(START, self.maximum)

    async def enter(self, tokens: int = 0) -> Pass:
        """Wait for a turn. `tokens` estimates what the call will take. Hand the pass to `leave` in any case."""
        await self._slot()
        try:
            while (wait := self._wait(tokens)) > 0:  # noqa: ASYNC110  it waits for a time, not for an event
                # the slot is kept meanwhile: nobody behind could go either, and the order holds
                await asyncio.sleep(wait)
        except BaseException:
            self._free()
            raise
        return self._entered(tokens)

    def enter_now(self, tokens: int = 0) -> Pass | None:
        """A turn, where there is one without waiting; None where `enter` is to be awaited."""
        if self._waiting or self.in_flight >= self.limit or self._wait(tokens) > 0:
            return None
        self.in_flight += 1
        return self._entered(tokens)

    def _entered(self, tokens: int) -> Pass:
        turn = Pass(_now(), tokens)
        if self.requests_per_minute or self.tokens_per_minute:
            self._begun.append(turn)
        return turn

    def leave(self, turn: Pass, *, tokens: int | None = None, succeeded: bool = False) -> None:
        """The call is over. `tokens` is what it really took, where that is known."""
        if tokens is not None:
            turn.tokens = tokens
        if succeeded:
            self.refusals = 0
            self._successes += 1
            if self._successes >= self.limit and self.limit < self.maximum:
                self._successes = 0
                self.limit = self.limit + 1 if self._refused else min(2 * self.limit, self.maximum)
        self._free()

    def refused(self, turn: Pass, pause: float) -> None:
        """The endpoint refused this call for its rate: nobody asks for `pause` seconds, and then fewer at a time."""
        now = _now()
        self.refusals += 1
        self._refused = True
        self._paused_until = max(self._paused_until, now + pause)
        self._successes = 0
        if turn.begun > self._halved_at:  # one burst of refusals halves once, not once per call in it
            self._halved_at = now
            self.limit = max(1, self.limit // 2)

    async def _slot(self) -> None:
        if self.in_flight < self.limit and not self._waiting:
            self.in_flight += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # the slot had been given in the same moment
                self._free()
            raise

    def _free(self) -> None:
        self.in_flight -= 1
        while self._waiting and self.in_flight < self.limit:
            turn = self._waiting.popleft()
            if not turn.cancelled():  # a cancelled one stays in line until it is met here
                self.in_flight += 1
                turn.set_result(None)

    def _wait(self, tokens: int) -> float:
        """Seconds until a call of this size may begin."""
        now = _now()
        begun = self._begun
        while begun and begun[0].begun <= now - self.period:
            begun.popleft()
        wait = self._paused_until - now
        if self.requests_per_minute and len(begun) >= self.requests_per_minute:
            wait = max(wait, begun[len(begun) - self.requests_per_minute].begun + self.period - now)
        if self.tokens_per_minute and begun:  # a call larger than the limit goes when nothing else is counted
            spare = self.tokens_per_minute - tokens - sum(turn.tokens for turn in begun)
            for turn in begun:
                if spare >= 0:
                    break
                spare += turn.tokens
                wait = max(wait, turn.begun + self.period - now)
        return wait


@dataclass(slots=True, eq=False)
class Pass:
    """One call that was let through: when it began, and its tokens."""

    begun: float
    tokens: int


def _now() -> float:
    return asyncio.get_running_loop().time()


_THROTTLES: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Hashable, Throttle]]
_THROTTLES = weakref.WeakKeyDictionary()


def shared_throttle(key: Hashable, **limits: Any) -> Throttle:
    """The throttle of this endpoint in the running event loop. Later limits for the same key replace earlier ones.

    Event loops in other threads have their own: a lock between loops could hold up all of them, and the endpoint's
    own refusals keep each in bounds.
    """
    throttles = _THROTTLES.setdefault(asyncio.get_running_loop(), {})
    throttle = throttles.get(key)
    if throttle is None:
        throttle = throttles[key] = Throttle(**limits)
    for name, value in limits.items():
        setattr(throttle, name, value)
    throttle.limit = min(throttle.limit, throttle.maximum)
    return throttle
