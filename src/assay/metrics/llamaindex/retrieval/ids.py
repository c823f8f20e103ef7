"""What LlamaIndex' retrieval metrics compare: the ids of the passages retrieved, in order, and of those expected.

The ids are `Context.id` of `contexts` and `reference_contexts`. `k` is ours: it looks at the first `k` retrieved only,
where the original takes what the retriever gave. Without a passage on either side the original raises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from assay.errors import Cause, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics.systems.base import SystemMetric, at_least
from assay.records import Sample, Score

Field = Literal["contexts", "reference_contexts"]


def ids_of(sample: Sample, field: Field) -> tuple[str, ...]:
    """The ids of passages, in order. Raises JudgeFailure(missing_input) where one has none."""
    found = [context.id for context in getattr(sample, field) or ()]
    known = tuple(one for one in found if one is not None)
    if len(known) < len(found):
        raise JudgeFailure(Cause.MISSING_INPUT, f"{len(found) - len(known)} of the {field} have no id")
    return known


@dataclass(frozen=True)
class ById(SystemMetric):
    """A metric of the ids retrieved and expected. Derived classes count."""

    needs: ClassVar[tuple[str, ...]] = ("contexts", "reference_contexts")
    needs_passages: ClassVar[bool] = False

    k: int | None = None

    def __post_init__(self) -> None:
        if self.k is not None:
            at_least(self, "k")

    @property
    def label(self) -> str:
        return super().label if self.k is None else f"{super().label}_at_{self.k}"

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        retrieved, expected = ids_of(sample, "contexts")[: self.k], ids_of(sample, "reference_contexts")
        if not retrieved:
            return self.skip(Cause.NO_CONTEXT, "nothing was retrieved")
        if not expected:
            return self.skip(Cause.MISSING_INPUT, f"{self.label} needs reference_contexts, of which there are none")
        parts = {"retrieved": float(len(retrieved)), "expected": float(len(expected))}
        value = self.compute(sample, retrieved, expected)
        score = self.make_score(min(value, self.high), parts=parts)
        # the original counts a passage retrieved twice as two, which can take a share above 1
        return replace(score, value=value, high=max(value, self.high))

    def compute(self, sample: Sample, retrieved: Sequence[str], expected: Sequence[str]) -> float:
        """The value, from one id at least on each side."""
        raise NotImplementedError
