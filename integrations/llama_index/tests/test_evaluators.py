"""assay metrics as LlamaIndex evaluators, alone and in BatchEvalRunner."""

from __future__ import annotations

import asyncio
import pickle
from typing import ClassVar

import pytest
from assay_llama_index import AssayEvaluator, evaluators
from llama_index.core.evaluation import BatchEvalRunner, EvaluationResult

from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.base import Metric

QUESTION, ANSWER = "Why do cats purr?", "Cats purr when calm."
PASSAGES = ["Cats purr when calm.", "Cats also purr to heal."]


class Fixed(Metric):
    """Says what the answer says."""

    name: ClassVar[str] = "fixed"
    needs: ClassVar = ("answer",)
    asks: ClassVar = ()

    async def measure(self, sample, judge):
        return self.make_score(float(sample.answer))


class Lower(Fixed):
    direction: ClassVar = "lower"


class Wide(Fixed):
    low: ClassVar[float] = -1.0
    high: ClassVar[float] = 5.0


def test_feedback_names_claim_quote_and_passage(judge):
    result = AssayEvaluator("faithfulness", judge).evaluate(
        query=QUESTION, response=ANSWER + " Dogs bark.", contexts=["Nothing.", *PASSAGES]
    )
    assert type(result) is EvaluationResult
    assert (result.score, result.passing, result.invalid_result) == (0.5, True, False)
    assert (result.query, result.contexts) == (QUESTION, ["Nothing.", *PASSAGES])
    assert result.feedback is not None
    supported, missing = result.feedback.splitlines()[1:]
    assert "supported: Cats purr when calm." in supported
    assert "passage 2, characters 0–20: “Cats purr when calm.”" in supported
    assert missing == "- not_mentioned: Dogs bark."


@pytest.mark.parametrize(
    ("metric", "threshold", "value", "passing"),
    [
        (Fixed(), None, 0.5, True), (Fixed(), None, 0.4, False), (Fixed(), 0.9, 0.8, False), (Fixed(), 0.8, 0.8, True),
        (Lower(), None, 0.5, True), (Lower(), None, 0.6, False), (Lower(), 0.1, 0.2, False), (Lower(), 0.2, 0.2, True),
        (Wide(), None, 4.0, None), (Wide(), 3.0, 4.0, True), (Fixed(), 0.0, 0.0, True),
    ],
)  # fmt: skip
def test_threshold_and_direction(judge, metric, threshold, value, passing):
    result = AssayEvaluator(metric, judge, threshold).evaluate(response=str(value))
    assert (result.score, result.passing) == (value, passing)


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        ({}, "missing_input"),
        ({"response": ANSWER}, "missing_input"),
        ({"response": ANSWER, "contexts": []}, "no_context"),
        ({"response": "", "contexts": PASSAGES}, "no_claims"),
        ({"response": ANSWER, "contexts": 5}, "bad_row"),
    ],
)
def test_what_cannot_be_scored_is_invalid(judge, arguments, cause):
    result = AssayEvaluator("faithfulness", judge).evaluate(**arguments)
    assert result.invalid_result
    assert result.invalid_reason.startswith(f"{cause}: ")
    assert (result.score, result.passing) == (None, None)


def test_a_value_by_convention_is_no_score(judge):
    result = AssayEvaluator("ragas:exact_match@original", judge, 0.5).evaluate(response=" ", reference=ANSWER)
    assert (result.score, result.passing, result.invalid_result) == (None, None, True)
    assert result.invalid_reason == "by_convention: the answer is empty"


def failing_rows(bad: set[int]) -> ScriptedJudge:
    """Fails, in one way or another, where a claim holds the number of a bad row."""

    def support(claim, passage):
        number = int(claim.split()[-1].rstrip("."))
        if number not in bad:
            return claim
        if number % 2:
            raise JudgeFailure(Cause.RATE_LIMITED, "slow down")
        raise RuntimeError("a bug in the judge")

    return ScriptedJudge(support=support)


async def test_batch_keeps_the_rows_that_can_be_scored():
    bad = {3, 4, 11}
    runner = BatchEvalRunner(evaluators("faithfulness", judge=failing_rows(bad)), workers=4)
    texts = [f"Row {n}." for n in range(20)]
    results = await runner.aevaluate_response_strs(
        queries=[f"Question {n}?" for n in range(20)], response_strs=texts, contexts_list=[[t] for t in texts]
    )
    rows = results["faithfulness"]
    assert [n for n, row in enumerate(rows) if row.invalid_result] == sorted(bad)
    assert all(row.score == 1.0 for n, row in enumerate(rows) if n not in bad)
    assert rows[3].invalid_reason == "rate_limited: slow down"
    assert rows[4].invalid_reason.startswith("bug: ")
    assert [row.query for row in rows] == [f"Question {n}?" for n in range(20)]


async def test_batch_over_responses_and_queries(kit, judge):
    runner = BatchEvalRunner(evaluators(["faithfulness", "context_relevance"], judge=judge))
    queries = [QUESTION, "And why else?"]
    by_query = await runner.aevaluate_queries(kit.engine(), queries=queries)
    responses = [await kit.engine().aquery(query) for query in queries]
    by_response = await runner.aevaluate_responses(queries=queries, responses=responses)
    for results in (by_query, by_response):
        assert [row.score for row in results["faithfulness"]] == [1.0, 1.0]
        assert [row.query for row in results["context_relevance"]] == queries
        assert results["faithfulness"][0].contexts == PASSAGES


async def test_batch_over_an_engine_that_returns_no_texts(kit, judge):
    """What an engine returns in place of a text is skipped; the other rows have their scores."""
    from llama_index.core.base.response.schema import Response

    answers = {"nan": float("nan"), "error": ValueError("timeout"), "text": ANSWER}

    class Engine(type(kit.engine())):
        async def _aquery(self, bundle):
            return Response(answers[bundle.query_str], kit.Shelf().retrieve(QUESTION))

    engine = Engine(retriever=kit.Shelf(), response_synthesizer=kit.engine()._response_synthesizer)
    runner = BatchEvalRunner(evaluators(["faithfulness", "context_relevance"], judge=judge))
    rows = (await runner.aevaluate_queries(engine, queries=list(answers)))["faithfulness"]
    assert [row.score for row in rows] == [None, None, 1.0]
    assert rows[0].invalid_reason.startswith("missing_input: ")
    assert rows[1].invalid_reason == "bad_row: response (the answer): expected a text, found ValueError"


async def test_batch_with_streamed_and_missing_responses(kit, judge):
    runner = BatchEvalRunner(evaluators("faithfulness", judge=judge))
    responses = [await kit.engine(streaming=True).aquery(QUESTION), kit.engine(streaming=True).query(QUESTION), None]
    rows = (await runner.aevaluate_responses(queries=[QUESTION] * 3, responses=responses))["faithfulness"]
    assert [row.score for row in rows] == [1.0, 1.0, None]
    assert rows[2].invalid_result


async def test_batch_with_references(judge):
    row = {"queries": [QUESTION], "response_strs": [ANSWER], "contexts_list": [PASSAGES]}
    runner = BatchEvalRunner({"context_recall": AssayEvaluator("context_recall", judge)})
    alone = await runner.aevaluate_response_strs(**row, reference=[ANSWER])
    assert alone["context_recall"][0].score == 1.0
    runner = BatchEvalRunner(evaluators(["context_recall", "faithfulness"], judge=judge))
    several = await runner.aevaluate_response_strs(**row, context_recall={"reference": [[ANSWER]]})
    assert several["faithfulness"][0].score == 1.0


async def test_inside_a_running_loop(kit, judge):
    """The sync names work in a notebook too."""
    evaluator = AssayEvaluator("faithfulness", judge)
    assert evaluator.evaluate(response=ANSWER, contexts=PASSAGES).score == 1.0
    assert evaluator.evaluate_response(QUESTION, kit.engine().query(QUESTION)).score == 1.0


async def test_evaluators_share_judgements(judge):
    """Faithfulness and hallucination read the same verdicts: the judge is asked once."""
    both = evaluators(["faithfulness", "hallucination"], judge=judge)
    await asyncio.gather(*(e.aevaluate(QUESTION, ANSWER, PASSAGES) for e in both.values()))
    for each in both.values():
        await each.aevaluate(QUESTION, ANSWER, PASSAGES)
        each.evaluate(QUESTION, ANSWER, PASSAGES)  # in a running loop, too
    assert judge.asked == {"claims": 1, "support": 1}


def test_evaluators_without_a_judge_share_the_embedded_one():
    both = evaluators("faithfulness", "hallucination")
    assert both["faithfulness"].judge is both["hallucination"].judge is AssayEvaluator("faithfulness").judge


@pytest.mark.parametrize("make", [AssayEvaluator, lambda name: evaluators(name)[name]], ids=["one", "of several"])
def test_an_evaluator_with_the_embedded_judge_goes_to_other_processes(make):
    row = {"query": QUESTION, "response": ANSWER, "contexts": PASSAGES}
    evaluator = make("faithfulness")
    assert pickle.loads(pickle.dumps(evaluator)).evaluate(**row).score == evaluator.evaluate(**row).score == 1.0


async def test_deadline():
    class Slow(ScriptedJudge):
        async def answer(self, prompts):
            await asyncio.sleep(60)

    judge = Slow(support={})
    result = await AssayEvaluator("faithfulness", judge, deadline=0.05).aevaluate(QUESTION, ANSWER, PASSAGES)
    assert result.invalid_reason.startswith("timeout: ")


async def test_cancellation_passes():
    class Slow(ScriptedJudge):
        async def answer(self, prompts):
            await asyncio.sleep(60)

    task = asyncio.create_task(AssayEvaluator("faithfulness", Slow(support={})).aevaluate(QUESTION, ANSWER, PASSAGES))
    await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_sub_question_nodes_are_left_out(kit, judge):
    from llama_index.core.base.response.schema import Response

    intermediate = kit.NodeWithScore(node=kit.TextNode(text="Sub question: Why?\nResponse: Dogs bark."))
    response = Response("Dogs bark.", [intermediate, *kit.Shelf().retrieve(QUESTION)])
    result = AssayEvaluator("faithfulness", judge).evaluate_response(QUESTION, response)
    assert result.score == 0.0
    assert result.contexts == PASSAGES


def test_arguments_are_checked_when_built(judge):
    with pytest.raises(InputError, match="one"):
        AssayEvaluator("faithfulness,hallucination", judge)
    with pytest.raises(InputError, match="no metric"):
        AssayEvaluator("fidelity", judge)


def test_prompts_are_the_judges(judge):
    evaluator = AssayEvaluator("faithfulness", judge)
    assert evaluator.get_prompts() == {}
    evaluator.update_prompts({})
