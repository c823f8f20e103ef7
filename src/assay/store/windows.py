"""Windows of a live run: `live/shop@7d`, `@14d..7d`, `@2026-11-01..2026-11-08`, `@today`, in a time zone."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from assay.errors import InputError
from assay.store.live_runs import live_run_name

UTC_NAME = "UTC"

#: What `parse_window` accepts, for messages and help.
ACCEPTED = "7d, 24h, 14d..7d, today, yesterday, 2026-11-01, 2026-11-01..2026-11-08 or 2026-11-01T09:00..7d"
LONGEST_TEXT = 100  # characters

_SECONDS = {"m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_DURATION = re.compile(r"([0-9]{1,6})([mhdw])")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(_DAY.pattern + r"[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:Z|[+-][0-9]{2}:[0-9]{2})?")


@dataclass(frozen=True, slots=True)
class Window:
    """Half-open span of time: from `since`, inclusive, to `until`, exclusive. Adjacent windows share no moment.

    Attributes:
        since: Seconds since 1970.
        until: Seconds since 1970, after `since`; the same only for `today` at midnight.
        text: The window as it was written.
        timezone: IANA name of the time zone in which it was read.
    """

    since: float
    until: float
    text: str
    timezone: str = UTC_NAME

    def __str__(self) -> str:
        zone = resolve_timezone(self.timezone)
        since, until = (datetime.fromtimestamp(at, zone) for at in (self.since, self.until))
        return f"{since:%Y-%m-%d %H:%M} to {until:%Y-%m-%d %H:%M} ({self.timezone})"


def parse_window(text: str, now: float, timezone: str = UTC_NAME) -> Window:
    """Read the text of a window.

    A duration is measured in seconds, so `7d` is the last 7 × 24 hours. Days begin at midnight of the time zone:
    `yesterday` has 23 or 25 hours where daylight saving begins or ends. `today` ends now. The second end of a range is
    exclusive: `2026-11-01..2026-11-08` has seven days. A duration as an end of a range counts back from now; a range
    without a second end ends now.

    Args:
        text: For example `7d`, `24h`, `14d..7d`, `today`, `yesterday`, `2026-11-01`, `2026-11-01..2026-11-08`,
            `2026-11-01T09:00..7d`. Units are m, h, d and w. A time of day may end in Z or an offset such as +01:00.
        now: The present, in seconds since 1970.
        timezone: IANA name of the time zone of days.

    Returns:
        The window.

    Raises:
        InputError: The text is none of these, a date does not exist, or the window ends where it begins or before.
    """
    zone, said = resolve_timezone(timezone), text.strip()
    if len(said) > LONGEST_TEXT:
        raise InputError(f"window: expected {ACCEPTED}, got a text of {len(said):,} characters")
    try:
        since, until = _ends(said, now, zone)
    except (ValueError, OverflowError):  # no such day, or one that no clock has
        raise InputError(f"window: expected {ACCEPTED}, got {text!r}") from None
    if since > until or (since == until and said != "today"):
        raise InputError(f"window: {text!r} ends where it begins, or before; write the earlier end first: 14d..7d")
    return Window(since, until, said, timezone)


def resolve_timezone(name: str) -> tzinfo:
    """Look up a time zone.

    Args:
        name: IANA name, such as Europe/Berlin.

    Returns:
        The time zone.

    Raises:
        InputError: There is no such time zone on this machine.
    """
    if name == UTC_NAME:  # also where the machine has no data on time zones
        return UTC
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        said = "expected the IANA name of a time zone, such as UTC or Europe/Berlin"
        raise InputError(f"timezone: {said}, got {name!r}") from None


def split_run(name: str, exists: Callable[[str], bool] = lambda name: False) -> tuple[str, str | None]:
    """Split the name of a run and the text of a window.

    Args:
        name: For example `live/shop@7d`. Names of runs may contain "@".
        exists: Whether the store has a run of this name. A run that exists is never split.

    Returns:
        Name of the run, and the text after the last "@"; None where that is no window. It is taken for one where it
        reads like one, or where the part before it is a run.
    """
    run, sign, window = name.rpartition("@")
    if not sign or not run or exists(name):
        return name, None
    return (run, window) if _reads_as_window(window) or exists(run) else (name, None)


def resolve_run(name: str, exists: Callable[[str], bool]) -> tuple[str, str | None]:
    """Find the run and the window that a user means; the application's name stands for its live run.

    Args:
        name: For example `live/shop@7d`, `shop@7d`, `shop` or `nightly`.
        exists: Whether the store has a run of this name. A run of exactly this name wins.

    Returns:
        Name of the run, which may not exist, and the text of the window; None without one.
    """
    run, window = split_run(name, lambda one: exists(one) or exists(_live_run_name_or(one)))
    live = _live_run_name_or(run)
    return (live if not exists(run) and exists(live) else run), window


def _live_run_name_or(name: str) -> str:
    """The live run of an application; the name itself where no application can have it."""
    try:
        return live_run_name(name)
    except InputError:
        return name


def _reads_as_window(text: str) -> bool:
    try:
        parse_window(text, datetime.now(UTC).timestamp())
    except InputError:
        return False
    return True


def _ends(text: str, now: float, zone: tzinfo) -> tuple[float, float]:
    """Both ends. Raises ValueError or OverflowError for what is no window."""
    first, sign, second = text.partition("..")
    if sign:
        ends = _moment(first, now, zone), _moment(second.strip() or "now", now, zone)
    elif _DAY.fullmatch(text):
        ends = _midnight(date.fromisoformat(text), zone), _midnight(date.fromisoformat(text) + timedelta(days=1), zone)
    elif text == "yesterday":
        ends = _moment("yesterday", now, zone), _moment("today", now, zone)
    elif text == "today" or _DURATION.fullmatch(text):
        ends = _moment(text, now, zone), now
    else:
        raise ValueError
    if min(ends) < 0:
        raise ValueError
    return ends


def _moment(text: str, now: float, zone: tzinfo) -> float:
    """One end of a range, in seconds since 1970."""
    text = text.strip()
    if text == "now":
        return now
    if duration := _DURATION.fullmatch(text):
        return now - int(duration[1]) * _SECONDS[duration[2]]
    if text in ("today", "yesterday"):
        today = _midnight(datetime.fromtimestamp(now, zone).date(), zone)
        # not the date before: a zone that crossed the date line has skipped one
        return today if text == "today" else _midnight(datetime.fromtimestamp(today - 1, zone).date(), zone)
    if _DAY.fullmatch(text):
        return _midnight(date.fromisoformat(text), zone)
    if not _TIME.fullmatch(text):
        raise ValueError
    found = datetime.fromisoformat(text)
    return (found if found.tzinfo is not None else found.replace(tzinfo=zone)).timestamp()


def _midnight(day: date, zone: tzinfo) -> float:
    """When a day begins: the first of two midnights; where there is none, the moment at which clocks skip it."""
    return datetime(day.year, day.month, day.day, tzinfo=zone).timestamp()
