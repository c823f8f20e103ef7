"""The queue: the application only appends its samples to a file; workers of their own score and deliver them.

    queue = SampleQueue("queue")          # in the application, as `scorer=queue` of an integration
    assay live worker queue --sink ...   # anywhere else on the same machine

`submit` puts into a queue in memory. One daemon thread writes what is there every `flush_every` seconds, in one
transaction with the counts. What was written survives `kill -9` of anybody; lost is at most what was not yet written.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from assay._util.call_repr import call_repr
from assay._util.error_counter import log
from assay._util.sqlite import FileReplaced, as_store_error
from assay.errors import AssayError, InputError
from assay.live import environment
from assay.live.application import Application
from assay.live.base import BaseIntake
from assay.live.exit_hooks import follow_server
from assay.live.feedback import ADDED, ATTACHED, LATE, REFUSED, Feedback
from assay.live.health import Health
from assay.live.mailbox import Mailbox
from assay.live.protocol import Submission
from assay.live.queue.queue_file import AMENDED, DELIVERED, QueueFile, fold_processes
from assay.live.queue.rows import process_name
from assay.live.queue.status import QueueReport, report_of
from assay.live.sampling import Sampling
from assay.live.shared_threads import queueing
from assay.records import Sample, ScoredSample

BATCH = 500  # samples in one transaction
RETRY = 0.5  # seconds between attempts to write, while the file cannot be written
LOOK = 0.05  # seconds between looks for a result


@dataclass(frozen=True, slots=True)
class _QueuedFeedback:
    """What stands in the mailbox beside submissions: feedback, and the key that it is for."""

    key: str
    feedback: Feedback


class SampleQueue(BaseIntake):
    """Durable queue of samples in a folder, for workers to score. An intake that implements `Intake`.

    Beyond each bound new samples are dropped and counted, never old ones. A key is kept once: importing the same traces
    again adds nothing. While the file cannot be written (full, locked, read-only) samples wait in memory, up to the
    bounds. Safe for threads; after a fork the child starts with an empty queue. Needs a local disk. At the end of the
    process the queued samples get up to 5 seconds, as long as the file can be written.

    Args:
        path: The folder; made if needed.
        sampling: Which samples to keep: a rate in [0, 1] or a `Sampling`. None: ASSAY_SAMPLING of the environment, or
            else all.
        application: The application, or its name. None: that of the environment. Samples carry its name and version.
        flush_every: Seconds between writes, above 0. What was submitted since the last write is lost if the process is
            killed.
        max_queue: Submissions that may wait in memory, at least 1.
        max_queue_bytes: Bytes that those submissions may hold.
        max_pending: Samples that may wait in the file to be scored.
        max_bytes: Size of the file in bytes, up to which new samples are kept.

    Raises:
        InputError: A bound is below 1, or `flush_every` is not above 0.
        StoreError: The folder cannot be used.
    """

    only_writes: ClassVar[bool] = True

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        sampling: Sampling | float | None = None,
        application: Application | str | None = None,
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
        self._flush_every = flush_every
        self._max_queue = max_queue
        self._max_queue_bytes = max_queue_bytes
        self._max_pending = max_pending
        self._max_bytes = max_bytes
        self._file = QueueFile(self.path, timeout=1.0)
        self._file.create()
        with as_store_error(f"{str(self._file.path)!r} cannot be read"):
            fold_processes(self._file)
            self._file.now()  # for forked children as well
        self._file.close()
        super().__init__(environment.sampling() if sampling is None else sampling, application)

    def __repr__(self) -> str:
        return call_repr(self, str(self.path))

    def _open_box(self) -> Mailbox[Submission | _QueuedFeedback]:
        self._batch: list[tuple[str, str]] = []  # read, and not yet written
        self._numbers: list[int] = []  # of what was read since the last write
        self._unwritten: Counter[str] = Counter()  # counts that the file does not have yet
        self._waiting = 0  # samples submitted that have no outcome yet
        self._retry_at = 0.0
        self._failing = False
        self._process = process_name("app")
        lane = queueing(self._flush_every)
        return Mailbox(
            lane,
            self._write,
            lambda: bool(self._batch or self._unwritten),
            max_items=self._max_queue,
            max_bytes=self._max_queue_bytes,
        )

    # -- the host's side ------------------------------------------------------------------------------------------

    def result(self, key: str, timeout: float | None = 0) -> ScoredSample | None:
        """Get the scores of one sample, where a worker has made them and the queue still has them.

        Args:
            key: The sample's key, as `Sample.key` gives it.
            timeout: Seconds to wait at most; 0 does not wait. None: waits for as long as any sample waits or
                is being scored.

        Returns:
            The scored sample, or None. Also None when the file cannot be read; the error is counted in `health`.
        """
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            try:
                found = self._file.result(key)
                pending = timeout is None and bool(report_of(self._file).pending)
            except (sqlite3.Error, AssayError, ValueError) as error:
                self.count_error(error, "result")
                return None
            if found is not None or (until is None and not pending and not self._box.open):
                return found
            if until is not None and time.monotonic() >= until:
                return None
            time.sleep(LOOK)

    def health(self) -> Health:
        """Report the counters of this process. `report` has those of the whole queue.

        Returns:
            The counters at this moment.
        """
        with self._box.lock:
            feedback = {**self._sampler.counts, "waiting": self._sampler.waiting}
            return self._tally.health(self._waiting, feedback)

    def report(self) -> QueueReport:
        """Report the counts in the file, of all processes.

        Returns:
            The report, read in one transaction.

        Raises:
            StoreError: The file cannot be read.
        """
        return report_of(self._file)

    def _count_submission(self, taken: bool) -> None:
        super()._count_submission(taken)
        self._waiting += taken
        self._unwritten["submitted"] += 1
        if not taken:
            self._unwritten["dropped:closed" if self._box.closed else "dropped:queue_full"] += 1

    def _take_feedback(self, key: str, feedback: Feedback) -> bool:
        taken = self._box.put(size_of_feedback(feedback), _QueuedFeedback(key, feedback))
        self._sampler.counts[REFUSED] += not taken
        return taken

    def _stop(self, seconds: float) -> None:
        self._write_without_thread()
        self._box.stop()
        self._file.close()  # waits for a transaction under way
        if self._unwritten and not self._failing:
            self._write_counts()
        waiting = self.health().pending
        if waiting:
            log.warning("assay: queue closed with %d samples that could not be written", waiting)

    def _write_without_thread(self) -> None:
        """Write what waits on this thread, where the process could start none for it: at its end it cannot."""
        lane = self._box.lane
        with lane.lock:  # so that no thread is started meanwhile
            while lane.thread is None and self._box.open and not self._failing:
                self._write()

    def _write_counts(self) -> None:
        """Write the counts without the samples, so that the report has these as `unwritten`."""
        with self._box.lock:
            counts, self._unwritten = self._unwritten, Counter()
        try:
            self._file.add_counts(self._process, counts, self._application.name)
        except Exception as error:
            self.count_error(error, "queue")
        self._file.close()

    # -- writing --------------------------------------------------------------------------------------------------

    def _write(self) -> bool:
        """Write one batch and the counts; where the file cannot be written, all is kept for the next attempt."""
        if self._box.stopped or time.monotonic() < self._retry_at:
            return False
        follow_server()
        self._fill()
        with self._box.lock:
            counts, self._unwritten = self._unwritten, Counter()
        try:
            outcome = self._append(counts)
        except Exception as error:
            with self._box.lock:
                self._unwritten.update(counts)
                self._tally.errors.add(error, "queue")
                self._failing = True
                self._box.changed()
            self._retry_at = time.monotonic() + RETRY
            return False
        with self._box.lock:
            self._failing = False
            dropped = sum(number for name, number in outcome.items() if name.startswith("dropped:"))
            written = {"queued": outcome["appended"], "duplicates": outcome["duplicates"], "dropped": dropped}
            self._tally.counts.update(written)
            self._waiting -= len(self._batch)
            self._box.settle(self._numbers)
            self._batch, self._numbers = [], []
            return len(self._box) >= BATCH or self._box.awaited  # else another batch may come together

    def _append(self, counts: Counter[str]) -> Counter[str]:
        """Append the batch; to a new file at once where it is gone, as nobody tries again at the end of the process."""
        bounds = (self._max_pending, self._max_bytes)
        arguments = (self._batch, counts, self._process, *bounds, self._application.name)
        try:
            return self._file.append(*arguments)
        except FileReplaced as error:
            self.count_error(error, "queue")
            return self._file.append(*arguments)

    def _fill(self) -> None:
        """Read from the mailbox into the batch."""
        while len(self._batch) < BATCH and (taken := self._box.take()) is not None:
            number, item = taken
            self._numbers.append(number)
            if isinstance(item, _QueuedFeedback):
                self._give(item.key, item.feedback)
            else:
                self._read(item)

    def _read(self, submission: Submission) -> None:
        """Put a sample into the batch, or count why not."""
        try:
            sample = submission if isinstance(submission, Sample) else submission()
            chosen = None if sample is None else self._sampler.choose(self._application.mark(sample))
            entry = None if chosen is None else _entry(chosen)
        except BaseException as error:  # foreign code on our own thread: counted, never passed on
            self.count_error(error, "capture")
            sample = entry = None
        if entry is not None:
            self._batch.append(entry)
            return
        with self._box.lock:
            name = "skipped" if sample is None else "sampled_out"
            self._unwritten[name] += 1
            self._tally.counts[name] += 1
            self._waiting -= 1

    def _give(self, key: str, feedback: Feedback) -> None:
        """Attach feedback to the sample it is for, wherever that is."""
        sampler = self._sampler
        try:
            if sampler.is_left(key):
                sample = sampler.bring_in(key, feedback)
                if sample is not None:
                    self._batch.append(_entry(sample))
                    with self._box.lock:
                        self._unwritten["sampled_out"] -= 1
                        self._tally.counts["sampled_out"] -= 1
                        self._waiting += 1
                return
            for index, (waiting, text) in enumerate(self._batch):
                if waiting == key:
                    self._batch[index] = (key, self._amended(text, feedback))
                    sampler.counts[ATTACHED] += 1
                    return
            state = self._file.amend(key, lambda text: self._amended(text, feedback))
        except Exception as error:
            sampler.counts[REFUSED] += 1
            self.count_error(error, "feedback")
            return
        if state is None:
            sampler.note(key, feedback)
        else:
            sampler.counts[{AMENDED: ADDED, DELIVERED: LATE}.get(state, ATTACHED)] += 1

    def _amended(self, text: str, feedback: Feedback) -> str:
        """A sample that was taken, as JSON, with the feedback that came after that."""
        return self._sampler.with_later_feedback(Sample.from_dict(json.loads(text)), feedback).to_json()


def size_of_feedback(feedback: Feedback) -> int:
    """What feedback holds in memory, roughly."""
    return 256 + len(str(feedback.get("value", ""))) + len(feedback.get("comment", ""))


def _entry(sample: Sample) -> tuple[str, str]:
    return sample.key().encode("utf-8", "replace").decode(), sample.to_json()
