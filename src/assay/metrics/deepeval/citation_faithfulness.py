"""DeepEval's citation faithfulness: does each citation of the answer name a passage that bears its claim out?

1 where all do, else 0. DeepEval 4.3.1, `CitationFaithfulnessMetric` of its community metrics, which asks for one
verdict on the whole answer; here each citation is read as in assay's citation accuracy, whose share is
`parts["share"]`. An answer that cites nothing is skipped; DeepEval leaves that to its judge.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from assay.judges.protocol import Judge
from assay.metrics._citation_accuracy import CitationAccuracy
from assay.metrics.deepeval.deepeval_metric import DeepEvalMetric
from assay.metrics.systems.base import Entry, Steps
from assay.prompts import Claims, Support
from assay.records import Sample, Score


def all_right(share: float) -> float:
    """1.0 where the share of right citations is all of them."""
    return float(share == 1)


@dataclass(frozen=True)
class CitationFaithfulness(DeepEvalMetric):
    """1 where every citation of the answer is right, else 0."""

    name: ClassVar[str] = "deepeval:citation_faithfulness"
    needs: ClassVar = ("question", "answer", "contexts")
    asks: ClassVar = (Claims, Support)
    needs_passages: ClassVar[bool] = False  # what is cited where nothing was retrieved is cited wrongly

    threshold: float = field(default=1.0, kw_only=True)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        found = await CitationAccuracy().measure(sample, judge)
        if found.error is not None or found.value is None:
            return replace(found, metric=self.label)
        parts = {"share": found.value, **found.parts}
        return self.make_graded_score(all_right(found.value), verdicts=found.verdicts, parts=parts, texts=found.texts)


ENTRIES = (
    Entry(
        make=CitationFaithfulness,
        source="deepeval.metrics.community.CitationFaithfulnessMetric",
        compared="deepeval 4.3.1",
        family="citations",
        ordered=True,
        steps=Steps("citations of the answer", "the cited passage alone", "supported", "all"),
        empty="left to the judge",
    ),
)
