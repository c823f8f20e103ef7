"""How keys and values of a record are said: "home team", "5 PM to 9 PM (17:00 to 21:00)", "yes"."""

from __future__ import annotations

import re
from datetime import date

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_\s]+")
CONSTANTS = {
    "true": "yes", "True": "yes", "false": "no", "False": "no",
    "null": "not given", "None": "not given", "NaN": "not given", "nan": "not given",
}  # fmt: skip
_TIME = r"([01]?\d|2[0-4]):([0-5]?\d)(?::[0-5]\d(?:\.\d{1,9})?)?"
_HOURS = re.compile(rf"{_TIME}\s?[-–]\s?{_TIME}")
_CLOCK = re.compile(_TIME)
DATE = re.compile(rf"(\d{{4}})-(\d\d)-(\d\d)(?:[T ]{_TIME}(?:Z|[+-]\d\d:?\d\d)?)?")
_OLD_STRING = re.compile(r"u?'([^']*)'")  # of Python 2, inside a string
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def words_of(key: str) -> str:
    """A key as words: homeTeam and home_team are "home team"."""
    key = key.strip().replace("WiFi", "Wifi")
    parts = [part for part in _HUMP.split(key) if part]
    return " ".join(
        part if (part.isupper() and len(part) > 1) or " " in key.strip() else part.lower() for part in parts
    )


def spoken(value: str) -> str:
    """A value as people say it: 17:0-21:0 is "5 PM to 9 PM (17:00 to 21:00)", true is "yes", 2024-01-03 a day."""
    value = " ".join(value.split())
    old = _OLD_STRING.fullmatch(value)
    value = old[1] if old else value
    if (found := _HOURS.fullmatch(value)) is not None:
        a, b, c, d = found.groups()
        return f"{_clock(a, b)} to {_clock(c, d)} ({int(a)}:{int(b):02} to {int(c)}:{int(d):02})"
    if (found := _CLOCK.fullmatch(value)) is not None:
        return f"{_clock(*found.groups())} ({int(found[1])}:{int(found[2]):02})"
    if (found := DATE.fullmatch(value)) is not None:
        return _day(found) or value
    return CONSTANTS.get(value, value)


def is_day(key: str) -> bool:
    return key.lower().endswith(DAYS)


def _clock(hour: str, minute: str) -> str:
    number, minutes = int(hour) % 24, int(minute)
    half = "AM" if number < 12 else "PM"
    return f"{(number - 1) % 12 + 1}{f':{minutes:02}' if minutes else ''} {half}"


def _day(found: re.Match[str]) -> str | None:
    year, month, day, hour, minute = found.groups()
    try:
        name = DAYS[date(int(year), int(month), int(day)).weekday()].capitalize()
    except ValueError:
        return None
    at = f", {_clock(hour, minute)} ({int(hour)}:{int(minute):02})" if hour is not None else ""
    return f"{name}, {int(day)} {_MONTHS[int(month) - 1]} {int(year)}{at}"
