"""What a live scorer did, in numbers: nothing that is lost goes uncounted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from assay._util.error_counter import Errors
from assay._util.tabular import Tabular
from assay.records import Record, ScoredSample


@dataclass(frozen=True, slots=True, kw_only=True)
class Health(Tabular, Record):
    """Counters of an intake (a live scorer or a queue) in this process at one moment.

    Attributes:
        submitted: Samples accepted.
        dropped: Samples refused: the queue was full, or the intake closed. For a queue also samples for which
            the file had no room.
        pending: Samples accepted and not yet scored and delivered (for a queue: not yet written). After `close`
            they are lost.
        skipped: Submissions accepted whose captured data is no sample.
        sampled_out: Samples accepted and left out by sampling.
        queued: Samples that a queue has written.
        duplicates: Samples that a queue had already.
        finished: Samples whose scoring has ended.
        scored: Scores with a value.
        no_value: Scores without a value.
        causes: Scores without a value, by cause.
        delivered: Samples that every sink accepted.
        undelivered: Deliveries that a sink refused, or that were given up because sinks are too slow.
        confirmed: Scores that a sink read back from its store.
        unconfirmed: Scores that a sink sent, and could not read back, or not yet.
        feedback: User feedback by outcome: attached, brought_in, kept, added, late, unmatched, refused, waiting.
        budget: Spending in each limit's window. Empty without a budget.
        errors: Exceptions caught in capture, sinks and callbacks, by type.
        last_error: The newest of them. None without one.
    """

    submitted: int = 0
    dropped: int = 0
    pending: int = 0
    skipped: int = 0
    sampled_out: int = 0
    queued: int = 0
    duplicates: int = 0
    finished: int = 0
    scored: int = 0
    no_value: int = 0
    causes: Mapping[str, int] = field(default_factory=dict)
    delivered: int = 0
    undelivered: int = 0
    confirmed: int = 0
    unconfirmed: int = 0
    feedback: Mapping[str, int] = field(default_factory=dict)
    budget: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    errors: Mapping[str, int] = field(default_factory=dict)
    last_error: str | None = None


class HealthCounts:
    """The running counters behind `Health`: `counts` by its fields' names. Change them under a lock."""

    __slots__ = ("causes", "counts", "errors")

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.causes: Counter[str] = Counter()
        self.errors = Errors()

    def finish(self, scored: ScoredSample) -> None:
        """A sample's scoring has ended."""
        self.counts["finished"] += 1
        for score in scored.scores.values():
            self.counts["scored" if score.error is None else "no_value"] += 1
            if score.error is not None:
                self.causes[score.error.cause.value] += 1

    def health(
        self,
        pending: int,
        feedback: Mapping[str, int] | None = None,
        budget: Mapping[str, Mapping[str, float]] | None = None,
    ) -> Health:
        """The counters as they stand."""
        return Health(
            **self.counts,
            pending=pending,
            causes=dict(self.causes),
            feedback={name: number for name, number in (feedback or {}).items() if number},
            budget=budget or {},
            errors=dict(self.errors.counts),
            last_error=self.errors.last,
        )
