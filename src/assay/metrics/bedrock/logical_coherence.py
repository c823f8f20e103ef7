"""Bedrock's logical coherence: does what the answer says follow, without gaps and contradictions?

Rated 0 to 4, by 4; with the scale of Nova 2 Lite 0 to 2, by 2. With that of Mistral Large an answer may have nothing
that could be coherent, which gives no number there (NaN) and is skipped here. Higher is better. Amazon Bedrock,
evaluation of models and of retrieval and generation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.bedrock.scales import STANDARD, RatedMetric, entry
from assay.prompts import JudgePrompt, Question, Rating
from assay.records import Sample, Score

#: The scales with a label for an answer that draws no conclusion.
MAY_NOT_APPLY = ("mistral-large",)
NOT_APPLICABLE = "not_applicable"


@dataclass(frozen=True)
class LogicalCoherence(RatedMetric):
    """How coherent the reasoning of the answer is."""

    name: ClassVar[str] = "bedrock:logical_coherence"
    needs: ClassVar = ("question", "answer")
    asked: ClassVar[str] = (
        "How coherent is what the ANSWER to the QUESTION says: do its steps follow from each other and from what the "
        "QUESTION gives, without gaps, jumps and contradictions? Whether it is true does not count."
    )
    shown: ClassVar = ("question", "answer")
    levels: ClassVar = {
        STANDARD: (
            "not at all: it contradicts itself, or nothing follows",
            "mostly not",
            "in part",
            "mostly, with a small gap",
            "fully",
        ),
        "nova-2-lite": ("not: it contradicts itself, or has a gap that matters", "mostly, with a small gap", "fully"),
    }

    @property
    def asks(self) -> tuple[type[JudgePrompt[Any]], ...]:  # type: ignore[override]  # depends on the scale
        return (Question,) if self.scale in MAY_NOT_APPLY else (Rating,)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        if self.scale not in MAY_NOT_APPLY:
            return await super().measure(sample, judge)
        levels = {str(level): meaning for level, meaning in enumerate(self.steps_of_scale)}
        labels = {**levels, NOT_APPLICABLE: "it draws no conclusion that could be coherent"}
        found = await judge.find(Question(self.asked, self.material(sample), labels=labels, language=sample.spoken))
        if found.label == NOT_APPLICABLE:
            return self.skip(Cause.NOT_APPLICABLE, "the answer draws no conclusion that could be coherent")
        return self.of_level(int(found.label), found.reason)


ENTRIES = (
    entry(LogicalCoherence, "LogicalCoherence", "coherence", "the whole answer", "itself", ("Builtin.Coherence",)),
)
