"""Windows of live runs: half-open spans of time that share no moment and leave none out."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.store.windows import ACCEPTED, parse_window, resolve_run, resolve_timezone, split_run

HOUR, DAY = 3600.0, 86_400.0
NOON = datetime(2026, 11, 28, 12, tzinfo=UTC).timestamp()

#: With and without daylight saving; where it begins at midnight, a quarter of an hour off, a day that was skipped.
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "America/Havana", "Africa/Cairo", "Asia/Kathmandu", "Pacific/Apia")
zones = st.sampled_from(ZONES)
moments = st.floats(1.0e9, 4.0e9)
days = st.dates(date(1990, 1, 1), date(2060, 1, 1))


def ends(text: str, now: float = NOON, timezone: str = "UTC") -> tuple[float, float]:
    window = parse_window(text, now, timezone)
    return window.since, window.until


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("7d", "2026-11-21 12:00", "2026-11-28 12:00"),
        ("24h", "2026-11-27 12:00", "2026-11-28 12:00"),
        ("90m", "2026-11-28 10:30", "2026-11-28 12:00"),
        ("14d..7d", "2026-11-14 12:00", "2026-11-21 12:00"),
        ("2w..1w", "2026-11-14 12:00", "2026-11-21 12:00"),
        ("today", "2026-11-28 00:00", "2026-11-28 12:00"),
        ("yesterday", "2026-11-27 00:00", "2026-11-28 00:00"),
        ("2026-11-01", "2026-11-01 00:00", "2026-11-02 00:00"),
        ("2024-02-29", "2024-02-29 00:00", "2024-03-01 00:00"),
        ("2026-11-01..2026-11-08", "2026-11-01 00:00", "2026-11-08 00:00"),
        ("2026-11-01..", "2026-11-01 00:00", "2026-11-28 12:00"),
        ("2026-11-01T09:30..yesterday", "2026-11-01 09:30", "2026-11-27 00:00"),
        ("2026-11-01T09:30+01:00..now", "2026-11-01 08:30", "2026-11-28 12:00"),
    ],
)
def test_what_a_window_covers(text: str, since: str, until: str) -> None:
    window = parse_window(text, NOON)
    assert str(window) == f"{since} to {until} (UTC)"
    assert (window.text, window.timezone) == (text, "UTC")


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25), ("2026-10-26", 24)])
def test_days_of_daylight_saving_have_23_or_25_hours(day: str, hours: int) -> None:
    """In Berlin clocks go forward on 29 March 2026, and back on 25 October."""
    noon_after = datetime.fromisoformat(f"{day}T12:00+00:00").timestamp() + DAY
    since, until = ends("yesterday", noon_after, "Europe/Berlin")
    assert until - since == hours * HOUR
    assert ends(day, NOON, "Europe/Berlin") == (since, until)


def test_a_day_begins_at_midnight_of_the_time_zone() -> None:
    """00:00 in Berlin in winter is 23:00 UTC of the day before."""
    window = parse_window("2026-11-08", NOON, "Europe/Berlin")
    assert datetime.fromtimestamp(window.since, UTC) == datetime(2026, 11, 7, 23, tzinfo=UTC)
    assert str(window) == "2026-11-08 00:00 to 2026-11-09 00:00 (Europe/Berlin)"


def test_a_duration_counts_seconds_also_over_daylight_saving() -> None:
    now = datetime(2026, 10, 26, 12, tzinfo=UTC).timestamp()
    assert ends("7d", now, "Europe/Berlin") == (now - 7 * DAY, now)


@given(days, st.integers(1, 400), st.integers(1, 400), zones)
def test_adjacent_ranges_of_days_meet(day: date, first: int, second: int, zone: str) -> None:
    middle, end = day + timedelta(first), day + timedelta(first + second)
    one, other = ends(f"{day}..{middle}", NOON, zone), ends(f"{middle}..{end}", NOON, zone)
    assert one[1] == other[0]
    assert ends(f"{day}..{end}", NOON, zone) == (one[0], other[1])


@given(days, zones)
def test_days_follow_each_other_without_a_gap(day: date, zone: str) -> None:
    if zone == "Pacific/Apia" and day.year == 2011:  # it had no 30 December
        return
    first, second = ends(f"{day}", NOON, zone), ends(f"{day + timedelta(1)}", NOON, zone)
    assert first[1] == second[0]
    assert 22 * HOUR <= first[1] - first[0] <= 26 * HOUR


@given(st.integers(1, 1000), st.integers(1, 1000), st.sampled_from("mhdw"), moments)
def test_adjacent_durations_meet(first: int, second: int, unit: str, now: float) -> None:
    if (first + second) * 604_800 > now:
        return
    one, other = ends(f"{first + second}{unit}..{first}{unit}", now), ends(f"{first}{unit}", now)
    assert one[1] == other[0]
    assert other[1] == now


@given(moments, zones)
def test_yesterday_ends_where_today_begins(now: float, zone: str) -> None:
    yesterday, today = ends("yesterday", now, zone), ends("today", now, zone)
    assert yesterday[0] < yesterday[1] == today[0] <= now == today[1]
    assert now - today[0] < 26 * HOUR
    begin = datetime.fromtimestamp(today[0], resolve_timezone(zone))
    assert begin.date() == datetime.fromtimestamp(now, resolve_timezone(zone)).date()


def test_a_day_that_a_zone_skipped() -> None:
    """Samoa went from 29 to 31 December 2011."""
    now = datetime(2011, 12, 31, 12, tzinfo=ZoneInfo("Pacific/Apia")).timestamp()
    assert ends("yesterday", now, "Pacific/Apia") == ends("2011-12-29", now, "Pacific/Apia")
    with pytest.raises(InputError, match="ends where it begins"):
        ends("2011-12-30", now, "Pacific/Apia")


NONSENSE = [
    "", " ", "7", "d", "-7d", "7 d", "7y", "1e3d", "tomorrow", "now", "2026-13-01", "2026-02-30", "2025-02-29",
    "2026-1-1", "20261101", "2026-11-01T25:00..", "2026-11-01T09:00", "..", "..7d", "7d..8d..9d", "9999-12-31",
    "0000-00-00", "999999w", "٧d", "7d; DROP TABLE rows", "2026-11-01...2026-11-08", "d" * 10_000, "1" * 10_000 + "d",
]  # fmt: skip


@pytest.mark.parametrize("text", NONSENSE)
def test_what_is_no_window_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"^window: expected 7d, 24h"):
        parse_window(text, NOON)


@pytest.mark.parametrize("text", ["7d..14d", "7d..7d", "2026-11-08..2026-11-01", "2026-11-01..2026-11-01"])
def test_ends_in_the_wrong_order_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="ends where it begins, or before"):
        parse_window(text, NOON)


@given(st.one_of(st.text(max_size=30), st.text("0123456789-.:TZdhmw+ yn", max_size=30)), zones)
def test_any_text_is_a_window_or_an_input_error(text: str, zone: str) -> None:
    try:
        window = parse_window(text, NOON, zone)
    except InputError:
        return
    assert 0 <= window.since <= window.until
    assert str(window).endswith(f"({zone})")


@pytest.mark.parametrize("name", ["", "Berlin", "Mars/Olympus", "../etc/passwd", "/etc/localtime", "Europe", "a\0b"])
def test_an_unknown_time_zone_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="timezone: expected the IANA name of a time zone"):
        parse_window("7d", NOON, name)


@pytest.mark.parametrize(
    ("name", "runs", "expected"),
    [
        ("live/shop@7d", (), ("live/shop", "7d")),
        ("live@14d..7d", (), ("live", "14d..7d")),
        ("live/shop", (), ("live/shop", None)),
        ("nightly@main", (), ("nightly@main", None)),  # the error is that there is no such run
        ("nightly@main@7d", (), ("nightly@main", "7d")),
        ("nightly@7d", ("nightly@7d", "nightly"), ("nightly@7d", None)),  # a run of this name wins
        ("live/shop@7dd", ("live/shop",), ("live/shop", "7dd")),  # the error is that it is no window
        ("@7d", (), ("@7d", None)),
        ("live/shop@", ("live/shop",), ("live/shop", "")),
    ],
)
def test_a_name_is_split_into_run_and_window(
    name: str, runs: tuple[str, ...], expected: tuple[str, str | None]
) -> None:
    assert split_run(name, runs.__contains__) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("shop@7d", ("live/shop", "7d")),
        ("shop", ("live/shop", None)),
        ("live/shop@today", ("live/shop", "today")),
        ("shop@7dd", ("live/shop", "7dd")),
        ("nightly@7d", ("nightly", "7d")),  # a run of this name wins over live/nightly
        ("live@7d", ("live", "7d")),
        ("odd@7d", ("odd@7d", None)),
        ("none@7d", ("none", "7d")),
        ("none", ("none", None)),
        ("x" * 300, ("x" * 300, None)),
    ],
)
def test_an_application_stands_for_its_live_run(name: str, expected: tuple[str, str | None]) -> None:
    runs = ("live", "live/shop", "live/nightly", "nightly", "odd@7d")
    assert resolve_run(name, runs.__contains__) == expected


@given(st.text(max_size=20), st.sampled_from(["7d", "today", "14d..7d", "2026-11-01..2026-11-08"]))
def test_a_window_is_split_from_any_name(run: str, window: str) -> None:
    assert split_run(f"x{run}@{window}") == (f"x{run}", window)


def test_messages_name_only_what_is_accepted() -> None:
    for text in ACCEPTED.replace(" or ", ", ").split(", "):
        parse_window(text, NOON)
