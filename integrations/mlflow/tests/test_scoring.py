"""Scorers in `mlflow.genai.evaluate`: called as MLflow calls them, and on a real server and a SQLite file."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from assay_mlflow import AssayScorer, scorers

from assay.errors import InputError
from assay.judges.scripted_judge import ScriptedJudge

PASSAGE = "Cats purr when calm."
ANSWER = "Cats purr when calm. They sing."
INPUTS = {"question": "Why?"}
OUTPUTS = {"answer": ANSWER, "contexts": [PASSAGE]}


@pytest.fixture
def judge() -> ScriptedJudge:
    return ScriptedJudge(
        support=lambda claim, passage: "supported" if claim.rstrip(".") in passage else "not_mentioned",
        usefulness=lambda question, passage: True,
        name="openai/model",
    )


def test_a_feedback_has_value_evidence_and_source(judge: ScriptedJudge) -> None:
    feedback = AssayScorer("faithfulness", judge).run(inputs=INPUTS, outputs=OUTPUTS)
    assert (feedback.name, feedback.value, feedback.error) == ("faithfulness", 0.5, None)
    assert feedback.rationale == "faithfulness = 0.500\n- supported: Cats purr when calm.\n- not_mentioned: They sing."
    assert (feedback.source.source_type, feedback.source.source_id) == ("LLM_JUDGE", "openai/model")
    assert json.loads(feedback.metadata["assay.evidence"])[0]["label"] == "not_mentioned"
    assert all(isinstance(value, str) for value in feedback.metadata.values())


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        ("ragas:faithfulness", "ragas:faithfulness"),
        ("ragas:faithfulness@original", "ragas:faithfulness.original"),
    ],
)
def test_mlflow_takes_the_names_of_other_systems_metrics(judge: ScriptedJudge, metric: str, name: str) -> None:
    from mlflow.utils.validation import _validate_metric_name

    feedback = AssayScorer(metric, judge).run(inputs=INPUTS, outputs=OUTPUTS)
    assert (feedback.name, feedback.value) == (name, 0.5)
    _validate_metric_name(f"{feedback.name}/mean")  # it raises for a name that evaluations would end over


def test_one_scorer_with_several_metrics_gives_several_feedbacks(judge: ScriptedJudge) -> None:
    scorer = AssayScorer(["faithfulness", "context_recall"], judge, name="assay")
    found = scorer.run(inputs=INPUTS, outputs=OUTPUTS, expectations={"expected_response": PASSAGE})
    assert {one.name: one.value for one in found} == {"faithfulness": 0.5, "context_recall": 1.0}
    assert scorer.name == "assay"


@pytest.mark.parametrize(
    ("outputs", "cause"),
    [
        (None, "missing_input"),
        ({"answer": ANSWER}, "missing_input"),
        ({"answer": ANSWER, "contexts": []}, "no_context"),
        ({"answer": "", "contexts": [PASSAGE]}, "no_claims"),
        (7, "bad_row"),
    ],
)
def test_what_cannot_be_scored_is_an_error_and_no_number(judge: ScriptedJudge, outputs: Any, cause: str) -> None:
    feedback = AssayScorer("faithfulness", judge).run(inputs=None, outputs=outputs)
    assert (feedback.value, feedback.error.error_code) == (None, cause)
    assert feedback.rationale.startswith(f"Not scored ({cause})")


def test_a_metric_without_its_reference_says_so(judge: ScriptedJudge) -> None:
    for expectations in (None, {}, {"guidelines": "Be kind."}):
        feedback = AssayScorer("context_recall", judge).run(outputs=OUTPUTS, expectations=expectations)
        assert "context_recall needs 'reference', which is missing" in feedback.error.error_message


def test_scorers_share_one_reading_in_any_number_of_threads(judge: ScriptedJudge) -> None:
    made = scorers("faithfulness", "hallucination", "context_utilization", judge=judge)
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda scorer: scorer.run(inputs=INPUTS, outputs=OUTPUTS), made * 20))
    assert {(one.name, one.value is not None) for one in found} == {(scorer.name, True) for scorer in made}
    assert (judge.asked["claims"], judge.asked["support"]) == (1, 1)


def test_wrong_arguments_are_named_before_anything_is_scored(judge: ScriptedJudge) -> None:
    with pytest.raises(InputError, match="did you mean 'faithfulness'"):
        AssayScorer("faithfullness", judge)
    with pytest.raises(InputError, match="none is given"):
        scorers(judge=judge)


def test_what_mlflow_does_with_scorers_besides_running_them(
    judge: ScriptedJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlflow.exceptions import MlflowException

    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    scorer = AssayScorer("faithfulness", judge)
    with pytest.raises(InputError, match="MLflow cannot register a scorer of assay"):
        scorer.register(name="x")
    with pytest.raises(MlflowException, match="Unsupported scorer type: AssayScorer"):
        scorer.model_dump()  # MLflow writes down its own kinds alone
    assert scorer.model_copy(deep=True).run(outputs=OUTPUTS).value == 0.5
    assert "faithfulness" in repr(scorer)
    again = pickle.loads(pickle.dumps(AssayScorer("faithfulness", "openai:m", name="mine")))
    assert (again.name, again._panel.labels) == ("mine", ["faithfulness"])
    with pytest.raises(InputError, match="give the judge by its name"):
        pickle.dumps(scorer)


@pytest.mark.long  # MLflow takes its time to import
def test_without_mlflows_evaluation_it_says_what_to_install() -> None:
    code = """
import sys
sys.modules["mlflow.genai.scorers"] = None
from assay.errors import MissingExtra
from assay_mlflow import MlflowSink  # the sink needs none of it
try:
    from assay_mlflow import scorers
except MissingExtra as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert "pip install mlflow" in done.stdout, done.stderr


EVALUATION = """
import json, os, sys
os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
sys.path += sys.argv[2:]  # MLflow whole, with its database
import mlflow
from mlflow.entities import Document
from assay.judges.scripted_judge import ScriptedJudge
from assay_mlflow import scorers

judge = ScriptedJudge(
    support=lambda claim, passage: "supported" if claim.rstrip(".") in passage else "not_mentioned",
    usefulness=lambda question, passage: True,
    name="openai/model",
)
mlflow.set_tracking_uri(sys.argv[1])
mlflow.set_experiment("NAME")
PASSAGE, ANSWER = "Cats purr when calm.", "Cats purr when calm. They sing."

@mlflow.trace(span_type="RETRIEVER")
def search(question):
    return [Document(page_content=PASSAGE, id="d1")]

@mlflow.trace
def application(question):
    if question == "fail":
        raise ValueError("no answer today")
    search(question)
    return ANSWER

rows = [
    {"inputs": {"question": "Why?"}, "outputs": {"answer": ANSWER, "contexts": [PASSAGE]},
     "expectations": {"expected_response": PASSAGE}},
    {"inputs": {"question": "Why not?"}, "outputs": {"answer": ANSWER}},
    {"inputs": {"question": "What?"}, "outputs": None},
]
asked = [
    {"inputs": {"question": "Why?"}, "expectations": {"expected_facts": [PASSAGE]}},
    {"inputs": {"question": "fail"}},
]

def told(result):
    found = {}
    for request, assessments in zip(result.result_df["request"], result.result_df["assessments"]):
        request = request if isinstance(request, str) else request["question"]
        found[request] = {
            one["assessment_name"]: [
                one["feedback"].get("value"), (one["feedback"].get("error") or {}).get("error_code"),
                one["rationale"], one["source"]["source_type"], one["metadata"].get("assay.id"),
            ]
            for one in assessments if "feedback" in one
        }
    return {"rows": found, "means": {name: float(value) for name, value in result.metrics.items()}}

names = ("faithfulness", "context_recall", "context_utilization")
with_theirs = scorers(*names, "ragas:faithfulness@original", judge=judge)
of_rows = told(mlflow.genai.evaluate(data=rows, scorers=with_theirs))
read = dict(judge.asked)
of_runs = told(mlflow.genai.evaluate(data=asked, predict_fn=application, scorers=scorers(*names, judge=judge)))
traces = mlflow.search_traces(return_type="list")
answered = [one for one in traces if one.info.request_preview and "Why?" in one.info.request_preview]
of_traces = told(mlflow.genai.evaluate(data=answered[:1], scorers=scorers(*names, judge=judge)))
print(json.dumps({"rows": of_rows, "read": read, "runs": of_runs, "traces": of_traces}))
"""


def evaluated(uri: str, *folders: str) -> dict[str, Any]:
    code = EVALUATION.replace("NAME", f"cats-{uuid.uuid4().hex[:8]}")
    done = subprocess.run([sys.executable, "-c", code, uri, *folders], capture_output=True, text=True, timeout=400)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.timeout(900)  # the first test of a session installs and starts the server
def test_evaluate_on_a_server(url: str) -> None:
    check(evaluated(url))


@pytest.mark.timeout(900)
def test_evaluate_in_a_file(tmp_path: Path, mlflow_packages: Path) -> None:
    check(evaluated(f"sqlite:///{tmp_path}/local.db", str(mlflow_packages)))


def check(found: dict[str, Any]) -> None:
    rows = found["rows"]["rows"]
    value, error, rationale, source, _ = rows["Why?"]["faithfulness"]
    assert (value, error, source) == (0.5, None, "LLM_JUDGE")  # of two sentences the passage says the first
    assert "not_mentioned: They sing." in rationale
    assert rows["Why?"]["context_recall"][0] == 1.0
    assert rows["Why not?"]["faithfulness"][:2] == [None, "missing_input"]
    assert rows["What?"]["faithfulness"][:2] == [None, "missing_input"]
    # means over what was measured alone: one row of three
    assert found["rows"]["means"]["faithfulness/mean"] == 0.5
    assert found["rows"]["means"]["ragas:faithfulness.original/mean"] == 0.5
    # one answer and one reference were read, each once for all metrics
    assert found["read"]["support"] == 2
    # contexts from the retriever's span of what ran
    assert found["runs"]["rows"]["Why?"]["faithfulness"][0] == 0.5
    assert found["runs"]["rows"]["Why?"]["context_recall"][0] == 1.0
    assert found["runs"]["rows"]["fail"]["faithfulness"][0] is None
    (trace,) = found["traces"]["rows"].values()
    assert trace["faithfulness"][0] == 0.5
