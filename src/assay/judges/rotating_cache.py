"""A cache of judgements for each sample: the same for many, so that they share what was found, but not for ever."""

from __future__ import annotations

from assay.judges.base import BaseJudge
from assay.judges.cache import JudgementCache
from assay.judges.protocol import JudgementStore

SAMPLES = 256  # that share one cache; then it is let go, so that memory stays flat


class RenewedCache:
    """Hands out caches before one judge, for one event loop."""

    def __init__(self, judge: BaseJudge, store: JudgementStore | None = None) -> None:
        self._judge = judge
        self._store = store
        self._cache = JudgementCache(judge, store)
        self._served = 0

    def next(self) -> JudgementCache:
        """The cache for the next sample."""
        self._served += 1
        if self._served % SAMPLES == 0:
            self._cache = JudgementCache(self._judge, self._store)
        return self._cache
