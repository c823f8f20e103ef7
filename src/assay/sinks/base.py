"""The sink protocol: where scores go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from assay.records import Record, ScoredSample

#: Hides what must not leave the process: takes a whole text, gives the text to send.
Mask = Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt(Record):
    """What became of one write.

    Attributes:
        sent: Scores handed over, with those that have no value.
        confirmed: Of those, the ones known to have arrived: read back from the store, acknowledged by a receiver, or in
            a file of this machine; the others are sent, unconfirmed.
        skipped: Scores that have no place in this store, for example because the sample carries none of its ids.
    """

    sent: int = 0
    confirmed: int = 0
    skipped: int = 0


@runtime_checkable
class Sink(Protocol):
    """Takes scored samples. Called from one worker thread, never from the host's own; may block, may raise.

    A sink may have a method `check()` besides: evaluations call it before the first row is scored. It raises InputError
    where nothing can be delivered as things stand (no key, a key that is refused), and may wait for the network.

    A sink may have a method `count_skipped(source, totals)`: live scorers and workers tell it how many samples they
    heard and did not score. `totals` maps application (None: unknown), beginning of an hour (seconds since 1970) and
    cause to the number of samples of this source so far. It may have a method `tidy()`, which workers call at times,
    and a method `amend(key, change)`, for feedback that comes after a sample was written: it applies a function to the
    sample that it has, and returns False where it has none.

    A sink may have a method `write_many(group)`, which workers call instead of `write`: it takes several scored samples
    and returns for each what `write` would return or raise.
    """

    def write(self, scored: ScoredSample) -> Receipt | None:
        """Deliver one scored sample. Raises Undelivered, or anything else, for what could not be delivered."""

    def close(self) -> None:
        """Deliver what is held back and let go of files and connections."""
