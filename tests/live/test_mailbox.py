"""One mailbox under every live path: bounded, shared threads, nobody held up by others, nothing left behind."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.judges.protocol import Judge
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import LiveScorer, SampleQueue
from assay.live.mailbox import Mailbox
from assay.live.shared_threads import SharedThread
from assay.metrics.base import Metric
from assay.records import Sample, Score
from assay.sinks import MemorySink
from tests.live.apps import Probe, sample

STUCK = 0.1


def lanes() -> list[str]:
    names = ("assay-live", "assay-delivery", "assay-queue")
    return [thread.name for thread in threading.enumerate() if thread.name in names]


class Gate:
    """A sink that holds whoever writes to it."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.writing = threading.Event()

    def write(self, scored: Any) -> None:
        self.writing.set()
        self.free.wait(60)

    def close(self) -> None:
        pass


@dataclass(frozen=True)
class Blocking(Metric):
    """Holds its thread."""

    free: threading.Event
    at_work: threading.Event
    name: ClassVar[str] = "blocking"
    needs: ClassVar = ("answer",)
    asks: ClassVar = ()

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        self.at_work.set()
        self.free.wait(60)
        return self.make_score(1.0)


@pytest.fixture
def scorer(monkeypatch: Any) -> Iterator[Any]:
    monkeypatch.setattr("assay._util.loop_threads.STUCK_AFTER", STUCK)
    monkeypatch.setattr("assay.live.shared_threads.STUCK_AFTER", STUCK)
    made: list[LiveScorer] = []

    def make(metric: Metric | None = None, judge: Any = None, **options: Any) -> LiveScorer:
        made.append(LiveScorer([metric or Probe()], judge or ScriptedJudge(), **options))
        return made[-1]

    yield make
    for one in made:
        one.close(1)


# -- what is shared --------------------------------------------------------------------------------------------------


def test_a_thousand_scorers_for_one_request_each_share_their_threads(tmp_path: Path) -> None:
    process, sink, queue = psutil.Process(), MemorySink(), SampleQueue(tmp_path)
    before, files = process.num_threads(), process.num_fds()
    most = 0
    kept: deque[LiveScorer] = deque(maxlen=50)
    for n in range(1000):
        kept.append(LiveScorer([Probe()], ScriptedJudge(), sinks=[sink]))
        kept[-1].submit(sample(str(n)))
        queue.submit(sample(str(n)))
        most = max(most, process.num_threads() - before)
    assert all(one.flush(30) for one in kept)
    assert queue.flush(30)
    # one that scores, one that delivers, one that writes the queue
    assert most <= 3
    assert set(lanes()) == {"assay-live", "assay-delivery", "assay-queue"}
    # a loop has three, the queue's file three
    assert process.num_fds() - files <= 3 * 3 + 3
    until = time.monotonic() + 20
    while len(sink.written) < 1000 and time.monotonic() < until:
        time.sleep(0.02)
    assert {scored.sample.id for scored in sink.written} == {str(n) for n in range(1000)}
    queue.close()


def test_a_scorer_that_nobody_holds_any_more_is_forgotten() -> None:
    import weakref

    live = LiveScorer([Probe()], ScriptedJudge(), sinks=[MemorySink()])
    live.submit(sample("a"))
    assert live.flush(10)
    gone = weakref.ref(live)
    del live
    until = time.monotonic() + 10
    while gone() is not None and time.monotonic() < until:
        gc.collect()
        time.sleep(0.02)
    assert gone() is None


def test_a_full_scorer_does_not_keep_the_thread_from_another(scorer: Any) -> None:
    slow = scorer(deadline=60, concurrency=2)
    for n in range(500):
        slow.submit(sample(str(n), "hang"))
    quick = scorer()
    for n in range(20):
        quick.submit(sample(str(n)))
    assert quick.flush(10)
    assert slow.health().finished == 0
    slow.close(0.1)


@pytest.mark.long
def test_where_the_host_computes_a_lane_looks_less_often() -> None:
    looks: list[float] = []
    lane = SharedThread("looking", 0.02, seldom=0.2)

    def look() -> bool:  # takes nothing, so that it is asked again and again
        looks.append(time.monotonic())
        return False

    box = Mailbox[int](lane, look, max_items=1)
    box.put(1, 1)
    box.wake()
    until = time.monotonic() + 2.0
    while time.monotonic() < until:
        pass
    computing = len(looks)
    time.sleep(1.0)
    box.take()  # its thread has nothing to do any more
    assert computing <= 30  # 2 s / 0.2 s = 10, and some until the first that came late; each 20 ms would be 100
    assert len(looks) - computing > computing  # on a free machine 50


def test_what_came_in_a_burst_is_scored_after_it_without_being_asked_for(scorer: Any) -> None:
    live = scorer(sinks=[MemorySink()])
    for n in range(400):
        live.submit(sample(str(n)))
    until = time.monotonic() + 20
    while live.health().delivered < 400 and time.monotonic() < until:
        time.sleep(0.02)
    assert live.health().delivered == 400


def test_a_burst_that_comes_in_waves_is_one(scorer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parallel requests end together, and then none for a while: the application needs the CPU all the same."""
    from types import SimpleNamespace

    clock = [100.0]
    monkeypatch.setattr("assay.live.scorer.time", SimpleNamespace(monotonic=lambda: clock[0]))
    live = scorer(sinks=[MemorySink()])
    for n in range(400):
        live.submit(sample(str(n)))
    time.sleep(0.3)  # some 15 looks, of which each takes a fiftieth of what waits, however many they are
    assert live.health().finished < 400
    clock[0] += 0.3
    until = time.monotonic() + 20
    while live.health().delivered < 400 and time.monotonic() < until:
        time.sleep(0.02)
    assert live.health().delivered == 400


@pytest.mark.long
def test_load_that_never_ends_is_scored_as_it_comes(scorer: Any) -> None:
    live = scorer(max_queue=1000)
    for n in range(2000):
        live.submit(sample(str(n)))
        time.sleep(0.001)
    health = live.health()
    # twice what the queue holds: what is not scored meanwhile would have been dropped
    assert (health.submitted, health.dropped) == (2000, 0)
    assert health.finished >= 1000


# -- what is held ----------------------------------------------------------------------------------------------------


def test_a_sink_that_holds_its_thread_holds_up_only_its_own_scorer(scorer: Any) -> None:
    gate, sink = Gate(), MemorySink()
    held, other = scorer(sinks=[gate]), scorer(sinks=[sink])
    held.submit(sample("a"))
    held.submit(sample("b"))
    assert gate.writing.wait(10)
    for n in range(5):  # nobody asks, and nobody submits again
        other.submit(sample(str(n)))
    until = time.monotonic() + 10
    while len(sink.written) < 5 and time.monotonic() < until:
        time.sleep(0.02)
    assert len(sink.written) == 5
    assert held.health().delivered == 0
    gate.free.set()
    assert held.flush(10)
    assert held.health().delivered == 2


def test_a_sink_is_never_written_to_by_two_threads_at_once(scorer: Any) -> None:
    at_once, most, lock = [0], [0], threading.Lock()

    class Slow:
        def write(self, scored: Any) -> None:
            with lock:
                at_once[0] += 1
                most[0] = max(most[0], at_once[0])
            time.sleep(1.5 * STUCK)
            with lock:
                at_once[0] -= 1

        def close(self) -> None:
            pass

    slow, sink = scorer(sinks=[Slow()], concurrency=1), MemorySink()
    other = scorer(sinks=[sink])
    for n in range(6):
        slow.submit(sample(str(n)))
        other.submit(sample(str(n)))
        time.sleep(STUCK)
    assert slow.flush(20)
    assert other.flush(20)
    assert most == [1]
    assert (slow.health().delivered, other.health().delivered) == (6, 6)


def test_a_metric_that_holds_its_thread_holds_up_only_what_had_begun(scorer: Any) -> None:
    free, at_work = threading.Event(), threading.Event()
    held, other = scorer(Blocking(free, at_work)), scorer()
    try:
        held.submit(sample("a"))
        assert at_work.wait(10)
        time.sleep(2 * STUCK)
        other.submit(sample("b"))
        assert other.result("b", timeout=10) is not None
    finally:
        free.set()
    assert held.flush(10)
    assert held.health().delivered == 1


# -- what judges hold ------------------------------------------------------------------------------------------------


class Held(ScriptedJudge):
    """Notes the loops on which it is released."""

    def __init__(self) -> None:
        super().__init__(usefulness=lambda question, passage: True)
        self.released = threading.Event()

    async def release(self) -> None:
        asyncio.get_running_loop()
        self.released.set()


def test_a_judge_is_released_with_its_last_scorer(scorer: Any) -> None:
    judge = Held()
    first, second = scorer(judge=judge), scorer(judge=judge)
    for one in (first, second):
        one.submit(sample("a"))
        assert one.flush(10)
    first.close(5)
    assert not judge.released.is_set()
    second.close(5)
    assert judge.released.is_set()


def test_a_judge_of_a_forgotten_scorer_is_released() -> None:
    judge = Held()
    live = LiveScorer([Probe()], judge)
    live.submit(sample("a"))
    assert live.flush(10)
    del live
    until = time.monotonic() + 10
    while not judge.released.is_set() and time.monotonic() < until:
        gc.collect()
        time.sleep(0.02)
    assert judge.released.is_set()


# -- the end ---------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_end_of_a_process_with_many_hanging_scorers_takes_two_seconds() -> None:
    script = """
import asyncio, sys, time, threading
from assay import Sample
from assay.live import LiveScorer
from assay.judges.scripted_judge import ScriptedJudge
from tests.live.apps import Probe, sample
class Gate:
    def write(self, scored):
        threading.Event().wait()
    def close(self):
        pass
scorers = [LiveScorer([Probe()], ScriptedJudge(), sinks=[Gate()], deadline=3600) for _ in range(20)]
for scorer in scorers:
    scorer.submit(sample("a", "hang"))
    scorer.submit(sample("b"))
time.sleep(0.2)
import atexit
started = time.monotonic()
atexit.register(lambda: None)
atexit._run_exitfuncs()
print(time.monotonic() - started, flush=True)
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    assert float(ran.stdout) < 3.0  # two, and what a busy machine takes


# -- the queue -------------------------------------------------------------------------------------------------------

steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 60)),
        st.tuples(st.just("take"), st.just(0)),
        st.tuples(st.just("settle"), st.integers(0, 5)),
        st.tuples(st.just("close"), st.just(0)),
    ),
    max_size=80,
)


@settings(max_examples=200, deadline=None)
@given(steps, st.integers(1, 5), st.integers(1, 100))
def test_the_queue_is_bounded_in_order_and_counts_what_is_open(
    given_steps: list[tuple[str, int]], max_items: int, max_bytes: int
) -> None:
    box: Mailbox[int] = Mailbox(SharedThread("never", 1.0), lambda: False, max_items=max_items, max_bytes=max_bytes)
    waiting: deque[tuple[int, int]] = deque()
    in_hand: list[int] = []
    numbers = settled = 0
    closed = False
    for action, value in given_steps:
        if action == "put":
            held = sum(size for _, size in waiting)
            room = not closed and (not waiting or (len(waiting) < max_items and held + value <= max_bytes))
            assert box.put(value, value) is room
            if room:
                numbers += 1
                waiting.append((numbers, value))
        elif action == "take":
            expected = waiting.popleft() if waiting else None
            assert box.take() == expected
            if expected is not None:
                in_hand.append(expected[0])
        elif action == "settle" and in_hand:
            box.settle([in_hand.pop(value % len(in_hand))])
            settled += 1
        elif action == "close":
            box.closed = closed = True
        assert len(box) == len(waiting)
        assert box.open == numbers - settled == len(waiting) + len(in_hand)
    assert box.lane.ready.count(box) <= 1
