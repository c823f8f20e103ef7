"""Points in time, as whoever asks for a part of a store's traces gives them."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

from assay.errors import InputError

Moment = datetime | str | float


def seconds_at(moment: Any, name: str) -> float | None:
    """Seconds since 1970 of a `Moment`: a datetime, a text in ISO 8601, or such seconds; without a zone it is UTC.

    None stays None. Raises InputError, which calls the argument or column `name`, for anything else.
    """
    if moment is None:
        return None
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:
            raise InputError(
                f"{name}: expected a time such as 2026-11-21 or 2026-11-21T08:30:00Z, got {moment[:60]!r}"
            ) from None
    if isinstance(moment, datetime):
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
    if isinstance(moment, bool) or not isinstance(moment, (int, float)) or not math.isfinite(moment):
        raise InputError(f"{name}: expected a datetime, a text in ISO 8601 or seconds since 1970, got {moment!r:.60}")
    return float(moment)


def iso(seconds: float) -> str:
    """The same point in time as text, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()
