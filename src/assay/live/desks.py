"""A desk for each sample: the same for many, so that they share findings, but not for ever."""

from __future__ import annotations

from assay.judges.base import BaseJudge
from assay.judges.cache import FindingCache, FindingStore

DESK_LIFE = 256  # samples that share one memory of findings; then it is let go, so that memory stays flat


class RenewedDesk:
    """Hands out desks before one judge."""

    def __init__(self, judge: BaseJudge, store: FindingStore | None = None) -> None:
        self._judge = judge
        self._store = store
        self._desk = FindingCache(judge, store)
        self._served = 0

    def next(self) -> FindingCache:
        """The desk for the next sample."""
        self._served += 1
        if self._served % DESK_LIFE == 0:
            self._desk = FindingCache(self._judge, self._store)
        return self._desk
