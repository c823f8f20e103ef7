"""Result files of other systems, as those write them, compared.

The shapes are those that ragas 0.3.9, DeepEval 4.3.1, RAGChecker 0.1.9 and llama-index-core 0.14.25 wrote when this was
made; those of TruLens, LangSmith, Bedrock and OpenAI's evals are as they are published.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.analysis.comparison.compare import compare
from assay.errors import InputError
from assay.evaluation.external_runs import FILES, load_external_run
from assay.evaluation.imports.scales import scale_of, stated
from assay.evaluation.imports.scored_samples import parse_value as number_of
from assay.evaluation.result import Result

N = 8
GOOD, HALF = [True] * N, [bool(n % 2) for n in range(N)]


def said(n: int, good: bool) -> dict[str, Any]:
    return {"q": f"When did bridge {n} open?", "a": f"In {1900 + n}." if good else "In 1850.", "r": f"In {1900 + n}."}


def table(rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def ragas(right: list[bool]) -> str:
    """`result.to_pandas().to_csv(path)`: with the column in which pandas counts the rows."""
    rows = []
    for n, good in enumerate(right):
        one = said(n, good)
        rows.append({"": n, "user_input": one["q"], "retrieved_contexts": "['It\\'s \"long\".', 'B']",
                     "response": one["a"], "reference": one["r"], "faithfulness": float(good),
                     "factual_correctness(mode=f1)": "" if n == 3 else 0.5, "noise_sensitivity(mode=relevant)": 0.5,
                     "my_tone": n % 3})  # fmt: skip
    return table(rows)


def deepeval(right: list[bool], high_is_good: bool = True) -> str:
    """`.deepeval/.latest_test_run.json`."""
    cases = []
    for n, good in enumerate(right):
        one, score = said(n, good), float(good) if high_is_good else 1.0 - good
        about = {"strictMode": False, "flaky": False, "evaluationModel": "gpt-x", "threshold": 0.5}
        metrics = [
            {"name": "Hallucination", "success": good, "score": score, "reason": "because", **about},
            {"name": "Right year [GEval]", "success": good, "score": float(good), "reason": "", **about},
            {"name": "My Own", "success": True, "score": 3.0, "threshold": 0.5},
            {"name": "Faithfulness", "success": False, "error": "no reply", **about} if n == 2 else
            {"name": "Faithfulness", "success": good, "score": float(good), **about},
        ]  # fmt: skip
        cases.append({"name": f"test_case_{n}", "input": one["q"], "actualOutput": one["a"], "expectedOutput": one["r"],
                      "retrievalContext": ["B"], "success": good, "metricsData": metrics, "order": n})  # fmt: skip
    return json.dumps({"testCases": cases, "conversationalTestCases": [], "metricsScores": [], "testPassed": 1})


def ragchecker(right: list[bool]) -> str:
    results = []
    for n, good in enumerate(right):
        one = said(n, good)
        results.append({"query_id": str(n), "query": one["q"], "gt_answer": one["r"], "response": one["a"],
                        "retrieved_context": [{"doc_id": "d", "text": "B"}], "answer2response": ["Entailment"],
                        "metrics": {"precision": float(good), "hallucination": 1.0 - good}})  # fmt: skip
    return json.dumps({"results": results, "metrics": {"overall_metrics": {"precision": 50.0}}})


def llamaindex(right: list[bool]) -> str:
    def result(n: int, good: bool, score: float | None) -> dict[str, Any]:
        one = said(n, good)
        bad = {"invalid_result": True, "invalid_reason": "no reply"} if score is None else {"invalid_result": False}
        return {"query": one["q"], "contexts": ["B"], "response": one["a"], "passing": good, "score": score, **bad}

    rows = list(enumerate(right))
    return json.dumps({
        "correctness": [result(n, good, 5.0 if good else 1.0) for n, good in rows],
        "faithfulness": [result(n, good, None if n == 2 else float(good)) for n, good in rows],
        "tone": [result(n, good, 7.0) for n, good in rows],
    })  # fmt: skip


def trulens(right: list[bool]) -> str:
    return table([
        {"app_name": "a", "record_id": f"{hash(str(right))}-{n}", "input": json.dumps(said(n, good)["q"]),
         "output": "x", "record_json": "{}", "Groundedness": float(good), "Groundedness_calls": "[{}]",
         "Mine": 0.3, "Mine_calls": "[]",
         "Groundedness feedback cost in USD": 0.1, "latency": 1, "total_tokens": 3}
        for n, good in enumerate(right)
    ])  # fmt: skip


def langsmith(right: list[bool]) -> str:
    return table([
        {"": n, "inputs.question": said(n, good)["q"], "outputs.answer": said(n, good)["a"], "error": "",
         "reference.answer": said(n, good)["r"], "feedback.correctness": float(good), "feedback.own": n / 10,
         "execution_time": 1.5, "example_id": f"ex-{n}", "id": f"run-{hash(str(right))}-{n}"}
        for n, good in enumerate(right)
    ])  # fmt: skip


def bedrock(right: list[bool]) -> str:
    lines = []
    for n, good in enumerate(right):
        one = said(n, good)
        turn = {
            "inputRecord": {"prompt": {"content": [{"text": one["q"]}]}},
            "output": {"text": one["a"]},
            "results": [{"metricName": "Builtin.Correctness", "result": float(good)},
                        {"metricName": "Builtin.Harmfulness", "result": None if n == 1 else 0.0}],
        }  # fmt: skip
        lines.append(json.dumps({"conversationTurns": [turn]}))
    return "\n".join(lines)


def openai_evals(right: list[bool]) -> str:
    return "\n".join(
        json.dumps({"object": "eval.run.output_item", "id": f"{hash(str(right))}-{n}", "datasource_item_id": n,
                    "datasource_item": {"question": said(n, good)["q"]}, "status": "pass",
                    "sample": {"output": [{"role": "assistant", "content": said(n, good)["a"]}]},
                    "results": [{"name": "grader", "score": 10.0 * good, "passed": good}]})
        for n, good in enumerate(right)
    )  # fmt: skip


RANGE = {"assay.range": "0 to 1", "assay.direction": "higher"}  # as assay's own sinks write it


def phoenix(right: list[bool]) -> str:
    """`GET /v1/experiments/ID/json`."""
    runs = []
    for n, good in enumerate(right):
        one = said(n, good)
        annotations: list[dict[str, Any]] = [
            {"name": "right", "annotator_kind": "LLM", "label": None, "score": float(good), "error": None,
             "metadata": RANGE},
            {"name": "pace", "annotator_kind": "CODE", "label": "quick", "score": 7.0, "error": None, "metadata": {}},
        ]  # fmt: skip
        runs.append({"example_id": f"ex{n}", "repetition_number": 1, "input": {"question": one["q"]},
                     "reference_output": {"answer": one["r"]}, "output": one["a"], "error": None,
                     "trace_id": f"{hash(str(right))}-{n}", "annotations": annotations})  # fmt: skip
    return json.dumps(runs)


def langfuse(right: list[bool]) -> str:
    """A page of `GET /api/public/traces` with the scores of each."""
    traces = []
    for n, good in enumerate(right):
        one, trace = said(n, good), f"{hash(str(right))}-{n}"
        scores: list[dict[str, Any]] = [
            {"id": f"s{trace}", "name": "right", "dataType": "BOOLEAN", "value": int(good), "traceId": trace,
             "stringValue": str(good), "source": "API", "metadata": RANGE},
            {"id": f"p{trace}", "name": "pace", "dataType": "NUMERIC", "value": 7, "traceId": trace, "source": "EVAL"},
        ]  # fmt: skip
        traces.append(
            {
                "id": trace,
                "input": {"question": one["q"]},
                "output": one["a"],
                "scores": scores,
                "observations": [{"id": f"o{trace}", "traceId": trace, "startTime": "2026-01-01T00:00:00Z"}],
            }
        )
    return json.dumps({"data": traces, "meta": {"page": 1}})


#: System -> how its file is written, the file's name, a metric that is right where the answer is, and one left out.
WRITTEN: dict[str, tuple[Callable[[list[bool]], str], str, str, str | None]] = {
    "ragas": (ragas, "scores.csv", "ragas:faithfulness", "my_tone"),
    "deepeval": (deepeval, "run.json", "Right year [GEval]", "My Own"),
    "ragchecker": (ragchecker, "results.json", "ragchecker:precision", None),
    "llamaindex": (llamaindex, "results.json", "llamaindex:correctness", "tone"),
    "trulens": (trulens, "records.csv", "trulens:groundedness", "Mine"),
    "langsmith": (langsmith, "experiment.csv", "langsmith:correctness", "own"),
    "bedrock": (bedrock, "output.jsonl", "bedrock:correctness", None),
    "openai-evals": (openai_evals, "items.jsonl", "grader", None),
    "phoenix": (phoenix, "experiment.json", "right", "pace"),
    "langfuse": (langfuse, "traces.json", "right", "pace"),
}


def held(folder: Path, system: str, text: str, name: str = "", **scales: tuple[float, float]) -> Result:
    path = folder / (name or WRITTEN[system][1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return load_external_run(f"{system}:{path}", scales or None)


def test_every_system_is_tried() -> None:
    assert set(WRITTEN) == set(FILES)


@pytest.mark.parametrize("system", WRITTEN)
def test_two_files_of_a_system_compare(tmp_path: Path, system: str) -> None:
    write, name, metric, left_out = WRITTEN[system]
    first = held(tmp_path, system, write(HALF), f"first/{name}")
    second = held(tmp_path, system, write(GOOD), f"second/{name}")
    found = compare(first, second)
    one = found.metrics[metric]
    assert (found.pairs, found.only_first, found.only_second) == (N, 0, 0)
    assert one.difference is not None
    low, high = next(
        (score.low, score.high) for row in first for name, score in row.scores.items() if name == metric
    )  # half of the answers are wrong in the first file, none in the second
    assert one.difference.first == pytest.approx((low + high) / 2)
    assert one.difference.second == pytest.approx(high)
    assert {moved.first_row for moved in one.moved} <= {1, 3, 5, 7}
    if left_out is not None:
        assert any(left_out in note and "--scale" in note for note in found.notes)
        assert all(left_out not in name for name in found.metrics)


def test_enough_rows_give_a_verdict(tmp_path: Path) -> None:
    """12 answers of 20 that were wrong are right: p of McNemar's exact test is 2 / 2 ** 12, about 0.0005."""
    first = held(tmp_path, "ragas", ragas([n >= 12 for n in range(20)]), "first.csv")
    second = held(tmp_path, "ragas", ragas([True] * 20), "second.csv")
    assert compare(first, second, "ragas:faithfulness").metrics["ragas:faithfulness"].verdict == "better"


def test_gaps_stay_gaps(tmp_path: Path) -> None:
    run = held(tmp_path, "ragas", ragas(GOOD))
    assert run.metrics["ragas:factual_correctness"].scored == N - 1
    assert run.metrics["ragas:noise_sensitivity"].direction == "lower"
    run = held(tmp_path, "deepeval", deepeval(GOOD))
    assert "no reply" in next(one.message for one in run.errors if one.metric == "deepeval:faithfulness")
    assert held(tmp_path, "llamaindex", llamaindex(GOOD)).metrics["llamaindex:faithfulness"].scored == N - 1
    assert held(tmp_path, "bedrock", bedrock(GOOD)).metrics["bedrock:harmfulness"].scored == N - 1


def test_a_verdict_shows_which_end_is_good(tmp_path: Path) -> None:
    """DeepEval 3 gives 1 to the worst hallucination, version 4 to the best: `success` tells which file this is."""
    new = held(tmp_path, "deepeval", deepeval(HALF))
    assert new.metrics["deepeval:hallucination"].direction == "higher"
    old = held(tmp_path, "deepeval", deepeval(HALF, high_is_good=False))
    assert old.metrics["Hallucination"].direction == "lower"


def test_the_judge_that_a_file_names_counts(tmp_path: Path) -> None:
    first = held(tmp_path, "deepeval", deepeval(HALF), "first.json")
    second = held(tmp_path, "deepeval", deepeval(GOOD).replace("gpt-x", "gpt-y"), "second.json")
    assert first.judge == "deepeval: gpt-x"
    with pytest.raises(InputError, match="different judges"):
        compare(first, second)
    assert any("does not say which model judged" in note for note in held(tmp_path, "ragas", ragas(GOOD)).notes)


def test_a_stated_scale_says_range_and_direction(tmp_path: Path) -> None:
    run = held(tmp_path, "ragas", ragas(GOOD), my_tone=(2, 0))
    assert (run.metrics["my_tone"].low, run.metrics["my_tone"].high) == (0, 2)
    assert run.metrics["my_tone"].direction == "lower"
    graded = held(tmp_path, "openai-evals", openai_evals(HALF), grader=(0, 10))
    assert graded.metrics["grader"].mean == 5.0
    assert held(tmp_path, "openai-evals", openai_evals(HALF)).metrics["grader"].mean == 0.5  # passed or not


@pytest.mark.parametrize(
    ("system", "text", "name", "scales", "message"),
    [
        ("ragas", "", "a.csv", {}, "empty"),
        ("ragas", "user_input,response\nq,a\n", "a.csv", {}, "no row has a score of ragas"),
        ("ragas", "user_input,my_tone\nq,1\n", "a.csv", {}, "--scale my_tone=0:1"),
        ("ragas", "user_input,faithfulness\nq,7\n", "a.csv", {}, "row 1: faithfulness: 7 is outside 0 to 1"),
        ("ragas", "user_input,faithfulness\nq,1\n", "a.csv", {"tone": (0, 1)}, "there is no 'tone'"),
        ("ragas", "user_input,tone\nq,1\n", "a.csv", {"tone": (1, 1)}, "two numbers that differ"),
        ("ragas", "[1, 2]", "a.json", {}, "expected"),
        ("deepeval", "[]", "a.json", {}, "expected an object"),
        ("deepeval", "{}", "a.json", {}, "'testCases'"),
        ("deepeval", '{"testCases": [1]}', "a.json", {}, "row 1: expected an object"),
        ("deepeval", '{"testCases": []}', "a.json", {}, "no rows with scores"),
        ("deepeval", "{", "a.json", {}, "no JSON"),
        ("ragchecker", '{"results": 1}', "a.json", {}, "'results'"),
        ("llamaindex", '{"faithfulness": 1}', "a.json", {}, "list of an evaluator's results"),
        ("bedrock", '{"question": "q"}', "a.jsonl", {}, "no row has a score"),
    ],
)
def test_what_is_no_result_file_is_refused(
    tmp_path: Path, system: str, text: str, name: str, scales: dict[str, tuple[float, float]], message: str
) -> None:
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        held(tmp_path, system, text, name, **scales)


@pytest.mark.parametrize("system", FILES)
def test_a_file_that_is_not_there(system: str) -> None:
    for address in ("", "nowhere.json", "\0", "~nobody/x.json"):
        with pytest.raises(InputError):
            load_external_run(f"{system}:{address}")


def test_a_row_that_cannot_be_read_is_named_and_the_others_count(tmp_path: Path) -> None:
    cases = json.loads(deepeval(GOOD))
    cases["testCases"][4]["retrievalContext"] = [{"no": "text"}]
    run = held(tmp_path, "deepeval", json.dumps(cases))
    assert run.rows == N - 1
    assert any("row 5" in note for note in run.notes)


def test_runs_of_trackers_take_no_scales(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.evaluation.external_runs.load", lambda kind, name, points: lambda address: ("code", []))
    with pytest.raises(InputError, match="scales are for result files"):
        load_external_run("mlflow:1", {"tone": (0, 1)})


@pytest.mark.parametrize(
    ("system", "column", "name", "direction"),
    [
        ("ragas", "nv_accuracy", "ragas:answer_accuracy", "higher"),
        ("ragas", "noise_sensitivity(mode=irrelevant)", "ragas:noise_sensitivity_irrelevant", "lower"),
        ("ragas", "factual_correctness(mode=recall)", "ragas:factual_correctness_recall", "higher"),
        ("ragas", "llm_context_precision_with_reference", "ragas:context_precision", "higher"),
        ("deepeval", "Answer Relevancy", "deepeval:answer_relevancy", "higher"),
        ("deepeval", "Tone (GEval)", "Tone (GEval)", "higher"),
        ("trulens", "Answer Relevance", "trulens:relevance", "higher"),
        ("bedrock", "Builtin.CitationPrecision", "bedrock:citation_precision", "higher"),
    ],
)
def test_names_in_files_are_those_of_metrics(system: str, column: str, name: str, direction: str) -> None:
    scale = scale_of(system, column, {})
    assert scale is not None
    assert (scale.name, scale.direction) == (name, direction)


def test_scales_as_options() -> None:
    assert stated(["tone=1:5", "factual_correctness(mode=f1)=1:0"]) == {
        "tone": (1, 5),
        "factual_correctness(mode=f1)": (1, 0),
    }
    for wrong in ("tone", "=0:1", "tone=1", "tone=a:b", "tone=1:2:3"):
        with pytest.raises(InputError, match="--scale"):
            stated([wrong])
    with pytest.raises(InputError, match="--scale"):
        stated(["tone=1:5", "tone=0:1"])


@settings(deadline=None)
@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers())))
def test_whatever_a_cell_holds_it_is_a_number_or_a_sentence(value: object) -> None:
    found = number_of(value).value
    assert isinstance(found, str) or abs(found) < float("inf")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "score", "text"]), inner),
    max_leaves=6,
)
NESTED = ("deepeval", "ragchecker", "llamaindex", "bedrock", "openai-evals", "phoenix", "langfuse")


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a value of JSON: what holds it, and its key there."""
    items = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    return [(value, key) for key, _ in items] + [place for _, inner in items for place in places(inner)]


@pytest.mark.long
@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data(), st.sampled_from(NESTED))
def test_a_file_with_anything_in_any_place_is_a_run_or_an_input_error(
    tmp_path: Path, data: st.DataObject, system: str
) -> None:
    write, name, *_ = WRITTEN[system]
    lines = [json.loads(line) for line in write([True, False]).splitlines()]
    for _ in range(data.draw(st.integers(1, 3))):
        holder, key = data.draw(st.sampled_from(places(lines)))
        holder[key] = data.draw(VALUES)
    text = "\n".join(map(json.dumps, lines))
    with suppress(InputError):
        assert held(tmp_path, system, text, name).rows > 0
