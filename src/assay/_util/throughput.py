"""How fast a run goes and how long it will take: finished rows over the time since it began."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

LONG = 120.0  # seconds that a run takes in all before anybody is warned of it
LOOK = 50  # rows that give a first impression


@dataclass(slots=True)
class Pace:
    """The rows of one run as they finish. `total` is None where nobody knows it."""

    total: int | None
    clock: Callable[[], float] = time.monotonic
    rows: int = 0
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.clock()

    @property
    def seconds(self) -> float:
        """Since it began."""
        return self.clock() - self.began

    @property
    def rate(self) -> float | None:
        """Rows per second since it began; None before the first row."""
        seconds = self.seconds
        return self.rows / seconds if self.rows and seconds > 0 else None

    @property
    def left(self) -> float | None:
        """Seconds that the other rows take at this rate; None where there is no rate or no total."""
        rate = self.rate
        if rate is None or self.total is None:
            return None
        return max(0, self.total - self.rows) / rate

    def parts(self) -> list[str]:
        """Rows, rate and estimate in words, each where it is known."""
        rows = f"{self.rows:,}" + (f"/{self.total:,}" if self.total is not None else " rows")
        rate, left = self.rate, self.left
        if rate is None:
            return [rows, f"{in_words(self.seconds)}, nothing finished yet"]
        return [rows, rate_in_words(rate), *([f"{in_words(left)} left"] if left is not None else [])]

    def warning(self) -> str | None:
        """What to know before a long run, once the first rows are measured; None where it is not long."""
        rate = self.rate
        if rate is None or self.total is None or (self.rows < 3 and self.seconds < 10):
            return None
        whole = self.total / rate
        if whole < LONG or self.total <= 2 * LOOK:
            return None
        return (
            f"{self.total:,} rows, about {in_words(whole)}; with a limit of {LOOK} rows about {in_words(LOOK / rate)}"
        )


def in_words(seconds: float) -> str:
    """A time to two figures: 40 s, 2.5 min, 25 min, 3.1 h."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    if minutes < 99.5:
        return f"{minutes:.0f} min" if minutes >= 9.95 else f"{minutes:.1f} min"
    return f"{minutes / 60:.1f} h"


def rate_in_words(rate: float) -> str:
    """A rate in the unit that makes it at least 1: rows/s, rows/min, rows/h."""
    for unit, seconds in (("s", 1), ("min", 60), ("h", 3600)):
        if rate * seconds >= 1 or unit == "h":
            value = rate * seconds
            return f"{value:,.0f} rows/{unit}" if value >= 99.5 else f"{value:.1f} rows/{unit}"
    raise AssertionError("the last unit takes all")
