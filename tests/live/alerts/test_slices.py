"""Slices that come and go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.live.alerts import check
from assay.live.alerts.check import AlertChecker, SlotCheck
from assay.live.erasure import erase
from assay.store.store import Store
from tests.live.alerts.fakes import NOW, Columns, filled, rule


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with filled(tmp_path, []) as made:
        yield made


def checked(store: Store, names: Sequence[str | None], value: float = 0.0, **given: Any) -> tuple[SlotCheck, ...]:
    columns = Columns([value] * len(names), times=[NOW] * len(names), columns={"version": names})
    found = AlertChecker(store, [rule(**{"slices": ("version",)} | given)], lambda *_: columns).check(NOW)
    return found.slots


def events(found: tuple[SlotCheck, ...]) -> dict[Any, Any]:
    return {slot.slice and slot.slice[1]: slot.event for slot in found}


def test_each_value_opens_and_closes_by_itself(store: Store) -> None:
    assert events(checked(store, ["a"] * 40 + ["b"] * 40 + ["few"] * 3)) == {"a": "opened", "b": "opened", "few": None}
    names = ["a"] * 40 + ["b"] * 40
    columns = Columns([1.0] * 40 + [0.0] * 40, times=[NOW] * 80, columns={"version": names})
    found = AlertChecker(store, [rule(slices=("version",))], lambda *_: columns).check(NOW).slots
    assert events(found) == {"a": "closed", "b": None}
    assert [slot.is_open for slot in found] == [False, True]


@pytest.mark.parametrize("name", ["old", "x" * 5000, "\x00\ud83d"])
def test_a_slice_without_rows_closes_while_others_have_rows(store: Store, name: str) -> None:
    assert events(checked(store, [name] * 40)) == {name: "opened"}
    assert events(checked(store, [])) == {}  # no traffic at all proves nothing
    (closed,) = [slot for slot in checked(store, ["new"] * 40, 1.0) if slot.event is not None]
    assert (closed.event, closed.evidence.reason) == ("closed", "no rows of it in the window")
    assert closed.slice is not None
    assert closed.slice[1][:3] == name[:3]
    assert events(checked(store, ["new"] * 40, 1.0)) == {"new": None}


def test_a_slice_that_is_not_among_the_largest_any_more_stays_open(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert events(checked(store, ["small"] * 40)) == {"small": "opened"}
    monkeypatch.setattr(check, "MOST_SLICES", 1)
    assert events(checked(store, ["small"] * 30 + ["large"] * 40, 1.0)) == {"large": None}
    assert events(checked(store, ["small"] * 50 + ["large"] * 40, 1.0)) == {"small": "closed"}


def test_a_rule_that_checks_other_slices_closes_what_it_left(store: Store) -> None:
    checked(store, ["a"] * 40)
    found = checked(store, ["a"] * 40, slices=())
    assert [(slot.slice, slot.event) for slot in found] == [(None, "opened"), (("version", "a"), "closed")]
    assert found[1].evidence.reason == "the rule does not check it any more"
    again = checked(store, ["a"] * 40)
    assert [(slot.slice, slot.event) for slot in again] == [(("version", "a"), "opened"), (None, "closed")]


def test_rows_without_a_value_are_in_no_slice_and_conditions_select_rows(store: Store) -> None:
    assert events(checked(store, [None] * 40 + ["a"] * 40)) == {"a": "opened"}
    (found,) = checked(store, ["a"] * 40 + ["b"] * 40, slices=(), where={"version": "b"}, name="of b")
    assert (found.evidence.rows, found.event) == (40, "opened")


def test_a_column_that_no_row_has_is_said_with_its_line(store: Store) -> None:
    columns = Columns([0.0] * 40, times=[NOW] * 40)
    found = AlertChecker(store, [rule(slices=("versoin",))], lambda *_: columns).check(NOW)
    assert found.problems == ("alerts: slices: no row of run 'shop' has a value in column 'versoin'",)


def test_deleting_a_person_deletes_the_alerts_that_name_them(store: Store) -> None:
    checked(store, ["ann"] * 40 + ["bob"] * 40)
    for where in ({"version": "ann", "topic": "x"}, {"version": "ann"}):
        erase(where, store)
    assert [alert.slice for alert in AlertChecker(store, []).alerts.alerts()] == [("version", "bob")]
