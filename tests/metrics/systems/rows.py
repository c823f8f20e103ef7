"""What became of every metric that the notes on other systems list: the names of ours, or why it is left out.

The notes have a section per system and in each section tables; a row is known by its first cell. A star stands for any
end of a name. `OF_A_USER` are the metrics that a user makes of a prompt. A metric that the notes do not list stands in
no row: its own entry says where it comes from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Left:
    """Left out on purpose."""

    reason: str


PLATFORM = Left("features of a platform, not metrics")
VOICE = Left("sounds: a sample has texts and images")
GENERATED = Left("pictures that were made or edited: nothing is retrieved")
WHOLE_SET = Left("a statistic over a whole data set, not the score of a sample; assay's report has its own")
WEIGHTS = Left("a model whose weights are not to be had here")
MADE_BY_USERS = Left("a base to write metrics on; `assay.metric` is ours")
STUDY = Left("figures of a published study, not metrics")

#: Section of the notes -> its rows -> the names of our metrics, with blanks between them.
ROWS: Mapping[str, Left | Mapping[str, str | Left]] = {
    "1.1": {
        "Factuality (0.0.3)": "ragas:faithfulness",
        "AnswerRelevancy (0.0.3)": WEIGHTS,
        "ContextRelevancy (0.0.3)": WEIGHTS,
        "ragas_score (0.0.3)": "ragas:ragas_score",
        "ContextRelevancy (0.0.11)": "ragas:context_relevancy ragas:context_relevancy_jaccard",
        "SentenceAgreement (0.0.11)": "ragas:context_relevancy ragas:context_relevancy_jaccard",
        "context_recall (0.0.11)": "ragas:context_recall_attributed",
        "AnswerRelevancy (0.0.11)": "ragas:answer_relevancy_0_0_11",
        "Faithfulness (0.0.11)": "ragas:faithfulness",
        "AspectCritique (0.0.11)": "ragas:aspect_critique",
        "ragas_score (0.0.11)": "ragas:ragas_score",
        "ContextPrecision (0.0.22)": "ragas:context_precision_0_0_22",
        "ContextRecall (0.0.22)": "ragas:context_recall",
        "AnswerSimilarity (0.0.22)": "ragas:semantic_similarity",
        "AnswerCorrectness (0.0.22)": "ragas:answer_correctness",
        "AnswerRelevancy (0.0.22)": "ragas:answer_relevancy",
    },
    "1.2": {
        "faithfulness": "ragas:faithfulness",
        "FaithulnesswithHHEM": "ragas:faithfulness_with_hhem",
        "answer_relevancy": "ragas:answer_relevancy",
        "context_precision / context_utilization": "ragas:context_precision ragas:context_utilization",
        "context_recall": "ragas:context_recall",
        "context_entity_recall": "ragas:context_entity_recall",
        "answer_similarity, answer_correctness": (
            "ragas:answer_similarity ragas:answer_correctness ragas:answer_correctness_0_2_15"
        ),
        "noise_sensitivity_relevant / _irrelevant ↓": "ragas:noise_sensitivity ragas:noise_sensitivity_irrelevant",
        "summarization_score": "ragas:summarization_score",
        "labelled_rubrics_score / reference_free_rubrics_score": (
            "ragas:rubrics_score_with_reference ragas:rubrics_score_without_reference"
        ),
        "AspectCritique": "ragas:aspect_critic",
    },
    "1.4": {
        "Faithfulness": "ragas:faithfulness",
        "FaithfulnesswithHHEM": "ragas:faithfulness_with_hhem",
        "ResponseRelevancy (AnswerRelevancy)": "ragas:response_relevancy",
        "LLMContextPrecisionWithReference": "ragas:context_precision",
        "LLMContextPrecisionWithoutReference": "ragas:context_utilization",
        "NonLLMContextPrecisionWithReference": "ragas:non_llm_context_precision_with_reference",
        "IDBasedContextPrecision": "ragas:id_based_context_precision",
        "LLMContextRecall": "ragas:context_recall",
        "NonLLMContextRecall": "ragas:non_llm_context_recall",
        "IDBasedContextRecall": "ragas:id_based_context_recall",
        "ContextEntityRecall": "ragas:context_entity_recall",
        "NoiseSensitivity ↓": "ragas:noise_sensitivity ragas:noise_sensitivity_irrelevant",
        "FactualCorrectness": (
            "ragas:factual_correctness ragas:factual_correctness_precision ragas:factual_correctness_recall"
        ),
        "AnswerCorrectness": "ragas:answer_correctness",
        "SemanticSimilarity": "ragas:semantic_similarity",
        "AnswerAccuracy (NVIDIA)": "ragas:answer_accuracy",
        "ContextRelevance (NVIDIA)": "ragas:context_relevance",
        "ResponseGroundedness (NVIDIA)": "ragas:response_groundedness ragas:nv_response_groundedness",
        "SummarizationScore": "ragas:summarization_score",
        "AspectCritic": (
            "ragas:aspect_critic ragas:harmfulness ragas:maliciousness ragas:coherence ragas:correctness "
            "ragas:conciseness"
        ),
        "SimpleCriteriaScore": "ragas:simple_criteria",
        "RubricsScore": "ragas:domain_specific_rubrics",
        "InstanceRubrics": "ragas:instance_specific_rubrics",
        "MultiModalFaithfulness": "multimodal:ragas_faithfulness",
        "MultiModalRelevance": "multimodal:ragas_relevance",
        "TopicAdherenceScore": "ragas:topic_adherence",
        "ToolCallAccuracy": "ragas:tool_call_accuracy",
        "ToolCallF1": "ragas:tool_call_f1",
        "AgentGoalAccuracyWithReference / WithoutReference": (
            "ragas:agent_goal_accuracy_with_reference ragas:agent_goal_accuracy_without_reference"
        ),
        "BleuScore, RougeScore, CHRFScore": "ragas:bleu_score ragas:rouge_score ragas:chrf_score",
        "ExactMatch, StringPresence": "ragas:exact_match ragas:string_presence",
        "NonLLMStringSimilarity": "ragas:non_llm_string_similarity",
        "LLMSQLEquivalence": "ragas:llm_sql_equivalence",
        "DataCompyScore": "ragas:data_compy_score",
    },
    "1.7": PLATFORM,
    "2.1": {
        "AnswerRelevancy": "deepeval:answer_relevancy",
        "Faithfulness": "deepeval:faithfulness",
        "ContextualPrecision": "deepeval:contextual_precision",
        "ContextualRecall": "deepeval:contextual_recall",
        "ContextualRelevancy": "deepeval:contextual_relevancy",
        "Hallucination": "deepeval:hallucination deepeval:hallucination_v3",
        "CitationFaithfulness (community)": "deepeval:citation_faithfulness",
        "RAGAS wrappers": (
            "ragas:response_relevancy ragas:faithfulness ragas:context_precision ragas:context_recall "
            "ragas:context_entity_recall"
        ),
    },
    "2.2": {
        "GEval": "deepeval:g_eval",
        "JevEval": "deepeval:jev_eval",
        "ArenaGEval": "deepeval:arena_g_eval",
        "ConversationalGEval / ConversationalJevEval": (
            "deepeval:conversational_g_eval deepeval:conversational_jev_eval"
        ),
        "DAGMetric / ConversationalDAGMetric": "deepeval:dag deepeval:conversational_dag",
        "Summarization": "deepeval:summarization",
        "PromptAlignment": "deepeval:prompt_alignment",
        "JsonCorrectness": "deepeval:json_correctness",
        "ExactMatch, PatternMatch": "deepeval:exact_match deepeval:pattern_match",
        "Classifiers (13)": (
            "deepeval:abstention deepeval:clarification deepeval:data_leakage deepeval:escalation "
            "deepeval:forbidden_commitments deepeval:instruction_completeness deepeval:prompt_injection "
            "deepeval:refusal deepeval:required_disclosure deepeval:resolution deepeval:response_language "
            "deepeval:scope_adherence deepeval:tone_adherence deepeval:classifier "
            "deepeval:conversational_classifier"
        ),
        "Expectations": "deepeval:expectations deepeval:conversational_expectations",
        "Scorer helpers": Left("helpers of a library, not metrics; BLEU and ROUGE are ragas: and trulens:'s"),
        "Custom": MADE_BY_USERS,
    },
    "2.3": {
        "Bias, Toxicity": "deepeval:bias deepeval:toxicity",
        "PIILeakage": "deepeval:pii_leakage",
        "NonAdvice": "deepeval:non_advice",
        "Misuse": "deepeval:misuse",
        "RoleViolation": "deepeval:role_violation",
        "ToolPermission": "deepeval:tool_permission",
        "Red teaming": Left("attacks on an application are made there, not scored"),
    },
    "2.4": {
        "ToolCorrectness": "deepeval:tool_correctness",
        "ArgumentCorrectness": "deepeval:argument_correctness",
        "TaskCompletion": "deepeval:task_completion",
        "StepEfficiency, PlanAdherence, PlanQuality": (
            "deepeval:step_efficiency deepeval:plan_adherence deepeval:plan_quality"
        ),
        "ToolUse": "deepeval:tool_use",
        "GoalAccuracy": "deepeval:goal_accuracy",
        "TopicAdherence": "deepeval:topic_adherence",
        "AgentLoopDetection": "deepeval:agent_loop_detection",
        "MCPUse, MultiTurnMCPUse, MCPTaskCompletion": (
            "deepeval:mcp_use deepeval:multi_turn_mcp_use deepeval:mcp_task_completion"
        ),
    },
    "2.5": {
        "TurnRelevancy": "deepeval:turn_relevancy",
        "TurnFaithfulness, TurnContextualPrecision / Recall / Relevancy": (
            "deepeval:turn_faithfulness deepeval:turn_contextual_precision deepeval:turn_contextual_recall "
            "deepeval:turn_contextual_relevancy"
        ),
        "ConversationCompleteness": "deepeval:conversation_completeness",
        "KnowledgeRetention": "deepeval:knowledge_retention",
        "RoleAdherence": "deepeval:role_adherence",
    },
    "2.6": {
        "Any RAG metric": (
            "multimodal:deepeval_faithfulness multimodal:relevance multimodal:contextual_precision "
            "multimodal:contextual_recall multimodal:contextual_relevancy"
        ),
        "TextToImage, ImageEditing": GENERATED,
        "ImageCoherence, ImageHelpfulness, ImageReference": (
            "multimodal:image_coherence multimodal:image_helpfulness multimodal:image_reference"
        ),
        "Voice set": VOICE,
        "TranscriptionAccuracy, AudioGlitch": VOICE,
    },
    "2.7": PLATFORM,
    "3.1": {
        "context_relevance (± reasons)": "trulens:context_relevance",
        "groundedness_measure_with_cot_reasons": "trulens:groundedness",
        "groundedness_…_consider_answerability": "trulens:groundedness_consider_answerability",
        "relevance (± reasons)": "trulens:relevance",
        "citation_accuracy (± reasons)": "trulens:citation_accuracy",
        "citation_attribution (± reasons)": "trulens:citation_attribution",
        "comprehensiveness_with_cot_reasons": "trulens:comprehensiveness",
        "summarization_with_cot_reasons": "trulens:comprehensiveness",
        "requirement_satisfaction_with_cot_reasons": "trulens:requirement_satisfaction",
        "sentiment, conciseness, correctness, coherence, harmfulness, maliciousness, helpfulness, controversiality, "
        "misogyny, criminality, insensitivity, stereotypes, model_agreement": (
            "trulens:sentiment trulens:conciseness trulens:correctness trulens:coherence trulens:harmfulness "
            "trulens:maliciousness trulens:helpfulness trulens:controversiality trulens:misogyny "
            "trulens:criminality trulens:insensitivity trulens:stereotypes trulens:model_agreement"
        ),
        "logical_consistency, execution_efficiency, plan_adherence, plan_quality, tool_selection, tool_calling, "
        "tool_quality": (
            "trulens:logical_consistency trulens:execution_efficiency trulens:plan_adherence trulens:plan_quality "
            "trulens:tool_selection trulens:tool_calling trulens:tool_quality"
        ),
        "conversation_helpfulness, topic_adherence, agent_goal_accuracy, coherence_across_turns": (
            "trulens:conversation_helpfulness trulens:topic_adherence trulens:agent_goal_accuracy "
            "trulens:coherence_across_turns"
        ),
        "conversation_repetition": "trulens:conversation_repetition",
        "Hugging Face provider": "trulens:language_match",
        "GroundTruthAgreement": (
            "trulens:agreement_measure trulens:ndcg_at_k trulens:precision_at_k trulens:recall_at_k trulens:mrr "
            "trulens:ir_hit_rate trulens:absolute_error trulens:bleu trulens:rouge trulens:memory_recall "
            "trulens:memory_mrr"
        ),
        "GroundTruthAggregator": WHOLE_SET,
        "Embeddings": "trulens:cosine_distance trulens:euclidean_distance trulens:manhattan_distance",
        "Jury": Left("a judge of several judges, not a metric: `assay.metrics.trulens.jury` makes one number of them"),
        "Custom": MADE_BY_USERS,
        "FewShotOptimizer, GEPA adapter": Left("makes the judge's prompt better; it scores nothing"),
    },
    "3.2": PLATFORM,
    "4.1": {
        "qa": "langchain:qa",
        "cot_qa": "langchain:cot_qa",
        "context_qa": "langchain:context_qa",
        "criteria": "langchain:criteria langchain:criteria_*",
        "labeled_criteria": "langchain:labeled_criteria langchain:labeled_criteria_*",
        "score_string / labeled_score_string": "langchain:score_string langchain:labeled_score_string",
        "pairwise_string / labeled_pairwise_string": "langchain:pairwise_string langchain:labeled_pairwise_string",
        "trajectory": "langchain:trajectory",
        "string_distance / pairwise_string_distance ↓": (
            "langchain:string_distance langchain:jaro_winkler_distance langchain:damerau_levenshtein_distance "
            "langchain:levenshtein_distance langchain:jaro_distance langchain:hamming_distance "
            "langchain:indel_distance langchain:pairwise_string_distance langchain:pairwise_jaro_winkler_distance "
            "langchain:pairwise_damerau_levenshtein_distance langchain:pairwise_levenshtein_distance "
            "langchain:pairwise_jaro_distance langchain:pairwise_hamming_distance langchain:pairwise_indel_distance"
        ),
        "embedding_distance / pairwise_embedding_distance ↓": "langchain:embedding_* langchain:pairwise_embedding_*",
        "exact_match": "langchain:exact_match",
        "regex_match": "langchain:regex_match",
        "json_validity, json_equality, json_edit_distance, json_schema_validation": (
            "langchain:json_validity langchain:json_equality langchain:json_edit_distance "
            "langchain:json_schema_validation"
        ),
        "loaders": PLATFORM,
    },
    "4.2": {
        "create_llm_as_judge": "openevals:llm_as_judge",
        "quality prompts": (
            "openevals:correctness openevals:conciseness openevals:hallucination openevals:answer_relevance "
            "openevals:code_correctness openevals:code_correctness_with_reference_outputs openevals:plan_adherence "
            "openevals:code_llm_as_judge openevals:laziness"
        ),
        "rag prompts": "openevals:groundedness openevals:helpfulness openevals:retrieval_relevance",
        "safety / security prompts": (
            "openevals:toxicity openevals:fairness openevals:pii_leakage openevals:prompt_injection "
            "openevals:code_injection"
        ),
        "conversation prompts": (
            "openevals:agent_tone openevals:knowledge_retention openevals:perceived_error openevals:task_completion "
            "openevals:user_satisfaction openevals:wins openevals:language_detection openevals:support_intent"
        ),
        "image / voice prompts": Left("sounds and unwanted pictures: neither belongs to retrieval"),
        "exact match, Levenshtein, embedding similarity": (
            "openevals:exact_match openevals:levenshtein_distance openevals:embedding_similarity"
        ),
        "JSON match": "openevals:json_match openevals:json_match_average openevals:json_match_all",
        "code": Left("runs or compiles the code of an answer, in other programs"),
        "trajectory match": (
            "openevals:trajectory_strict_match openevals:trajectory_unordered_match "
            "openevals:trajectory_subset_match openevals:trajectory_superset_match"
        ),
        "trajectory LLM judge, graph trajectory": (
            "openevals:trajectory_accuracy openevals:trajectory_accuracy_with_reference "
            "openevals:graph_trajectory_strict_match openevals:graph_trajectory_accuracy"
        ),
        "multi-turn simulation": Left("plays a user; it scores nothing"),
    },
    "5": {
        "RAG tutorial metrics": (
            "langsmith:correctness langsmith:relevance langsmith:groundedness langsmith:retrieval_relevance"
        ),
        "*": PLATFORM,
    },
    "6": {
        "Context relevance": "bedrock:context_relevance",
        "Context coverage": "bedrock:context_coverage",
        "Correctness": "bedrock:correctness",
        "Completeness": "bedrock:completeness",
        "Helpfulness": "bedrock:helpfulness",
        "Logical coherence": "bedrock:logical_coherence",
        "Faithfulness": "bedrock:faithfulness",
        "Citation precision": "bedrock:citation_precision",
        "Citation coverage": "bedrock:citation_coverage",
        "Harmfulness, Stereotyping ↓": "bedrock:harmfulness bedrock:stereotyping",
        "Refusal ↓": "bedrock:refusal",
        "Following instructions": "bedrock:following_instructions",
        "Professional style and tone, Readability, Relevance": (
            "bedrock:professional_style bedrock:readability bedrock:relevance"
        ),
        "Custom metric": "bedrock:custom",
    },
    "7": {
        "precision": "ragchecker:precision",
        "recall": "ragchecker:recall",
        "f1": "ragchecker:f1",
        "claim_recall": "ragchecker:claim_recall",
        "context_precision": "ragchecker:context_precision",
        "context_utilization": "ragchecker:context_utilization",
        "noise_sensitivity_in_relevant ↓": "ragchecker:noise_sensitivity_in_relevant",
        "noise_sensitivity_in_irrelevant ↓": "ragchecker:noise_sensitivity_in_irrelevant",
        "hallucination ↓": "ragchecker:hallucination",
        "self_knowledge": "ragchecker:self_knowledge",
        "faithfulness": "ragchecker:faithfulness",
        "BLEU": STUDY,
        "ROUGE-L": STUDY,
        "BERTScore": STUDY,
        "TruLens answer relevance": STUDY,
        "ARES answer relevance": STUDY,
        "RAGAS answer similarity": STUDY,
        "CRUD-RAG recall": STUDY,
        "RAGChecker (same metric)": STUDY,
        "Annotator agreement": STUDY,
    },
    "8": {
        "FaithfulnessEvaluator": "llamaindex:faithfulness",
        "RelevancyEvaluator": "llamaindex:relevancy",
        "AnswerRelevancyEvaluator": "llamaindex:answer_relevancy",
        "ContextRelevancyEvaluator": "llamaindex:context_relevancy",
        "CorrectnessEvaluator": "llamaindex:correctness",
        "SemanticSimilarityEvaluator": (
            "llamaindex:semantic_similarity llamaindex:semantic_similarity_dot_product "
            "llamaindex:semantic_similarity_euclidean"
        ),
        "GuidelineEvaluator": "llamaindex:guideline",
        "PairwiseComparisonEvaluator": "llamaindex:pairwise",
        "MultiModalFaithfulnessEvaluator": "multimodal:llamaindex_faithfulness",
        "MultiModalRelevancyEvaluator": "multimodal:llamaindex_relevancy",
        "RetrieverEvaluator / MultiModalRetrieverEvaluator": (
            "multimodal:image_hit_rate multimodal:image_mrr multimodal:image_precision multimodal:image_recall"
        ),
        "hit_rate": "llamaindex:hit_rate llamaindex:hit_rate_granular",
        "mrr": "llamaindex:mrr llamaindex:mrr_granular",
        "precision, recall": "llamaindex:precision llamaindex:recall",
        "ap": "llamaindex:ap",
        "ndcg": "llamaindex:ndcg",
        "cohere_rerank_relevancy": "llamaindex:cohere_rerank_relevancy",
        "BatchEvalRunner": PLATFORM,
        "Dataset generation": Left("makes questions of documents; it scores nothing"),
        "Benchmarks": Left("benchmarks of models"),
        "get_results_df": WHOLE_SET,
    },
    "9": {
        "LlamaIndex MultiModalFaithfulness / Relevancy": (
            "multimodal:llamaindex_faithfulness multimodal:llamaindex_relevancy"
        ),
        "ragas MultiModalFaithfulness": "multimodal:ragas_faithfulness",
        "ragas MultiModalRelevance": "multimodal:ragas_relevance",
        "DeepEval RAG metrics with images": (
            "multimodal:deepeval_faithfulness multimodal:relevance multimodal:contextual_precision "
            "multimodal:contextual_recall multimodal:contextual_relevancy"
        ),
        "DeepEval image metrics": (
            "multimodal:image_coherence multimodal:image_helpfulness multimodal:image_reference"
        ),
        "openevals / autoevals / Opik / MLflow": Left("whatever a prompt asks; no metric of their own"),
        "Phoenix, TruLens": Left("whatever a prompt asks; no metric of their own"),
        "Bedrock": Left("takes no images"),
        "RAGChecker": Left("takes no images"),
    },
}

#: What a user makes of a prompt there -> what makes it here.
OF_A_USER: Mapping[str, str] = {
    "DiscreteMetric": "assay.metrics.ragas.custom:DiscreteMetric",
    "NumericMetric": "assay.metrics.ragas.custom:NumericMetric",
    "RankingMetric": "assay.metrics.ragas.custom:RankingMetric",
    "Jury": "assay.metrics.trulens.jury:Jury",
}
