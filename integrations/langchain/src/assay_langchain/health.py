"""What a handler saw and did, in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.extension import Health, Record, Tabular


@dataclass(frozen=True, slots=True, kw_only=True)
class HandlerHealth(Tabular, Record):
    """The state of a handler at one moment.

    Attributes:
        events: Callback events taken in.
        open_traces: Traces whose root has not ended.
        expired: Traces given up: too many were open, or they never ended.
        ignored: Events that came late, twice, or for a trace given up.
        interrupted: Graphs that stopped to ask a human, and wait to be resumed.
        left_out: Finished traces that were not scored, by reason: `no_answer`; `excluded`, by `include`;
            `part_of_another`, where a run turned out to be no root, or another handler of the same scorer heard what is
            around it, and took it in; `captured_twice`, where another handler of the same scorer had it. And errors
            that could not even be counted.
        live: What became of the rest: see `assay.live.Health`.
    """

    _columns = (
        "events open_traces expired ignored interrupted left_out submitted=live.submitted dropped=live.dropped "
        "pending=live.pending scored=live.scored no_value=live.no_value causes=live.causes errors=live.errors "
        "last_error=live.last_error"
    )

    events: int = 0
    open_traces: int = 0
    expired: int = 0
    ignored: int = 0
    interrupted: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    live: Health = field(default_factory=Health)

    @property
    def errors(self) -> Mapping[str, int]:
        """Exceptions caught, by type."""
        return self.live.errors
