"""A span of any exporter as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that a span, or a log record that belongs to it, tells at a moment."""

    name: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    time: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanData:
    """A span as plain data.

    trace_id, span_id  in hex; `parent_id` is None for the root of a trace
    kind               SERVER, CLIENT, INTERNAL …, where known
    started, ended     seconds since 1970; `ended` is None for a span that is not known to have ended
    attributes         flat ("llm.input_messages.0.message.role") or nested
    status             OK, ERROR or UNSET
    resource           attributes of the process that sent it
    parent_remote      whether the parent is in another process; None: not known
    partial            only events of the span, from log records that name it; the span itself is another record
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
        """This span as plain values, for `from_dict`."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SpanData:
        """The span that `to_dict` wrote."""
        return cls(**{**data, "events": tuple(Event(**event) for event in data["events"])})
