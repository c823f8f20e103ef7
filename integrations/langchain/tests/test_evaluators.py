"""Evaluator objects for LangSmith, openevals' callers and langchain-classic, all offline."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from assay_langchain import AssayRunEvaluator, AssayStringEvaluator, as_evaluator
from langsmith import Client
from langsmith import evaluate as langsmith_evaluate
from langsmith.run_trees import RunTree
from langsmith.schemas import Example

from assay.errors import InputError
from assay.judges.scripted_judge import ScriptedJudge

JUDGE = ScriptedJudge(
    support=lambda claim, passage: "supported" if claim in passage else "not_mentioned",
    usefulness=lambda question, passage: True,
)
INPUTS = {"question": "Why do cats purr?"}
OUTPUTS = {"answer": "Cats purr. Dogs fly.", "contexts": ["Cats purr. They are calm."]}


def example(**outputs: Any) -> Example:
    return Example(id=uuid.uuid4(), inputs=INPUTS, outputs=outputs, dataset_id=uuid.uuid4())


def run_of(outputs: Any, children: Any = ()) -> RunTree:
    run = RunTree(name="rag", run_type="chain", inputs=INPUTS, client=Client(api_url="http://127.0.0.1:9", api_key="x"))
    for name, run_type, documents in children:
        child = run.create_child(name=name, run_type=run_type, inputs={"query": "q"})
        child.outputs = {"documents": documents}
    run.outputs = outputs
    return run


def test_run_evaluator_gives_a_result_per_metric() -> None:
    evaluator = AssayRunEvaluator(["faithfulness", "context_recall"], JUDGE)
    run = run_of(OUTPUTS)
    results = {result.key: result for result in evaluator.evaluate_run(run, example())["results"]}
    assert results["faithfulness"].score == 0.5
    assert "Dogs fly" in results["faithfulness"].comment
    assert results["faithfulness"].metadata["judge"] == "scripted"
    assert results["context_recall"].score is None
    assert results["context_recall"].value == "missing_input"
    assert "reference" in results["context_recall"].comment
    assert evaluator.feedback_keys == ["faithfulness", "context_recall"]


async def test_run_evaluator_async_and_sync_inside_a_running_loop() -> None:
    evaluator = AssayRunEvaluator("faithfulness", JUDGE)
    run = run_of(OUTPUTS)
    source = uuid.uuid4()
    result = (await evaluator.aevaluate_run(run, None, source))["results"][0]
    assert (result.score, result.source_run_id) == (0.5, source)
    assert evaluator.evaluate_run(run)["results"][0].score == 0.5


def test_run_evaluator_reads_the_retrievers_of_the_tree() -> None:
    documents = [{"page_content": "Cats purr. They are calm.", "metadata": {}}]
    run = run_of({"output": "Cats purr."}, [("retriever", "retriever", documents)])
    assert AssayRunEvaluator("faithfulness", JUDGE).evaluate_run(run)["results"][0].score == 1.0


def test_function_has_the_shape_of_openevals() -> None:
    evaluator = as_evaluator("faithfulness", JUDGE)
    result = evaluator(inputs=INPUTS, outputs="Cats purr.", context="Cats purr. They are calm.")
    assert set(result) == {"key", "score", "comment", "metadata"}
    assert (result["key"], result["score"]) == ("faithfulness", 1.0)
    nothing = evaluator(inputs=INPUTS, outputs="Cats purr.")
    assert nothing["score"] is None
    assert nothing["metadata"]["error"]["cause"] == "missing_input"


def test_function_takes_references_of_datasets() -> None:
    evaluator = as_evaluator("context_recall", JUDGE)
    assert evaluator(inputs=INPUTS, outputs=OUTPUTS, reference_outputs={"answer": "Cats purr."})["score"] == 1.0


def test_a_value_by_convention_is_no_score() -> None:
    blank, reference = {"answer": " "}, {"answer": "Cats purr."}
    name = "ragas:exact_match@original"  # 0 for a blank answer, there
    feedback = as_evaluator(name, JUDGE)(inputs=INPUTS, outputs=blank, reference_outputs=reference)
    assert (feedback["score"], feedback["metadata"]["convention"]) == (None, "the answer is empty")
    (result,) = AssayRunEvaluator(name, JUDGE).evaluate_run(run_of(blank), example(**reference))["results"]
    assert (result.score, result.value) == (None, "by_convention")
    row = AssayStringEvaluator(name, JUDGE).evaluate_strings(prediction=" ", reference="Cats purr.")
    assert (row["score"], row["value"]) == (None, "by_convention")
    assert "by convention" in row["reasoning"]


def test_one_metric_means_one() -> None:
    with pytest.raises(InputError, match="expected one"):
        as_evaluator("faithfulness,context_recall", JUDGE)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("concurrency", [0, 4])
def test_langsmith_evaluate_offline(monkeypatch: Any, concurrency: int) -> None:
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    results = langsmith_evaluate(
        lambda inputs: OUTPUTS,
        data=[example(answer="Cats purr.") for _ in range(3)],
        evaluators=[AssayRunEvaluator("faithfulness", JUDGE), as_evaluator("context_recall", JUDGE)],
        client=Client(api_url="http://127.0.0.1:9", api_key="x", auto_batch_tracing=False),
        upload_results=False,
        max_concurrency=concurrency,
    )
    rows = list(results)
    assert len(rows) == 3
    for row in rows:
        scores = {result.key: result.score for result in row["evaluation_results"]["results"]}
        assert scores == {"faithfulness": 0.5, "context_recall": 1.0}


def test_string_evaluator() -> None:
    evaluator = AssayStringEvaluator("faithfulness", JUDGE)
    assert (evaluator.evaluation_name, evaluator.requires_input, evaluator.requires_reference) == (
        "faithfulness",
        False,
        False,
    )
    result = evaluator.evaluate_strings(prediction="Cats purr.", contexts=["Cats purr. They are calm."])
    assert (result["score"], result["value"]) == (1.0, None)
    error = evaluator.evaluate_strings(prediction="Cats purr.")
    assert (error["score"], error["value"]) == (None, "missing_input")


async def test_string_evaluator_async_and_required_reference() -> None:
    evaluator = AssayStringEvaluator("context_recall", JUDGE)
    result = await evaluator.aevaluate_strings(prediction="x", reference="Cats purr.", contexts=["Cats purr."])
    assert result["score"] == 1.0
    with pytest.raises(ValueError, match="reference"):
        await evaluator.aevaluate_strings(prediction="x")
