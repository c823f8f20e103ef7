"""Evaluators of pairs and of whole experiments, in LangSmith's own functions with the real client."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from assay_langsmith import evaluators, pairwise_evaluator, summary_evaluator
from assay_langsmith.comparing import preferences
from langsmith import Client, evaluate
from langsmith.evaluation import evaluate_comparative
from langsmith.evaluation.evaluator import comparison_evaluator
from langsmith.schemas import Example, Run, TracerSessionResult

from assay.errors import InputError
from assay.judges.scripted_judge import ScriptedJudge
from tests._support.servers.langsmith_server import KEY, LangSmithServer

PASSAGE = "Cats purr when calm."
NOW = datetime(2026, 3, 1, tzinfo=UTC)

# the client tells of a server that it cannot reach
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def judge() -> ScriptedJudge:
    return ScriptedJudge(
        support=lambda claim, passage: "supported" if claim.rstrip(".") in passage else "not_mentioned",
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


def example(question: str = "Why?") -> Example:
    return Example(id=uuid.uuid4(), inputs={"question": question}, dataset_id=uuid.uuid4(), created_at=NOW)


def run(answer: str | None, of: Example | None = None) -> Run:
    return Run(
        id=uuid.uuid4(),
        name="target",
        run_type="chain",
        start_time=NOW,
        end_time=NOW,
        trace_id=uuid.uuid4(),
        session_id=uuid.uuid4(),
        reference_example_id=None if of is None else of.id,
        inputs={"question": "Why?"},
        outputs=None if answer is None else {"answer": answer, "contexts": [PASSAGE]},
    )


GOOD, HALF, WORSE = PASSAGE, f"{PASSAGE} They sing.", f"{PASSAGE} They sing. They dance."


def compared(metric: Any, judge: ScriptedJudge, *answers: str | None) -> tuple[list[Any], Any]:
    runs = [run(answer) for answer in answers]
    found = comparison_evaluator(pairwise_evaluator(metric, judge)).compare_runs(runs, example())
    return [found.scores[one.id] for one in runs], found


def test_the_better_run_is_preferred_wherever_it_stands(judge: ScriptedJudge) -> None:
    scores, found = compared("faithfulness", judge, HALF, GOOD, WORSE)
    assert scores == [0.0, 1.0, 0.0]
    assert found.key == "faithfulness"
    assert sorted(found.comment.values())[-1].startswith("faithfulness = 1.000")
    assert compared("faithfulness", judge, GOOD, HALF)[0] == [1.0, 0.0]


def test_where_lower_is_better_the_lower_run_is_preferred(judge: ScriptedJudge) -> None:
    assert compared("hallucination", judge, HALF, GOOD)[0] == [0.0, 1.0]


def test_runs_that_are_equally_good_share(judge: ScriptedJudge) -> None:
    assert compared("ragas:faithfulness", judge, HALF, HALF)[0] == [0.5, 0.5]


def test_without_a_score_none_is_preferred(judge: ScriptedJudge) -> None:
    scores, found = compared("faithfulness", judge, GOOD, None)
    assert scores == [None, None]
    assert any(comment.startswith("Not scored (missing_input)") for comment in found.comment.values())


@pytest.mark.parametrize(
    ("values", "direction", "expected"),
    [
        ([0.2, 0.9], "higher", [0.0, 1.0]),
        ([0.2, 0.9], "lower", [1.0, 0.0]),
        ([0.9, 0.9, 0.1], "higher", [0.5, 0.5, 0.0]),
        ([0.3, 0.1 + 0.2], "higher", [0.5, 0.5]),
        ([0.9, None], "higher", [None, None]),
        ([], "higher", []),
    ],
)
def test_preferences(values: list[float | None], direction: Any, expected: list[float | None]) -> None:
    assert list(preferences(dict(enumerate(values)), direction).values()) == expected


def test_one_metric_is_compared_at_a_time(judge: ScriptedJudge) -> None:
    with pytest.raises(InputError, match="expected one metric, got faithfulness, hallucination"):
        pairwise_evaluator("faithfulness, hallucination", judge)  # type: ignore[arg-type, unused-ignore]


class Experiments(Client):
    """The client, with two experiments on one data set that it need not fetch."""

    def prepare(self, rows: list[Example], answers: dict[str, list[str]]) -> None:
        dataset = uuid.uuid4()
        self.told: list[dict[str, Any]] = []
        self.rows = rows
        self.projects = {
            name: TracerSessionResult(
                id=uuid.uuid4(), name=name, start_time=NOW, tenant_id=uuid.uuid4(), reference_dataset_id=dataset
            )
            for name in answers
        }
        self.answered = {
            self.projects[name].id: [run(answer, row) for answer, row in zip(said, rows, strict=True)]
            for name, said in answers.items()
        }

    def read_project(self, **known: Any) -> Any:
        return self.projects[str(known.get("project_name"))]

    def create_comparative_experiment(self, name: str, **known: Any) -> Any:
        return SimpleNamespace(id=known["id"], name=name)

    def list_runs(self, **known: Any) -> Any:
        return iter(self.answered[known["project_id"]])

    def list_examples(self, **_: Any) -> Any:
        return iter(self.rows)

    def create_feedback(self, *_: Any, **told: Any) -> Any:
        self.told.append(told)


@pytest.mark.long
def test_evaluate_comparative(judge: ScriptedJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    from langsmith.evaluation import _runner

    monkeypatch.setattr(_runner, "_build_comparative_url", lambda *_: None, raising=False)
    client = Experiments(api_url="http://127.0.0.1:9", api_key="x", auto_batch_tracing=False)
    rows = [example(), example("Why not?")]
    client.prepare(rows, {"before": [HALF, HALF], "after": [GOOD, WORSE]})
    made = [pairwise_evaluator("faithfulness", judge)]
    evaluate_comparative(("before", "after"), evaluators=made, client=client, randomize_order=True)
    told = {one["run_id"]: one["score"] for one in client.told}
    before, after = (client.answered[client.projects[name].id] for name in ("before", "after"))
    assert [told[one.id] for one in before] == [0.0, 1.0]
    assert [told[one.id] for one in after] == [1.0, 0.0]
    assert {one["key"] for one in client.told} == {"faithfulness"}
    assert all("faithfulness = " in one["comment"] for one in client.told)


def answers(inputs: dict[str, Any]) -> dict[str, Any]:
    if inputs["question"] == "Unknown?":
        return {"answer": HALF, "contexts": []}
    return {"answer": GOOD if inputs["question"] == "Why?" else HALF, "contexts": [PASSAGE]}


def test_the_mean_of_an_experiment_says_over_how_many(client: Client, judge: ScriptedJudge) -> None:
    names = ("faithfulness", "ragas:faithfulness@original")
    rows = evaluate(
        answers,
        data=[example("Why?"), example("Why not?"), example("Unknown?")],
        evaluators=evaluators(*names, judge=judge),
        summary_evaluators=[summary_evaluator(names, judge)],
        client=client,
        upload_results=False,
    )
    first, second = rows._summary_results["results"]
    assert (first.key, second.key) == ("faithfulness_mean", "ragas:faithfulness@original_mean")
    assert first.score == second.score == 0.75  # (1 + 0.5) / 2, not by three
    assert first.comment == (
        "mean of 2 of 3 rows; without a score: no_context 1; with them it would lie between 0.500 and 0.833"
    )
    assert first.metadata["bounds"] == [0.5, pytest.approx(2.5 / 3)]
    assert (first.metadata["scored"], first.metadata["total"]) == (2, 3)
    assert judge.asked["support"] == 2  # what was read for the rows is not read again for their mean


def test_an_experiment_without_a_score_has_no_mean(judge: ScriptedJudge) -> None:
    summarise = summary_evaluator("faithfulness", judge)
    (found,) = summarise([run(None)], [example()])["results"]
    assert (found.score, found.value, found.metadata["causes"]) == (None, "skipped", {"missing_input": 1})
    (none,) = summarise([], [])["results"]
    assert (none.score, none.comment) == (None, "mean of 0 of 0 rows")


def test_the_names_of_other_systems_metrics_reach_the_server(server: LangSmithServer, judge: ScriptedJudge) -> None:
    client = Client(api_url=server.url, api_key=KEY)
    names = ("ragas:faithfulness", "ragas:faithfulness@original")
    list(evaluate(answers, data=[example()], evaluators=evaluators(*names, judge=judge), client=client))
    client.flush()
    assert server.problems == []
    assert {one["key"]: one["score"] for one in server.feedback.values()} == dict.fromkeys(names, 1.0)
