"""Context precision: do the passages that are useful for the reference answer stand at the top of the ranking?

Average precision over the retrieved passages in their order, with v_k = 1 where passage k is useful:

    sum over k of (precision@k * v_k) / sum over k of v_k

Range 0 to 1, higher is better; 0 when no passage is useful. Source: ragas, with a reference
since 0.1. The sum is exact, so that a perfect ranking is 1.0 and not 0.9999999999 (ragas issue 2909).
`parts["precision"]` is the plain share of useful passages, which the name suggests to many. An empty retrieval is
skipped: it has no ranking, and context recall is the metric that punishes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from assay.judges.protocol import Judge
from assay.metrics.base import Metric
from assay.prompts import Usefulness
from assay.records import Sample, Score, Verdict


def average_precision(useful: Sequence[bool]) -> float:
    """Mean of precision@k over the ranks k that are useful; 0.0 when none is."""
    ranks = [rank for rank, hit in enumerate(useful, 1) if hit]
    total = sum(Fraction(hits, rank) for hits, rank in enumerate(ranks, 1))
    return float(total / len(ranks)) if ranks else 0.0


def share_useful(verdicts: Sequence[Verdict]) -> float:
    """Useful verdicts / verdicts. Expects at least one."""
    return sum(verdict.label == "useful" for verdict in verdicts) / len(verdicts)


@dataclass(frozen=True)
class ContextPrecision(Metric):
    """Average precision of the ranking, where the reference says what is useful."""

    name: ClassVar[str] = "context_precision"
    needs: ClassVar = ("question", "contexts", "reference")
    asks: ClassVar = (Usefulness,)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        question, earlier = sample.question or "", sample.earlier_question
        prompt = Usefulness(question, sample.passages, sample.reference, sample.spoken, earlier)
        verdicts = await judge.find(prompt)
        return self.make_score(
            average_precision([verdict.label == "useful" for verdict in verdicts]),
            verdicts={"question+reference/contexts": verdicts},
            parts={"precision": share_useful(verdicts)},
        )
