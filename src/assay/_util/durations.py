"""Lengths of time as people write them."""

from __future__ import annotations

import re

from assay.errors import InputError

_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_DURATION = re.compile(r"\s*+(\d{1,15}+(?:\.\d{1,15}+)?)\s*+([smhdw]?)\s*+")


def seconds_in(text: str, name: str) -> float:
    """Read a length of time.

    Args:
        text: The text: 90s, 10m, 1h, 90d, or a number of seconds.
        name: Name of the argument, for the error message.

    Returns:
        Seconds, 0 or more.

    Raises:
        InputError: The text is something else.
    """
    found = _DURATION.fullmatch(text)
    if found is None:
        raise InputError(f"{name}: expected a time such as 90s, 10m, 1h or 90d, got {text[:60]!r}")
    return float(found[1]) * _SECONDS[found[2]]


def duration_in_words(seconds: float) -> str:
    """Format a length of time: 7d, 24h, 90s.

    Args:
        seconds: The seconds.

    Returns:
        The text, which `seconds_in` reads.
    """
    for unit, factor, least in (("d", 86400.0, 2), ("h", 3600.0, 1), ("m", 60.0, 2)):
        if seconds >= factor * least and seconds % factor == 0:
            return f"{seconds / factor:.0f}{unit}"
    return f"{seconds:g}s"
