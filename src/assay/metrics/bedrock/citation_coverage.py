"""Bedrock's citation coverage: how much of the answer stands in the passages that it cites?

Rated 0 to 4, by 4. Higher is better. Amazon Bedrock, evaluation of retrieval and generation: its faithfulness, asked of
the cited passages alone. An answer that cites nothing that is there is skipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import material_of
from assay.metrics.bedrock.citations import cited_parts
from assay.metrics.bedrock.faithfulness import Faithfulness
from assay.metrics.bedrock.scales import RatedMetric, entry
from assay.records import Sample, Score


@dataclass(frozen=True)
class CitationCoverage(RatedMetric):
    """How much of the answer stands in the passages that it cites."""

    name: ClassVar[str] = "bedrock:citation_coverage"
    needs: ClassVar = ("answer",)
    asked: ClassVar[str] = Faithfulness.asked
    levels: ClassVar = Faithfulness.levels
    may_read: ClassVar[tuple[str, ...]] = ("citations",)

    def material(self, sample: Sample) -> tuple[tuple[str, str], ...]:
        cited = {title: text for part in cited_parts(sample) for title, text in part.passages if text is not None}
        return (*cited.items(), *material_of(sample, ("question", "answer"))) if cited else ()

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        if not self.material(sample):
            return self.skip(Cause.NOT_APPLICABLE, "the answer cites no passage that is there")
        return await super().measure(sample, judge)


ENTRIES = (entry(CitationCoverage, "CitationCoverage", "citations", "the whole answer", "the cited passages"),)
