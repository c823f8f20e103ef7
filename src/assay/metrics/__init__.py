"""Metrics, one file each: what is measured, what is asked of a judge, and the pure score function."""

from assay.metrics.answer_correctness import AnswerCorrectness
from assay.metrics.answer_directness import AnswerDirectness
from assay.metrics.answer_relevancy import AnswerRelevancy
from assay.metrics.aspect_critique import ASPECTS, AspectCritique
from assay.metrics.base import Metric
from assay.metrics.citation_accuracy import CitationAccuracy
from assay.metrics.composite import HarmonicMean
from assay.metrics.context_entity_recall import ContextEntityRecall
from assay.metrics.context_precision import ContextPrecision
from assay.metrics.context_recall import ContextRecall
from assay.metrics.context_relevance import ContextRelevance
from assay.metrics.context_utilization import ContextUtilization
from assay.metrics.decorator import FunctionMetric, metric
from assay.metrics.faithfulness import Faithfulness
from assay.metrics.hallucination import Hallucination
from assay.metrics.labels import LabelledMetric
from assay.metrics.noise_sensitivity import NoiseSensitivity
from assay.metrics.nugget_recall import NuggetRecall
from assay.metrics.registry import METRICS
from assay.metrics.retrieval_calls import RetrievalCalls
from assay.metrics.semantic_similarity import SemanticSimilarity
from assay.metrics.summarization_score import SummarizationScore

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
]
