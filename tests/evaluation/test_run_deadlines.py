"""The deadline of a run holds, whatever foreign code does at that moment; what was scored before is kept.

What is stuck here ends only when the test says so: a run that waited for it would never return.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest

from assay import Result, ScriptedJudge, Store, aevaluate, evaluate
from assay._util import loop_threads
from assay.evaluation import run
from assay.evaluation.evaluate import EvaluationInterrupted
from tests._support.stuck_judge import STUCK, StuckJudge, shorten_grace

ROWS, STUCK_AT = 6, 2
DATA: list[dict[str, Any]] = [
    {"id": str(n), "answer": "It is stuck." if n == STUCK_AT else f"Cats purr {n}.", "contexts": ["Cats purr."]}
    for n in range(ROWS)
]
DEADLINE = 1.0


@pytest.fixture
def over(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    shorten_grace(monkeypatch, (run, "LATE"), (loop_threads, "LATE"))
    event = threading.Event()
    yield event
    event.set()
    for thread in threading.enumerate():
        if thread.name == "assay-evaluate":
            thread.join(30)  # it comes back, and is to leave the store alone


def scored(result: Result, *, store: Path, rows: int = STUCK_AT) -> None:
    """The rows before the stuck one are scored, the others are gaps with a cause; so says whoever loads the run."""
    for found in (result, Result.load("last", store)):
        summary = found.metrics["faithfulness"]
        assert found.ended == "limit"
        assert (found.rows, summary.scored, summary.total) == (rows, rows, ROWS)
        assert dict(summary.causes) == {"timeout": ROWS - rows}
        assert "the deadline of 1.0 s passed" in found.incomplete[0]


def plain(judge: Any, store: Path, **options: Any) -> Result:
    return evaluate(DATA, "faithfulness", judge, store=store, concurrency=1, progress=False, **options)


def in_a_loop(judge: Any, store: Path, **options: Any) -> Result:
    """The application's own loop goes on meanwhile."""

    async def main() -> Result:
        work = asyncio.create_task(
            aevaluate(DATA, "faithfulness", judge, store=store, concurrency=1, progress=False, **options)
        )
        await asyncio.to_thread(judge.began.wait)
        for _ in range(5):
            await asyncio.sleep(0)
        assert not work.done()
        return await work

    return asyncio.run(main())


def sync_in_a_loop(judge: Any, store: Path, **options: Any) -> Result:
    async def main() -> Result:
        return plain(judge, store, **options)

    return asyncio.run(main())


@pytest.mark.short_cases(2)
@pytest.mark.parametrize("how", STUCK)
@pytest.mark.parametrize("way", [plain, in_a_loop, sync_in_a_loop], ids=lambda way: way.__name__)
def test_a_run_ends_though_its_judge_does_not(
    way: Callable[..., Result], how: str, tmp_path: Path, over: threading.Event
) -> None:
    result = way(StuckJudge(how, over, "stuck"), tmp_path, deadline=DEADLINE)
    assert not over.is_set()
    scored(result, store=tmp_path)


@pytest.mark.long
def test_a_judge_that_comes_back_later_changes_nothing(tmp_path: Path, over: threading.Event) -> None:
    sent: list[Any] = []
    result = plain(
        StuckJudge("blocks its event loop", over, "stuck"), tmp_path, deadline=DEADLINE, on_score=sent.append
    )
    (thread,) = (thread for thread in threading.enumerate() if thread.name == "assay-evaluate")
    over.set()
    thread.join(30)
    assert not thread.is_alive()
    assert len(sent) == STUCK_AT
    scored(result, store=tmp_path)
    assert len(list(Store(tmp_path).rows(result.run))) == STUCK_AT


@pytest.mark.long
def test_a_metric_that_blocks(tmp_path: Path, over: threading.Event) -> None:
    def faithfulness(answer: str) -> float:
        if "stuck" in answer:
            over.wait()
        return 1.0

    result = evaluate(
        DATA, faithfulness, ScriptedJudge(), store=tmp_path, concurrency=1, deadline=DEADLINE, progress=False
    )
    assert not over.is_set()
    scored(result, store=tmp_path)


@pytest.mark.long
def test_data_that_block(tmp_path: Path, over: threading.Event) -> None:
    def rows() -> Iterator[dict[str, Any]]:
        for number, row in enumerate(DATA):
            if number == STUCK_AT:
                over.wait()
            yield row

    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    result = evaluate(rows(), "faithfulness", judge, store=tmp_path, concurrency=1, deadline=DEADLINE, progress=False)
    assert not over.is_set()
    assert result.ended == "limit"
    assert result.rows in (STUCK_AT - 1, STUCK_AT)  # a row may be on its way when the next is read


@pytest.mark.long
def test_a_callback_that_blocks(tmp_path: Path, over: threading.Event) -> None:
    def on_score(row: Any) -> None:
        if row.sample.id == "0":
            over.wait()

    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    result = plain(judge, tmp_path, deadline=DEADLINE, on_score=on_score)
    assert not over.is_set()
    scored(result, store=tmp_path, rows=1)


@pytest.mark.parametrize("how", STUCK)
def test_a_run_can_be_cancelled_before_its_deadline(how: str, tmp_path: Path, over: threading.Event) -> None:
    async def main() -> None:
        judge = StuckJudge(how, over, "stuck")
        work = asyncio.create_task(
            aevaluate(DATA, "faithfulness", judge, store=tmp_path, concurrency=1, progress=False, deadline=3600)
        )
        await asyncio.to_thread(judge.began.wait)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(main())
    result = Result.load("last", tmp_path)
    assert (result.rows, result.ended) == (STUCK_AT, "interrupted")
    assert not over.is_set()


@pytest.mark.parametrize("how", STUCK)
def test_ctrl_c_before_the_deadline(how: str, tmp_path: Path, over: threading.Event) -> None:
    judge = StuckJudge(how, over, "stuck")

    def interrupt() -> None:
        judge.began.wait()
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(EvaluationInterrupted) as raised:
        plain(judge, tmp_path, deadline=3600)
    assert (raised.value.result.rows, raised.value.result.ended) == (STUCK_AT, "interrupted")
    assert not over.is_set()


def test_an_exit_in_a_callback_ends_the_run(tmp_path: Path) -> None:
    def leave(row: Any) -> None:
        raise KeyboardInterrupt

    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    with pytest.raises(EvaluationInterrupted):
        plain(judge, tmp_path, deadline=3600, on_score=leave)
    assert Result.load("last", tmp_path).ended == "interrupted"


VARIABLE: ContextVar[str] = ContextVar("variable", default="unset")


@pytest.mark.parametrize("deadline", [None, 3600.0, float("inf")])
def test_context_variables_are_those_of_the_caller(deadline: float | None, tmp_path: Path) -> None:
    seen: set[str] = set()
    VARIABLE.set("set")
    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    plain(judge, tmp_path, deadline=deadline, on_score=lambda row: seen.add(VARIABLE.get()))
    assert seen == {"set"}


def test_a_run_without_a_deadline_has_no_thread_of_its_own(tmp_path: Path) -> None:
    threads: set[threading.Thread] = set()
    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    plain(judge, tmp_path, on_score=lambda row: threads.add(threading.current_thread()))
    assert threads == {threading.current_thread()}


def test_what_a_judge_holds_is_released_where_it_worked(tmp_path: Path) -> None:
    threads: list[threading.Thread] = []

    class Holding(ScriptedJudge):
        async def release(self) -> None:
            threads.append(threading.current_thread())

    judge = Holding(support=lambda claim, passage: "supported")
    evaluate(
        DATA[:1], "faithfulness", judge, store=tmp_path, deadline=3600, progress=False,
        on_score=lambda row: threads.append(threading.current_thread()),
    )  # fmt: skip
    assert len(threads) == 2
    assert threads[0] is threads[1] is not threading.current_thread()
