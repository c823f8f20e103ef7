"""Metrics of other systems as LlamaIndex evaluators and retrieval metrics, beside LlamaIndex' own."""

from __future__ import annotations

import pytest
from assay_llama_index import AssayEvaluator, AssayRetrievalMetric, evaluators
from llama_index.core.evaluation import BatchEvalRunner, RetrieverEvaluator
from llama_index.core.evaluation.retrieval.metrics import METRIC_REGISTRY

from assay.errors import InputError
from assay.judges.scripted_judge import ScriptedJudge

QUESTION, ANSWER = "Why do cats purr?", "Cats purr when calm."
PASSAGES = ["Cats purr when calm.", "Cats also purr to heal."]


@pytest.mark.parametrize(("level", "passing"), [(3, False), (4, True)])
def test_correctness_passes_as_it_does_there(level, passing):
    judge = ScriptedJudge(rating=lambda question: level)
    result = AssayEvaluator("llamaindex:correctness", judge).evaluate(QUESTION, ANSWER, reference=ANSWER)
    assert (result.score, result.passing) == (float(level), passing)


@pytest.mark.parametrize(("cosine", "passing"), [(0.79, False), (0.81, True)])
def test_similarity_passes_as_it_does_there(cosine, passing):
    judge = ScriptedJudge(similarity=lambda text, other: cosine)
    result = AssayEvaluator("llamaindex:semantic_similarity", judge).evaluate(response=ANSWER, reference="They heal.")
    assert (result.score, result.passing) == (cosine, passing)


def test_a_threshold_that_is_given_counts():
    judge = ScriptedJudge(rating=lambda question: 4)
    assert AssayEvaluator("llamaindex:correctness", judge, 4.5).evaluate(QUESTION, ANSWER).passing is False


@pytest.mark.parametrize("name", ["llamaindex:faithfulness", "bedrock:harmfulness", "ragchecker:faithfulness"])
def test_metrics_of_other_systems_go_by_their_names(name):
    judge = ScriptedJudge(criterion=lambda question, vote: True, support=lambda claim, passage: "supported")
    result = AssayEvaluator(name, judge).evaluate(QUESTION, ANSWER, PASSAGES)
    assert result.score == 1.0
    assert result.passing is (name != "bedrock:harmfulness")
    assert result.feedback.startswith(f"{name} = 1.000")


def test_a_second_answer_is_passed_on():
    judge = ScriptedJudge(question=lambda question: "tie")
    evaluator = AssayEvaluator("llamaindex:pairwise", judge)
    assert evaluator.evaluate(QUESTION, ANSWER, second_response="To heal.").score == 0.5
    assert "second_response" in evaluator.evaluate(QUESTION, ANSWER).invalid_reason


async def test_in_a_batch():
    judge = ScriptedJudge(criterion=lambda question, vote: True, rating=lambda question: 2)
    runner = BatchEvalRunner(evaluators(["llamaindex:faithfulness", "llamaindex:correctness"], judge=judge))
    results = await runner.aevaluate_response_strs(queries=[QUESTION], response_strs=[ANSWER], contexts_list=[PASSAGES])
    assert [rows[0].passing for rows in results.values()] == [True, False]


async def test_beside_the_retrieval_metrics_of_llama_index(kit):
    names = ["hit_rate", "mrr", "precision", "recall", "ap", "ndcg"]
    retriever = kit.Shelf()
    ids = [node.node.node_id for node in await retriever.aretrieve(QUESTION)]
    theirs = [METRIC_REGISTRY[name]() for name in names]
    ours = [AssayRetrievalMetric(f"llamaindex:{name}") for name in names]
    evaluator = RetrieverEvaluator(metrics=[*theirs, *ours], retriever=retriever)
    found = (await evaluator.aevaluate(QUESTION, expected_ids=[ids[1], "another"])).metric_vals_dict
    assert [found[name] for name in names] == pytest.approx([found[f"llamaindex:{name}"] for name in names])
    assert found["llamaindex:recall"] == 0.5


def test_retrieved_texts_are_judged():
    judge = ScriptedJudge(usefulness=lambda question, passage: "calm" in passage)
    metric = AssayRetrievalMetric("context_relevance", judge)
    with pytest.raises(ValueError, match="context_relevance"):
        metric.compute(query=QUESTION, retrieved_ids=[], retrieved_texts=[])
    relevance = AssayRetrievalMetric("llamaindex:cohere_rerank_relevancy", judge)
    result = relevance.compute(query=QUESTION, retrieved_ids=["1", "2"], retrieved_texts=PASSAGES)
    assert (result.score, result.metadata["mean"]) == (1.0, 0.5)


def test_what_is_missing_is_named_as_the_caller_names_it():
    with pytest.raises(ValueError, match=r"^llamaindex:mrr needs expected_ids or expected_texts, which is missing$"):
        AssayRetrievalMetric("llamaindex:mrr").compute(retrieved_ids=["1"])


def test_nothing_retrieved_raises_as_it_does_there():
    with pytest.raises(ValueError, match="nothing was retrieved"):
        AssayRetrievalMetric("llamaindex:mrr").compute(expected_ids=["1"], retrieved_ids=[])


def test_one_metric_at_a_time():
    with pytest.raises(InputError, match="one"):
        AssayRetrievalMetric("llamaindex:mrr,llamaindex:ndcg")
