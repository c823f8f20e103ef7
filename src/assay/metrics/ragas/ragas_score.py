"""The ragas score: the harmonic mean of several metrics.

    n / (1/v_1 + ... + 1/v_n), and 0 where one of the values is 0

Range 0 to 1, higher is better. Source: ragas 0.0.3 to 0.0.22, where the values are the means of a data set; critiques
do not count, and with a single value there is none. Here each sample has its own, from the three metrics that were the
defaults of 0.0.11. For the original's number take `harmonic_mean` of the means of a run (`assay.metrics._composite`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from assay.errors import InputError
from assay.metrics._composite import HarmonicMean
from assay.metrics.base import Metric
from assay.metrics.ragas.context_relevancy import ContextRelevancy
from assay.metrics.ragas.faithfulness import Faithfulness
from assay.metrics.ragas.response_relevancy import AnswerRelevancy
from assay.metrics.systems.base import Entry, Steps, SystemMetric


@dataclass(frozen=True)
class RagasScore(SystemMetric, HarmonicMean):
    """The harmonic mean of `metrics`, at least two; by the original's profile of their original numbers."""

    name: ClassVar[str] = "ragas:ragas_score"

    metrics: tuple[Metric, ...] = (AnswerRelevancy(), ContextRelevancy(), Faithfulness())
    title: str = "ragas:ragas_score"

    def __post_init__(self) -> None:
        if len(self.metrics) < 2:
            raise InputError(f"RagasScore: metrics: expected two or more, not {len(self.metrics)}")
        HarmonicMean(*self.metrics)  # raises InputError for those that do not fit
        same = (replace(one, profile=self.profile) if isinstance(one, SystemMetric) else one for one in self.metrics)
        object.__setattr__(self, "metrics", tuple(same))


ENTRIES = (
    Entry(
        make=RagasScore,
        source="ragas.evaluation.Result, of 0.0.11",
        compared="ragas 0.0.11",
        family="composite",
        steps=Steps("metrics", "each other", "their values", "harmonic mean"),
    ),
)
