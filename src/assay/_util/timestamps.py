"""Points in time, as whoever asks for a part of a store's traces gives them."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

from assay.errors import InputError

Moment = datetime | str | float


def seconds_at(moment: Any, name: str) -> float | None:
    """Convert a point in time to seconds since 1970.

    Args:
        moment: A datetime, a text in ISO 8601, or seconds since 1970. A time without a zone is in UTC.
        name: Name of the argument or column, for the error message.

    Returns:
        Seconds since 1970-01-01 in UTC. None if `moment` is None.

    Raises:
        InputError: The text is not in ISO 8601, the number is not finite, or the value has another type.
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
    """Format a point in time as text in ISO 8601 in UTC, such as "2026-11-21T08:30:00+00:00".

    Args:
        seconds: Seconds since 1970-01-01 in UTC.

    Returns:
        The text.
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat()
