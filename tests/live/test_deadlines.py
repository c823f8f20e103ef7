"""The deadlines of live scorers and workers hold, whatever a judge does; the others are scored meanwhile.

What is stuck here ends only when the test says so: what waited for it would never return.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.judges.scripted_judge import ScriptedJudge
from assay.live import LiveScorer, SampleQueue, Worker
from assay.live import scorer as scorer_module
from assay.live.queue import worker as worker_module
from assay.records import Sample, Score
from assay.sinks import MemorySink
from tests._support.stuck_judge import STUCK, StuckJudge, shorten_grace
from tests.live.apps import Probe, sample

DEADLINE = 0.5


@pytest.fixture
def over(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    shorten_grace(monkeypatch, (scorer_module, "HELD"), (worker_module, "LATE"))
    event = threading.Event()
    yield event
    event.set()


def live(path: Path, samples: list[Sample], metrics: Any, judge: Any, **options: Any) -> dict[str, Any]:
    sink = MemorySink()
    scorer = LiveScorer(metrics, judge, sinks=[sink], deadline=DEADLINE, **options)
    for one in samples:
        scorer.submit(one)
    assert scorer.flush(30)
    health = scorer.health()
    assert (health.submitted, health.delivered, health.pending) == (len(samples), len(samples), 0)
    assert scorer.close(1).pending == 0
    assert len(sink.written) == len(samples)
    return {one.sample.id: next(iter(one.scores.values())) for one in sink.written}


def worker(path: Path, samples: list[Sample], metrics: Any, judge: Any, **options: Any) -> dict[str, Any]:
    queue, sink = SampleQueue(path), MemorySink()
    for one in samples:
        queue.submit(one)
    assert queue.flush(20)
    report = Worker(queue, metrics, judge, sinks=[sink], deadline=DEADLINE, **options).run(until_empty=True)
    assert (report.delivered, report.pending) == (len(samples), 0)
    queue.close()
    return {one.sample.id: next(iter(one.scores.values())) for one in sink.written}


WAYS = pytest.mark.parametrize("way", [live, worker], ids=lambda way: way.__name__)
MIXED = [sample("0"), sample("1", "It is stuck."), sample("2"), sample("3", "It is stuck."), sample("4")]


def check(scores: dict[str, Any], stuck: set[str]) -> None:
    late = {name for name, score in scores.items() if score.error is not None and score.error.cause == "timeout"}
    assert stuck <= late
    assert all(score.value == 1.0 for name, score in scores.items() if name not in late)


@pytest.mark.short_cases(2)
@WAYS
@pytest.mark.parametrize("how", STUCK)
def test_a_judge_that_does_not_let_go(way: Callable[..., Any], how: str, tmp_path: Path, over: threading.Event) -> None:
    judge = StuckJudge(how, over, "stuck")
    scores = way(tmp_path, MIXED, "faithfulness", judge, concurrency=1)
    assert not over.is_set()
    check(scores, {"1", "3"})
    assert sum(score.value == 1.0 for score in scores.values()) == 3  # one at a time: the others are not held up


@pytest.mark.short_cases(2)
@WAYS
@pytest.mark.parametrize("how", STUCK)
def test_all_at_once(way: Callable[..., Any], how: str, tmp_path: Path, over: threading.Event) -> None:
    samples = [sample(str(n), "It is stuck.") for n in range(8)]
    scores = way(tmp_path, samples, "faithfulness", StuckJudge(how, over, "stuck"), concurrency=4)
    assert not over.is_set()
    check(scores, {str(n) for n in range(8)})


@pytest.mark.long
@WAYS
def test_a_metric_that_blocks(way: Callable[..., Any], tmp_path: Path, over: threading.Event) -> None:
    class Blocking(Probe):
        async def measure(self, sample: Any, judge: Any) -> Score:
            if "stuck" in sample.answer:
                over.wait()
            return self.make_score(1.0)

    scores = way(tmp_path, MIXED, [Blocking()], ScriptedJudge(), concurrency=1)
    assert not over.is_set()
    check(scores, {"1", "3"})
    assert sum(score.value == 1.0 for score in scores.values()) == 3


def test_a_judge_that_comes_back_later_scores_nothing_twice(over: threading.Event) -> None:
    sink, judge = MemorySink(), StuckJudge("blocks its event loop", over, "stuck")
    scorer = LiveScorer("faithfulness", judge, sinks=[sink], deadline=DEADLINE)
    scorer.submit(sample("1", "It is stuck."))
    assert scorer.flush(30)
    over.set()
    scorer.submit(sample("2"))
    assert scorer.flush(30)
    assert judge.thread is not None
    judge.thread.join(30)
    assert not judge.thread.is_alive()
    health = scorer.close(5)
    assert (health.finished, health.delivered, health.pending) == (2, 2, 0)
    assert [one.sample.id for one in sink.written] == ["1", "2"]


@pytest.mark.long
def test_a_worker_can_be_stopped_while_a_judge_holds_its_thread(tmp_path: Path, over: threading.Event) -> None:
    queue, judge = SampleQueue(tmp_path), StuckJudge("blocks its event loop", over, "stuck")
    queue.submit(sample("1", "It is stuck."))
    assert queue.flush(20)
    one = Worker(queue, "faithfulness", judge, deadline=3600)
    running = threading.Thread(target=one.run)
    running.start()
    assert judge.began.wait(30)
    one.stop()
    running.join(30)
    assert not running.is_alive()
    assert not over.is_set()
    assert queue.report().pending == 1  # handed back, for the next worker
    queue.close()
