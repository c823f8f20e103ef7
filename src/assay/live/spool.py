"""The spool: the application only appends its samples to a file; workers of their own score and deliver them.

    spool = Spool("spool")          # in the application, as `scorer=spool` of an integration
    assay worker spool --sink ...   # anywhere else on the same machine

`submit` puts into a queue in memory. One daemon thread writes what is there every `flush_every` seconds, in one
transaction with the counts. What was written survives `kill -9` of anybody; lost is at most what was not yet written.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections import Counter, deque
from pathlib import Path
from typing import Any

from assay.counting import log
from assay.errors import AssayError, InputError
from assay.live.feedback import ATTACHED, LATE, REFUSED, Choice, Feedback, feedback_of, with_feedback
from assay.live.health import Health, Tally
from assay.live.intake import Submission
from assay.live.lifetime import look_after
from assay.live.report import SpoolReport, report_of
from assay.live.sampling import Sampling, resolve_sampling
from assay.live.sizes import size_of
from assay.live.spool_file import WAITING, SpoolFile, fold_processes
from assay.live.spool_rows import process_name, to_json
from assay.records import Sample, ScoredSample

IDLE = 30.0  # seconds without work after which the thread ends; the next submit starts another
NAP = 2.0  # seconds after its last work for which the thread looks by itself; only after that it has to be woken
BATCH = 500  # samples in one transaction
RETRY = 0.5  # seconds between attempts to write, while the file cannot be written
STOP_GRACE = 2.0  # seconds that `close` waits for the thread to end, after its own timeout
LOOK = 0.05  # seconds between looks for a result

#: What stands in the queue: its size, and a submission or feedback with the key it is for.
_Item = tuple[int, Submission | tuple[str, Feedback]]


class Spool:
    """An intake that keeps samples in the folder `path` (made if needed) for workers. Implements `Intake`.

    sampling     which samples to keep: a rate, a `Sampling`, or None for all
    flush_every  seconds between writes; what was submitted since the last one is lost if the process is killed
    max_queue    submissions that may wait in memory, and `max_queue_bytes` what they may hold
    max_pending  samples that may wait in the file to be scored
    max_bytes    size of the file, up to which new samples are kept

    Beyond each bound new samples are dropped and counted, never old ones. A key is kept once: importing the same
    traces again adds nothing. While the file cannot be written (full, locked, read-only) samples wait in memory, up to
    those bounds. Safe for threads; after a fork the child starts with an empty queue. Needs a local disk.
    Raises StoreError when the folder cannot be used.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        sampling: Sampling | float | None = None,
        flush_every: float = 0.05,
        max_queue: int = 10_000,
        max_queue_bytes: int = 64 * 2**20,
        max_pending: int = 1_000_000,
        max_bytes: int = 4 * 2**30,
    ) -> None:
        bounds = {"max_queue": max_queue, "max_queue_bytes": max_queue_bytes}
        for name, number in {**bounds, "max_pending": max_pending, "max_bytes": max_bytes}.items():
            if number < 1:
                raise InputError(f"{name}: expected at least 1, got {number}")
        if flush_every <= 0:
            raise InputError(f"flush_every: expected a positive number of seconds, got {flush_every}")
        self.path = Path(path)
        self._sampling = resolve_sampling(sampling)
        self._flush_every = flush_every
        self._max_queue = max_queue
        self._max_queue_bytes = max_queue_bytes
        self._max_pending = max_pending
        self._max_bytes = max_bytes
        self._file = SpoolFile(self.path, timeout=1.0)
        self._file.create()
        fold_processes(self._file)
        self._file.close()
        self._closed = False
        self._set_up()
        look_after(self)

    def _set_up(self) -> None:
        # a lock that may be taken again: a generator collected while we hold it runs the host's hooks, and those submit
        self._lock = threading.RLock()
        self._safe_changed = threading.Condition(self._lock)
        self._work = threading.Condition(self._lock)
        self._queue: deque[_Item] = deque()
        self._queue_bytes = 0
        self._put = self._safe = 0  # items queued so far, and how many of them are on disk or done with
        self._batch: list[tuple[str, str]] = []  # read, and not yet written
        self._unwritten: Counter[str] = Counter()  # counts that the file does not have yet
        self._tally = Tally()
        self._choice = Choice(self._sampling)
        self._thread: threading.Thread | None = None
        self._asleep = self._hurry = self._stopping = False
        self._process = process_name("app")

    # -- the host's side ------------------------------------------------------------------------------------------

    def submit(self, sample: Submission) -> bool:
        """Queue a sample, or a function that makes one. False: dropped. Never blocks, never raises."""
        try:
            size = size_of(sample)
            with self._lock:
                self._unwritten["submitted"] += 1
                if not self._queued(size, sample):
                    self._tally.dropped += 1
                    self._unwritten["dropped:closed" if self._closed else "dropped:queue_full"] += 1
                    return False
                self._tally.submitted += 1
            self._wake()
        except Exception as error:
            self.count_error(error, "submit")
            return False
        return True

    def feedback(self, key: str, value: float | bool | str, comment: str | None = None) -> bool:
        """What a user said of the answer with this key. False: refused. Never blocks, never raises.

        It goes into `metadata["feedback"]` of the sample, as long as that waits, and brings in a sample that sampling
        left out where a rule says so. What became of it: `health().feedback`.
        """
        try:
            given = feedback_of(value, comment)
            with self._lock:
                if given is None or not self._queued(size_of_feedback(given), (str(key), given)):
                    self._choice.counts[REFUSED] += 1
                    return False
            self._wake()
        except Exception as error:
            self.count_error(error, "feedback")
            return False
        return True

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all that was submitted so far is on disk. False when the time ran out first."""
        if threading.current_thread() is self._thread:
            return False  # asked by a capture: it would wait for itself
        with self._safe_changed:
            last = self._put
            if self._safe < last:
                self._hurry = True
                self._wake(now=True)
            return self._safe_changed.wait_for(lambda: self._safe >= last, timeout)

    def result(self, key: str, timeout: float | None = 0) -> ScoredSample | None:
        """The scores of the sample with this key, where a worker has made them and the spool still has them.

        Waits up to `timeout` seconds for them; None waits for as long as anything waits or is in work.
        """
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            try:
                found = self._file.result(key)
                pending = timeout is None and bool(report_of(self._file).pending)
            except (sqlite3.Error, AssayError, ValueError) as error:
                self.count_error(error, "result")
                return None
            if found is not None or (until is None and not pending and self._safe >= self._put):
                return found
            if until is not None and time.monotonic() >= until:
                return None
            time.sleep(LOOK)

    def health(self) -> Health:
        """The counters of this process. `report` has those of the whole spool."""
        with self._lock:
            return self._tally.health(
                self._tally.submitted - self._tally.settled,
                feedback={**self._choice.counts, "waiting": self._choice.waiting},
            )

    def report(self) -> SpoolReport:
        """What stands in the file, of all processes. Raises sqlite3.Error when it cannot be read."""
        return report_of(self._file)

    def count_error(self, error: BaseException, where: str) -> None:
        """Count an exception caught outside the spool's own code, in a capture hook for example."""
        with self._lock:
            self._tally.errors.add(error, where)

    def close(self, timeout: float | None = 30) -> Health:
        """Take no more samples and write what is queued. What is pending in the result is lost."""
        with self._lock:
            first, self._closed = not self._closed, True
        if first:
            self.flush(timeout)
            with self._lock:
                self._stopping = True
                thread = self._thread
                self._work.notify()
            if thread is not None and thread is not threading.current_thread():
                thread.join(STOP_GRACE)
            self._file.close()
        health = self.health()
        if first and health.pending:
            log.warning("assay: spool closed with %d samples that could not be written", health.pending)
        return health

    # -- queue and thread -----------------------------------------------------------------------------------------

    def _queued(self, size: int, item: Submission | tuple[str, Feedback]) -> bool:
        full = len(self._queue) >= self._max_queue or self._queue_bytes + size > self._max_queue_bytes
        if self._closed or (full and self._queue):
            return False
        self._queue.append((size, item))
        self._queue_bytes += size
        self._put += 1
        return True

    def _wake(self, *, now: bool = False) -> None:
        with self._lock:
            if self._thread is not None:
                # waking a thread costs the host 15 to 40 µs: one that looks by itself is left alone
                if self._asleep or now:
                    self._work.notify()
                return
            self._thread = thread = threading.Thread(target=self._run, name="assay-spool", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # no threads at the end of the process
            with self._lock:
                self._thread = None
                self._tally.errors.add(error, "start")

    def _run(self) -> None:
        try:
            while self._has_work():
                if not self._write() and self._wait_after_failure():
                    break
        except BaseException as error:  # the thread dies, the host lives; the next submit starts another
            self.count_error(error, "spool thread")
        finally:
            with self._lock:
                if self._thread is threading.current_thread():
                    self._thread = None

    def _has_work(self) -> bool:
        """Wait until there is something to write; False when this thread should end."""
        with self._work:
            quiet_since = time.monotonic()
            while not self._stopping:
                if not self._hurry:  # let a batch come together
                    self._asleep = time.monotonic() - quiet_since > NAP
                    woken = self._work.wait(IDLE if self._asleep else self._flush_every)
                    if self._asleep and not woken and not self._due():
                        break
                self._hurry = False
                if self._due():
                    self._asleep = False
                    return True
            self._asleep = False
            if self._due() and not self._closed:
                return True
            self._thread = None  # from here on a submit starts another
            return False

    def _due(self) -> bool:
        return bool(self._queue or self._batch or self._unwritten)

    def _wait_after_failure(self) -> bool:
        """Wait before the next attempt; True when there is to be none."""
        with self._work:
            if not self._stopping:
                self._work.wait(RETRY)
            return self._stopping

    # -- writing --------------------------------------------------------------------------------------------------

    def _write(self) -> bool:
        """Write one batch and the counts. False: the file cannot be written; all is kept for the next attempt."""
        done = self._fill()
        with self._lock:
            counts, self._unwritten = self._unwritten, Counter()
        try:
            outcome = self._file.append(self._batch, counts, self._process, self._max_pending, self._max_bytes)
        except Exception as error:
            with self._lock:
                self._unwritten.update(counts)
                self._tally.errors.add(error, "spool")
            return False
        with self._safe_changed:
            dropped = sum(number for name, number in outcome.items() if name.startswith("dropped:"))
            self._tally.spooled += outcome["appended"]
            self._tally.duplicates += outcome["duplicates"]
            self._tally.dropped += dropped
            self._tally.settled += len(self._batch)
            self._batch = []
            self._safe = done
            self._safe_changed.notify_all()
        return True

    def _fill(self) -> int:
        """Read from the queue into the batch; how many items, counted from the start, are then read."""
        while len(self._batch) < BATCH:
            with self._lock:
                if not self._queue:
                    return self._put
                size, item = self._queue.popleft()
                self._queue_bytes -= size
            if isinstance(item, tuple):
                self._give(*item)
            else:
                self._read(item)
        with self._lock:
            return self._put - len(self._queue)

    def _read(self, submission: Submission) -> None:
        """Put a sample into the batch, or count why not."""
        try:
            sample = submission if isinstance(submission, Sample) else submission()
            chosen = None if sample is None else self._choice.choose(sample)
            entry = None if chosen is None else _entry(chosen)
        except BaseException as error:  # foreign code on our own thread: counted, never passed on
            self.count_error(error, "capture")
            sample = entry = None
        if entry is not None:
            self._batch.append(entry)
            return
        with self._lock:
            name = "skipped" if sample is None else "sampled_out"
            self._unwritten[name] += 1
            setattr(self._tally, name, getattr(self._tally, name) + 1)
            self._tally.settled += 1

    def _give(self, key: str, feedback: Feedback) -> None:
        """Attach feedback to the sample it is for, wherever that is."""
        choice = self._choice
        try:
            if choice.is_left(key):
                sample = choice.bring_in(key, feedback)
                if sample is not None:
                    self._batch.append(_entry(sample))
                    with self._lock:
                        self._unwritten["sampled_out"] -= 1
                        self._tally.sampled_out -= 1
                        self._tally.settled -= 1
                return
            for index, (waiting, text) in enumerate(self._batch):
                if waiting == key:
                    self._batch[index] = (key, _amended(text, feedback))
                    choice.counts[ATTACHED] += 1
                    return
            state = self._file.amend(key, lambda text: _amended(text, feedback))
        except Exception as error:
            choice.counts[REFUSED] += 1
            self.count_error(error, "feedback")
            return
        if state is None:
            choice.note(key, feedback)
        else:
            choice.counts[ATTACHED if state == WAITING else LATE] += 1

    # -- copies ---------------------------------------------------------------------------------------------------

    def __copy__(self) -> Spool:
        return self

    def __deepcopy__(self, memo: Any) -> Spool:
        return self


def size_of_feedback(feedback: Feedback) -> int:
    """What feedback holds in memory, roughly."""
    return 256 + len(str(feedback.get("value", ""))) + len(feedback.get("comment", ""))


def _entry(sample: Sample) -> tuple[str, str]:
    return sample.key().encode("utf-8", "replace").decode(), to_json(sample.to_dict())


def _amended(text: str, feedback: Feedback) -> str:
    return to_json(with_feedback(Sample.from_dict(json.loads(text)), feedback).to_dict())
