"""Sampling: which samples are scored, decided by their trace, so that everybody who decides decides the same."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from assay.errors import InputError
from assay.live.marks import with_marks
from assay.records import Record, Sample, SampleStatus

#: Ids of the trace that a sample came from, the most widely known first. They are equal however a trace was captured.
TRACE_IDS = ("otel_trace_id", "langfuse_trace_id", "mlflow_trace_id")

_SPACE = 2**64


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingDecision(Record):
    """Whether a sample is taken, at which rate, and by which rule (None: no rule matched)."""

    taken: bool
    rate: float
    rule: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingRule:
    """Sampling rate for the samples that meet all of its conditions. A rule without conditions matches every sample.

    Attributes:
        name: Name of the rule. Samples that it decided on carry it in `metadata["sampling"]`.
        rate: Share of them that is taken, in [0, 1].
        tags: At least one of these is in `metadata["tags"]`. Empty: no condition.
        status: The status is one of these: complete, abandoned, cancelled, failed. Empty: no condition.
        metadata: The sample's metadata has these entries, with these values. Empty: no condition.
        feedback: The user's feedback is one of these values; True for any feedback. False: no condition.
        feedback_below: The feedback is a number (False is 0, True is 1) below this one. None, here and below: no
            condition.
        feedback_above: The feedback is a number (False is 0, True is 1) above this one.
        min_question: Least length of the question, in characters, inclusive. A missing text has 0.
        max_question: Greatest length of the question, in characters, inclusive.
        min_answer: Least length of the answer, in characters, inclusive. A missing text has 0.
        max_answer: Greatest length of the answer, in characters, inclusive.
        min_contexts: Least number of contexts, inclusive. Samples with unknown contexts do not match.
        max_contexts: Greatest number of contexts, inclusive. Samples with unknown contexts do not match.
        no_context: True: the contexts are unknown (None). False: they are known.

    Raises:
        InputError: The name is empty, the rate is outside [0, 1], a status is unknown, a text stands in place of a
            sequence, or a minimum exceeds its maximum.
    """

    name: str
    rate: float = 1.0
    tags: Collection[str] = ()
    status: Collection[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    feedback: Collection[float | bool | str] | bool = False
    feedback_below: float | None = None
    feedback_above: float | None = None
    min_question: int | None = None
    max_question: int | None = None
    min_answer: int | None = None
    max_answer: int | None = None
    min_contexts: int | None = None
    max_contexts: int | None = None
    no_context: bool | None = None

    def __post_init__(self) -> None:
        if not self.name or not isinstance(self.name, str):
            raise InputError(f"SamplingRule: name: expected a text, got {self.name!r}")
        check_rate(self.rate, f"Rule {self.name!r}: rate")
        for title in ("tags", "status"):
            if isinstance(getattr(self, title), str):
                raise InputError(f"Rule {self.name!r}: {title}: expected a sequence of texts, got one text")
        unknown = set(self.status) - set(get_args(SampleStatus))
        if unknown:
            known = ", ".join(get_args(SampleStatus))
            raise InputError(f"Rule {self.name!r}: status: {sorted(unknown)} is none of {known}")
        if isinstance(self.feedback, str):
            raise InputError(f"Rule {self.name!r}: feedback: expected True or a sequence of values, got one text")
        for title in ("question", "answer", "contexts"):
            low, high = getattr(self, f"min_{title}"), getattr(self, f"max_{title}")
            if low is not None and high is not None and low > high:
                raise InputError(f"Rule {self.name!r}: min_{title} {low} is more than max_{title} {high}")

    def matches(self, sample: Sample) -> bool:
        """Check whether a sample meets all conditions of this rule.

        Args:
            sample: The sample.

        Returns:
            True when it does.
        """
        tags = sample.metadata.get("tags")
        held = set(map(str, tags)) if isinstance(tags, (list, tuple, set, frozenset)) else set()
        if self.tags and held.isdisjoint(self.tags):
            return False
        if self.status and sample.status not in self.status:
            return False
        missing = object()
        if any(sample.metadata.get(name, missing) != value for name, value in self.metadata.items()):
            return False
        if self.no_context is not None and self.no_context != (sample.contexts is None):
            return False
        return self._sizes(sample) and self._feedback(sample)

    def _sizes(self, sample: Sample) -> bool:
        contexts = None if sample.contexts is None else len(sample.contexts)
        if contexts is None and (self.min_contexts, self.max_contexts) != (None, None):
            return False
        return (
            _within(len(sample.question or ""), self.min_question, self.max_question)
            and _within(len(sample.answer or ""), self.min_answer, self.max_answer)
            and _within(contexts or 0, self.min_contexts, self.max_contexts)
        )

    def _feedback(self, sample: Sample) -> bool:
        if self.feedback is False and self.feedback_below is None and self.feedback_above is None:
            return True
        given = sample.metadata.get("feedback")
        if not isinstance(given, Mapping) or "value" not in given:
            return False
        value = given["value"]
        if not isinstance(self.feedback, bool) and value not in self.feedback:
            return False
        if self.feedback_below is None and self.feedback_above is None:
            return True
        if not isinstance(value, (int, float)) or math.isnan(value):
            return False
        below = self.feedback_below is None or value < self.feedback_below
        return below and (self.feedback_above is None or value > self.feedback_above)


@dataclass(frozen=True, slots=True)
class Sampling:
    """Choose a share of all samples: by the rate of the first rule that matches, else by `rate`.

    The decision is a pure function of seed, trace and rates: a hash of seed and trace id below the rate. The same trace
    meets the same decision in every process, live or imported, and what a rate takes, a higher one takes too.

    Args:
        rate: Share of samples, from 0 to 1.
        rules: Rules with rates of their own, in order.
        seed: Another seed chooses other samples.

    Raises:
        InputError: A rate is not from 0 to 1.
    """

    rate: float = 1.0
    rules: tuple[SamplingRule, ...] = ()
    seed: str = ""

    def __post_init__(self) -> None:
        check_rate(self.rate, "Sampling: rate")
        object.__setattr__(self, "rules", tuple(self.rules))
        wrong = next((rule for rule in self.rules if not isinstance(rule, SamplingRule)), None)
        if wrong is not None:
            raise InputError(f"Sampling: rules: expected SamplingRule objects, got {wrong!r}")
        names = [rule.name for rule in self.rules]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"Sampling: rules: two are named {twice!r}")
        if not isinstance(self.seed, str):
            raise InputError(f"Sampling: seed: expected a text, got {self.seed!r}")

    def decide(self, sample: Sample) -> SamplingDecision:
        """Decide on a sample.

        Args:
            sample: The sample.

        Returns:
            Whether it is taken, with the rate and the rule.
        """
        rule = next((rule for rule in self.rules if rule.matches(sample)), None)
        rate = self.rate if rule is None else rule.rate
        taken = position(sampling_key(sample), self.seed) < int(rate * _SPACE)
        return SamplingDecision(taken=taken, rate=rate, rule=None if rule is None else rule.name)

    def mark(self, sample: Sample) -> tuple[bool, Sample]:
        """Decide on a sample, and write the decision into its metadata.

        Args:
            sample: The sample.

        Returns:
            Whether it is taken; and the sample with rate and rule in `metadata["sampling"]`: 1 / rate is its weight.
        """
        decision = self.decide(sample)
        return decision.taken, with_marks(sample, {"sampling": _mark_of(decision)})

    def with_later_feedback(self, sample: Sample) -> Sample:
        """Correct the rate of a sample that was taken before its feedback came.

        Had it been left out, the feedback might have brought it in: all samples with such feedback are taken at the
        higher of the two rates. Without the correction they would count for too many.

        Args:
            sample: A sample that was taken, with its feedback.

        Returns:
            The sample, with the higher rate in `metadata["sampling"]`.
        """
        decision, before = self.decide(sample), sample.metadata.get("sampling")
        rate = before.get("rate") if isinstance(before, Mapping) else None
        if not isinstance(rate, (int, float)) or decision.rate <= rate:
            return sample
        return with_marks(sample, {"sampling": _mark_of(decision)})


def _mark_of(decision: SamplingDecision) -> dict[str, Any]:
    how: dict[str, Any] = {"rate": decision.rate}
    return how if decision.rule is None else {**how, "rule": decision.rule}


def resolve_sampling(sampling: Sampling | float | None) -> Sampling | None:
    """What is meant by a rate, a `Sampling`, or None (take everything). Raises InputError for anything else."""
    if sampling is None or isinstance(sampling, Sampling):
        return sampling
    if isinstance(sampling, (int, float)) and not isinstance(sampling, bool):
        return Sampling(sampling)
    raise InputError(f"sampling: expected a rate in [0, 1], a Sampling or None, got {sampling!r}")


def sampling_key(sample: Sample) -> str:
    """What the decision hangs on: the id of the trace where it is known, else the sample's own key.

    MLflow calls the OpenTelemetry trace `abc` `tr-abc`; both are the same trace.
    """
    for name in TRACE_IDS:
        trace = sample.ids.get(name)
        if trace:
            return trace.strip().lower().removeprefix("tr-").removeprefix("0x")
    return sample.key()


def position(key: str, seed: str = "") -> int:
    """Where a key lies among all keys: evenly spread over 0 up to, not including, 2**64."""
    digest = hashlib.sha256(f"{seed}\x00{key}".encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:8], "big")


def check_rate(rate: Any, name: str) -> None:
    """Raise InputError unless `rate` is a number in [0, 1]."""
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 <= rate <= 1:
        raise InputError(f"{name}: expected a number in [0, 1], got {rate!r}")


def _within(size: int, low: int | None, high: int | None) -> bool:
    return (low is None or size >= low) and (high is None or size <= high)
