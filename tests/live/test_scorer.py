"""The live scorer never blocks or harms its host, loses nothing silently, and always ends."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import random
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from assay.errors import Cause, InputError, Undelivered
from assay.judges.protocol import Judge
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import LiveScorer
from assay.live.shared_threads import SharedThread
from assay.metrics.base import Metric
from assay.records import Context, Sample, Score
from assay.sinks import MemorySink, Receipt


@dataclass(frozen=True)
class Probe(Metric):
    """Does what the answer says."""

    name: ClassVar[str] = "probe"
    needs: ClassVar = ("answer",)
    asks: ClassVar = ()

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        if sample.answer == "raise":
            raise LookupError("broken metric")
        if sample.answer == "exit":
            sys.exit(3)
        if sample.answer == "hang":
            await asyncio.sleep(3600)
        if sample.answer == "slow":
            await asyncio.sleep(0.2)
        return self.make_score(1.0)


def sample(answer: str = "fine", id: str | None = None, **fields: Any) -> Sample:
    return Sample(question="q", answer=answer, contexts=(Context(text="p"),), id=id, **fields)


@pytest.fixture
def scorer() -> Any:
    made: list[LiveScorer] = []

    def make(**options: Any) -> LiveScorer:
        made.append(LiveScorer([Probe()], ScriptedJudge(), **options))
        return made[-1]

    yield make
    for one in made:
        one.close(1)


def _computed(seconds: float) -> None:
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def test_while_the_application_computes_scoring_waits(scorer: Any) -> None:
    """In a burst that leaves no CPU none is begun for a second."""
    begun: list[float] = []
    live = scorer(on_score=lambda scored: begun.append(time.perf_counter()))
    live.submit(sample())
    live.flush()  # what is imported for the first one is not measured
    begun.clear()
    for n in range(250):
        live.submit(sample(id=str(n)))
        _computed(0.003)
    during = len(begun)
    assert live.flush(30)
    assert during < 30  # 0.75 s are some thirty looks: each took one, and more of them as more waited
    assert len(begun) == 250


@pytest.mark.long
def test_where_the_application_computes_all_the_time_scores_are_three_seconds_late_and_no_more(scorer: Any) -> None:
    scored_ids: list[str | None] = []
    live = scorer(on_score=lambda scored: scored_ids.append(scored.sample.id))
    during = 0
    for _ in range(3):  # the machine may be busy with something else
        scored_ids.clear()
        for n in range(80):
            live.submit(sample(id=str(n)))
            _computed(0.05)
        during = max(during, len(scored_ids))
        assert live.flush(30)
        assert len(scored_ids) == 80
        if during >= 30:
            break
    assert during >= 30  # of the 80 of four seconds all but those of the last one; one a second would be 4


class Intermittent:
    """Takes the place of `hindered`: true in half of the reads."""

    def __init__(self) -> None:
        self._random = random.Random(1)

    def __get__(self, thread: object, owner: type | None = None) -> bool:
        return self._random.random() < 0.5

    def __set__(self, thread: object, value: bool) -> None:
        pass


def test_an_application_that_pauses_now_and_then_puts_no_score_off(
    scorer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The few samples that a pause lets through do not begin the wait of the others anew."""
    monkeypatch.setattr(SharedThread, "hindered", Intermittent(), raising=False)
    monkeypatch.setattr("assay.live.scorer.YIELD", 0.3)
    scored_ids: list[str | None] = []
    live = scorer(on_score=lambda scored: scored_ids.append(scored.sample.id))
    during = 0
    for _ in range(3):  # the machine may be busy with something else
        scored_ids.clear()
        for n in range(300):
            live.submit(sample(id=str(n)))
            time.sleep(0.004)
        during = max(during, len(scored_ids))
        assert live.flush(30)
        assert len(scored_ids) == 300
        if during >= 200:
            break
    assert during >= 200  # of the 300 of 1.2 s all but the 75 of the last 0.3 s


def test_while_the_application_waits_scores_come_at_once(scorer: Any) -> None:
    begun: list[float] = []
    live = scorer(on_score=lambda scored: begun.append(time.perf_counter()))
    live.submit(sample())
    live.flush()
    during = 0
    for _ in range(3):  # the machine may be busy with something else
        begun.clear()
        for n in range(40):
            live.submit(sample(id=str(n)))
            time.sleep(0.025)  # as long as a look, and less than the lull that ends a burst
        during = max(during, len(begun))
        assert live.flush(30)
        assert len(begun) == 40
        if during >= 10:
            break
    assert during >= 10  # on a free machine 38


def test_scores_and_delivers_in_order_of_work(scorer: Any) -> None:
    sink, seen = MemorySink(), []
    live = scorer(sinks=[sink], on_score=seen.append)
    assert all(live.submit(sample(id=str(n))) for n in range(10))
    assert live.flush(10)
    assert sorted(scored.sample.id for scored in sink.written) == sorted(str(n) for n in range(10))
    assert seen == sink.written
    health = live.health()
    assert (health.submitted, health.finished, health.scored, health.delivered, health.pending) == (10, 10, 10, 10, 0)


def test_what_is_wrong_becomes_a_reason(scorer: Any) -> None:
    live = scorer(deadline=0.2)
    cases = {
        "raise": (Cause.BUG, "LookupError: broken metric"),
        "exit": (Cause.BUG, "SystemExit"),
        "hang": (Cause.TIMEOUT, "0.2 s"),
        " ": (Cause.NO_CLAIMS, "empty"),
    }
    for answer in cases:
        live.submit(sample(answer, id=answer))
    live.submit(sample(id="left", status="abandoned"))
    assert live.flush(10)
    for answer, (cause, message) in cases.items():
        error = live.result(answer).scores["probe"].error
        assert (error.cause, message in error.message) == (cause, True)
    assert live.result("left").scores["probe"].error.cause == Cause.PARTIAL
    assert live.health().causes == {"bug": 2, "timeout": 1, "no_claims": 1, "partial": 1}


def test_functions_are_resolved_on_the_scorers_thread(scorer: Any) -> None:
    threads = []

    def make() -> Sample:
        threads.append(threading.current_thread())
        return sample(id="made")

    live = scorer()
    live.submit(make)
    live.submit(lambda: None)
    live.submit(lambda: 1 / 0)
    assert live.flush(10)
    assert live.result("made").values == {"probe": 1.0}
    assert threads[0] is not threading.current_thread()
    health = live.health()
    assert (health.skipped, health.finished, dict(health.errors)) == (2, 1, {"ZeroDivisionError": 1})


def test_full_queue_drops_at_once(scorer: Any) -> None:
    live = scorer(max_queue=3, concurrency=1)
    started = time.monotonic()
    taken = [live.submit(sample("slow")) for _ in range(20)]
    took = time.monotonic() - started
    assert took < 2  # waiting for room would take 17 times 0.2 s
    assert 3 <= sum(taken) <= 5 + took / 0.2
    assert live.health().dropped == 20 - sum(taken)
    assert live.flush(10)


def test_concurrency_is_bounded(scorer: Any) -> None:
    live = scorer(concurrency=4)
    took = []
    for _ in range(3):
        started = time.monotonic()
        for n in range(8):
            live.submit(sample("slow", id=str(n)))
        assert live.flush(30)
        took.append(time.monotonic() - started)
    assert 0.4 <= min(took) < 1.5  # two rounds of 0.2 s, on a machine that may be busy with something else


def test_a_sample_submitted_while_others_are_scored_does_not_wait_for_them(scorer: Any) -> None:
    live = scorer(deadline=5)
    live.submit(sample("hang"))
    time.sleep(0.1)
    live.submit(sample(id="quick"))
    assert live.result("quick", timeout=2) is not None


def test_faulty_sinks_and_callbacks_are_counted(scorer: Any) -> None:
    class Broken:
        def write(self, scored: Any) -> None:
            raise OSError("disk full")

        def close(self) -> None:
            raise SystemExit

    def stop(scored: Any) -> None:
        raise asyncio.CancelledError

    after = MemorySink()
    live = scorer(sinks=[Broken(), after], on_score=stop)
    for _ in range(3):
        live.submit(sample())
    assert live.flush(10)
    assert len(after.written) == 3
    health = live.close(5)
    assert (health.delivered, health.undelivered) == (0, 3)
    assert health.errors == {"OSError": 3, "CancelledError": 3, "SystemExit": 1}
    assert after.closed


def test_receipts_are_added_up_and_undelivered_scores_are_named(scorer: Any) -> None:
    class Store:
        def write(self, scored: Any) -> Receipt:
            if scored.sample.id == "1":
                raise Undelivered("trace not found", scores=["probe", "other"])
            return Receipt(sent=3, confirmed=2, skipped=1)

        def close(self) -> None:
            pass

    live = scorer(sinks=[Store()])
    for n in range(3):
        live.submit(sample(id=str(n)))
    assert live.flush(10)
    health = live.health()
    # two writes: 2 * 2 scores were read back, 2 * (3 - 2) only sent
    assert (health.delivered, health.undelivered, health.confirmed, health.unconfirmed) == (2, 1, 4, 2)
    assert health.last_error == "Store: Undelivered (probe, other): trace not found"
    assert type(health).from_dict(health.to_dict()) == health


def test_deliveries_are_given_up_when_sinks_are_too_slow(scorer: Any) -> None:
    gate = threading.Event()
    live = scorer(max_queue=2, on_score=lambda scored: gate.wait(10))
    for _ in range(20):
        live.submit(sample())
        time.sleep(0.01)
    until = time.monotonic() + 5
    while live.health().finished + live.health().dropped < 20 and time.monotonic() < until:
        time.sleep(0.01)
    gate.set()
    assert live.flush(10)
    health = live.health()
    assert health.undelivered > 0
    assert health.delivered + health.undelivered == health.submitted


def test_results_are_the_newest(scorer: Any) -> None:
    live = scorer(keep=3)
    for n in range(10):
        live.submit(sample(id=str(n)))
        assert live.flush(10)
    assert [n for n in range(10) if live.result(str(n)) is not None] == [7, 8, 9]
    assert live.result("never", timeout=None) is None


def test_close_delivers_then_refuses(scorer: Any) -> None:
    sink = MemorySink()
    live = scorer(sinks=[sink])
    live.submit(sample("slow"))
    health = live.close(10)
    assert (health.delivered, health.pending, sink.closed) == (1, 0, True)
    assert not live.submit(sample())
    assert live.close().dropped == 1


def test_close_says_what_it_lost(scorer: Any, caplog: Any) -> None:
    live = scorer(deadline=3600)
    live.submit(sample("hang"))
    started = time.monotonic()
    health = live.close(0.1)
    assert time.monotonic() - started < 5
    assert (health.submitted, health.pending) == (1, 1)
    assert "1 pending" in caplog.text


def test_close_without_work_closes_sinks() -> None:
    sink = MemorySink()
    LiveScorer([Probe()], ScriptedJudge(), sinks=[sink]).close()
    assert sink.closed


def test_wrong_arguments_raise_at_once() -> None:
    with pytest.raises(InputError, match="no metric"):
        LiveScorer("faithfulnes", ScriptedJudge())
    with pytest.raises(InputError, match="max_queue"):
        LiveScorer([Probe()], ScriptedJudge(), max_queue=0)
    with pytest.raises(InputError, match="deadline"):
        LiveScorer([Probe()], ScriptedJudge(), deadline=0)


def test_no_thread_before_work_and_none_long_after(monkeypatch: Any) -> None:
    monkeypatch.setattr("assay.live.shared_threads.IDLE", 0.05)
    monkeypatch.setattr("assay.live.shared_threads.NAP", 0.05)

    def threads() -> list[threading.Thread]:
        return [thread for thread in threading.enumerate() if thread.name in ("assay-live", "assay-delivery")]

    before = len(threads())
    live = LiveScorer([Probe()], ScriptedJudge(), sinks=[MemorySink()])
    assert len(threads()) == before
    for _ in range(2):  # the threads end, and start again
        live.submit(sample())
        assert live.flush(5)
        until = time.monotonic() + 5
        while len(threads()) > before and time.monotonic() < until:
            time.sleep(0.02)
        assert len(threads()) == before
    assert live.close().delivered == 2


def test_a_sink_may_not_wait_for_itself(scorer: Any) -> None:
    answers = []
    live = scorer(on_score=lambda scored: answers.append(live.flush()))
    live.submit(sample())
    assert live.flush(10)
    assert answers == [False]


def test_many_threads_submit(scorer: Any) -> None:
    live = scorer(max_queue=10_000)

    def work() -> None:
        for _ in range(200):
            live.submit(sample())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert live.flush(30)
    assert live.health().delivered == 1600


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_starts_afresh_and_works(scorer: Any) -> None:
    live = scorer(deadline=3600)
    live.submit(sample("hang"))
    live.submit(sample())
    time.sleep(0.1)

    def child(pipe: Any) -> None:
        empty = live.health().submitted
        live.submit(sample(id="in the child"))
        done = live.flush(10)
        pipe.send((empty, done, live.result("in the child") is not None))
        os._exit(0)

    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe()
    process = context.Process(target=child, args=(theirs,))
    process.start()
    assert mine.poll(20)
    assert mine.recv() == (0, True, True)
    process.join(10)
    assert live.health().submitted == 2


@pytest.mark.long
def test_the_end_of_the_process_delivers_what_is_queued_and_does_not_hang(tmp_path: Any) -> None:
    script = f"""
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import LiveScorer
from assay.live.shared_threads import SharedThread
from assay.records import Context, Sample
from assay.sinks import JsonlSink
judge = ScriptedJudge(support=lambda claim, passage: "supported")
live = LiveScorer("faithfulness", judge, sinks=[JsonlSink({str(tmp_path / "scores.jsonl")!r})])
for n in range(5):
    live.submit(Sample(question="q", answer="An answer.", contexts=(Context(text="p"),), id=str(n)))
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert len((tmp_path / "scores.jsonl").read_text().splitlines()) == 5
