"""TruLens' measures of what a memory gave back, by what should have come. They ask no judge.

    memory_recall   expected memories that one of the contexts is like / expected memories
    memory_mrr      1 / rank of the first context that is like an expected memory, 0 where none is

Range 0 to 1, higher is better. trulens 2.16.0, `GroundTruthAgreement`. The contexts are what the memory gave back; the
expected memories are metadata["expected_memories"], a list of texts, each counted once. Two texts are alike where they
are equal, or with a `similarity_threshold` below 1 where difflib's ratio reaches it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import ClassVar

from assay.errors import Cause, InputError
from assay.judges.protocol import Judge
from assay.metrics.systems.base import Entry, Steps, SystemMetric, given
from assay.records import Sample, Score

#: Longer texts are compared as a whole: difflib's time grows with the product of their lengths.
LONGEST = 2000

Alike = Callable[[str, str], bool]


def recall(expected: Sequence[str], found: Sequence[str], alike: Alike) -> float:
    """Expected memories that one found is like / expected memories, at least one, each once."""
    once = tuple(dict.fromkeys(expected))
    return sum(any(alike(one, other) for other in found) for one in once) / len(once)


def reciprocal_rank(expected: Sequence[str], found: Sequence[str], alike: Alike) -> float:
    """1 / rank of the first one found that is like an expected one; 0 where none is."""
    ranks = (rank for rank, one in enumerate(found, 1) if any(alike(one, other) for other in expected))
    return next((1 / rank for rank in ranks), 0.0)


@dataclass(frozen=True)
class _Memory(SystemMetric):
    needs: ClassVar = ("contexts",)
    needs_passages: ClassVar[bool] = False

    similarity_threshold: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.similarity_threshold <= 1:
            given = self.similarity_threshold
            raise InputError(f"{self.name}: similarity_threshold: expected more than 0 and at most 1; found {given!r}")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        expected = [str(one) for one in given(sample, self, "expected_memories", list)]
        if not expected:
            return self.skip(Cause.NOT_APPLICABLE, "no memory is expected")
        return self.make_score(self.value(expected, sample.passages))

    @abstractmethod
    def value(self, expected: Sequence[str], found: Sequence[str]) -> float:
        """The measure of what came."""

    def alike(self, one: str, other: str) -> bool:
        """Whether two memories count as the same."""
        if self.similarity_threshold >= 1 or max(len(one), len(other)) > LONGEST:
            return one == other
        matcher = SequenceMatcher(None, one, other)
        # its quick bound is never below the ratio, and tells nearly all that differ
        return matcher.quick_ratio() >= self.similarity_threshold and matcher.ratio() >= self.similarity_threshold


@dataclass(frozen=True)
class MemoryRecall(_Memory):
    """Expected memories that came / expected memories."""

    name: ClassVar[str] = "trulens:memory_recall"
    columns: ClassVar[tuple[str, ...]] = ("expected_memories",)

    def value(self, expected: Sequence[str], found: Sequence[str]) -> float:
        return recall(expected, found, self.alike)


@dataclass(frozen=True)
class MemoryMrr(_Memory):
    """1 / rank of the first expected memory."""

    name: ClassVar[str] = "trulens:memory_mrr"
    columns: ClassVar[tuple[str, ...]] = ("expected_memories",)

    def value(self, expected: Sequence[str], found: Sequence[str]) -> float:
        return reciprocal_rank(expected, found, self.alike)


def _entry(make: type[_Memory], family: str, aggregate: str) -> Entry:
    return Entry(
        make=make,
        source=f"trulens.feedback.GroundTruthAgreement.{make.name.partition(':')[2]}",
        compared="trulens 2.16.0",
        family=family,
        steps=Steps("passages", "the expected memories", "alike", aggregate),
        empty="0; NaN where none is expected",
        ordered="rank" in aggregate,
    )


ENTRIES = (
    _entry(MemoryRecall, "context recall", "share of those expected"),
    _entry(MemoryMrr, "ranking", "1 / rank of the first"),
)
