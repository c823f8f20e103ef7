"""Hand the samples of finished traces to an intake: each exchange once, with the earlier turns of its conversation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from functools import partial

from assay._util.normalise import leaving_out
from assay.capture.collector import RunCollector
from assay.capture.conversations import Conversations
from assay.capture.dedup import handed_to
from assay.capture.history import MayForget, complete_history
from assay.capture.missing_answer import log_missing_answer
from assay.capture.rules import CaptureRules
from assay.capture.tree import Trace
from assay.live.handlers.exchanges import PendingExchange, RecentExchanges
from assay.live.protocol import Intake
from assay.records import Sample


class TraceSubmitter:
    """Submits the samples of finished traces.

    Args:
        collector: The collector that the traces come from.
        intake: Takes the samples.
        rules: Where question, answer and contexts are.
        remembered: The newest captured samples of the handler.
        make: Makes the sample of a trace, and says whether the application forgets: see `complete_history`. Called on
            the intake's thread.
        count: Counts an error of ours; it raises none.

    Attributes:
        left_out: Finished traces that were not submitted or gave no sample, by reason.
    """

    def __init__(
        self,
        collector: RunCollector,
        intake: Intake,
        rules: CaptureRules,
        remembered: RecentExchanges,
        make: Callable[[Trace], tuple[Sample | None, MayForget | None]],
        count: Callable[[BaseException, str], None],
    ) -> None:
        self.left_out: Counter[str] = Counter()
        self._collector = collector
        self._intake = intake
        self._rules = rules
        self._remembered = remembered
        self._make = make
        self._count = count
        self._conversations = Conversations()
        self._handed = handed_to(intake)
        self._handed.join(collector)

    def submit(self, trace: Trace) -> None:
        """Submit the sample of a finished trace.

        An interrupted trace waits until it is resumed. A trace is left out where it is part of another one, or was
        submitted before; `left_out` counts both.

        Args:
            trace: The trace.
        """
        other = None if trace.parent is None else self._handed.follower(trace.parent, self._collector)
        if other is not None:
            other.take_in(trace)
            self.left_out["part_of_another"] += 1
        elif not self._handed.first(trace.key):
            self.left_out["captured_twice"] += 1
        else:
            for ready in self._handed.interrupted.accept(trace):
                self._hand_over(ready)

    def give_up(self) -> None:
        """Submit the interrupted traces that nobody has resumed."""
        for trace in self._handed.interrupted.give_up():
            self._hand_over(trace)

    @property
    def interrupted(self) -> int:
        """Number of interrupted traces that wait to be resumed."""
        return len(self._handed.interrupted)

    def _hand_over(self, trace: Trace) -> None:
        captured = PendingExchange(partial(self._sample, trace), trace.size)
        self._remembered.add(captured)
        self._intake.submit(captured)

    def knows(self, run: Hashable) -> bool:
        """Check whether a run belongs to an open trace of this handler, or of another handler with the same intake.

        Args:
            run: Id of the run.

        Returns:
            True where it belongs to one.
        """
        return self._collector.knows(run) or self._handed.hears(run, self._collector)

    def _sample(self, trace: Trace) -> Sample | None:
        """The sample of a trace, on the intake's thread."""
        try:
            if trace.adopted:  # the parent was heard of after all: this is a part of its trace
                self.left_out["part_of_another"] += 1
                return None
            with leaving_out() as errors:
                sample, forgets = self._make(trace)
            for error in errors:
                self._count(error, "metadata")
            if sample is None:
                self.left_out["no_answer"] += 1
                log_missing_answer(trace, self._rules)
                return None
            return complete_history(self._conversations, sample, trace, forgets)
        except BaseException as error:
            self._count(error, "sample")
            return None
