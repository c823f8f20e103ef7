"""Evaluators in Phoenix's own evaluations: of data frames, and of experiments on a real server."""

from __future__ import annotations

import subprocess
import sys
import uuid
from typing import Any

import pandas as pd
import pytest
from assay_phoenix import AssayEvaluator, evaluators
from phoenix.evals import async_evaluate_dataframe, bind_evaluator, evaluate_dataframe

from assay.errors import InputError
from assay.judges.scripted_judge import ScriptedJudge

PASSAGE = "Cats purr when calm."
ANSWER = "Cats purr when calm. They sing."


@pytest.fixture
def judge() -> ScriptedJudge:
    return ScriptedJudge(
        support=lambda claim, passage: "supported" if claim.rstrip(".") in passage else "not_mentioned",
        usefulness=lambda question, passage: True,
        name="openai/model",
    )


@pytest.fixture
def frame() -> pd.DataFrame:
    rows = [
        {"input": "Why?", "output": ANSWER, "context": [PASSAGE], "expected": PASSAGE},
        {"input": "Why?", "output": None, "context": [PASSAGE], "expected": None},
        {"input": "Why?", "output": ANSWER, "context": None, "expected": PASSAGE},
        {"input": "Why?", "output": ANSWER, "context": [7], "expected": PASSAGE},
        {"input": "Why?", "output": ANSWER, "context": [], "expected": PASSAGE},
    ]
    return pd.DataFrame(rows)


def test_a_frame(frame: pd.DataFrame, judge: ScriptedJudge) -> None:
    made = evaluate_dataframe(
        dataframe=frame, evaluators=evaluators("faithfulness", "context_recall", judge=judge), hide_tqdm_bar=True
    )
    first, *others = made["faithfulness_score"]
    assert (first["score"], first["kind"], first["direction"]) == (0.5, "llm", "maximize")  # of two sentences the first
    assert "not_mentioned: They sing." in first["explanation"]
    assert first["metadata"]["assay.judge"] == "openai/model"
    causes = [(one.get("score"), one["label"], one["metadata"]["assay.cause"]) for one in others]
    assert causes == [
        (None, "skipped", "missing_input"),
        (None, "skipped", "missing_input"),
        (None, "failed", "bad_row"),
        (None, "skipped", "no_context"),
    ]
    # an empty retrieval holds nothing of the reference: 0 of 1
    assert [one.get("score") for one in made["context_recall_score"]] == [1.0, None, None, None, 0.0]
    assert all(one["status"] == "COMPLETED" for one in made["faithfulness_execution_details"])
    assert judge.asked["support"] == 2  # the answer and the reference of the first row


@pytest.mark.parametrize("name", ["ragas:faithfulness", "ragas:faithfulness@original"])
def test_a_frame_with_a_metric_of_another_system(frame: pd.DataFrame, judge: ScriptedJudge, name: str) -> None:
    made = evaluate_dataframe(dataframe=frame[:1], evaluators=evaluators(name, judge=judge), hide_tqdm_bar=True)
    (found,) = made[f"{name}_score"]
    assert (found["name"], found["score"]) == (name, 0.5)


@pytest.mark.long
async def test_a_frame_in_a_running_loop(frame: pd.DataFrame, judge: ScriptedJudge) -> None:
    many = pd.concat([frame.head(1)] * 40, ignore_index=True)
    made = await async_evaluate_dataframe(
        dataframe=many, evaluators=evaluators("faithfulness", "hallucination", judge=judge), concurrency=16,
        hide_tqdm_bar=True,
    )  # fmt: skip
    assert [one["score"] for one in made["faithfulness_score"]] == [0.5] * 40
    assert {one["direction"] for one in made["hallucination_score"]} == {"minimize"}
    assert judge.asked["support"] == 1


def test_other_columns_are_mapped(judge: ScriptedJudge) -> None:
    evaluator = bind_evaluator(
        evaluator=AssayEvaluator("faithfulness", judge),
        input_mapping={"answer": "run.said", "contexts": lambda row: [hit["body"] for hit in row["hits"]]},
    )
    (score,) = evaluator.evaluate({"run": {"said": ANSWER}, "hits": [{"body": PASSAGE}]})
    assert score.score == 0.5
    (score,) = evaluator.evaluate({"run": {}, "hits": []})
    assert (score.score, score.label) == (None, "skipped")


def test_it_describes_itself(judge: ScriptedJudge) -> None:
    described = AssayEvaluator("hallucination", judge).describe()
    assert (described["name"], described["direction"]) == ("hallucination", "minimize")
    assert {"question", "contexts", "answer", "reference"} <= described["input_schema"]["properties"].keys()


def test_an_evaluator_has_one_metric(judge: ScriptedJudge) -> None:
    """Phoenix keeps the first score of an evaluator in an experiment, and drops the others without a word."""
    with pytest.raises(InputError, match="for several use `evaluators`"):
        AssayEvaluator("faithfulness, hallucination", judge)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="did you mean 'faithfulness'"):
        evaluators("faithfullness", judge=judge)


def test_without_phoenixs_package_it_says_what_to_install() -> None:
    code = """
import sys
sys.modules["phoenix.evals"] = None
from assay.errors import MissingExtra
from assay_phoenix import PhoenixSink  # the sink needs none of it
try:
    from assay_phoenix import evaluators
except MissingExtra as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert "pip install 'assay-phoenix[evals]'" in done.stdout, done.stderr


@pytest.mark.timeout(900)  # the first test of a session installs and starts the server
def test_an_experiment_on_a_server(url: str, judge: ScriptedJudge) -> None:
    import httpx
    from phoenix.client import Client

    client = Client(base_url=url)
    dataset = client.datasets.create_dataset(
        name=f"cats-{uuid.uuid4().hex[:8]}",
        inputs=[{"question": "Why?"}, {"question": "Why not?"}],
        outputs=[{"answer": PASSAGE}, {}],
    )

    def task(input: dict[str, Any]) -> dict[str, Any]:
        return {"answer": ANSWER, "contexts": [PASSAGE]}

    ran = client.experiments.run_experiment(
        dataset=dataset,
        task=task,
        evaluators=evaluators("faithfulness", "context_recall", judge=judge),
        print_summary=False,
    )
    stored = httpx.get(f"{url}/v1/experiments/{ran['experiment_id']}/json").json()
    found = {run["input"]["question"]: {one["name"]: one for one in run["annotations"]} for run in stored}
    told = found["Why?"]["faithfulness"]
    assert (told["score"], told["annotator_kind"]) == (0.5, "LLM")
    assert "not_mentioned: They sing." in told["explanation"]
    assert told["metadata"]["assay.judge"] == "openai/model"
    assert found["Why?"]["context_recall"]["score"] == 1.0
    missing = found["Why not?"]["context_recall"]
    assert (missing["score"], missing["label"], missing["error"]) == (None, "skipped", None)
    assert missing["metadata"]["assay.cause"] == "missing_input"
