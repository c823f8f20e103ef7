"""Counting what goes wrong in our hooks, so that it never reaches the host and never goes unseen."""

from __future__ import annotations

import logging
import threading
from collections import Counter

log = logging.getLogger("assay.llama_index")

KINDS = 64  # kinds of errors counted apart; the rest are counted together


class Faults:
    """Exceptions caught in hooks, by hook and type. The first of each kind is logged, with the id of its span."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self.counts: Counter[str] = Counter()
        self.last: str | None = None

    def add(self, error: BaseException, hook: str, span_id: str | None) -> None:
        kind = f"{hook}: {type(error).__name__}"
        with self._lock:
            if kind not in self.counts and len(self.counts) >= KINDS:
                kind = "other"
            self.counts[kind] += 1
            first = self.counts[kind] == 1
            self.last = f"{kind}: {str(error)[:300]}"
        if first:
            # the message may hold texts of the application, so only the type is logged
            log.warning("assay: %s (span %s); further ones are only counted, see health()", kind, span_id)
