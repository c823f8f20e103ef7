"""Counting what goes wrong where nothing may be raised: in hooks, on threads of our own, in foreign code."""

from __future__ import annotations

import logging
from collections import Counter

from assay.errors import Undelivered

log = logging.getLogger("assay.live")

KINDS = 64  # kinds of errors counted apart; the rest are counted together


class Errors:
    """Counts exceptions by type; the first of each type is logged."""

    __slots__ = ("counts", "last")

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.last: str | None = None

    def add(self, error: BaseException, where: str) -> None:
        kind = type(error).__name__
        if kind not in self.counts and len(self.counts) >= KINDS:
            kind = "other"
        self.counts[kind] += 1
        names = f" ({', '.join(error.scores)})" if isinstance(error, Undelivered) else ""
        self.last = f"{where}: {type(error).__name__}{names}: {str(error)[:300]}"
        if self.counts[kind] == 1:
            # the message may hold texts of the application, so only the type is logged
            log.warning("assay: %s in %s; further ones are only counted, see health()", kind, where)
