"""Alerts in a store, in a folder and in PostgreSQL: one opening, one closing, and deliveries under a lease."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.store.alerts import AlertStore, Change, Slot, SlotState
from assay.store.store import Store
from assay.store.temporary import TemporaryStore

NOW = 1_800_000_000.0
SLOT = Slot("shop", "low")
OPENED = Change("opened", {"mean": 0.5}, None, ["log", "webhook:h#1"])
CLOSED = Change("closed", {"mean": 0.9}, None, ["log", "webhook:h#1"])
HOSTILE = ["", "\x00", "\x1b[2J", "\ud83d", "x" * 10_000, "<script>&", "'; DROP TABLE alerts; --", "a\nb", "%s ? {}"]


def test_an_alert_opens_once_and_closes_once(address: str) -> None:
    with Store(address) as store:
        alerts = AlertStore(store)
        assert alerts.state(SLOT) == SlotState()
        name = alerts.apply(SLOT, SlotState(), OPENED, NOW)
        assert name is not None
        assert alerts.apply(SLOT, SlotState(), OPENED, NOW) is None  # what was seen is out of date
        state = alerts.state(SLOT)
        assert (state.alert, state.opened, state.last_opened) == (name, NOW, NOW)
        assert alerts.apply(SLOT, state, OPENED, NOW + 1) is None
        assert alerts.apply(SLOT, state, CLOSED, NOW + 9) == name
        assert alerts.apply(SLOT, alerts.state(SLOT), CLOSED, NOW + 10) is None
        (alert,) = alerts.alerts()
        assert (alert.opened, alert.closed, alert.evidence, alert.closing) == (
            NOW,
            NOW + 9,
            {"mean": 0.5},
            {"mean": 0.9},
        )
        assert alerts.alert(name) == alert
        assert alerts.alerts(is_open=True) == []


def test_threads_and_other_connections_open_one_alert(address: str) -> None:
    with Store(address) as one, Store(address) as other:
        stores = [AlertStore(one), AlertStore(other)]
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda n: stores[n % 2].apply(SLOT, SlotState(), OPENED, NOW + n), range(16)))
        assert sum(name is not None for name in found) == 1
        assert len(stores[0].alerts()) == 1
        assert len(stores[0].deliveries()) == 2


def _open(address: str, start: object) -> None:
    with Store(address) as store:
        alerts = AlertStore(store)  # the tables, too, are made by all at once
        start.wait()  # type: ignore[attr-defined]
        for n in range(20):
            slot = Slot("shop", f"rule {n}")
            alerts.apply(slot, SlotState(), OPENED, NOW)
            alerts.apply(slot, alerts.state(slot), CLOSED, NOW + 1)


def test_processes_open_and_close_each_alert_once(address: str) -> None:
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(3)
    running = [context.Process(target=_open, args=(address, start)) for _ in range(3)]
    for process in running:
        process.start()
    for process in running:
        process.join(120)
        assert process.exitcode == 0
    with Store(address) as store:
        alerts = AlertStore(store).alerts()
        assert sorted(alert.rule for alert in alerts) == sorted(f"rule {n}" for n in range(20))
        assert all(alert.closed is not None for alert in alerts)
        assert len(AlertStore(store).deliveries()) == 80  # two events to two targets of 20 alerts


@pytest.mark.parametrize(("later", "opens"), [(10, False), (3599, False), (-3599, False), (3600, True), (-7200, True)])
def test_openings_are_quiet_seconds_apart_whatever_the_clock_says(tmp_path: Path, later: float, opens: bool) -> None:
    with Store(tmp_path) as store:
        alerts = AlertStore(store)
        alerts.apply(SLOT, SlotState(), OPENED, NOW, quiet=3600)
        alerts.apply(SLOT, alerts.state(SLOT), CLOSED, NOW, quiet=3600)
        assert (alerts.apply(SLOT, alerts.state(SLOT), OPENED, NOW + later, quiet=3600) is not None) is opens


def test_the_state_of_a_monitor_is_kept_while_nothing_is_open_and_afterwards(address: str) -> None:
    with Store(address) as store:
        alerts = AlertStore(store)

        def apply(event: object, n: int) -> str | None:
            change = Change(event, {}, {"n": n}, [])  # type: ignore[arg-type]
            return alerts.apply(SLOT, alerts.state(SLOT), change, NOW + n)

        assert apply(None, 1) is None
        assert alerts.state(SLOT) == SlotState(1, None, None, None, {"n": 1})
        assert alerts.alerts() == []
        name = apply("opened", 2)
        assert alerts.state(SLOT) == SlotState(2, name, NOW + 2, NOW + 2, {"n": 2})
        apply(None, 3)
        assert apply("closed", 4) == name
        assert alerts.state(SLOT) == SlotState(4, None, None, NOW + 2, {"n": 4})
        assert alerts.monitors("shop", "low") == [{"n": 4}]


@pytest.mark.parametrize("value", HOSTILE)
def test_any_text_may_be_a_slice_a_rule_and_a_run(address: str, value: str) -> None:
    with Store(address) as store:
        alerts = AlertStore(store)
        slot = Slot(f"run {value}", f"rule {value}", ("version", value))
        assert alerts.apply(slot, SlotState(), OPENED, NOW) is not None
        assert alerts.state(slot).alert is not None
        (alert,) = alerts.alerts()
        assert alert.slice is not None
        assert alert.slice[0] == "version"
        assert alert.slice[1] == value or alert.slice[1].startswith(value[:190])
        assert len(alert.slice[1]) <= 200
        assert alerts.forget_slice("version", "another") == 0
        assert alerts.forget_slice("version", value) == 1
        assert (alerts.alerts(), alerts.deliveries()) == ([], [])


@settings(max_examples=50)
@given(st.lists(st.sampled_from(["opened", "closed", None]), max_size=12), st.integers(0, 5))
def test_after_any_checks_at_most_one_alert_is_open_and_each_has_its_deliveries(
    events: list[str | None], quiet: int
) -> None:
    with TemporaryStore() as store:
        alerts = AlertStore(store)
        for n, event in enumerate(events):
            change = Change(event, {}, {"n": n}, ["log"])  # type: ignore[arg-type]
            alerts.apply(SLOT, alerts.state(SLOT), change, NOW + n, quiet)
        found = alerts.alerts()
        assert sum(alert.closed is None for alert in found) <= 1
        assert len(alerts.deliveries()) == sum(1 + (alert.closed is not None) for alert in found)
        times = sorted(alert.opened for alert in found)
        assert all(later - earlier >= quiet for earlier, later in pairwise(times))


# ---- deliveries

LEASE, PATIENCE = 120.0, 3600.0


def test_a_delivery_is_taken_by_one_until_its_lease_ends(address: str) -> None:
    with Store(address) as store:
        alerts = AlertStore(store)
        alerts.apply(SLOT, SlotState(), OPENED, NOW)
        (first,) = alerts.claim(["log"], NOW, LEASE, PATIENCE, "a")
        assert (first.event, first.target, first.attempts) == ("opened", "log", 0)
        assert alerts.claim(["log"], NOW + LEASE - 1, LEASE, PATIENCE, "b") == []
        assert alerts.claim(["log"], NOW - 100, LEASE, PATIENCE, "b") == []  # another machine's clock
        (second,) = alerts.claim(["log"], NOW + LEASE, LEASE, PATIENCE, "b")
        assert second.attempts == 1
        alerts.note_failed(first, NOW + 9999, "late", "a")  # a has lost it
        assert [one.status for one in alerts.deliveries() if one.target == "log"] == [""]
        alerts.note_delivered(second, NOW + LEASE, "delivered")
        assert alerts.claim(["log"], NOW + 99_999, LEASE, PATIENCE, "c") == []


def test_a_clock_that_was_set_back_holds_nothing_up(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        alerts = AlertStore(store)
        alerts.apply(SLOT, SlotState(), OPENED, NOW)
        (taken,) = alerts.claim(["log"], NOW, LEASE, PATIENCE, "a")
        assert len(alerts.claim(["log"], NOW - 86_400, LEASE, PATIENCE, "b")) == 1  # the lease, too, is of the future
        alerts.note_failed(taken, NOW + PATIENCE, "no", "b")
        assert len(alerts.claim(["log"], NOW - 86_400, LEASE, PATIENCE, "c")) == 1


def test_the_closing_waits_for_the_opening_and_other_targets_do_not_wait(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        alerts = AlertStore(store)
        alerts.apply(SLOT, SlotState(), OPENED, NOW)
        alerts.apply(SLOT, alerts.state(SLOT), CLOSED, NOW)
        both = ["log", "webhook:h#1", "nobody's"]
        taken = alerts.claim(both, NOW, LEASE, PATIENCE, "a")
        assert [(one.event, one.target) for one in taken] == [("opened", "log"), ("opened", "webhook:h#1")]
        alerts.note_delivered(taken[0], NOW, "delivered")
        alerts.note_failed(taken[1], NOW + 60, "HTTP 500", "a")
        (closing,) = alerts.claim(both, NOW, LEASE, PATIENCE, "a")
        assert (closing.event, closing.target) == ("closed", "log")
        (again,) = alerts.claim(both, NOW + 60, LEASE, PATIENCE, "a")
        assert (again.event, again.target, again.attempts, again.status) == ("opened", "webhook:h#1", 1, "HTTP 500")
