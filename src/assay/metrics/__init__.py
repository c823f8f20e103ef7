"""Metrics, one private file each: what is measured, what is asked of a judge, and the pure score function.

    from assay.metrics import Faithfulness, faithfulness

Each metric of `METRICS` is here twice: its class, and under its own name as it is with its defaults, for
`evaluate(data, metrics=[faithfulness])`. Metrics of other systems have names alone: "ragas:faithfulness".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.metrics._answer_correctness import AnswerCorrectness
from assay.metrics._answer_directness import AnswerDirectness
from assay.metrics._answer_relevancy import AnswerRelevancy
from assay.metrics._aspect_critique import ASPECTS, AspectCritique
from assay.metrics._citation_accuracy import CitationAccuracy
from assay.metrics._composite import HarmonicMean
from assay.metrics._context_entity_recall import ContextEntityRecall
from assay.metrics._context_precision import ContextPrecision
from assay.metrics._context_recall import ContextRecall
from assay.metrics._context_relevance import ContextRelevance
from assay.metrics._context_utilization import ContextUtilization
from assay.metrics._faithfulness import Faithfulness
from assay.metrics._faithfulness import share_supported as share_supported
from assay.metrics._hallucination import Hallucination
from assay.metrics._noise_sensitivity import NoiseSensitivity
from assay.metrics._nugget_recall import NuggetRecall
from assay.metrics._retrieval_calls import RetrievalCalls
from assay.metrics._semantic_similarity import SemanticSimilarity
from assay.metrics._summarization_score import SummarizationScore
from assay.metrics.base import Metric
from assay.metrics.decorator import FunctionMetric, metric
from assay.metrics.labels import LabelledMetric
from assay.metrics.registry import METRICS

if TYPE_CHECKING:  # made when they are first used; a test holds these to METRICS
    faithfulness: Metric
    grounded: Metric
    hallucination: Metric
    hallucination_contradicted: Metric
    citation_accuracy: Metric
    answer_relevancy: Metric
    answer_directness: Metric
    answer_correctness: Metric
    semantic_similarity: Metric
    context_precision: Metric
    context_utilization: Metric
    context_recall: Metric
    context_entity_recall: Metric
    nugget_recall_answer: Metric
    nugget_recall_contexts: Metric
    context_relevance: Metric
    context_relevance_passage: Metric
    noise_sensitivity_relevant: Metric
    noise_sensitivity_irrelevant: Metric
    summarization_score: Metric
    retrieval_calls: Metric
    harmfulness: Metric
    maliciousness: Metric
    coherence: Metric
    correctness: Metric
    conciseness: Metric
    harmonic_mean: Metric

__all__ = [
    "ASPECTS",
    "METRICS",
    "AnswerCorrectness",
    "AnswerDirectness",
    "AnswerRelevancy",
    "AspectCritique",
    "CitationAccuracy",
    "ContextEntityRecall",
    "ContextPrecision",
    "ContextRecall",
    "ContextRelevance",
    "ContextUtilization",
    "Faithfulness",
    "FunctionMetric",
    "Hallucination",
    "HarmonicMean",
    "LabelledMetric",
    "Metric",
    "NoiseSensitivity",
    "NuggetRecall",
    "RetrievalCalls",
    "SemanticSimilarity",
    "SummarizationScore",
    "metric",
    *METRICS,
]  # pyright: ignore[reportUnsupportedDunderAll]


if not TYPE_CHECKING:  # type checkers would take any name at all for one of these

    def __getattr__(name: str) -> Metric:
        if name not in METRICS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        made = globals()[name] = METRICS[name]()
        return made
