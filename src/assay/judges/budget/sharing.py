"""A budget in pieces: what stands in each of many processes that share one."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from assay._util.forks import own_lock, renewed
from assay.judges.budget.ledger import Advance, Authority, BudgetRefusal, Limit, Spend

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
    """The ledger of one process over an authority that many share: `budget.on(SharedAllowance(authority))`.

    Requests are taken out of an advance, and the authority is asked only when that is spent or has ended: an advance is
    room for up to `most` requests, or for as many as a hundredth of what is left of every limit allows, and at least
    for one. It is out of the budget from the moment at which it is given, so that no limit is ever exceeded. What is
    left of it comes back when it is settled: with the next one, or by `give_back`. Where the process dies before, all
    of it counts as spent when it ended, `lasts` seconds after it began, and comes back a minute or a day later.

    In another process (it can be pickled where the authority can) it begins empty. Safe for threads; of one budget.
    """

    def __init__(self, authority: Authority, *, most: int = MOST, lasts: float = LASTS) -> None:
        self.authority, self._most, self._lasts = authority, most, lasts
        self._lock = own_lock(self)
        self._set_up()
        renewed(self)

    def __reduce__(self) -> tuple[type[SharedAllowance], tuple[Authority]]:
        return type(self), (self.authority,)

    def _set_up(self) -> None:
        """Empty: what a parent holds is the parent's."""
        self._held: _Advance | None = None
        self._number = 0
        self._settled: OrderedDict[int, float] = OrderedDict()  # by number, the time under which its spending stands

    def take(self, spend: Spend, limits: Sequence[Limit]) -> float | BudgetRefusal:
        """See `Ledger.take`. What it gives is a number of the purse's own, for `correct`."""
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
        """See `Ledger.correct`."""
        with self._lock:
            if self._held is not None and self._held.number == at:
                self._held.left -= change
            elif (stands := self._settled.get(int(at))) is not None:
                self.authority.correct(stands, change)

    def spent(self, limits: Sequence[Limit]) -> list[int]:
        """See `Authority.spent`."""
        return self.authority.spent(limits)

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
