"""Budgets: what judging may cost per minute and per day. Checked before each request leaves, retries included."""

from __future__ import annotations

import contextlib
import logging
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.base import BaseJudge
from assay.judges.budget.ledger import DAY, FOREVER, MINUTE, BudgetRefusal, Ledger, Limit, MemoryLedger, Spend
from assay.judges.protocol import SPENDING
from assay.records import ScoreError, Usage

log = logging.getLogger("assay.live")

NANO = 10**9
_NEVER = "this request alone may take"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices of a model, in dollars per million tokens. Embeddings are charged as prompts.

    Attributes:
        prompt: Dollars per million prompt tokens, at least 0.
        completion: Dollars per million completion tokens, at least 0.
        cached: Dollars per million prompt tokens that came from the endpoint's cache. None: the price of `prompt`.
        cache_write: Dollars per million prompt tokens that were written to the endpoint's cache at a price of their
            own. None: the price of `prompt`.

    Raises:
        InputError: A price is no finite number of at least 0.
    """

    prompt: float
    completion: float
    cached: float | None = None
    cache_write: float | None = None

    def __post_init__(self) -> None:
        for name in ("prompt", "completion", "cached", "cache_write"):
            price = getattr(self, name)
            if price is None and name.startswith("cache"):
                continue
            if isinstance(price, bool) or not isinstance(price, (int, float)) or not 0 <= price < math.inf:
                raise InputError(f"Prices: {name}: expected dollars per million tokens, got {price!r}")

    def of(self, prompt: int, completion: int, cached: int = 0, cache_write: int = 0) -> int:
        """Compute the price of a number of tokens, rounded up.

        Args:
            prompt: Prompt tokens, cached ones included.
            completion: Completion tokens.
            cached: Prompt tokens that came from the endpoint's cache. At most `prompt` of them count.
            cache_write: Prompt tokens that were written to it. At most those count that did not come from it.

        Returns:
            The price in nanodollars.
        """
        cached = min(cached, prompt)
        written = min(cache_write, prompt - cached)
        rate = self.prompt if self.cached is None else self.cached
        writing = self.prompt if self.cache_write is None else self.cache_write
        read = (prompt - cached - written) * self.prompt + cached * rate + written * writing
        return math.ceil(round(1000 * (read + completion * self.completion), 3))

    def of_usage(self, usage: Usage) -> int | None:
        """Compute the price of what a judge used.

        Args:
            usage: Calls and tokens.

        Returns:
            The price in nanodollars. None where the endpoint did not report the tokens.
        """
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        cached, written = usage.cached_tokens or 0, usage.cache_write_tokens or 0
        return self.of(usage.prompt_tokens, usage.completion_tokens, cached, written)

    def scaled(self, share: float) -> Prices:
        """Make the prices with a discount.

        Args:
            share: What of each price is paid, at least 0.

        Returns:
            The prices.
        """
        if share == 1.0:
            return self
        named = ((name, getattr(self, name)) for name in ("prompt", "completion", "cached", "cache_write"))
        return Prices(**{name: None if price is None else price * share for name, price in named})  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, float]:
        """Describe the prices as JSON values.

        Returns:
            Price by name, those that are known.
        """
        named = ((name, getattr(self, name)) for name in ("prompt", "completion", "cached", "cache_write"))
        return {name: price for name, price in named if price is not None}

    def most(self, prompt: int, completion: int) -> int:
        """Compute the most that a request can cost: all of the prompt at the highest of its prices.

        Args:
            prompt: Prompt tokens.
            completion: Completion tokens.

        Returns:
            The price in nanodollars.
        """
        return max(
            self.of(prompt, completion), self.of(prompt, completion, prompt), self.of(prompt, completion, 0, prompt)
        )


def dollars_of(usage: Usage, prices: Prices | None) -> float | None:
    """Compute what a judge cost in dollars.

    Args:
        usage: Calls and tokens.
        prices: Dollars per million tokens; None: not known.

    Returns:
        Dollars; 0.0 without a call. None where prices or tokens are not known.
    """
    if not usage.calls:
        return 0.0
    price = None if prices is None else prices.of_usage(usage)
    return None if price is None else price / NANO


class Budget:
    """Hard limits for the requests of a judge, in any 60 seconds and in any 24 hours.

    Before a request leaves, one call and the tokens that it may take at most (a cautious estimate) are reserved.
    Without room the request is not sent, and what it asks fails (budget). Afterwards the real number of tokens replaces
    the estimate, where the endpoint reports it. Requests of OpenAIJudge count, embeddings included, and what other
    TextJudges generate. A judge that runs on this machine costs nothing.

    Args:
        calls_per_minute: Requests; None: no limit, here and below.
        calls_per_day: Requests.
        tokens_per_minute: Tokens of prompts and completions.
        tokens_per_day: Tokens of prompts and completions.
        dollars_per_minute: Dollars; needs `prices`.
        dollars_per_day: Dollars; needs `prices`.
        dollars: Dollars in all, for as long as the ledger lasts; needs `prices`.
        prices: Dollars per million tokens.
        ledger: Where spending is added up; None: in memory, shared by everything that is given this object. A
            `FileLedger` is shared by processes. A worker uses that of its queue.

    Raises:
        InputError: A limit is out of range, or prices are missing.
    """

    def __init__(
        self,
        *,
        calls_per_minute: int | None = None,
        calls_per_day: int | None = None,
        tokens_per_minute: int | None = None,
        tokens_per_day: int | None = None,
        dollars_per_minute: float | None = None,
        dollars_per_day: float | None = None,
        dollars: float | None = None,
        prices: Prices | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        counts = {
            "calls_per_minute": (calls_per_minute, "calls", MINUTE),
            "calls_per_day": (calls_per_day, "calls", DAY),
            "tokens_per_minute": (tokens_per_minute, "tokens", MINUTE),
            "tokens_per_day": (tokens_per_day, "tokens", DAY),
            "dollars_per_minute": (dollars_per_minute, "nanodollars", MINUTE),
            "dollars_per_day": (dollars_per_day, "nanodollars", DAY),
            "dollars": (dollars, "nanodollars", FOREVER),
        }
        self._limits: dict[str, Limit] = {}
        for name, (amount, unit, window) in counts.items():
            if amount is not None:
                self._limits[name] = Limit(unit, window, _amount(name, amount, unit))  # type: ignore[arg-type]
        if not self._limits:
            raise InputError(f"budget: give at least one limit: {', '.join(counts)}")
        if prices is None and any(limit.unit == "nanodollars" for limit in self._limits.values()):
            raise InputError("budget: limits in dollars need prices=Prices(prompt=..., completion=...)")
        self.prices = prices
        self.ledger: Ledger = MemoryLedger() if ledger is None else ledger
        self._free_at = 0.0
        self._refused = 0

    def __repr__(self) -> str:
        return (
            f"Budget({', '.join(f'{name}={_in_units(limit, limit.amount)}' for name, limit in self._limits.items())})"
        )

    def on(self, ledger: Ledger) -> Budget:
        """Make the same limits over another ledger.

        Args:
            ledger: Where spending is added up.

        Returns:
            A new budget.
        """
        other = Budget.__new__(Budget)
        other._limits, other.prices, other.ledger = self._limits, self.prices, ledger
        other._free_at, other._refused = 0.0, 0
        return other

    def with_dollars(self, dollars: float, prices: Prices) -> Budget:
        """Make the same limits with one on all that is spent.

        Args:
            dollars: Dollars in all.
            prices: Dollars per million tokens.

        Returns:
            A new budget, over the same ledger.

        Raises:
            InputError: `dollars` is not above 0.
        """
        added = Budget(dollars=dollars, prices=prices)
        other = self.on(self.ledger)
        other._limits, other.prices = {**self._limits, **added._limits}, self.prices or prices
        return other

    def reserve(self, prompt_tokens: int, completion_tokens: int, share: float = 1.0) -> BudgetReservation:
        """Reserve one request.

        Args:
            prompt_tokens: Tokens of the prompt.
            completion_tokens: Tokens that the completion may take at most.
            share: Share of `prices` that the request costs, such as 0.5 in a batch.

        Returns:
            The reservation, to be settled with the real usage.

        Raises:
            JudgeFailure: There is no room (budget); the message has the limit and when it has room again.
        """
        estimate = self._estimate(prompt_tokens, completion_tokens, share)
        try:
            answer = self.ledger.take(estimate, tuple(self._limits.values()))
        except Exception as error:  # what cannot be counted is not spent
            self._refused += 1
            message = f"the budget cannot be counted ({type(error).__name__}: {error}), so nothing is sent"
            raise JudgeFailure(Cause.BUDGET, message) from error
        if isinstance(answer, BudgetRefusal):
            self._refused += 1
            raise JudgeFailure(Cause.BUDGET, self._told(answer, estimate))
        return BudgetReservation(self, answer, prompt_tokens, completion_tokens, share)

    def frees_in(self) -> float:
        """Tell when the limit that refused last has room again.

        Returns:
            Seconds; 0.0 when there is room, or nothing was refused.
        """
        return max(0.0, self._free_at - time.monotonic())

    def state(self) -> dict[str, dict[str, float]]:
        """Read what is spent.

        Returns:
            Limit -> `spent` in its window, in its own unit, and `refused`: requests that were not sent.
        """
        limits = tuple(self._limits.values())
        state = {
            name: {"spent": _in_units(limit, spent), "limit": _in_units(limit, limit.amount)}
            for (name, limit), spent in zip(self._limits.items(), self.ledger.totals(limits), strict=True)
        }
        return {**state, "refused": {"requests": float(self._refused), "frees_in": round(self.frees_in(), 1)}}

    def _estimate(self, prompt: int, completion: int, share: float) -> Spend:
        price = 0 if self.prices is None else self.prices.most(prompt, completion)
        return Spend(1, prompt + completion, math.ceil(price * share))

    def _used(self, usage: Usage, share: float) -> Spend:
        price = None if self.prices is None else self.prices.of_usage(usage)
        tokens = (usage.prompt_tokens or 0) + (usage.completion_tokens or 0)
        return Spend(max(1, usage.calls), tokens, math.ceil((price or 0) * share))

    def _told(self, refusal: BudgetRefusal, estimate: Spend) -> str:
        limit = refusal.limit
        name = next(name for name, known in self._limits.items() if known == limit)
        wanted = _in_units(limit, getattr(estimate, limit.unit))
        stated = f"budget {name}={_in_units(limit, limit.amount)}"
        if refusal.wait is None and limit.window == FOREVER:
            spent = _in_units(limit, refusal.spent)
            return f"{stated}: {spent} are spent, and {_NEVER} {wanted}; raise the limit"
        if refusal.wait is None:
            return f"{stated}: {_NEVER} {wanted}; raise the limit, or lower window_tokens or max_output_tokens"
        self._free_at = max(self._free_at, time.monotonic() + refusal.wait)
        spent = _in_units(limit, refusal.spent)
        return f"{stated}: {spent} are spent and this request may take {wanted}; room in {_time(refusal.wait)}"


class BudgetReservation:
    """What was set aside for one request."""

    __slots__ = ("_at", "_budget", "_completion", "_prompt", "_settled", "_share")

    def __init__(self, budget: Budget, at: float, prompt: int, completion: int, share: float = 1.0) -> None:
        self._budget = budget
        self._at = at
        self._prompt = prompt
        self._completion = completion
        self._share = share
        self._settled = False

    def settle(self, usage: Usage) -> None:
        """Put what was used in the place of the estimate; counts that are None stay at it. The second time is void."""
        if self._settled:
            return
        self._settled = True
        budget = self._budget
        prompt = self._prompt if usage.prompt_tokens is None else usage.prompt_tokens
        completion = self._completion if usage.completion_tokens is None else usage.completion_tokens
        used = budget._used(replace(usage, prompt_tokens=prompt, completion_tokens=completion), self._share)
        change = used - budget._estimate(self._prompt, self._completion, self._share)
        if change == Spend():
            return
        try:
            budget.ledger.correct(self._at, change)
        except Exception as error:  # the estimate stands, which is on the safe side
            log.warning("assay: a budget could not be corrected: %s", type(error).__name__)


@contextlib.contextmanager
def spending(budget: Budget | None) -> Iterator[None]:
    """Within, all judges' requests of this context are taken from the budget."""
    token = SPENDING.set(budget)
    try:
        yield
    finally:
        SPENDING.reset(token)


def check_budget(budget: Any, judge: BaseJudge) -> None:
    """Raise InputError unless `budget` is one (or None) and the judge keeps to it."""
    if budget is None:
        return
    if not isinstance(budget, Budget):
        raise InputError(f"budget: expected a Budget, got {budget!r}")
    if not judge.budgeted:
        raise InputError(
            f"budget: {type(judge).__name__} does not say what it asks for before it asks: subclass TextJudge, or set "
            "`budgeted = True` on it if it costs nothing or takes each request from assay.judges.protocol.SPENDING"
        )


def is_final(error: ScoreError) -> bool:
    """Whether no waiting will make room for what this failure of cause `budget` asked."""
    return error.cause is Cause.BUDGET and _NEVER in error.message


def waits_for_budget(scores: Mapping[str, Any]) -> bool:
    """Whether one of these scores is missing for want of budget, and will not be when the window has passed."""
    missing = [score.error for score in scores.values() if score.error is not None]
    return any(reason.cause is Cause.BUDGET and not is_final(reason) for reason in missing)


def _amount(name: str, amount: Any, unit: str) -> int:
    whole = unit != "nanodollars"
    kind = "a whole number" if whole else "a number"
    fits = isinstance(amount, int) if whole else isinstance(amount, (int, float))
    if isinstance(amount, bool) or not fits or not 0 < amount < math.inf:
        raise InputError(f"budget: {name}: expected {kind} above 0, got {amount!r}")
    return amount if whole else int(amount * NANO)


def _in_units(limit: Limit, amount: int) -> float:
    return amount / NANO if limit.unit == "nanodollars" else amount


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{math.ceil(seconds)} s"
    return f"{math.ceil(seconds / 60)} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
