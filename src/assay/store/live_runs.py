"""Live runs: the run of an application's traffic, and the metadata of its rows that are slices of it."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Mapping
from typing import Any

from assay.errors import InputError
from assay.store.tables import check_run_name

LIVE = "live"
DAYS, GIGABYTES = 30.0, 2.0  # kept of a live run, whichever is less
LONGEST_NAME = 200  # characters of an application's name
_CONTROLS = frozenset({"Cc", "Zl", "Zp"})  # control characters, line and paragraph separators

#: Metadata that says which application answered, and which version of it.
MARKS = ("application", "version", "commit", "prompt_version")

#: Metadata that a row keeps where its texts are not kept. Values are numbers, or texts of at most LONGEST_SLICE.
SLICE_KEYS = frozenset({
    *MARKS, "user", "user_id", "user.id", "conversation", "conversation_id", "thread_id", "session", "session_id",
    "session.id", "chat_id", "tenant", "topic", "environment", "started", "ended",
})  # fmt: skip
LONGEST_SLICE = 200


def live_run_name(application: str | None) -> str:
    """Name the live run of an application.

    Args:
        application: Name of the application. None: it has none.

    Returns:
        `live/NAME`, or `live`.

    Raises:
        InputError: The name is blank, longer than LONGEST_NAME, or holds a line break or a control character.
    """
    if application is None:
        return LIVE
    if not _is_name(application):
        said = f"expected a name of 1 to {LONGEST_NAME} characters without line breaks and control characters"
        raise InputError(f"application: {said}, got {application[:50]!r} ({len(application):,} characters)")
    return check_run_name(f"{LIVE}/{application}")


def application_of(metadata: Mapping[str, Any]) -> str | None:
    """The application that answered, from a sample's metadata; None where it has none that can name a run."""
    name = metadata.get("application")
    return name if isinstance(name, str) and _is_name(name) else None


def _is_name(text: str) -> bool:
    """Whether a text can name an application: it is printed on one line, and in a terminal does nothing else."""
    return bool(text.strip()) and len(text) <= LONGEST_NAME and _CONTROLS.isdisjoint(map(unicodedata.category, text))


def slices_of(metadata: Mapping[str, Any], further: Collection[str] = ()) -> dict[str, Any]:
    """Keep what is a slice key or a weight, and drop what may be a text.

    Args:
        metadata: Metadata of a sample.
        further: Keys to keep besides SLICE_KEYS.

    Returns:
        Scalars under slice keys; rate and rule of sampling; the value of feedback, where it is no text.
    """
    kept = {key: value for key, value in metadata.items() if (key in SLICE_KEYS or key in further) and _is_slice(value)}
    for name, parts in (("sampling", ("rate", "rule")), ("feedback", ("value",))):
        found = metadata.get(name)
        if isinstance(found, Mapping):
            kept[name] = {part: found[part] for part in parts if _is_slice(found.get(part))}
    if isinstance(kept.get("feedback", {}).get("value"), str):
        del kept["feedback"]
    return kept


def _is_slice(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST_SLICE
    return isinstance(value, (bool, int)) or (isinstance(value, float) and math.isfinite(value))


def matches(metadata: Mapping[str, Any], where: Mapping[str, str]) -> bool:
    """Check metadata against conditions.

    Args:
        metadata: Metadata of a sample.
        where: Key -> value as text. A number is compared as it is written in JSON, true and false in lower case.

    Returns:
        True where every condition holds; also for no condition.
    """
    return all(key in metadata and _text_of(metadata[key]) == value for key, value in where.items())


def _text_of(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, float)) else None
