"""What users say of answers, after the answers: it may bring in a sample that sampling had left out."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from assay._util.normalise import finite
from assay.live.sampling import Sampling
from assay.live.sizes import size_of
from assay.records import Sample

#: What became of feedback. `waiting` is not counted here: it stands for what still waits for its sample.
ATTACHED, BROUGHT_IN, KEPT, ADDED, LATE, UNMATCHED, REFUSED = (
    "attached", "brought_in", "kept", "added", "late", "unmatched", "refused"
)  # fmt: skip

Feedback = Mapping[str, Any]


class FeedbackSampler:
    """Takes or leaves samples as `sampling` says, and keeps what it left for a while, in case feedback comes.

    `counts` says what became of feedback: attached to a sample that then was decided on, or is in work; brought_in (it
    took the sample in); kept (attached to a sample that stays left out); added (to the row of a live run); late (the
    sample is beyond it); unmatched (no such sample came); refused (no value that feedback can have, or no room). Not
    safe for threads: its owner has a lock.

    Args:
        max_left: Samples kept, the newest; `max_bytes` is what they may hold, `max_age` seconds how long they wait.
        max_noted: Feedback kept whose sample has not come yet.
    """

    def __init__(
        self,
        sampling: Sampling | None,
        *,
        max_left: int = 1000,
        max_bytes: int = 16 * 2**20,
        max_noted: int = 1000,
        max_age: float = 3600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.sampling = sampling
        self.counts: Counter[str] = Counter()
        self._max = (max_left, max_bytes, max_noted, max_age)
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, int, Sample]] = OrderedDict()
        self._left_bytes = 0
        self._noted: OrderedDict[str, tuple[float, Feedback]] = OrderedDict()

    @property
    def waiting(self) -> int:
        """Feedback that waits for its sample."""
        return len(self._noted)

    @property
    def left(self) -> int:
        """Samples left out that feedback could still bring in."""
        return len(self._left)

    def choose(self, sample: Sample) -> Sample | None:
        """The sample as it is to be scored, with the feedback that waited for it; None: left out."""
        if self._noted:
            noted = self._noted.pop(sample.key(), None)
            if noted is not None:
                sample = with_feedback(sample, noted[1])
                self.counts[ATTACHED] += 1
        if self.sampling is None:
            return sample
        taken, sample = self.sampling.mark(sample)
        if taken:
            return sample
        if self.sampling.rules:  # nothing else can bring it in
            self._leave(sample)
        return None

    def bring_in(self, key: str, feedback: Feedback) -> Sample | None:
        """The sample left out with this key, if the feedback brings it in. It is then no longer kept."""
        self._expire()
        held = self._left.pop(key, None)
        if held is None or self.sampling is None:
            return None
        self._left_bytes -= held[1]
        taken, sample = self.sampling.mark(with_feedback(held[2], feedback))
        self.counts[BROUGHT_IN if taken else KEPT] += 1
        if taken:
            return sample
        self._leave(sample)
        return None

    def left_for(self, key: str) -> float:
        """Seconds since the sample with this key was first left out; 0 where it is not kept."""
        held = self._left.get(key)
        return 0.0 if held is None else self._clock() - held[0]

    def is_left(self, key: str) -> bool:
        """Whether the sample with this key was left out, and is kept."""
        self._expire()
        return key in self._left

    def note(self, key: str, feedback: Feedback) -> None:
        """Keep feedback for a sample that has not come yet."""
        if self._noted.pop(key, None) is not None:
            self.counts[UNMATCHED] += 1  # said again before it was matched: the newest counts
        self._noted[key] = (self._clock(), feedback)
        self._expire()

    def restore(self, sample: Sample) -> None:
        """Keep a sample that was brought in and found no room."""
        self.counts[BROUGHT_IN] -= 1
        self.counts[REFUSED] += 1
        self._leave(sample)

    @property
    def max_age(self) -> float:
        """Seconds for which a sample waits for feedback, whether it was left out or taken."""
        return self._max[3]

    def with_later_feedback(self, sample: Sample, feedback: Feedback) -> Sample:
        """A sample that was taken, with the feedback that came after that, and the rate that goes with it."""
        sample = with_feedback(sample, feedback)
        return sample if self.sampling is None else self.sampling.with_later_feedback(sample)

    def _leave(self, sample: Sample) -> None:
        key, size = sample.key(), size_of(sample)
        before = self._left.pop(key, None)
        if before is not None:
            self._left_bytes -= before[1]
        self._left[key] = (self._clock(), size, sample)
        self._left_bytes += size
        self._expire()

    def _expire(self) -> None:
        max_left, max_bytes, max_noted, max_age = self._max
        old = self._clock() - max_age
        while self._left:
            at, size, _ = next(iter(self._left.values()))
            if len(self._left) <= max_left and self._left_bytes <= max_bytes and at >= old:
                break
            self._left.popitem(last=False)
            self._left_bytes -= size
        while self._noted and (len(self._noted) > max_noted or next(iter(self._noted.values()))[0] < old):
            self._noted.popitem(last=False)
            self.counts[UNMATCHED] += 1


def feedback_of(value: Any, comment: Any = None) -> Feedback | None:
    """Feedback as it is kept in `metadata["feedback"]`; None where the value is no number, bool or text."""
    if not isinstance(value, (bool, int, str)):
        value = finite(value)
    if value is None:
        return None
    return {"value": value} if comment is None else {"value": value, "comment": str(comment)}


def with_feedback(sample: Sample, feedback: Feedback) -> Sample:
    """The sample with feedback in its metadata."""
    return replace(sample, metadata={**sample.metadata, "feedback": dict(feedback)})
