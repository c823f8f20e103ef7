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
from assay.metrics._faithfulness import share_supported
from assay.metrics.multimodal.base import MultiModalMetric
from assay.metrics.shared_prompts import answer_against_conversation, expected_share
from assay.metrics.systems.base import Entry, Steps
from assay.metrics.systems.input_rules import TAKES_NO_PASSAGES
from assay.prompts import Claims, Support
from assay.records import Sample, Score, Verdict


def share_not_contradicted(verdicts: Sequence[Verdict]) -> float:
    """Verdicts other than contradicted / verdicts. Expects at least one."""
    return sum(verdict.label != "contradicted" for verdict in verdicts) / len(verdicts)


@dataclass(frozen=True)
class Faithfulness(MultiModalMetric):
    """Supported claims of the answer / claims of the answer, with pictures among the contexts."""

    name: ClassVar[str] = "multimodal:faithfulness"
    needs: ClassVar = ("answer", "contexts")
    asks: ClassVar = (Claims, Support)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        reading = await answer_against_conversation(sample, judge)
        if not reading.verdicts:
            return self.skip(Cause.NO_CLAIMS, "the answer makes no checkable claim", texts=reading.not_judged)
        evidence = reading.with_parts(**expected_share(reading.verdicts))
        return self.make_score(share_supported(reading.verdicts), **evidence)


@dataclass(frozen=True)
class DeepEvalFaithfulness(MultiModalMetric):
    """Claims of the answer that are not contradicted / claims of the answer, with pictures among the contexts."""

    name: ClassVar[str] = "multimodal:deepeval_faithfulness"
    needs: ClassVar = ("answer", "contexts")
    asks: ClassVar = (Claims, Support)
    #: the original judges claims by no contexts too: none contradicts them
    input_rules: ClassVar = TAKES_NO_PASSAGES
    conventions: ClassVar = {Cause.NO_CLAIMS: 1.0}

    @property
    def needs_contradiction(self) -> bool:
        return True

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        reading = await answer_against_conversation(sample, judge)
        if not reading.verdicts:
            return self.skip(Cause.NO_CLAIMS, "the answer makes no checkable claim", texts=reading.not_judged)
        return self.make_score(share_not_contradicted(reading.verdicts), **reading.evidence)


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
