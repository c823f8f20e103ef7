"""Rows and judgements written in groups: nothing is said to be kept before it is, and what one breaks is its own."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay import Sample, Score, ScoredSample, ScriptedJudge, Store, evaluate
from assay.errors import RunReplacedError, StoreError
from assay.store.group_writer import GroupWriter
from assay.store.tables import Statements


def scored(number: int, value: float = 1.0) -> ScoredSample:
    return ScoredSample(sample=Sample(id=f"s{number}"), scores={"m": Score(metric="m", value=value)})


class Slow(Store):
    """A store whose first transaction waits until it is let go; counts transactions."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.begun, self.go_on = threading.Event(), threading.Event()
        self.transactions = 0

    def write(self, work: Callable[[Statements], Any]) -> Any:
        self.transactions += 1
        self.begun.set()
        assert self.go_on.wait(30)
        return super().write(work)


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Slow]:
    with Slow(tmp_path) as store:
        store.go_on.set()
        store.create_run("a", {})
        store.begun.clear()
        store.go_on.clear()
        store.transactions = 0
        yield store
        store.go_on.set()


def test_what_comes_during_a_transaction_shares_the_next(slow: Slow) -> None:
    writer = GroupWriter(slow, "a", slow.run_started("a"))
    first = writer.put_row(1, scored(1))
    assert slow.begun.wait(30)
    others = [writer.put_row(number, scored(number)) for number in range(2, 10)]
    found = writer.put_judgements([("k", "claims", "j", b"1"), ("k2", "claims", "j", b"2")])
    assert not first.done()
    assert not any(one.done() for one in others)
    slow.go_on.set()
    for one in (first, *others, found):
        assert one.result(30) is None
    assert slow.transactions == 2
    assert [row.number for row in slow.rows("a")] == list(range(1, 10))
    assert (slow.get_judgement("k"), slow.get_judgement("k2")) == (b"1", b"2")
    counts = slow.row_counts("a")
    assert (counts.stored, counts.saved, counts.missing) == (9, 9, 0)
    assert slow.forget(run="a", dry_run=True) == 2


def test_the_same_row_twice_in_a_group_is_the_last_of_them(slow: Slow) -> None:
    writer = GroupWriter(slow, "a", slow.run_started("a"))
    writer.put_row(1, scored(1))
    assert slow.begun.wait(30)
    done = [writer.put_row(2, scored(2, value)) for value in (0.0, 0.5)] + [writer.put_row(1, scored(1, 0.25))]
    slow.go_on.set()
    for one in done:
        one.result(30)
    assert [row.scored.values for row in slow.rows("a")] == [{"m": 0.25}, {"m": 0.5}]
    assert slow.row_counts("a").saved == 2
    with Store(slow.folder) as plain:  # written one by one: the same digest
        plain.create_run("b", {})
        started = plain.run_started("b")
        plain.put_row("b", 1, scored(1, 0.25), started=started)
        plain.put_row("b", 2, scored(2, 0.5), started=started)
        assert plain.row_counts("b").digest == plain.row_counts("a").digest


def test_a_row_that_another_process_wrote_meanwhile_does_not_break_the_group(
    slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a server, where others insert between a look and an insert: the group is then written one by one."""
    from assay.store import rows

    def none_known(db: Statements, sql: str, values: Any) -> list[Any]:
        return []

    writer = GroupWriter(slow, "a", slow.run_started("a"))
    slow.go_on.set()
    slow.put_row("a", 3, scored(3, 0.0))
    slow.begun.clear()
    slow.go_on.clear()
    first = writer.put_row(1, scored(1))
    assert slow.begun.wait(30)
    done = [first, *(writer.put_row(number, scored(number)) for number in (2, 3, 4))]
    monkeypatch.setattr(rows, "read_all", none_known)
    slow.go_on.set()
    for one in done:
        assert one.result(30) is None
    monkeypatch.undo()
    assert [row.scored.values["m"] for row in slow.rows("a")] == [1.0, 1.0, 1.0, 1.0]
    assert slow.row_counts("a").saved == 4


def test_a_run_that_was_replaced_takes_no_more_rows(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        store.create_run("a", {})
        writer = GroupWriter(store, "a", 1.0)  # another start
        with pytest.raises(RunReplacedError):
            writer.put_row(1, scored(1)).result(30)
        assert store.numbers("a") == []


def test_a_store_that_fails_says_so_to_all_who_wait(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = GroupWriter(slow, "a", slow.run_started("a"))
    first = writer.put_row(1, scored(1))
    assert slow.begun.wait(30)
    others = [writer.put_row(2, scored(2)), writer.put_judgements([("k", "claims", "j", b"1")])]

    def full(work: Any) -> Any:
        raise StoreError("the disk is full")

    monkeypatch.setattr(slow, "write", full)
    slow.go_on.set()
    assert first.result(30) is None
    for one in others:
        with pytest.raises(StoreError, match="full"):
            one.result(30)


class Counting(ScriptedJudge):
    durable = True


def evaluate_and_die(folder: str, said: Any) -> None:
    """Report each row that `on_score` was told of, until killed."""

    def told(row: ScoredSample) -> None:
        said.send(row.sample.id)

    rows = [{"id": f"r{n}", "question": "Q?", "contexts": [f"It is {n}."], "answer": f"It is {n}."} for n in range(400)]
    judge = Counting(claims=lambda text: [text], support=lambda claim, passage: "supported")
    evaluate(rows, "faithfulness", judge, store=folder, run="a", progress=False, on_score=told)


@pytest.mark.parametrize("after", [1, 40, 150])
def test_kill_9_loses_no_row_that_was_reported(tmp_path: Path, after: int) -> None:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=evaluate_and_die, args=(str(tmp_path), theirs))
    process.start()
    reported = [ours.recv() for _ in range(after)]
    assert process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join(30)
    while ours.poll():
        reported.append(ours.recv())
    with Store(tmp_path) as store:
        kept = {row.scored.sample.id for row in store.rows("a")}
        assert kept >= set(reported)
        assert store.row_counts("a").missing == 0
        # what a row says was judged is in the store as well: each row has the judgements on its claims
        assert store.query("SELECT COUNT(*) FROM judgements")[0][0] >= 2 * len(kept)
