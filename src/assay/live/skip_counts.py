"""Samples that get no row in a live run, counted by application, hour and cause until they are written to the store."""

from __future__ import annotations

import time
import uuid
from collections import Counter

from assay.store.live_counts import hour_of

#: Application, beginning of the hour (seconds since 1970) and cause.
CountKey = tuple[str | None, int, str]


class SkipCounts:
    """Totals of one process. Not safe for threads: its owner has a lock.

    Attributes:
        source: Name of these totals, which no other process has.
    """

    def __init__(self) -> None:
        self.source = uuid.uuid4().hex
        self._totals: Counter[CountKey] = Counter()
        self._changed: set[CountKey] = set()

    @property
    def waiting(self) -> bool:
        """Whether totals changed since they were last written."""
        return bool(self._changed)

    def add(self, cause: str, application: str | None, samples: int = 1, *, ago: float = 0.0) -> None:
        """Count samples.

        Args:
            cause: Why they have no row.
            application: The application that answered. None: unknown.
            samples: Their number; negative takes back what was counted.
            ago: Seconds since it was that they were left out.
        """
        if samples:
            key = (application, hour_of(time.time() - ago), cause)
            self._totals[key] += samples
            self._changed.add(key)

    def changed(self) -> dict[CountKey, int]:
        """The totals that changed since they were last written."""
        return {key: self._totals[key] for key in self._changed}

    def written(self, totals: dict[CountKey, int]) -> None:
        """These totals are in the store.

        Args:
            totals: What `changed` returned.
        """
        self._changed -= {key for key, samples in totals.items() if self._totals[key] == samples}
