"""What one attempt takes from the budget of its context, set aside before it leaves and settled after it."""

from __future__ import annotations

from assay.errors import Cause
from assay.judges.http.replies import UNCOUNTED
from assay.judges.protocol import SPENDING, Reservation
from assay.records import Usage

#: The endpoint turned the request away before any model read it: it took no tokens.
_UNREAD = frozenset({Cause.AUTH, Cause.NO_MODEL, Cause.RATE_LIMITED})


class AttemptReservation:
    """The bill of one attempt. `usage`: what it is known to have cost. `share`: of the usual price."""

    __slots__ = ("_reservation", "_share", "usage")

    def __init__(self, share: float = 1.0) -> None:
        self._reservation: Reservation | None = None
        self._share = share
        self.usage: Usage = UNCOUNTED

    @property
    def wanted(self) -> bool:
        """Whether there is a budget at all: only then is it worth counting what an attempt may take."""
        return SPENDING.get() is not None

    def reserve(self, prompt_tokens: int, completion_tokens: int) -> None:
        """Set aside what the attempt may take at most. Raises JudgeFailure (budget) without room."""
        budget = SPENDING.get()
        if budget is not None:
            discount = {} if self._share == 1.0 else {"share": self._share}
            self._reservation = budget.reserve(prompt_tokens, completion_tokens, **discount)

    def refused(self, cause: Cause) -> None:
        """It failed for this."""
        if cause in _UNREAD:
            self.usage = Usage(calls=1)

    def settle(self) -> None:
        """It is over."""
        if self._reservation is not None:
            self._reservation.settle(self.usage)
