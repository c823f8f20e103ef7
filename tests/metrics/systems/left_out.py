"""The public names of other packages that are no metric of ours, and why: package -> reason -> names."""

from __future__ import annotations

from collections.abc import Mapping

_BASES = "a base or a type, not a metric"
_SOUND = "sounds: a sample has texts and images"
_GENERATED = "pictures that were made or edited: nothing is retrieved"
_PLATFORM = "a feature of the platform, not a metric"
_WEIGHTS = "a model whose weights are not to be had here"
_SET = "a statistic over a whole data set, not the score of a sample"
_UNWANTED = "unwanted pictures, which say nothing about what was retrieved"

LEFT_OUT: Mapping[str, Mapping[str, str]] = {
    "ragas": {
        _BASES: (
            "BaseMetric DistanceMeasure LLMMetric Metric MetricOutputType MetricResult MetricType MetricWithEmbeddings "
            "MetricWithLLM MultiTurnMetric SingleTurnMetric"
        ),
        "a decorator that makes a metric of a function; `assay.metric` is ours": (
            "discrete_metric numeric_metric ranking_metric"
        ),
    },
    "deepeval": {
        _SOUND: (
            "AgentResponsivenessMetric AudioGlitchMetric AudioIntegrityMetric SpeechIntelligibilityMetric "
            "TranscriptionAccuracyMetric TurnTakingNaturalnessMetric VoiceConsistencyMetric VoiceNaturalnessMetric "
            "VoiceReliabilityMetric"
        ),
        _GENERATED: "ImageEditingMetric TextToImageMetric",
        "calls ragas, whose metrics are here": (
            "RAGASAnswerRelevancyMetric RAGASContextualPrecisionMetric RAGASContextualRecallMetric "
            "RAGASFaithfulnessMetric RagasMetric"
        ),
    },
    "trulens-feedback": {
        _BASES: "clear_capabilities_cache generate_score generate_score_and_reasons model_post_init",
        _SET: (
            "auc brier_score cohens_kappa ece f1_score kendall_tau mae matthews_correlation pearson_correlation "
            "precision recall register_custom_agg_func spearman_correlation"
        ),
        _WEIGHTS: (
            "bert_score groundedness_measure_with_nli hallucination_evaluator pii_detection "
            "pii_detection_with_cot_reasons positive_sentiment toxic"
        ),
    },
    "llama-index-core": {
        _BASES: (
            "BaseEvaluator BaseRetrievalEvaluator EvaluationResult RetrievalEvalResult RetrievalMetricResult "
            "resolve_metrics"
        ),
        _PLATFORM: (
            "BatchEvalRunner DatasetGenerator QueryResponseDataset RetrieverEvaluator get_retrieval_results_df"
        ),
    },
    "openevals": {
        _SOUND: "AUDIO_QUALITY_PROMPT TRANSCRIPTION_ACCURACY_PROMPT USER_INTERRUPTS_PROMPT VOCAL_AFFECT_PROMPT",
        _UNWANTED: "EXPLICIT_CONTENT_PROMPT SENSITIVE_IMAGERY_PROMPT",
        "runs or compiles the code of an answer, in other programs": (
            "create_e2b_execution_evaluator create_e2b_pyright_evaluator create_mypy_evaluator create_pyright_evaluator"
        ),
    },
}
