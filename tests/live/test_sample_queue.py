"""The queue: the application only appends; nothing is lost uncounted, nothing kept twice, the host never harmed."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InputError, StoreError
from assay.live import Intake, SampleQueue, Sampling, open_intake
from assay.live.queue.queue_file import QueueFile, fold_processes
from assay.records import Context, Sample
from tests.live.apps import sample


def stored(path: Path) -> list[dict[str, Any]]:
    return [json.loads(text) for (text,) in QueueFile(path).rows("SELECT sample FROM contents ORDER BY number")]


def test_samples_come_back_as_they_were(tmp_path: Path) -> None:
    whole = Sample(
        question="Wo?", answer="Zürich \ud800 🏔", contexts=(Context(text="p", score=0.5, metadata={"a": [1, None]}),),
        id="x\ud800", ids={"otel_trace_id": "1"}, status="abandoned", metadata={"tags": ["a"]},
    )  # fmt: skip
    with_queue = SampleQueue(tmp_path)
    assert isinstance(with_queue, Intake)
    assert with_queue.submit(whole)
    assert with_queue.submit(lambda: sample("made"))
    assert with_queue.flush(10)
    first, second = (Sample.from_dict(data) for data in stored(tmp_path))
    assert first == whole
    assert second == sample("made")
    health = with_queue.close()
    assert (health.submitted, health.queued, health.pending) == (2, 2, 0)


def test_order_is_kept_and_every_submission_has_one_place(tmp_path: Path) -> None:
    queue = SampleQueue(tmp_path, sampling=Sampling(0.5))
    for n in range(200):
        queue.submit(sample(str(n)))
        queue.submit(sample(str(n)))  # the same again
    queue.submit(lambda: None)
    queue.submit(lambda: 1 / 0)  # type: ignore[arg-type,return-value]
    odd = next(f"odd {n}" for n in range(99) if Sampling(0.5).decide(sample(f"odd {n}")).taken)
    queue.submit(Sample(answer="a", id=odd, metadata={"x": object()}))  # a sample cleans itself
    assert queue.flush(20)
    expected = [str(n) for n in range(200) if Sampling(0.5).decide(sample(str(n))).taken]
    assert [data["id"] for data in stored(tmp_path)] == [*expected, odd]
    report = queue.report()
    taken = len(expected) + 1
    assert (report.submitted, report.appended, report.duplicates, report.sampled_out, report.skipped) == (
        403, taken, taken - 1, 400 - 2 * (taken - 1), 2
    )  # fmt: skip
    assert report.unwritten == 0
    health = queue.close()
    assert (health.queued, health.duplicates, health.sampled_out, health.skipped) == (
        taken, taken - 1, 400 - 2 * (taken - 1), 2
    )  # fmt: skip
    assert health.errors["ZeroDivisionError"] == 1


def test_what_is_full_drops_and_counts(tmp_path: Path) -> None:
    queue = SampleQueue(tmp_path / "count", max_pending=10)
    for n in range(15):
        queue.submit(sample(str(n)))
    assert queue.flush(10)
    assert [data["id"] for data in stored(tmp_path / "count")] == [str(n) for n in range(10)]
    report = queue.report()
    assert (report.submitted, report.appended, report.dropped) == (15, 10, {"max_pending": 5})
    assert queue.close().dropped == 5

    queue = SampleQueue(tmp_path / "bytes", max_bytes=400_000)
    for n in range(40):
        queue.submit(sample(str(n), "x" * 20_000))
    assert queue.flush(10)
    report = queue.report()
    queue.close()
    # at most 400,000 / 20,000 = 20 fit, less what the tables take
    assert 10 <= report.appended < 20
    assert report.dropped == {"max_bytes": 40 - report.appended}
    assert (tmp_path / "bytes" / "spool.db").stat().st_size < 500_000


def test_the_queue_in_memory_is_bounded_and_submit_never_waits(tmp_path: Path) -> None:
    queue = SampleQueue(tmp_path, max_queue=100)
    blocker = sqlite3.connect(tmp_path / "spool.db", isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    slowest = 0.0
    for n in range(2000):
        began = time.perf_counter()
        queue.submit(sample(str(n)))
        slowest = max(slowest, time.perf_counter() - began)
    # the thread waits a second for the lock; a submit that waited with it would show
    assert slowest < 0.5
    assert not queue.flush(0.1)
    health = queue.health()
    assert health.dropped > 0
    assert health.submitted + health.dropped == 2000
    blocker.execute("COMMIT")
    assert queue.flush(20)
    report = queue.report()
    # what had waited is there, what had no room is counted, also in the file
    assert report.appended == health.submitted
    assert report.submitted == 2000
    assert report.dropped == {"queue_full": health.dropped}
    queue.close()
    blocker.close()


def test_a_file_that_cannot_be_written_harms_nobody(tmp_path: Path, caplog: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("assay.live.queue.sample_queue.RETRY", 0.02)
    queue = SampleQueue(tmp_path, max_queue=5)
    append = QueueFile.append

    def full(*arguments: Any) -> Any:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(QueueFile, "append", full)
    with caplog.at_level(logging.WARNING, "assay.live"):
        for n in range(600):
            queue.submit(sample(str(n)))
        assert not queue.flush(0.3)
    assert [record.message for record in caplog.records if "OperationalError" in record.message] == [
        "assay: OperationalError in queue; further ones are only counted, see health()"
    ]
    health = queue.health()
    assert health.errors["OperationalError"] >= 2
    assert health.pending == health.submitted
    monkeypatch.setattr(QueueFile, "append", append)  # room again
    assert queue.flush(10)
    report = queue.report()
    assert report.appended == health.submitted
    assert report.appended + report.dropped["queue_full"] == report.submitted == 600
    queue.close()


def test_closing_says_what_could_not_be_written(tmp_path: Path, caplog: Any, monkeypatch: Any) -> None:
    def gone(*arguments: Any) -> Any:
        raise sqlite3.OperationalError("attempt to write a readonly database")

    queue = SampleQueue(tmp_path)
    monkeypatch.setattr(QueueFile, "append", gone)
    queue.submit(sample("a"))
    health = queue.close(0.1)
    assert health.pending == 1
    assert "1 samples that could not be written" in caplog.text
    assert not queue.submit(sample("b"))


def test_flush_is_all_that_a_function_needs_before_it_is_frozen(tmp_path: Path) -> None:
    """The process is stopped for good right after flush: no thread, no exit hook runs any more."""
    script = f"""
import os
from assay.live import SampleQueue
from assay.records import Sample
queue = SampleQueue({str(tmp_path)!r}, flush_every=30)
for n in range(50):
    queue.submit(Sample(answer="a", id=str(n)))
assert queue.flush(20)
os.kill(os.getpid(), 9)
"""
    assert subprocess.run([sys.executable, "-c", script], timeout=60, check=False).returncode == -9
    report = SampleQueue(tmp_path).report()
    assert (report.submitted, report.appended, report.unwritten) == (50, 50, 0)


def test_the_end_of_the_process_writes_what_is_queued(tmp_path: Path) -> None:
    script = f"""
from assay.live import SampleQueue
from assay.records import Sample
queue = SampleQueue({str(tmp_path)!r}, flush_every=5)
for n in range(20):
    queue.submit(Sample(answer="a", id=str(n)))
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert SampleQueue(tmp_path).report().appended == 20


def _child(queue: SampleQueue, number: int) -> None:
    for n in range(30):
        queue.submit(sample(f"child {number} {n}"))
    ok = queue.flush(20)
    os._exit(0 if ok else 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_children_append_their_own_and_nothing_twice(tmp_path: Path) -> None:
    queue = SampleQueue(tmp_path)
    stop = threading.Event()
    submitted = [0]

    def load() -> None:  # the parent goes on submitting while it forks
        while not stop.is_set():
            queue.submit(sample(f"parent {submitted[0]}"))
            submitted[0] += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=load)
    thread.start()
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=_child, args=(queue, number)) for number in range(6)]
    for child in children:
        time.sleep(0.03)
        child.start()
    for child in children:
        child.join(60)
    stop.set()
    thread.join()
    assert [child.exitcode for child in children] == [0] * 6
    assert queue.flush(20)
    ids = [data["id"] for data in stored(tmp_path)]
    assert len(ids) == len(set(ids)) == submitted[0] + 6 * 30
    report = queue.report()
    assert (report.duplicates, report.appended, report.submitted) == (0, len(ids), len(ids))
    queue.close()
    assert QueueFile(tmp_path).rows("PRAGMA integrity_check") == [("ok",)]


def test_threads_and_processes_share_a_queue(tmp_path: Path) -> None:
    queue = SampleQueue(tmp_path, max_queue=100_000)
    script = f"""
from assay.live import SampleQueue
from assay.records import Sample
queue = SampleQueue({str(tmp_path)!r}, max_queue=100_000)
for n in range(500):
    queue.submit(Sample(answer="a", id="shared" + str(n)))
assert queue.flush(30)
"""
    others = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(2)]

    def work(number: int) -> None:
        for n in range(300):
            queue.submit(sample(f"{number}-{n}"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert queue.flush(30)
    assert [other.wait(60) for other in others] == [0, 0]
    report = queue.report()
    # 4 * 300 of the threads, and 500 that both processes bring
    assert (report.appended, report.duplicates, report.submitted) == (1700, 500, 2200)
    queue.close()


def test_no_thread_before_work_and_none_long_after(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("assay.live.shared_threads.IDLE", 0.05)
    monkeypatch.setattr("assay.live.shared_threads.NAP", 0.05)

    others = set(threading.enumerate())  # of earlier tests; they may end at any time

    def threads() -> int:
        return sum(thread.name == "assay-queue" for thread in set(threading.enumerate()) - others)

    queue = SampleQueue(tmp_path)
    assert threads() == 0
    for n in range(2):
        queue.submit(sample(str(n)))
        assert queue.flush(5)
        until = time.monotonic() + 5
        while threads() and time.monotonic() < until:
            time.sleep(0.02)
        assert threads() == 0
    assert queue.close().queued == 2


def test_counts_of_many_processes_are_folded(tmp_path: Path, monkeypatch: Any) -> None:
    file = QueueFile(tmp_path)
    file.create()
    monkeypatch.setattr("assay.live.queue.queue_file.PROCESSES", 10)
    for n in range(30):
        file.add_counts(f"app {n}", {"submitted": n, "appended": 1})
    fold_processes(file)
    assert len(file.rows("SELECT DISTINCT process FROM counts")) == 11
    assert file.counts() == {"submitted": sum(range(30)), "appended": 30}


def test_wrong_arguments_and_places(tmp_path: Path) -> None:
    for name, value in {"flush_every": 0, "max_queue": 0, "max_pending": 0, "max_bytes": 0}.items():
        with pytest.raises(InputError, match=name):
            SampleQueue(tmp_path, **{name: value})  # type: ignore[arg-type]
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StoreError, match="cannot be opened"):
        SampleQueue(tmp_path / "file")
    newer = tmp_path / "newer"
    newer.mkdir()
    sqlite3.connect(newer / "spool.db").execute("PRAGMA user_version = 99").connection.close()
    with pytest.raises(StoreError, match="newer assay"):
        SampleQueue(newer)


def test_an_integration_takes_a_queue_as_its_scorer(tmp_path: Path) -> None:
    queue = SampleQueue(tmp_path)
    assert open_intake(None, None, queue, {}) is queue
    with pytest.raises(InputError, match="metrics, sampling"):
        open_intake("faithfulness", None, queue, {"sampling": 0.1})
    queue.close()
