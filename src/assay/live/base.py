"""What a live scorer and a queue have in common: the host's side of a mailbox. Nothing here blocks or raises."""

from __future__ import annotations

import time
import uuid
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from assay._util.forks import renewed
from assay.live.application import Application, resolve_application
from assay.live.disabled_intake import register_intake, unpickled
from assay.live.exit_hooks import close_at_exit
from assay.live.feedback import REFUSED, Feedback, FeedbackSampler, feedback_of
from assay.live.health import Health, HealthCounts
from assay.live.mailbox import Mailbox
from assay.live.protocol import Submission
from assay.live.sampling import Sampling, resolve_sampling
from assay.live.sizes import size_of
from assay.records import Sample, build_adapter

STOP_GRACE = 2.0  # seconds that `close` takes at most to put things away, after its own timeout


class BaseIntake(ABC):
    """An intake over one mailbox. A subclass opens it, does the work, and says what becomes of feedback."""

    only_writes: ClassVar[bool] = False  # to a file of this machine: the end of the process then waits longer

    _box: Mailbox[Any]
    _failing = False  # the last attempt failed, so the end of the process does not wait for the next

    def __init__(self, sampling: Sampling | float | None, application: Application | str | None = None) -> None:
        build_adapter(Sample)  # for forked children as well: a short-lived one may end while it imports pydantic
        self._sampling = resolve_sampling(sampling)
        self._application = resolve_application(application)
        self._set_up()
        self._token = uuid.uuid4().hex
        register_intake(self._token, self)
        renewed(self)
        close_at_exit(self)

    def _set_up(self) -> None:
        """Begin afresh, at first and in a forked child."""
        self._tally = HealthCounts()
        self._sampler = FeedbackSampler(self._sampling)
        before = getattr(self, "_box", None)
        self._box = self._open_box()
        self._box.closed = before is not None and before.closed

    @abstractmethod
    def _open_box(self) -> Mailbox[Any]:
        """A new mailbox."""

    @abstractmethod
    def _take_feedback(self, key: str, feedback: Feedback) -> bool:
        """With the lock held. False: refused, or too late; it is counted."""

    @abstractmethod
    def _stop(self, seconds: float) -> None:
        """Put things away, within so many seconds."""

    @abstractmethod
    def health(self) -> Health:
        """The counters as they stand."""

    def submit(self, sample: Submission) -> bool:
        """Queue a sample. Never blocks, never raises.

        Args:
            sample: A sample, or a function that makes one.

        Returns:
            False when the sample was dropped.
        """
        try:
            size = size_of(sample)
            taken = self._box.put(size, sample, told=self._count_submission)
            if taken:
                self._wake()
        except Exception as error:
            self.count_error(error, "submit")
            return False
        return taken

    def feedback(self, key: str, value: float | bool | str, comment: str | None = None) -> bool:
        """Record what a user said of an answer. Never blocks, never raises.

        The feedback goes into `metadata["feedback"]` of the sample while the sample waits. It brings in a sample that
        sampling left out, where a rule says so. `health().feedback` counts the outcomes.

        Args:
            key: The key of the answer's sample.
            value: A number, a bool or a text.
            comment: The user's comment. None: no comment.

        Returns:
            False when the feedback is too late or refused.
        """
        try:
            given = feedback_of(value, comment)
            with self._box.lock:
                if given is None or self._box.closed:
                    self._sampler.counts[REFUSED] += 1
                    return False
                taken = self._take_feedback(str(key), given)
            if len(self._box):
                self._wake()
        except Exception as error:
            self.count_error(error, "feedback")
            return False
        return taken

    def flush(self, timeout: float | None = None) -> bool:
        """Wait until all samples submitted so far are safe.

        Args:
            timeout: Seconds to wait at most. None: no limit.

        Returns:
            False when the time ran out first.
        """
        return self._box.flush(timeout)

    def flush_unless_failing(self, timeout: float) -> None:
        """`flush`, unless the last attempt to write failed."""
        self._box.wait_for(lambda: self._failing or not self._box.open, timeout)

    def count_error(self, error: BaseException, where: str) -> None:
        """Count an exception caught outside the intake's own code, for example in a capture hook.

        Args:
            error: The exception.
            where: Where it was caught.
        """
        with self._box.lock:
            self._tally.errors.add(error, where)

    def close(self, timeout: float | None = 30) -> Health:
        """Accept no more samples and finish those in progress.

        Args:
            timeout: Seconds to finish at most. None: no limit.

        Returns:
            The last counters. Samples pending in them are lost.
        """
        self.finish(timeout, STOP_GRACE)
        return self.health()

    def finish(self, timeout: float | None, grace: float) -> None:
        with self._box.lock:
            first, self._box.closed = not self._box.closed, True
        if first:
            started = time.monotonic()
            self.flush(timeout)
            left = 0.0 if timeout is None else max(0.0, timeout - (time.monotonic() - started))
            self._stop(left + grace)

    def _count_submission(self, taken: bool) -> None:
        """With the lock held."""
        self._tally.counts["submitted" if taken else "dropped"] += 1

    def _wake(self) -> None:
        try:
            self._box.lane.wake()
        except RuntimeError as error:  # no threads at the end of the process
            self.count_error(error, "start")

    # -- copies: components that hold an intake are copied, the intake stays one

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return unpickled, (self._token, type(self).__name__)
