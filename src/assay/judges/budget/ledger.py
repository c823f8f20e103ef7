"""Ledgers: what was spent in the last minute and the last day; here in memory, in `in_file` for many processes.

Spending is added up in buckets of a second (for minutes) and of a minute (for days). A bucket counts until all of it
has left the window, so that no window, wherever it begins, holds more than its limit.

An advance is a piece of the budget that somebody may spend without asking again, until it ends. It is added up at once,
under the time at which it ends: whatever is spent of it, and whenever, counts for as long as it must.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

MINUTE, DAY = 60, 86_400
FOREVER = 10**10  # seconds: longer than any ledger lasts
BUCKETS: Mapping[int, int] = {MINUTE: 1, DAY: 60, FOREVER: FOREVER}
LONGEST = 60.0  # seconds that an advance may last
SHARE = 100  # an advance is at most one part in so many of what is left

Unit = Literal["calls", "tokens", "nanodollars"]


@dataclass(frozen=True, slots=True)
class Spend:
    """Calls, tokens and money of one or more requests.

    Attributes:
        calls: Number of requests.
        tokens: Tokens of prompts and completions. Negative in a correction that lowers the count.
        nanodollars: Money. 10**9 nanodollars are one dollar. Negative in a correction that lowers the sum.
    """

    calls: int = 0
    tokens: int = 0
    nanodollars: int = 0

    def __add__(self, other: Spend) -> Spend:
        return Spend(self.calls + other.calls, self.tokens + other.tokens, self.nanodollars + other.nanodollars)

    def __sub__(self, other: Spend) -> Spend:
        return Spend(self.calls - other.calls, self.tokens - other.tokens, self.nanodollars - other.nanodollars)

    def __mul__(self, times: int) -> Spend:
        return Spend(self.calls * times, self.tokens * times, self.nanodollars * times)


@dataclass(frozen=True, slots=True)
class Limit:
    """Limit of a budget: at most `amount` of `unit` in any `window` seconds.

    Attributes:
        unit: "calls", "tokens" or "nanodollars".
        window: Length of the window in seconds: 60, 86,400, or `FOREVER`.
        amount: Maximum of the unit in the window.
    """

    unit: Unit
    window: int
    amount: int


@dataclass(frozen=True, slots=True)
class BudgetRefusal:
    """Refusal of a ledger: the limit has no room for the request.

    Attributes:
        limit: The limit.
        spent: Amount already spent in the window, in the unit of the limit.
        wait: Seconds until there may be room. None: the request alone is above the limit.
    """

    limit: Limit
    spent: int
    wait: float | None


@dataclass(frozen=True, slots=True)
class Advance:
    """Part of a budget that one process may spend without a further request.

    Attributes:
        spend: Calls, tokens and money that it may spend.
        at: Time at which the advance ends, in seconds of the ledger's clock.
    """

    spend: Spend
    at: float


class Ledger(Protocol):
    """Adds up spending. Safe for threads."""

    def take(self, spend: Spend, limits: Sequence[Limit]) -> float | BudgetRefusal:
        """Add `spend` if no limit is exceeded by it, in one step; the time under which it stands, for `correct`."""

    def correct(self, at: float, change: Spend) -> None:
        """Change what was taken at that time."""

    def totals(self, limits: Sequence[Limit]) -> list[int]:
        """What counts against each limit now."""


class Authority(Protocol):
    """Gives advances on one budget to many processes. `SharedAllowance` is what stands in each of them. Safe for
    threads.

    What crosses from one process to another is these four calls with their arguments, all of which can be pickled.
    """

    def advance(
        self, spend: Spend, limits: Sequence[Limit], most: int = 1, lasts: float = 0.0
    ) -> Advance | BudgetRefusal:
        """Take out of the budget, in one step, up to `most` times `spend`: once, and more of it as long as that is no
        more than a hundredth of what is left of every limit. It may be spent for `lasts` seconds, at most 60, and
        counts as spent afterwards.
        """

    def settle(self, advance: Advance, used: Spend) -> float:
        """Put what was used of an advance in its place; the rest is back. The time under which it stands now."""

    def correct(self, at: float, change: Spend) -> None:
        """See `Ledger.correct`."""

    def totals(self, limits: Sequence[Limit]) -> list[int]:
        """What counts against each limit now, all of every advance included."""


#: Spending by bucket, oldest first.
Rows = Sequence[tuple[int, Spend]]


def oldest(window: int, now: float) -> int:
    """The number of the oldest bucket that still lies in the window, if only in part."""
    return int((now - window) // BUCKETS[window])


def refusal(spend: Spend, limits: Sequence[Limit], rows: Mapping[int, Rows], now: float) -> BudgetRefusal | None:
    """The refusal that lasts longest; None when there is room for `spend`."""
    found: list[BudgetRefusal] = []
    for limit in limits:
        wanted = getattr(spend, limit.unit)
        held = [(bucket, getattr(taken, limit.unit)) for bucket, taken in rows[limit.window]]
        spent = sum(amount for _, amount in held)
        if spent + wanted <= limit.amount or not wanted:
            continue
        if wanted > limit.amount or limit.window == FOREVER:
            return BudgetRefusal(limit, spent, None)
        over, wait = spent + wanted - limit.amount, 0.0
        for bucket, amount in held:
            if over <= 0:
                break
            over -= amount
            wait = (bucket + 1) * BUCKETS[limit.window] + limit.window - now
        found.append(BudgetRefusal(limit, spent, max(0.001, wait)))
    return max(found, key=lambda one: one.wait or 0.0, default=None)


def times(spend: Spend, limits: Sequence[Limit], rows: Mapping[int, Rows], most: int) -> int:
    """How many times `spend` an advance is; at least once."""
    found = most
    for limit in limits:
        wanted = getattr(spend, limit.unit)
        if wanted > 0:
            spent = sum(getattr(taken, limit.unit) for _, taken in rows[limit.window])
            found = min(found, (limit.amount - spent) // (SHARE * wanted))
    return max(1, found)


class MemoryLedger:
    """A ledger of one process, and an authority for others that can call it. A forked child goes on with a copy."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[int, dict[int, Spend]] = {window: {} for window in BUCKETS}
        _LEDGERS.add(self)

    def now(self) -> float:
        """Seconds on the clock of this ledger."""
        return time.monotonic()

    def take(self, spend: Spend, limits: Sequence[Limit]) -> float | BudgetRefusal:
        """See `Ledger.take`."""
        found = self.advance(spend, limits)
        return found.at if isinstance(found, Advance) else found

    def advance(
        self, spend: Spend, limits: Sequence[Limit], most: int = 1, lasts: float = 0.0
    ) -> Advance | BudgetRefusal:
        """See `Authority.advance`."""
        with self._lock:
            now = self.now()
            rows = self._current(now)
            refused = refusal(spend, limits, rows, now)
            if refused is not None:
                return refused
            advance = Advance(spend * times(spend, limits, rows, most), now + min(lasts, LONGEST))
            self._add(advance.at, advance.spend)
            return advance

    def settle(self, advance: Advance, used: Spend) -> float:
        """See `Authority.settle`."""
        with self._lock:
            at = min(advance.at, self.now())
            self._add(advance.at, Spend() - advance.spend)
            self._add(at, used)
            return at

    def correct(self, at: float, change: Spend) -> None:
        """See `Ledger.correct`."""
        with self._lock:
            self._add(at, change)

    def totals(self, limits: Sequence[Limit]) -> list[int]:
        """See `Ledger.totals`."""
        with self._lock:
            rows = self._current(self.now())
        return [sum(getattr(taken, limit.unit) for _, taken in rows[limit.window]) for limit in limits]

    def _add(self, at: float, spend: Spend) -> None:
        for window, size in BUCKETS.items():
            buckets, bucket = self._rows[window], int(at // size)
            buckets[bucket] = buckets.get(bucket, Spend()) + spend

    def _current(self, now: float) -> dict[int, Rows]:
        for window, buckets in self._rows.items():
            for bucket in [bucket for bucket in buckets if bucket < oldest(window, now)]:
                del buckets[bucket]
        return {window: sorted(buckets.items()) for window, buckets in self._rows.items()}


_LEDGERS: weakref.WeakSet[MemoryLedger] = weakref.WeakSet()


def _after_fork() -> None:
    for ledger in list(_LEDGERS):
        ledger._lock = threading.Lock()  # a thread that did not come along may have held it


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
