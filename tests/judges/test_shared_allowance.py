"""A budget in pieces: never exceeded by anyone, whoever dies, and what is left of a piece comes back."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError, JudgeFailure
from assay.judges.budget.budget import Budget
from assay.judges.budget.ledger import DAY, MINUTE, Advance, Authority, BudgetRefusal, Limit, MemoryLedger, Spend
from assay.judges.budget.sharing import LASTS, SharedAllowance
from assay.judges.budget.sqlite_ledger import FileLedger
from assay.records import Usage
from tests.live.test_ledger import Clock

THOUSAND = [Limit("calls", DAY, 1000)]


@pytest.fixture(params=["memory", "file"])
def authority(request: Any, tmp_path: Path) -> Authority:
    return MemoryLedger() if request.param == "memory" else FileLedger(tmp_path / "ledger.db")


@pytest.fixture
def clock(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock(authority)
    monkeypatch.setattr("assay.judges.budget.sharing.time.monotonic", lambda: clock.time)
    return clock


def test_a_piece_is_out_of_the_budget_at_once_and_what_is_left_of_it_comes_back(authority: Authority) -> None:
    allowance = SharedAllowance(authority)
    for _ in range(3):
        assert isinstance(allowance.take(Spend(1), THOUSAND), float)
    assert authority.totals(THOUSAND) == [10]  # a hundredth of 1,000
    allowance.give_back()
    assert authority.totals(THOUSAND) == [3]
    allowance.give_back()
    assert authority.totals(THOUSAND) == [3]


def test_pieces_shrink_with_what_is_left_and_all_of_the_budget_is_given(authority: Authority) -> None:
    limits = [Limit("calls", DAY, 7000), Limit("tokens", DAY, 50_000)]
    sizes = []
    while isinstance(found := authority.advance(Spend(1, 7), limits, 50, 10.0), Advance):
        sizes.append(found.spend.calls)
        assert found.spend.tokens == 7 * found.spend.calls
    assert sizes[0] == 50  # most; a hundredth of the calls is 70, of the tokens 500 // 7 = 71
    assert sizes == sorted(sizes, reverse=True)
    assert set(sizes[-98:]) == {1}
    assert sum(sizes) == 7000


def test_one_request_is_always_given_where_there_is_room(authority: Authority) -> None:
    tokens = [Limit("tokens", MINUTE, 1000)]
    assert isinstance(SharedAllowance(authority).take(Spend(1, 900), tokens), float)
    refused = SharedAllowance(authority).take(Spend(1, 101), tokens)
    assert isinstance(refused, BudgetRefusal)
    assert refused.spent == 900


def test_corrections_find_their_piece_while_it_is_held_and_after(authority: Authority, clock: Clock) -> None:
    tokens, allowance = [Limit("tokens", DAY, 100_000)], SharedAllowance(authority)
    first = allowance.take(Spend(1, 400), tokens)  # a hundredth is 1,000: two requests
    second = allowance.take(Spend(1, 400), tokens)
    assert authority.totals(tokens) == [800]
    assert isinstance(first, float)
    assert isinstance(second, float)
    allowance.correct(first, Spend(0, -300))  # 300 are free in the piece: not enough for another
    assert isinstance(allowance.take(Spend(1, 400), tokens), float)
    assert authority.totals(tokens) == [500 + 800]  # 100 and 400 of the first piece, and all of the next
    allowance.correct(second, Spend(0, 50))  # more than was thought
    assert authority.totals(tokens) == [550 + 800]
    allowance.give_back()
    assert authority.totals(tokens) == [550 + 400]


def test_what_a_dead_process_held_counts_until_its_window_has_passed_its_end(authority: Authority) -> None:
    clock, limits = Clock(authority), [Limit("calls", MINUTE, 1000)]
    SharedAllowance(authority).take(Spend(1), limits)  # and dies
    clock.time += LASTS + MINUTE - 1
    assert authority.totals(limits) == [10]
    clock.time += 2.5  # buckets of a minute are a second wide
    assert authority.totals(limits) == [0]


def test_a_piece_that_has_ended_is_spent_no_more(authority: Authority, clock: Clock) -> None:
    allowance = SharedAllowance(authority)
    allowance.take(Spend(1), THOUSAND)
    clock.time += LASTS
    allowance.take(Spend(1), THOUSAND)
    assert authority.totals(THOUSAND) == [1 + 9]  # one of the first; a hundredth of 999


STEPS = st.lists(st.tuples(st.integers(0, 2), st.floats(0, 25), st.booleans()), max_size=120)


@settings(max_examples=60, deadline=None)
@given(STEPS, st.integers(1, 1500))
def test_no_window_holds_more_whoever_takes_waits_or_dies(steps: list[tuple[int, float, bool]], amount: int) -> None:
    authority = MemoryLedger()
    clock, limits, taken = Clock(authority), [Limit("calls", MINUTE, amount)], []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("assay.judges.budget.sharing.time.monotonic", lambda: clock.time)
        allowances = [SharedAllowance(authority) for _ in range(3)]
        for who, pause, dies in steps:
            clock.time += pause
            for _ in range(7):
                if not isinstance(allowances[who].take(Spend(1), limits), BudgetRefusal):
                    taken.append(clock.time)
            if dies:
                allowances[who] = SharedAllowance(authority)
    for begin in taken:
        assert sum(begin <= at < begin + MINUTE for at in taken) <= amount


def test_another_process_begins_empty(tmp_path: Path) -> None:
    allowance = SharedAllowance(FileLedger(tmp_path / "ledger.db"))
    allowance.take(Spend(1), THOUSAND)
    other = pickle.loads(pickle.dumps(allowance))
    other.take(Spend(1), THOUSAND)
    assert allowance.totals(THOUSAND) == [10 + 9]


def test_an_authority_that_is_gone_gives_nothing_and_takes_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    authority = MemoryLedger()
    allowance = SharedAllowance(authority)
    budget = Budget(calls_per_day=200).on(allowance)
    budget.reserve(1, 1).settle(Usage(calls=1))

    def gone(*_: object) -> None:
        raise ConnectionError("gone")

    monkeypatch.setattr(authority, "settle", gone)
    monkeypatch.setattr(authority, "advance", gone)
    allowance.give_back()
    with pytest.raises(JudgeFailure, match="cannot be counted"):
        budget.reserve(1, 1)
    assert authority.totals([Limit("calls", DAY, 200)]) == [2]


def test_threads_of_one_purse_share_it(authority: Authority) -> None:
    allowance, taken = SharedAllowance(authority), []

    def work() -> None:
        while not isinstance(at := allowance.take(Spend(1), THOUSAND), BudgetRefusal):
            taken.append(at)
            allowance.correct(at, Spend(0, 1))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 1000
    assert authority.totals(THOUSAND) == [1000]


def test_a_pickled_allowance_keeps_its_settings() -> None:
    copied = pickle.loads(pickle.dumps(SharedAllowance(None, most=7, lasts=3.0)))  # type: ignore[arg-type]
    assert (copied._most, copied._lasts) == (7, 3.0)


@pytest.mark.parametrize("lasts", [0.0, -1.0, 60.5, float("nan")])
def test_an_advance_lasts_no_longer_than_the_authority_allows(lasts: float, authority: Authority) -> None:
    with pytest.raises(InputError, match="lasts: expected seconds above 0, at most 60"):
        SharedAllowance(authority, lasts=lasts)
