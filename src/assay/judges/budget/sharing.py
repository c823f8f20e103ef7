"""A budget in pieces: what stands in each of many processes that share one."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from assay._util.forks import own_lock, renewed
from assay.errors import InputError
from assay.judges.budget.ledger import LONGEST, Advance, Authority, BudgetRefusal, Limit, Spend

log = logging.getLogger("assay.judges.budget")

MOST = 50  # requests of one advance
LASTS = 10.0  # seconds
REMEMBERED = 10_000  # settled advances of which requests may still be under way


@dataclass(slots=True)
class _Advance:
    """An advance while it is spent. `number`: what its requests are known by here; `until`: by this process's clock."""

    number: int
    advance: Advance
    limits: Sequence[Limit]
    until: float
    left: Spend

    def has(self, spend: Spend, limits: Sequence[Limit], now: float) -> bool:
        """Whether it has room for this request."""
        enough = all(getattr(self.left, limit.unit) >= getattr(spend, limit.unit) for limit in limits)
        return enough and now < self.until and limits == self.limits


class SharedAllowance:
    """Ledger of one process for a budget that many processes share: `budget.on(SharedAllowance(authority))`.

    It takes requests out of an advance, and asks the authority for a new one when the advance is spent or over. An
    advance has room for at least one request. It has room for more, up to `most`, while that is at most a hundredth of
    the rest of every limit.

    The authority counts the whole advance as spent from the start, so no limit is exceeded. The unused part returns
    when the advance is settled: with the next advance, or by `give_back`. If the process dies before that, the whole
    advance counts as spent at its end. It leaves the window a minute or a day later.

    The allowance can be pickled if the authority can. In another process it starts empty. It is safe for threads, and
    serves one budget.

    Args:
        authority: Object that gives advances and settles them.
        most: Maximum number of requests of one advance.
        lasts: Duration of an advance in seconds. The authority allows at most 60.

    Raises:
        InputError: `lasts` is not above 0, or above 60.
    """

    def __init__(self, authority: Authority, *, most: int = MOST, lasts: float = LASTS) -> None:
        if not 0 < lasts <= LONGEST:
            raise InputError(f"lasts: expected seconds above 0, at most {LONGEST:g}, got {lasts!r}")
        self.authority, self._most, self._lasts = authority, most, lasts
        self._lock = own_lock(self)
        self._set_up()
        renewed(self)

    def __reduce__(self) -> tuple[Any, tuple[Authority]]:
        return partial(type(self), most=self._most, lasts=self._lasts), (self.authority,)

    def _set_up(self) -> None:
        """Empty: what a parent holds is the parent's."""
        self._held: _Advance | None = None
        self._number = 0
        self._settled: OrderedDict[int, float] = OrderedDict()  # by number, the time under which its spending stands

    def take(self, spend: Spend, limits: Sequence[Limit]) -> float | BudgetRefusal:
        """Take a request out of the advance, or out of a new one.

        Args:
            spend: Calls, tokens and money of the request, at most.
            limits: Limits of the budget.

        Returns:
            The number of the advance, for `correct`. A refusal if a limit has no room.
        """
        limits = tuple(limits)
        with self._lock:
            now = time.monotonic()  # before the authority's clock is read: here it ends no later than there
            held = self._held
            if held is None or not held.has(spend, limits, now):
                self._settle()
                answer = self.authority.advance(spend, limits, self._most, self._lasts)
                if isinstance(answer, BudgetRefusal):
                    return answer
                self._number += 1
                held = self._held = _Advance(self._number, answer, limits, now + self._lasts, answer.spend)
            held.left -= spend
            return float(held.number)

    def correct(self, at: float, change: Spend) -> None:
        """Correct the spend of a request after its end.

        An advance that is no longer remembered is not corrected.

        Args:
            at: Number of the advance, from `take`.
            change: Difference to add. It may be negative.
        """
        with self._lock:
            if self._held is not None and self._held.number == at:
                self._held.left -= change
            elif (stands := self._settled.get(int(at))) is not None:
                self.authority.correct(stands, change)

    def totals(self, limits: Sequence[Limit]) -> list[int]:
        """Return the amount spent against each limit, by all processes together.

        All of every advance that is not settled counts as spent.

        Args:
            limits: The limits.

        Returns:
            One amount for each limit, in order, in the unit of the limit.
        """
        return self.authority.totals(limits)

    def give_back(self) -> None:
        """Let the others have what is left here."""
        with self._lock:
            self._settle()

    def _settle(self) -> None:
        held, self._held = self._held, None
        if held is None:
            return
        try:
            self._settled[held.number] = self.authority.settle(held.advance, held.advance.spend - held.left)
        except Exception as error:  # all of it counts as spent, which is on the safe side
            log.warning("assay: an advance could not be settled: %s", type(error).__name__)
        if len(self._settled) > REMEMBERED:
            self._settled.popitem(last=False)
