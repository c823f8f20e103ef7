"""Evaluators in LangSmith's own `evaluate`, with the real client: offline, and against a local server."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from assay_langsmith import AssayEvaluator, evaluators
from assay_langsmith.evaluating import row_of_run
from langchain_core.documents import Document
from langsmith import Client, aevaluate, evaluate, traceable
from langsmith.run_trees import RunTree
from langsmith.schemas import Example

from assay.errors import InputError
from assay.judges.scripted_judge import ScriptedJudge
from tests._support.servers.langsmith_server import KEY, LangSmithServer

PASSAGE = "Cats purr when calm."
NOW = datetime(2026, 3, 1, tzinfo=UTC)
ANSWER = "Cats purr when calm. They sing."

# the client tells of a server that it cannot reach
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def judge() -> ScriptedJudge:
    return ScriptedJudge(
        support=lambda claim, passage: "supported" if claim.rstrip(".") in passage else "not_mentioned",
        usefulness=lambda question, passage: True,
        name="openai/model",
    )


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    return Client(api_url="http://127.0.0.1:9", api_key="x", auto_batch_tracing=False)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LangSmithServer]:
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    with LangSmithServer() as server:
        yield server


def example(**outputs: Any) -> Example:
    return Example(
        id=uuid.uuid4(), inputs={"question": "Why?"}, outputs=outputs or None, dataset_id=uuid.uuid4(), created_at=NOW
    )


@traceable(run_type="retriever")
def retrieve(question: str) -> list[Document]:
    return [Document(page_content=PASSAGE)]


def looks_it_up(inputs: dict[str, Any]) -> dict[str, Any]:
    retrieve(inputs["question"])
    return {"answer": ANSWER}


def hands_it_out(inputs: dict[str, Any]) -> dict[str, Any]:
    return {"answer": ANSWER, "contexts": [PASSAGE]}


def scores_of(rows: Any) -> list[dict[str, Any]]:
    return [{one.key: one for one in row["evaluation_results"]["results"]} for row in rows]


@pytest.mark.parametrize("target", [looks_it_up, hands_it_out])
@pytest.mark.parametrize("threads", [0, 4])
def test_evaluate(client: Client, judge: ScriptedJudge, target: Any, threads: int) -> None:
    rows = evaluate(
        target,
        data=[example(answer=PASSAGE) for _ in range(3)],
        evaluators=evaluators("faithfulness", "context_recall", "context_utilization", judge=judge),
        client=client,
        upload_results=False,
        max_concurrency=threads,
    )
    for found in scores_of(rows):
        assert found["faithfulness"].score == 0.5  # of two sentences the passage says the first
        assert "not_mentioned: They sing." in found["faithfulness"].comment
        assert found["faithfulness"].metadata["assay.judge"] == "openai/model"
        assert found["context_recall"].score == 1.0
    assert judge.asked["support"] == 2  # three equal rows, three metrics: answer and reference are read once each


async def test_aevaluate(server: LangSmithServer, judge: ScriptedJudge) -> None:
    async def target(inputs: dict[str, Any]) -> dict[str, Any]:
        return hands_it_out(inputs)

    client = Client(api_url=server.url, api_key=KEY)
    rows = await aevaluate(
        target, data=[example()] * 3, evaluators=evaluators("faithfulness", judge=judge), client=client
    )
    assert [found["faithfulness"].score async for row in rows for found in scores_of([row])] == [0.5] * 3


def test_the_evidence_reaches_the_server(server: LangSmithServer, judge: ScriptedJudge) -> None:
    client = Client(api_url=server.url, api_key=KEY)
    made = evaluators("faithfulness", "context_recall", judge=judge)
    list(evaluate(looks_it_up, data=[example()], evaluators=made, client=client))
    client.flush()
    assert server.problems == []
    found = {one["key"]: one for one in server.feedback.values()}
    told = found["faithfulness"]
    assert told["score"] == 0.5
    assert "not_mentioned: They sing." in told["comment"]
    assert told["feedback_source"]["metadata"]["assay.judge"] == "openai/model"
    assert "They sing." in told["feedback_source"]["metadata"]["assay.evidence"]
    assert (found["context_recall"]["score"], found["context_recall"]["value"]) == (None, "skipped: missing_input")


def test_what_cannot_be_scored_says_why_and_harms_no_other(client: Client, judge: ScriptedJudge) -> None:
    def target(inputs: dict[str, Any]) -> dict[str, Any]:
        if inputs["question"] == "fail":
            raise ValueError("no answer today")
        return {"answer": None} if inputs["question"] == "none" else {"answer": ANSWER, "contexts": inputs["contexts"]}

    asked = [("Why?", [PASSAGE]), ("fail", [PASSAGE]), ("none", [PASSAGE]), ("empty", []), ("wrong", [7])]
    data = [
        Example(id=uuid.uuid4(), inputs={"question": question, "contexts": contexts}, dataset_id=uuid.uuid4())
        for question, contexts in asked
    ]
    rows = list(
        evaluate(
            target,
            data=data,
            evaluators=evaluators("faithfulness", "context_recall", judge=judge),
            client=client,
            upload_results=False,
            max_concurrency=0,
        )
    )
    found = {row["example"].inputs["question"]: scores_of([row])[0] for row in rows}
    assert found["Why?"]["faithfulness"].score == 0.5
    assert found["Why?"]["context_recall"].value == "skipped: missing_input"
    assert "needs 'reference'" in found["Why?"]["context_recall"].comment
    assert found["fail"]["faithfulness"].value == "skipped: partial"
    assert found["none"]["faithfulness"].value == "skipped: missing_input"
    assert found["empty"]["faithfulness"].value == "skipped: no_context"
    assert found["wrong"]["faithfulness"].score is None


def test_a_run_made_by_hand_and_its_retrievers() -> None:
    run = RunTree(name="rag", inputs={"question": "Why?"}, client=Client(api_url="http://127.0.0.1:9", api_key="x"))
    child = run.create_child(name="search", run_type="retriever", inputs={"query": "q"})
    child.outputs = {"documents": [{"page_content": PASSAGE, "metadata": {}}]}
    child.end_time = run.end_time = datetime.now(UTC)
    run.outputs = {"answer": ANSWER}
    sample = row_of_run(run, example(answer="Calm.")).sample
    assert (sample.question, sample.passages, sample.answer, sample.reference) == ("Why?", (PASSAGE,), ANSWER, "Calm.")
    assert sample.ids["langsmith_run_id"] == str(run.id)


def test_the_run_of_the_evaluator_is_named(judge: ScriptedJudge) -> None:
    evaluator = AssayEvaluator("faithfulness", judge)
    run = RunTree(name="rag", inputs={}, client=Client(api_url="http://127.0.0.1:9", api_key="x"))
    run.outputs = {"answer": ANSWER, "contexts": [PASSAGE]}
    source = uuid.uuid4()
    (result,) = evaluator.evaluate_run(run, None, source)["results"]
    assert (result.score, result.source_run_id, evaluator.feedback_keys) == (0.5, source, ["faithfulness"])


def test_wrong_arguments_are_named_before_anything_runs(judge: ScriptedJudge) -> None:
    with pytest.raises(InputError, match="did you mean 'faithfulness'"):
        evaluators("faithfullness", judge=judge)
    with pytest.raises(InputError, match="none is given"):
        evaluators(judge=judge)
