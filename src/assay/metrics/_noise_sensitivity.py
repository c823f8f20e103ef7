"""Noise sensitivity: what share of the answer's claims are wrong and were picked up from the retrieved contexts?

A claim of the answer is wrong when the reference does not support it. A passage is relevant when it supports at least
one claim of the reference.

    mode="relevant"    wrong claims that some relevant passage supports / claims of the answer
    mode="irrelevant"  wrong claims that some irrelevant passage supports, and no relevant one / claims of the answer

Range 0 to 1, lower is better. Source: RAGChecker (Ru et al., 2024), ragas 0.1.22. A wrong claim that no single
passage supports is made up, not noise, and counts in neither mode; hallucination counts it. Passages are read one by
one (the cells of the matrix): what only several together support is not attributed to any. Skipped when answer or
reference makes no claim: without a reference claim every passage would be irrelevant and every claim wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.base import Metric
from assay.metrics.shared_prompts import (
    ask,
    both_not_judged,
    claims_of,
    gather,
    probabilities,
    support,
    with_cells,
)
from assay.prompts import Claims, Support
from assay.records import Direction, Sample, Score, Verdict

Mode = Literal["relevant", "irrelevant"]


def supporters(verdict: Verdict) -> set[int]:
    """The passages that support this claim on their own."""
    return {index for index, cell in enumerate(verdict.cells) if cell.label == "supported"}


def relevant_passages(reference: Sequence[Verdict]) -> set[int]:
    """The passages that support at least one claim of the reference, from its claims read against the contexts."""
    return set().union(*map(supporters, reference))


def share_noise(
    correct: Sequence[Verdict], contexts: Sequence[Verdict], relevant: set[int], mode: Mode = "relevant"
) -> float:
    """Wrong claims that came from passages of this kind / claims. Expects at least one claim.

    `correct` and `contexts` are the verdicts of the reference and of the contexts on the same claims, in order.
    """
    noise = 0
    for truth, found in zip(correct, contexts, strict=True):
        if truth.label != "supported":
            sources = supporters(found)
            from_relevant = bool(sources & relevant)
            noise += from_relevant if mode == "relevant" else bool(sources) and not from_relevant
    return noise / len(correct)


def expected_noise(
    correct: Sequence[Verdict], contexts: Sequence[Verdict], relevant: set[int], mode: Mode = "relevant"
) -> float | None:
    """The share that the probabilities lead one to expect; None where a claim or a passage's verdict on it has none.

    Which passages are relevant is taken as counted, and of several passages the one that most likely supports a claim
    stands for all of its kind.
    """
    noise = 0.0
    for truth, found in zip(correct, contexts, strict=True):
        cells = probabilities(found.cells)
        if truth.probability is None or not cells:
            return None
        best = max((p for index, p in enumerate(cells) if index in relevant), default=0.0)
        other = max((p for index, p in enumerate(cells) if index not in relevant), default=0.0)
        noise += (1 - truth.probability) * (best if mode == "relevant" else other * (1 - best))
    return noise / len(correct)


def noise_parts(
    correct: Sequence[Verdict], contexts: Sequence[Verdict], relevant: set[int], mode: Mode
) -> dict[str, float]:
    """How many passages are relevant, and the noise to expect where that is known."""
    expected = expected_noise(correct, contexts, relevant, mode)
    return {"relevant_passages": len(relevant), **({} if expected is None else {"mean_probability": expected})}


@dataclass(frozen=True, slots=True)
class NoiseReading:
    """The claims of answer and reference, read against the reference and each passage.

    Attributes:
        correct: Verdicts of the reference on the claims of the answer.
        found: Verdicts of the contexts on the same claims.
        recalled: Verdicts of the contexts on the claims of the reference.
        not_judged: Texts of answer and reference that make no claim.
        without_claims: The first field that makes no claim; nothing is asked then.
    """

    correct: tuple[Verdict, ...]
    found: tuple[Verdict, ...]
    recalled: tuple[Verdict, ...]
    not_judged: Mapping[str, tuple[str, ...]]
    without_claims: str = ""


async def read_noise(sample: Sample, judge: Judge) -> NoiseReading:
    """Ask which claims are wrong, and which passages they come from.

    Args:
        sample: A sample with answer, contexts and reference.
        judge: The judge.

    Returns:
        What was read; without verdicts where answer or reference makes no claim.

    Raises:
        JudgeFailure: If the judge does not answer.
    """
    answer, reference = await ask(judge, claims_of(sample, "answer"), claims_of(sample, "reference"))
    left = both_not_judged(sample, answer, reference)
    for field, claims in (("answer", answer), ("reference", reference)):
        if not claims:
            return NoiseReading((), (), (), left, without_claims=field)
    correct, found, recalled = await gather(
        support(answer, (sample.reference or "",), sample, judge),
        support(answer, sample.passages, sample, judge),
        support(reference, sample.passages, sample, judge),
    )
    found, recalled = await gather(
        with_cells(found, sample.passages, sample, judge), with_cells(recalled, sample.passages, sample, judge)
    )
    return NoiseReading(correct, found, recalled, left)


def score_noise(metric: Metric, reading: NoiseReading, mode: Mode) -> Score:
    """Score what was read: wrong claims that came from passages of this kind / claims of the answer.

    Args:
        metric: The metric whose score it is.
        reading: What `read_noise` returned.
        mode: Of which passages: "relevant", or "irrelevant" alone.

    Returns:
        The share, 0 to 1, lower is better; skipped where answer or reference makes no claim.
    """
    if reading.without_claims:
        message = f"the {reading.without_claims} makes no checkable claim"
        return metric.skip(Cause.NO_CLAIMS, message, texts=reading.not_judged)
    correct, found, recalled = reading.correct, reading.found, reading.recalled
    relevant = relevant_passages(recalled)
    return metric.make_score(
        share_noise(correct, found, relevant, mode),
        verdicts={"answer/reference": correct, "answer/contexts": found, "reference/contexts": recalled},
        parts=noise_parts(correct, found, relevant, mode),
        texts=reading.not_judged,
    )


@dataclass(frozen=True)
class NoiseSensitivity(Metric):
    """Wrong claims of the answer that relevant (or only irrelevant) passages support / claims of the answer."""

    name: ClassVar[str] = "noise_sensitivity"
    needs: ClassVar = ("answer", "contexts", "reference")
    asks: ClassVar = (Claims, Support)
    direction: ClassVar[Direction] = "lower"

    mode: Mode = "relevant"

    @property
    def label(self) -> str:
        return f"{self.name}_{self.mode}"

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        return score_noise(self, await read_noise(sample, judge), self.mode)
