"""Points in time as they are given: datetimes, texts, seconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay._util.timestamps import iso, seconds_at
from assay.errors import InputError

NOON = 1_795_262_400.0  # 2026-11-21T12:00:00Z: 20 778 days of 86 400 s, and 12 hours


@pytest.mark.parametrize(
    "moment",
    [
        NOON,
        int(NOON),
        "2026-11-21T12:00:00",
        "2026-11-21T12:00:00Z",
        "2026-11-21T13:00:00+01:00",
        datetime(2026, 11, 21, 12),
        datetime(2026, 11, 21, 12, tzinfo=UTC),
        datetime(2026, 11, 21, 7, tzinfo=timezone(timedelta(hours=-5))),
    ],
)
def test_the_same_moment_in_every_form(moment):
    assert seconds_at(moment, "since") == NOON


def test_a_day_is_its_beginning_and_nothing_is_nothing():
    assert seconds_at("2026-11-21", "since") == NOON - 12 * 3600
    assert seconds_at(None, "since") is None


@pytest.mark.parametrize("moment", ["yesterday", "", "12:00", True, object(), ["2026-11-21"]])
def test_what_is_no_moment_is_an_error_that_names_the_argument(moment):
    with pytest.raises(InputError, match=r"^until: expected"):
        seconds_at(moment, "until")


@given(st.integers(min_value=0, max_value=4_102_444_800_000_000))
def test_a_moment_survives_being_written(microseconds):
    assert seconds_at(iso(microseconds / 1e6), "since") == pytest.approx(microseconds / 1e6, abs=1e-6)
