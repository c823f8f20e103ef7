"""The background worker: jobs on daemon threads, waited for, closed, and started afresh in a forked child."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time

import pytest

from assay._util.threads import BackgroundWorker


def test_jobs_run_in_order_on_one_thread_that_is_kept_until_closed() -> None:
    worker = BackgroundWorker(1, "assay-test", keeps_threads=True)
    threads: list[int] = []
    for _ in range(3):
        worker.submit(lambda: threads.append(threading.get_ident())).result(5)
    assert len(set(threads)) == 1
    assert worker.close(5)
    for thread in threading.enumerate():
        if thread.name == "assay-test":
            thread.join(5)
    assert "assay-test" not in [thread.name for thread in threading.enumerate()]


def test_no_more_threads_than_allowed_and_none_without_work() -> None:
    worker = BackgroundWorker(2, "assay-two")
    begun, go_on = threading.Semaphore(0), threading.Event()

    def job() -> int:
        begun.release()
        go_on.wait(5)
        return threading.get_ident()

    jobs = [worker.submit(job) for _ in range(4)]
    assert begun.acquire(timeout=5)
    assert begun.acquire(timeout=5)
    assert not begun.acquire(timeout=0.05)
    assert not worker.flush(0.01)
    go_on.set()
    assert worker.flush(5)
    assert len({one.result(5) for one in jobs}) <= 4
    for thread in threading.enumerate():
        if thread.name == "assay-two":
            thread.join(5)


def test_close_finishes_what_has_begun_cancels_the_rest_and_takes_no_more() -> None:
    worker = BackgroundWorker(1, "assay-test")
    begun, go_on = threading.Event(), threading.Event()
    first = worker.submit(lambda: begun.set() or go_on.wait(5))
    second = worker.submit(lambda: "never")
    assert begun.wait(5)
    assert not worker.close(0)
    go_on.set()
    assert first.result(5)
    assert second.cancelled()
    with pytest.raises(RuntimeError, match="closed"):
        worker.submit(lambda: None)


def test_errors_of_posted_jobs_are_counted_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    worker = BackgroundWorker(1, "assay-test")
    with caplog.at_level(logging.WARNING, "assay"):
        for _ in range(3):
            worker.post(lambda: 1 / 0)
        assert worker.flush(5)
    assert worker.errors.counts == {"ZeroDivisionError": 3}
    assert len(caplog.records) == 1


def test_a_job_that_finds_no_thread_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = BackgroundWorker(1, "assay-test")

    def start(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        with pytest.raises(RuntimeError, match="can't start"):
            worker.submit(lambda: 1)
    assert worker.flush(0)
    assert worker.submit(lambda: 2).result(5) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_starts_afresh_and_the_parent_finishes() -> None:
    worker = BackgroundWorker(1, "assay-test", keeps_threads=True)
    begun, go_on = threading.Event(), threading.Event()
    kept = worker.submit(lambda: begun.set() or go_on.wait(5))
    assert begun.wait(5)
    child = os.fork()
    if child == 0:
        os._exit(0 if worker.submit(lambda: 7).result(5) == 7 else 1)
    go_on.set()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert kept.result(5)
    assert worker.close(5)


AT_EXIT = """
import sys, time
from assay._util.threads import BackgroundWorker

worker = BackgroundWorker(1, "assay-test", exit_grace=float(sys.argv[1]))
worker.post(lambda: (time.sleep(0.3), print("done", flush=True)))
"""


@pytest.mark.parametrize(("grace", "printed"), [("10", "done\n"), ("0", "")])
def test_the_end_of_the_process_waits_as_long_as_the_worker_asks_for(grace: str, printed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", AT_EXIT, grace], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.returncode) == (printed, 0), done.stderr


def test_a_job_that_another_thread_will_do_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process can start no further thread: the job waits for the one that there is, and runs once."""
    worker = BackgroundWorker(2, "assay-test")
    go_on, ran = threading.Event(), list[int]()
    first = worker.submit(lambda: go_on.wait(5))

    def no_thread(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_thread)
    second = worker.submit(lambda: ran.append(1))
    go_on.set()
    assert first.result(5)
    assert (second.result(5), ran) == (None, [1])


SEVERAL_AT_EXIT = """
import time
from assay._util.threads import BackgroundWorker

workers = [BackgroundWorker(1, f"assay-{n}", exit_grace=2.0) for n in range(8)]
for worker in workers:
    worker.post(lambda: time.sleep(60))
"""


@pytest.mark.long
def test_several_workers_share_the_time_at_the_end_of_the_process() -> None:
    """Eight of two seconds each: two seconds in all, and not sixteen."""
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", SEVERAL_AT_EXIT], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert time.monotonic() - begun < 16
