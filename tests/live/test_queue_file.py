"""A queue whose file is deleted while it is open, or whose machine's clock is set: no loss in silence, and no wait."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from assay.errors import StoreError
from assay.judges.scripted_judge import ScriptedJudge
from assay.live import SampleQueue, Worker
from assay.live.queue.queue_file import QueueFile
from assay.records import Context, Sample
from assay.store.store import Store


def submit(queue: SampleQueue, first: int, count: int) -> None:
    for number in range(first, first + count):
        sample = Sample(id=str(number), question="Why?", answer="Cats purr.", contexts=(Context(text="Cats purr."),))
        assert queue.submit(sample)


def remove_files(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


def replace_folder(folder: Path) -> None:
    """By that of another queue, as where a volume is mounted anew."""
    folder.rename(folder.with_name("moved"))
    SampleQueue(folder)


def empty_file(folder: Path) -> None:
    """As `copytruncate` of logrotate does."""
    os.truncate(folder / "spool.db", 0)


def _overwrite(folder: Path, content: bytes) -> None:
    """As `cp` over it does: the inode stays."""
    with (folder / "spool.db").open("r+b") as file:
        file.write(content)
        file.truncate()


def overwrite_with_another_queue(folder: Path) -> None:
    other = folder.with_name("other")
    with closing(SampleQueue(other)) as queue:
        submit(queue, 1000, 3)
        assert queue.flush(20)
    _overwrite(folder, (other / "spool.db").read_bytes())


def overwrite_with_another_database(folder: Path) -> None:
    with closing(sqlite3.connect(folder.with_name("other.db"))) as db:
        db.execute("CREATE TABLE samples (a)")
        db.commit()
    _overwrite(folder, folder.with_name("other.db").read_bytes())


WAYS: dict[str, Callable[[Path], object]] = {
    "folder deleted": shutil.rmtree,
    "files deleted": remove_files,
    "folder moved": lambda folder: folder.rename(folder.with_name("moved")),
    "folder replaced": replace_folder,
    "file emptied": empty_file,
    "another queue written over it": overwrite_with_another_queue,
    "another database written over it": overwrite_with_another_database,
    "a text written over it": lambda folder: _overwrite(folder, b"no database\n"),
    "zeros written over it": lambda folder: _overwrite(folder, bytes(100_000)),
}
every_way = pytest.mark.parametrize("way", WAYS)


@every_way
def test_samples_are_kept_in_a_new_file_and_what_is_lost_is_logged(
    way: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """20 samples go with the file; the 40 after that are in the file that workers see."""
    folder = tmp_path / "queue"
    queue = SampleQueue(folder)
    submit(queue, 0, 20)
    assert queue.flush(20)
    WAYS[way](folder)
    with caplog.at_level(logging.WARNING):
        submit(queue, 20, 40)
        assert queue.flush(20)
    report = SampleQueue(folder).report()
    assert (report.submitted, report.appended, report.waiting) == (40, 40, 40)
    assert (queue.health().queued, queue.health().pending) == (60, 0)
    assert dict(queue.health().errors) == {"FileReplaced": 1}
    said = [record.getMessage() for record in caplog.records if "deleted or replaced" in record.getMessage()]
    assert said == [
        f"assay: {folder / 'spool.db'} was deleted or replaced while in use, and with it 20 samples that were to be "
        "scored or delivered"
    ]


@every_way
def test_the_last_samples_of_a_process_are_kept_in_a_new_file(way: str, tmp_path: Path) -> None:
    """At its end there is one attempt to write."""
    folder = tmp_path / "queue"
    queue = SampleQueue(folder)
    submit(queue, 0, 1)
    assert queue.flush(20)
    WAYS[way](folder)
    submit(queue, 1, 3)
    assert queue.close().pending == 0
    assert SampleQueue(folder).report().appended == 3


def test_a_file_that_is_deleted_within_a_transaction_does_not_have_it(tmp_path: Path) -> None:
    """What was committed to the deleted file is not said to be kept."""
    file = QueueFile(tmp_path)
    with pytest.raises(sqlite3.OperationalError, match="deleted or replaced"), file.write():
        remove_files(tmp_path)
    with file.write() as db:  # a new one
        assert db.execute("SELECT COUNT(*) FROM samples").fetchone() == (0,)


def test_a_store_whose_file_was_deleted_says_so_when_it_is_written(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put_judgement("a", "support", "judge", b"1")
    remove_files(tmp_path)
    with pytest.raises(StoreError, match="deleted or replaced while in use"):
        store.put_judgement("b", "support", "judge", b"1")
    store.put_judgement("c", "support", "judge", b"1")  # in a new one
    assert [Store(tmp_path).get_judgement(key) is None for key in "abc"] == [True, True, False]


def test_a_store_whose_folder_was_deleted_can_still_be_read(tmp_path: Path) -> None:
    """As a result in a temporary folder, after its `with`."""
    store = Store(tmp_path / "store")
    store.put_judgement("a", "support", "judge", b"1")
    shutil.rmtree(tmp_path / "store")
    assert store.get_judgement("a") == b"1"
    assert not (tmp_path / "store").exists()


def test_a_store_whose_file_was_emptied_says_so_when_it_is_written_and_goes_on_in_a_new_one(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put_judgement("a", "support", "judge", b"1")
    os.truncate(tmp_path / "assay.db", 0)
    with pytest.raises(StoreError, match="deleted or replaced"):
        store.put_judgement("b", "support", "judge", b"1")
    store.put_judgement("c", "support", "judge", b"1")
    assert [Store(tmp_path).get_judgement(key) is None for key in "abc"] == [True, True, False]


@pytest.mark.parametrize("way", [way for way in WAYS if "over it" in way])
def test_what_was_written_over_a_queue_is_put_aside(way: str, tmp_path: Path) -> None:
    folder = tmp_path / "queue"
    queue = SampleQueue(folder)
    submit(queue, 0, 5)
    assert queue.flush(20)
    WAYS[way](folder)
    submit(queue, 5, 5)
    assert queue.flush(20)
    queue.close()
    assert (folder / "spool.db.overwritten").exists()
    again = SampleQueue(folder)
    assert again.report().waiting == 5
    again.close()


def test_a_queue_that_many_open_at_once_is_in_place(tmp_path: Path) -> None:
    """Whoever makes the file stamps it once; for the others it is the same file, also after its pages were moved."""
    queues = [QueueFile(tmp_path) for _ in range(4)]
    threads = [threading.Thread(target=one.create) for one in queues]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for turn in range(3):
        for one in queues:
            with one.write() as db:
                db.execute("INSERT INTO seen VALUES (?, 1)", (os.urandom(16),))
        with closing(sqlite3.connect(tmp_path / "spool.db")) as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            if turn == 1:
                db.execute("VACUUM")
    assert queues[0].rows("SELECT COUNT(*) FROM seen") == [(12,)]


def test_a_worker_goes_on_with_the_new_file(tmp_path: Path) -> None:
    folder = tmp_path / "queue"
    queue = SampleQueue(folder)
    worker, thread = start_worker(folder)
    submit(queue, 0, 5)
    assert queue.result("4", 20) is not None
    shutil.rmtree(folder)
    submit(queue, 5, 5)
    assert queue.result("9", 20) is not None
    worker.stop()
    thread.join(20)


def start_worker(folder: Path, **options: Any) -> tuple[Worker, threading.Thread]:
    judge = ScriptedJudge(support=lambda claim, passage: "supported", name="scripted")
    worker = Worker(folder, "faithfulness", judge)
    thread = threading.Thread(target=worker.run, kwargs=options, daemon=True)
    thread.start()
    return worker, thread


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Set the machine's clock ahead by so many seconds; back where they are below 0."""
    real = time.time
    return lambda seconds: monkeypatch.setattr(time, "time", lambda: real() + seconds)


HOUR = 3600.0
every_jump = pytest.mark.parametrize("seconds", [-10 * 365 * 24 * HOUR, -HOUR, -30.0, 24 * HOUR])


@every_jump
def test_samples_are_scored_at_once_after_the_clock_was_set(
    seconds: float, set_clock: Callable[[float], None], tmp_path: Path
) -> None:
    queue = SampleQueue(tmp_path)
    submit(queue, 0, 3)
    assert queue.flush(20)
    set_clock(seconds)
    _, thread = start_worker(tmp_path, until_empty=True)
    thread.join(20)
    assert not thread.is_alive()
    assert SampleQueue(tmp_path).report().scored == 3
    submit(queue, 3, 1)
    assert queue.flush(20)
    assert len(QueueFile(tmp_path).lease("another", 5, queue._file.now() + 60)) == 1


@every_jump
def test_no_lease_ends_or_lasts_because_the_clock_was_set(
    seconds: float, set_clock: Callable[[float], None], tmp_path: Path
) -> None:
    queue = SampleQueue(tmp_path)
    submit(queue, 0, 2)
    assert queue.flush(20)
    file = QueueFile(tmp_path)
    assert len(file.lease("alive", 1, file.now() + 60)) == 1
    assert len(file.lease("dead", 1, file.now() - 1)) == 1  # expired from the start
    set_clock(seconds)
    (taken,) = QueueFile(tmp_path).lease("another", 5, file.now() + 60)
    assert taken.attempts == 1


def test_samples_with_times_of_another_clock_are_due(tmp_path: Path) -> None:
    """Those of an earlier version, which noted the time of day; the clock was set back since."""
    queue = SampleQueue(tmp_path)
    submit(queue, 0, 2)
    assert queue.flush(20)
    with queue._file.write() as db:
        db.execute("UPDATE samples SET due = due + 3600, appended = appended + 3600")
    file = QueueFile(tmp_path)
    assert len(file.lease("worker", 5, file.now() + 60)) == 2


def damage(folder: Path) -> None:
    """Every page but the first, which says that this is a database."""
    file = folder / "spool.db"
    with sqlite3.connect(file) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = file.read_bytes()
    file.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))


def test_a_worker_on_a_damaged_queue_says_so_and_ends(tmp_path: Path) -> None:
    queue = SampleQueue(tmp_path)
    submit(queue, 0, 20)
    assert queue.flush(5)
    queue.close()
    damage(tmp_path)
    worker = Worker(tmp_path, "faithfulness", ScriptedJudge(support=lambda claim, passage: "supported"))
    with pytest.raises(StoreError, match="spool"):
        worker.run(until_empty=True)


def test_a_damaged_queue_is_named_when_an_application_opens_it(tmp_path: Path) -> None:
    queue = SampleQueue(tmp_path)
    submit(queue, 0, 20)
    queue.close()
    damage(tmp_path)
    with pytest.raises(StoreError, match=r"spool\.db"):
        SampleQueue(tmp_path)
