"""assay's own metrics by name, with their defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping

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
from assay.metrics._grounded import Grounded
from assay.metrics._hallucination import Hallucination
from assay.metrics._noise_sensitivity import NoiseSensitivity
from assay.metrics._nugget_recall import NuggetRecall
from assay.metrics._retrieval_calls import RetrievalCalls
from assay.metrics._semantic_similarity import SemanticSimilarity
from assay.metrics._summarization_score import SummarizationScore
from assay.metrics.base import Metric


def ragas_score() -> HarmonicMean:
    """The overall score of ragas 0.0.x: the harmonic mean of its four metrics."""
    parts = (ContextRelevance(), Faithfulness(), ContextRecall(), AnswerRelevancy())
    return HarmonicMean(*parts, label="harmonic_mean")


def _aspect(name: str) -> Callable[[], AspectCritique]:
    return lambda: ASPECTS[name]


#: Every metric by the label of its score, in the order in which they are listed to users.
METRICS: Mapping[str, Callable[[], Metric]] = {
    "faithfulness": Faithfulness,
    "grounded": Grounded,
    "hallucination": Hallucination,
    "hallucination_contradicted": lambda: Hallucination(kind="contradicted"),
    "citation_accuracy": CitationAccuracy,
    "answer_relevancy": AnswerRelevancy,
    "answer_directness": AnswerDirectness,
    "answer_correctness": AnswerCorrectness,
    "semantic_similarity": SemanticSimilarity,
    "context_precision": ContextPrecision,
    "context_utilization": ContextUtilization,
    "context_recall": ContextRecall,
    "context_entity_recall": ContextEntityRecall,
    "nugget_recall_answer": NuggetRecall,
    "nugget_recall_contexts": lambda: NuggetRecall(against="contexts"),
    "context_relevance": ContextRelevance,
    "context_relevance_passage": lambda: ContextRelevance(unit="passage"),
    "noise_sensitivity_relevant": NoiseSensitivity,
    "noise_sensitivity_irrelevant": lambda: NoiseSensitivity(mode="irrelevant"),
    "summarization_score": SummarizationScore,
    "retrieval_calls": RetrievalCalls,
    **{name: _aspect(name) for name in ASPECTS},
    "harmonic_mean": ragas_score,
}
