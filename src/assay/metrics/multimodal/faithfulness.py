"""Faithfulness with pictures among the contexts, by claims.

    faithfulness            claims of the answer that the contexts support / claims
    deepeval_faithfulness   claims of the answer that no context contradicts / claims (DeepEval 4)

Range 0 to 1, higher is better. Passages are texts and pictures, in one claim x passage matrix: a claim may be supported
by a text and a picture together. Pictures in the answer itself are no claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.faithfulness import Faithfulness as _Faithfulness
from assay.metrics.multimodal.base import MultiModalMetric
from assay.metrics.shared_inquiries import answer_against_conversation
from assay.metrics.systems.base import Entry, Steps
from assay.records import Sample, Score, ScoreError, Verdict


def share_not_contradicted(verdicts: Sequence[Verdict]) -> float:
    """Verdicts other than contradicted / verdicts. Expects at least one."""
    return sum(verdict.label != "contradicted" for verdict in verdicts) / len(verdicts)


@dataclass(frozen=True)
class Faithfulness(MultiModalMetric, _Faithfulness):
    """Supported claims of the answer / claims of the answer, with pictures among the contexts."""

    name: ClassVar[str] = "multimodal:faithfulness"
    reads_history: ClassVar = False


@dataclass(frozen=True)
class DeepEvalFaithfulness(MultiModalMetric, _Faithfulness):
    """Claims of the answer that are not contradicted / claims of the answer, with pictures among the contexts."""

    name: ClassVar[str] = "multimodal:deepeval_faithfulness"
    reads_history: ClassVar = False
    conventions: ClassVar = {Cause.NO_CLAIMS: 1.0}

    @property
    def needs_contradiction(self) -> bool:
        return True

    def missing(self, sample: Sample) -> ScoreError | None:
        lacking = super().missing(sample)  # the original judges claims by no contexts too: none contradicts them
        return None if self.original and lacking and lacking.cause is Cause.NO_CONTEXT else lacking

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        reading = await answer_against_conversation(sample, judge)
        if not reading.verdicts:
            return self.skip(Cause.NO_CLAIMS, "the answer makes no checkable claim", texts=reading.not_judged)
        return self.scored(share_not_contradicted(reading.verdicts), **reading.evidence)


ENTRIES = (
    Entry(
        make=Faithfulness,
        source="assay: ragas' and RAGChecker's formula over texts and pictures",
        compared="published formula: Es et al. (2023), supported claims / claims",
        family="faithfulness",
        steps=Steps("claims of the answer", "all contexts together", "supported", "share"),
    ),
    Entry(
        make=DeepEvalFaithfulness,
        source="deepeval.metrics.FaithfulnessMetric with images in the retrieval context",
        compared="deepeval 4.3.1",
        family="faithfulness",
        steps=Steps("claims of the answer", "all contexts together", "not contradicted", "share"),
        empty="1 where there are no claims",
        also=("MultimodalFaithfulnessMetric",),
    ),
)
