"""A span of any exporter as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that a span, or a log record that belongs to it, tells at a moment.

    Attributes:
        name: Its name.
        attributes: Flat or nested.
        body: Of a log record: its body.
        time: Seconds since 1970; None where it is not known.
    """

    name: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    time: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanData:
    """A span as plain data.

    Attributes:
        trace_id: In hex.
        span_id: In hex.
        parent_id: In hex; None for the root of a trace.
        name: Its name.
        kind: SERVER, CLIENT, INTERNAL …, where known.
        started: Seconds since 1970.
        ended: Seconds since 1970; None for a span that is not known to have ended.
        attributes: Flat ("llm.input_messages.0.message.role") or nested.
        events: What it tells at single moments.
        status: OK, ERROR or UNSET.
        message: What the status says in words.
        resource: Attributes of the process that sent it.
        parent_remote: Whether the parent is in another process; None: not known.
        partial: Only events of the span, from log records that name it; the span itself is another record.
    """

    trace_id: str
    span_id: str
    parent_id: str | None = None
    name: str = ""
    kind: str | None = None
    started: float = 0.0
    ended: float | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    status: str = "UNSET"
    message: str | None = None
    resource: Mapping[str, Any] = field(default_factory=dict)
    parent_remote: bool | None = None
    partial: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Serialize this span.

        Returns:
            Plain values, for `from_dict`.
        """
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SpanData:
        """Read the span that `to_dict` wrote.

        Args:
            data: What `to_dict` returned.

        Returns:
            An equal span.
        """
        return cls(**{**data, "events": tuple(Event(**event) for event in data["events"])})
