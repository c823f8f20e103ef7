"""Faithfulness: what share of the answer's claims do the retrieved contexts support?

Range 0 to 1, higher is better. Es et al., "RAGAS: Automated Evaluation of Retrieval Augmented Generation" (2023).
An answer without claims (a refusal) is skipped: 0 would punish it, 1 would reward it. A claim counts as supported
when the contexts together support it, as in the paper, not only where a single one does. Where the sample has a history
with contexts, what was found for earlier turns is evidence too; what the model said in them is not. Where no
contexts are known, what tools gave back to an agent is the evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.base import Metric
from assay.metrics.shared_prompts import answer_against_conversation, expected_share
from assay.prompts import Claims, Support
from assay.records import Sample, Score, Verdict


def share_supported(verdicts: Sequence[Verdict]) -> float:
    """Supported verdicts / verdicts. Expects at least one."""
    return sum(verdict.label == "supported" for verdict in verdicts) / len(verdicts)


@dataclass(frozen=True)
class Faithfulness(Metric):
    """Supported claims of the answer / claims of the answer."""

    name: ClassVar[str] = "faithfulness"
    needs: ClassVar = ("answer", "contexts")
    asks: ClassVar = (Claims, Support)
    reads_history: ClassVar = True

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        reading = await answer_against_conversation(sample, judge)
        if not reading.verdicts:
            return self.skip(Cause.NO_CLAIMS, "the answer makes no checkable claim", texts=reading.not_judged)
        evidence = reading.with_parts(**expected_share(reading.verdicts))
        return self.make_score(share_supported(reading.verdicts), **evidence)
