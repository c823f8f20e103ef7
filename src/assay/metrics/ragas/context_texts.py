"""ragas' comparisons of the retrieved passages with reference passages, by their characters or ids; ragas 0.4.3.

non_llm_context_precision_with_reference  average precision over the ranking, where a passage is relevant when its
                                          similarity to some reference passage is at least the threshold
non_llm_context_recall                    reference passages with a retrieved one more similar than the threshold / all
id_based_context_precision                ids retrieved that are reference ids / ids retrieved, each id once
id_based_context_recall                   reference ids that were retrieved / reference ids, each once

All 0 to 1, higher is better; similarity is 1 - the normalised edit distance. The original adds 1e-10 below the average
precision; without its profile the sum is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from assay.errors import Cause, InputError
from assay.judges.protocol import Judge
from assay.metrics._context_precision import average_precision
from assay.metrics.ragas.text_pairs import Distance
from assay.metrics.systems import lexical
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.records import Context, Sample, Score

TINY = 1e-10


def average_precision_there(relevant: Sequence[bool]) -> float:
    """The average precision as ragas computes it: the denominator is never 0."""
    hits, total = 0, 0.0
    for rank, hit in enumerate(relevant, 1):
        if hit:
            hits += 1
            total += hits / rank
    return total / (hits + TINY)


def best(text: str, others: Sequence[str], measure: Distance) -> float:
    """The similarity of a text to the most similar of the others. Expects at least one."""
    return max(1 - lexical.normalized_distance(text, other, measure) for other in others)


def share(part: set[str], whole: set[str]) -> float:
    """Members of `whole` that are in `part` / members of `whole`. Expects at least one."""
    return len(whole & part) / len(whole)


@dataclass(frozen=True)
class ContextTexts(SystemMetric):
    """What the two metrics on the characters of passages have in common."""

    needs: ClassVar = ("contexts", "reference_contexts")
    needs_passages: ClassVar = False

    threshold: float = 0.5
    distance_measure: Distance = "levenshtein"

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise InputError(f"{type(self).__name__}: threshold: expected 0 to 1, found {self.threshold!r}")

    @property
    def label(self) -> str:
        shown = f"(threshold={self.threshold:g},distance_measure={self.distance_measure})"
        return super().label + (shown if (self.threshold, self.distance_measure) != (0.5, "levenshtein") else "")

    def value(self, found: Sequence[str], reference: Sequence[str]) -> float:
        raise NotImplementedError

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        reference = [context.text for context in sample.reference_contexts or ()]
        if not reference:
            return self.skip(Cause.MISSING_INPUT, "there is no reference context")
        if not sample.passages:
            return self.skip(Cause.NO_CONTEXT, "nothing was retrieved")
        if any(map(str.strip, sample.passages)):
            return self.make_score(self.value(sample.passages, reference))
        if self.original:
            return replace(self.make_score(self.value(sample.passages, reference)), convention="all contexts are blank")
        return self.skip(Cause.NO_CONTEXT, "all contexts are blank")


@dataclass(frozen=True)
class NonLLMContextPrecisionWithReference(ContextTexts):
    """Average precision of the ranking, where likeness to a reference context says what is relevant."""

    name: ClassVar[str] = "ragas:non_llm_context_precision_with_reference"
    conventions: ClassVar = {Cause.NO_CONTEXT: 0.0}

    def value(self, found: Sequence[str], reference: Sequence[str]) -> float:
        relevant = [best(text, reference, self.distance_measure) >= self.threshold for text in found]
        return average_precision_there(relevant) if self.original else average_precision(relevant)


@dataclass(frozen=True)
class NonLLMContextRecall(ContextTexts):
    """Reference contexts with something like them among the retrieved ones / reference contexts."""

    name: ClassVar[str] = "ragas:non_llm_context_recall"

    def value(self, found: Sequence[str], reference: Sequence[str]) -> float:
        return sum(best(text, found, self.distance_measure) > self.threshold for text in reference) / len(reference)


@dataclass(frozen=True)
class ContextIds(SystemMetric):
    """What the two metrics on the ids of passages have in common."""

    needs: ClassVar = ("contexts", "reference_contexts")
    needs_passages: ClassVar = False

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        both = (("contexts", sample.contexts or ()), ("reference_contexts", sample.reference_contexts or ()))
        for field, contexts in both:
            for number, context in enumerate(contexts, 1):
                if context.id is None:
                    return self.skip(Cause.MISSING_INPUT, f"{field}: passage {number} has no id")
        found, reference = ids(sample.contexts or ()), ids(sample.reference_contexts or ())
        return self.of(found, reference)

    def of(self, found: set[str], reference: set[str]) -> Score:
        raise NotImplementedError


def ids(contexts: Sequence[Context]) -> set[str]:
    """The ids of the passages, each once."""
    return {context.id for context in contexts if context.id is not None}


@dataclass(frozen=True)
class IDBasedContextPrecision(ContextIds):
    """Retrieved ids that are reference ids / retrieved ids."""

    name: ClassVar[str] = "ragas:id_based_context_precision"
    conventions: ClassVar = {Cause.NOT_APPLICABLE: 0.0}

    def of(self, found: set[str], reference: set[str]) -> Score:
        if not found:
            return self.skip(Cause.NO_CONTEXT, "nothing was retrieved")
        if not reference:
            return self.skip(Cause.NOT_APPLICABLE, "there is no reference context")
        return self.make_score(share(reference, found), parts={"hits": len(found & reference), "retrieved": len(found)})


@dataclass(frozen=True)
class IDBasedContextRecall(ContextIds):
    """Reference ids that were retrieved / reference ids."""

    name: ClassVar[str] = "ragas:id_based_context_recall"
    conventions: ClassVar = {Cause.NO_CONTEXT: 0.0}

    def of(self, found: set[str], reference: set[str]) -> Score:
        if not reference:
            return self.skip(Cause.NOT_APPLICABLE, "there is no reference context")
        if not found:
            return self.skip(Cause.NO_CONTEXT, "nothing was retrieved")
        return self.make_score(
            share(found, reference), parts={"hits": len(found & reference), "reference": len(reference)}
        )


def _entry(make: type[SystemMetric], family: str, steps: Steps, empty: str) -> Entry:
    source = f"ragas.metrics._{family.replace(' ', '_')}.{make.__name__}"
    ordered = steps.aggregate == "average precision"
    return Entry(
        make=make, source=source, compared="ragas 0.4.3", family=family, steps=steps, empty=empty, ordered=ordered
    )


ENTRIES = (
    _entry(
        NonLLMContextPrecisionWithReference,
        "context precision",
        Steps("passages", "each reference context", "similarity at least 0.5", "average precision"),
        "0 for no contexts; an exception for no reference contexts",
    ),
    _entry(
        NonLLMContextRecall,
        "context recall",
        Steps("reference contexts", "each passage alone", "similarity above 0.5", "share"),
        "an exception for no contexts; NaN for no reference contexts",
    ),
    _entry(
        IDBasedContextPrecision,
        "context precision",
        Steps("ids of passages", "ids of reference contexts", "equal ids", "share"),
        "NaN for no contexts; 0 for no reference contexts",
    ),
    _entry(
        IDBasedContextRecall,
        "context recall",
        Steps("ids of reference contexts", "ids of passages", "equal ids", "share"),
        "0 for no contexts; NaN for no reference contexts",
    ),
)
