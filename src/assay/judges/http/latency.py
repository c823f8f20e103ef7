"""How long an endpoint usually takes, and whether it still answers: what one attempt is worth waiting for."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

KNOWN = 20  # replies before anything is said of what is usual
REMEMBERED = 100
USUAL = 4.0  # times the 95th percentile that an attempt may take; each further attempt twice as long
LEAST = 2.0  # seconds that an attempt has at least
SILENT = 4  # attempts in a row without an answer that make an endpoint silent, if they fill a whole time-out
UNIT = 200  # tokens that the answer to any request counts as, besides what it is expected to hold


@dataclass(slots=True, eq=False)
class Latency:
    """What attempts at one endpoint took. Longer replies take longer: seconds are counted by expected token."""

    _seen: deque[float] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    _usual: float | None = None
    _unanswered: int = 0
    _silent_since: float = math.inf
    _tried: float = -math.inf

    def allowed(self, tokens: int, most: float, attempt: int) -> float:
        """Seconds for attempt number `attempt` (from 0) at a reply of so many expected tokens; `most` at the most."""
        if self._usual is None:
            return most
        return min(most, max(LEAST, USUAL * self._usual * (UNIT + tokens)) * 2.0 ** min(attempt, 16))

    def began(self, now: float) -> None:
        """An attempt begins."""
        self._silent_since = min(self._silent_since, now)

    def answered(self, seconds: float, tokens: int, now: float) -> None:
        """An attempt was answered, well or not."""
        self._unanswered, self._silent_since = 0, now
        self._seen.append(seconds / (UNIT + tokens))
        if len(self._seen) >= KNOWN:
            self._usual = sorted(self._seen)[math.ceil(0.95 * len(self._seen)) - 1]

    def unanswered(self) -> None:
        """An attempt timed out."""
        self._unanswered += 1

    def silent_for(self, now: float, most: float) -> float | None:
        """Seconds since the last answer, where several attempts and a whole time-out have had none; else None.

        Now and then None all the same, so that somebody finds out whether it answers again.
        """
        silence = now - self._silent_since
        if self._unanswered < SILENT or silence < most:
            return None
        if now - self._tried >= most / 4:
            self._tried = now
            return None
        return silence
