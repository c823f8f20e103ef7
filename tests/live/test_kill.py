"""`kill -9` at random moments, 50 times, of applications and workers under load: every count adds up, nothing twice."""

from __future__ import annotations

import collections
import contextlib
import multiprocessing
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from assay.live import QueueReport, SampleQueue
from assay.live.queue.queue_file import QueueFile
from assay.sinks import read_jsonl
from tests.live.apps import app, worker

pytestmark = [pytest.mark.long, pytest.mark.skipif(sys.platform == "win32", reason="no kill -9")]

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.live.apps"])  # starting then costs milliseconds, so the kills fall into the work


@contextlib.contextmanager
def process(target: Callable[..., None], *arguments: object) -> Iterator[BaseProcess]:
    """A process that is killed at the end, if not before."""
    running = CONTEXT.Process(target=target, args=tuple(map(str, arguments)))
    running.start()
    try:
        yield running
    finally:
        running.kill()
        running.join(20)


def killed_after(running: BaseProcess, seconds: float) -> None:
    """Kill it after so long."""
    time.sleep(seconds)
    running.kill()
    running.join(20)
    assert running.exitcode == -signal.SIGKILL


def begun(log: Path) -> None:
    """Wait until the application submits."""
    until = time.monotonic() + 120
    while not log_of(log):
        assert time.monotonic() < until
        time.sleep(0.005)


def log_of(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


def drained(queue: Path, scores: Path) -> QueueReport:
    """What a last worker leaves, which is not killed."""
    with process(worker, queue, scores, "lease=1", "until_empty=1", "concurrency=16") as last:
        last.join(120)
        assert last.exitcode == 0
    return SampleQueue(queue).report()


def check(queue: Path, scores: list[Path], report: QueueReport, submitted: list[str]) -> None:
    """Everything that must hold after any crash."""
    file = QueueFile(queue)
    assert file.rows("PRAGMA integrity_check") == [("ok",)]
    # the sums of the issue: submitted = scored + skipped + dropped (+ what no kill lets anybody write)
    dropped = sum(report.dropped.values())
    assert report.submitted == (
        report.appended + report.duplicates + report.sampled_out + report.skipped + dropped + report.unwritten
    )
    assert report.appended == report.scored + report.no_value
    assert (report.waiting, report.in_work, report.undelivered, report.parked, dropped) == (0, 0, 0, 0, 0)
    assert report.delivered == report.appended
    keys = [key for (key,) in file.rows("SELECT key FROM samples")]
    assert len(keys) == len(set(keys)) == report.appended
    # every committed sample has scores, made in one commit each: the counts rise in that same commit
    assert file.rows("SELECT COUNT(*) FROM results") == [(report.appended,)]
    assert set(keys) <= set(submitted)
    # delivered at least once, and where more often, the same scores
    seen = collections.defaultdict(list)
    for path in scores:
        for row in read_jsonl(path) if path.exists() else ():
            seen[row["sample"]["id"]].append(row["scores"])
    assert set(seen) == set(keys)
    assert all(len({str(one) for one in rows}) == 1 for rows in seen.values())


@pytest.mark.parametrize("seed", [1, 2])
def test_ten_kills_of_the_application_lose_only_what_was_not_yet_written(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    queue, scores = tmp_path / "queue", tmp_path / "scores.jsonl"
    submitted, lost = [], 0
    with process(worker, queue, scores):
        for kill in range(10):
            log = tmp_path / f"log{kill}"
            with process(app, queue, log, kill * 100_000, 50_000) as running:
                begun(log)
                killed_after(running, chance.uniform(0.0, 0.35))
            written = log_of(log)
            submitted += written
            kept = [int(key) for (key,) in QueueFile(queue).rows("SELECT key FROM samples")]
            mine = sorted(key for key in kept if kill * 100_000 <= key < (kill + 1) * 100_000)
            # what is kept is all up to some moment: nothing in the middle is missing, and the end was the window
            assert mine == list(range(kill * 100_000, kill * 100_000 + len(mine)))
            lost += len(written) - len(mine)
    report = drained(queue, scores)
    check(queue, [scores], report, submitted)
    assert report.appended == len(submitted) - lost
    assert report.unwritten <= lost


@pytest.mark.parametrize("seed", [3, 4])
def test_ten_kills_of_workers_lose_and_repeat_nothing(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    queue, log = tmp_path / "queue", tmp_path / "log"
    scores = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    with process(app, queue, log, 0, 2000):
        begun(log)
        for kill in range(10):
            with process(worker, queue, scores[kill % 2], "lease=0.5") as running:
                killed_after(running, chance.uniform(0.1, 0.5))
        until = time.monotonic() + 120
        while SampleQueue(queue).report().appended < 2000:
            assert time.monotonic() < until
            time.sleep(0.05)
    report = drained(queue, scores[0])
    check(queue, scores, report, log_of(log))
    assert (report.scored, report.no_value, report.unwritten) == (2000, 0, 0)


def test_ten_kills_of_both_at_once(tmp_path: Path) -> None:
    chance = random.Random(5)
    queue = tmp_path / "queue"
    scores = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    submitted: list[str] = []
    for kill in range(5):
        log = tmp_path / f"log{kill}"
        with (
            process(app, queue, log, kill * 100_000, 50_000) as source,
            process(worker, queue, scores[0], "lease=0.5") as one,
            process(worker, queue, scores[1], "lease=0.5"),
        ):
            begun(log)
            victims = [source, one]
            chance.shuffle(victims)
            for victim in victims:
                killed_after(victim, chance.uniform(0.05, 0.3))
        submitted += log_of(log)
    report = drained(queue, scores[0])
    check(queue, scores, report, submitted)
