"""Points in time, as whoever asks for a part of a store's traces gives them."""

from __future__ import annotations

from datetime import UTC, datetime

from assay.errors import InputError

Moment = datetime | str | float


def seconds_at(moment: Moment | None, name: str) -> float | None:
    """Seconds since 1970 of a datetime, of a text in ISO 8601 or of such seconds; without a zone it is UTC.

    Raises InputError, which calls the argument `name`.
    """
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:
            raise InputError(
                f"{name}: expected a time such as 2026-11-21 or 2026-11-21T08:30:00Z, got {moment!r}"
            ) from None
    if isinstance(moment, datetime):
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
    if moment is not None and (isinstance(moment, bool) or not isinstance(moment, (int, float))):
        raise InputError(f"{name}: expected a datetime, a text or seconds, got {type(moment).__name__}")
    return moment


def iso(seconds: float) -> str:
    """The same point in time as text, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()
