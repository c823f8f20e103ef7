"""Ledgers never let more through in any window than its limit, in memory and in a file alike."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.judges.budget.ledger import DAY, MINUTE, BudgetRefusal, Ledger, Limit, MemoryLedger, Spend
from assay.judges.budget.sqlite_ledger import FileLedger


class Clock:
    def __init__(self, ledger: Any) -> None:
        self.time = 1_000_000.0
        ledger.now = lambda: self.time


@pytest.fixture(params=["memory", "file"])
def ledger(request: Any, tmp_path: Path) -> Ledger:
    return MemoryLedger() if request.param == "memory" else FileLedger(tmp_path / "ledger.db")


STEPS = st.lists(st.tuples(st.floats(0, 40), st.integers(1, 30)), min_size=1, max_size=60)


@settings(max_examples=60, deadline=None)
@given(STEPS, st.integers(1, 60))
def test_no_window_ever_holds_more_than_its_limit(steps: list[tuple[float, int]], amount: int) -> None:
    ledger = MemoryLedger()
    clock = Clock(ledger)
    taken: list[tuple[float, int]] = []
    for pause, tokens in steps:
        clock.time += pause
        answer = ledger.take(Spend(1, tokens), [Limit("tokens", MINUTE, amount)])
        if isinstance(answer, BudgetRefusal):
            if answer.wait is not None:
                clock.time += answer.wait + 1e-6  # the wait it names is long enough
                assert not isinstance(ledger.take(Spend(1, tokens), [Limit("tokens", MINUTE, amount)]), BudgetRefusal)
                taken.append((clock.time, tokens))
            else:
                assert tokens > amount
        else:
            taken.append((clock.time, tokens))
    for begin, _ in taken:
        assert sum(tokens for at, tokens in taken if begin <= at < begin + MINUTE) <= amount


@settings(max_examples=15, deadline=None)
@given(steps=STEPS)
def test_a_file_gives_the_same_answers_as_memory(steps: list[tuple[float, int]], tmp_path_factory: Any) -> None:
    both = (MemoryLedger(), FileLedger(tmp_path_factory.mktemp("ledger") / "ledger.db"))
    clocks = [Clock(one) for one in both]
    limits = [Limit("tokens", MINUTE, 60), Limit("calls", DAY, 20)]
    for pause, tokens in steps:
        for clock in clocks:
            clock.time += pause
        one, other = (ledger.take(Spend(1, tokens), limits) for ledger in both)
        assert one == other
        if isinstance(one, float):
            for ledger in both:
                ledger.correct(one, Spend(0, -tokens // 2))
        assert both[0].totals(limits) == both[1].totals(limits)


def test_the_limit_that_lasts_longest_is_named(ledger: Ledger) -> None:
    clock = Clock(ledger)
    limits = [Limit("calls", MINUTE, 2), Limit("calls", DAY, 2)]
    for _ in range(2):
        assert isinstance(ledger.take(Spend(1), limits), float)
    refused = ledger.take(Spend(1), limits)
    assert isinstance(refused, BudgetRefusal)
    assert (refused.limit.window, refused.spent) == (DAY, 2)
    assert refused.wait is not None
    assert DAY < refused.wait <= DAY + 60  # buckets of a day are a minute wide
    clock.time += 61
    assert ledger.totals(limits) == [0, 2]


def test_what_never_fits_is_said_at_once(ledger: Ledger) -> None:
    refused = ledger.take(Spend(1, 101), [Limit("tokens", MINUTE, 100)])
    assert isinstance(refused, BudgetRefusal)
    assert refused.wait is None


def test_many_threads_take_exactly_what_there_is(ledger: Ledger) -> None:
    taken: list[float] = []

    def work() -> None:
        for _ in range(20):
            answer = ledger.take(Spend(1), [Limit("calls", DAY, 50)])
            if isinstance(answer, float):
                taken.append(answer)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 50


def test_a_file_is_shared_and_outlives_its_users(tmp_path: Path) -> None:
    limit = [Limit("calls", DAY, 3)]
    for _ in range(3):
        assert isinstance(FileLedger(tmp_path / "ledger.db").take(Spend(1), limit), float)
    assert isinstance(FileLedger(tmp_path / "ledger.db").take(Spend(1), limit), BudgetRefusal)


class Machine:
    """Its time of day, which may be set, and the seconds since it was started."""

    def __init__(self, monkeypatch: Any) -> None:
        self.day, self.up, self.boot = 1_700_000_000.0, 5_000.0, "first"
        monkeypatch.setattr("assay._util.steady_clock.time.time", lambda: self.day)
        monkeypatch.setattr("assay._util.steady_clock.steady", lambda: self.up)
        monkeypatch.setattr("assay._util.steady_clock.boot_id", lambda: self.boot)

    def passes(self, seconds: float) -> None:
        self.day += seconds
        self.up += seconds

    def restarts(self, boot: str = "second", after: float = 60) -> None:
        self.day += after
        self.up, self.boot = 10.0, boot


HUNDRED = [Limit("calls", DAY, 100), Limit("calls", MINUTE, 1000)]


@pytest.mark.parametrize("jump", [3 * DAY, -3 * DAY, 3600, -3600])
def test_a_clock_that_jumps_for_one_call_loses_no_spending(tmp_path: Path, monkeypatch: Any, jump: float) -> None:
    machine, path = Machine(monkeypatch), tmp_path / "ledger.db"
    before = FileLedger(path)
    assert isinstance(before.take(Spend(100), HUNDRED), float)
    machine.passes(3600)
    machine.day += jump
    for ledger in (before, FileLedger(path)):  # a process that was there, and one that starts meanwhile
        assert isinstance(ledger.take(Spend(1), HUNDRED), BudgetRefusal)
        assert ledger.totals(HUNDRED) == [100, 0]
    machine.day -= jump
    assert FileLedger(path).totals(HUNDRED) == [100, 0]
    machine.passes(DAY - 3600 - 1)
    assert isinstance(FileLedger(path).take(Spend(1), HUNDRED), BudgetRefusal)
    machine.passes(62)  # buckets of a day are a minute wide
    assert FileLedger(path).take(Spend(1), HUNDRED) == pytest.approx(machine.day)


@pytest.mark.parametrize("names", [("first", "second"), ("", "")])
def test_a_restart_of_the_machine_goes_on_by_the_time_of_day(
    tmp_path: Path, monkeypatch: Any, names: tuple[str, str]
) -> None:
    machine, path = Machine(monkeypatch), tmp_path / "ledger.db"
    machine.boot = names[0]
    FileLedger(path).take(Spend(100), HUNDRED)
    machine.restarts(names[1], after=DAY / 2)
    assert FileLedger(path).totals(HUNDRED) == [100, 0]
    machine.passes(DAY / 2 + 61)
    assert isinstance(FileLedger(path).take(Spend(1), HUNDRED), float)


def test_a_machine_that_starts_with_a_clock_behind_counts_on(tmp_path: Path, monkeypatch: Any) -> None:
    machine, path = Machine(monkeypatch), tmp_path / "ledger.db"
    FileLedger(path).take(Spend(100), HUNDRED)
    machine.restarts(after=-30 * DAY)
    ledger = FileLedger(path)
    assert isinstance(ledger.take(Spend(1), HUNDRED), BudgetRefusal)
    machine.passes(DAY + 61)
    assert isinstance(ledger.take(Spend(1), HUNDRED), float)


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(
    steps=st.lists(st.tuples(st.floats(0, 40), st.sampled_from([0.0, 0.0, -9e5, -100.0, 50.0, 9e5])), max_size=30),
    amount=st.integers(1, 5),
)
def test_whatever_the_clock_does_no_window_holds_more(
    steps: list[tuple[float, float]], amount: int, tmp_path_factory: Any
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        machine, path = Machine(patch), tmp_path_factory.mktemp("ledger") / "ledger.db"
        taken = []
        for pause, jump in steps:
            machine.passes(pause)
            machine.day += jump
            if not isinstance(FileLedger(path).take(Spend(1), [Limit("calls", MINUTE, amount)]), BudgetRefusal):
                taken.append(machine.up)
        for begin in taken:
            assert sum(begin <= at < begin + MINUTE for at in taken) <= amount
