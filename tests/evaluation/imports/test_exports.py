"""Exports of Phoenix and Langfuse as runs.

`exports/phoenix_*` is what a server of Phoenix gave its client; `exports/langfuse_*` has passed through the types of
Langfuse's client 5.0.4, with no server behind them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assay.analysis.comparison.compare import compare
from assay.cli.main import app
from assay.errors import InputError
from assay.evaluation.external_runs import load_external_run
from assay.evaluation.result import Result
from tests.evaluation.imports.test_files import HALF, RANGE, langfuse, phoenix

EXPORTS = Path(__file__).parent / "exports"
UNIT = {"right": (0.0, 1.0), "graded": (0.0, 1.0)}
NO_NUMBER = "without a number"


def opened(name: str, **scales: tuple[float, float]) -> Result:
    return load_external_run(f"{name.partition('_')[0]}:{EXPORTS / name}", scales)


def values(run: Result, metric: str) -> list[float | None]:
    return [row.scores[metric].value for row in run]


def why(run: Result, metric: str) -> list[str]:
    gaps = [row.scores[metric].error for row in run]
    return ["" if gap is None else gap.message for gap in gaps]


def written(folder: Path, system: str, records: list[dict[str, Any]], **scales: tuple[float, float]) -> Result:
    path = folder / "export.jsonl"
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return load_external_run(f"{system}:{path}", scales)


@pytest.mark.parametrize("form", ["json", "csv"])
def test_an_experiment_of_phoenix(form: str) -> None:
    """Bridge 3: the task failed, and the evaluator that compared nothing with the reference said 0."""
    run = opened(f"phoenix_experiment.{form}", **UNIT)
    assert values(run, "right") == [0.0, 1.0, 0.0, None]
    assert values(run, "graded") == [0.5, None, 0.5, None]
    assert "the evaluator failed: RuntimeError('the judge is down')" in why(run, "graded")[1]
    assert "the task failed: ValueError('no reply')" in why(run, "right")[3]
    first = next(iter(run)).sample
    assert (first.question, first.answer, first.reference) == ("When did bridge 0 open?", "In 1850.", "In 1900.")
    assert any("tone" in note and "--scale" in note for note in run.notes)


@pytest.mark.parametrize("name", ["phoenix_spans.json", "phoenix_annotations.csv"])
def test_annotations_of_spans(name: str) -> None:
    """1.0 of a model and 0.5 of a person are 0.75; the other span has a label alone."""
    run = opened(name, faithfulness=(0, 1))
    assert values(run, "faithfulness") == [None, 0.75]
    assert NO_NUMBER in why(run, "faithfulness")[0]
    assert run.judge == "phoenix: people"


def test_items_of_an_experiment_of_langfuse() -> None:
    run = opened("langfuse_items.json", **UNIT)
    assert values(run, "right") == [0.0, 1.0, 0.0]
    assert values(run, "graded") == [0.75, None, 0.5]  # (0.5 + 1.0) / 2 of two annotators
    assert any("scores that are texts (1)" in note for note in run.notes)


def test_scores_of_langfuse_without_their_traces() -> None:
    """Those of an observation count for its trace: (1 + 0) / 2. One of a session is of no row."""
    run = opened("langfuse_scores.json", faithfulness=(0, 1))
    assert {row.sample.id: row.scores["faithfulness"].value for row in run} == {f"{1:032x}": 0.5, f"{2:032x}": 0.5}
    assert any("name no trace" in note and "(1)" in note for note in run.notes)


def test_phoenix_and_langfuse_compare_by_what_is_asked() -> None:
    """Neither says who judged the boolean: --any-judge says that the runs are to be compared all the same."""
    first, second = opened("phoenix_experiment.json", **UNIT), opened("langfuse_items.json", **UNIT)
    with pytest.raises(InputError, match="different judges"):
        compare(first, second)
    found = compare(first, second, any_judge=True)
    assert (found.pairs, found.only_first, found.only_second) == (3, 1, 0)
    difference = found.metrics["right"].difference
    assert difference is not None
    assert difference.first == difference.second == pytest.approx(1 / 3)


def test_the_command_line_takes_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.json").write_text(phoenix([n >= 12 for n in range(20)]))
    Path("b.json").write_text(phoenix([True] * 20))
    result = CliRunner().invoke(app, ["compare", "phoenix:a.json", "phoenix:b.json", "--json"])
    assert json.loads(result.output)["metrics"]["right"]["verdict"] == "better"
    gate = ["gate", "phoenix:a.json", "--baseline", "phoenix:b.json", "--max-drop", "right=0.05"]
    assert CliRunner().invoke(app, gate).exit_code == 5
    assert CliRunner().invoke(app, ["report", "phoenix:b.json", "-o", "r.md"]).exit_code == 0
    Path("c.json").write_text(langfuse(HALF))
    assert CliRunner().invoke(app, ["show", "langfuse:c.json"]).exit_code == 0


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"dataType": "BOOLEAN", "value": True}, 1.0),
        ({"data_type": "BOOLEAN", "value": 0, "string_value": "False"}, 0.0),
        ({"dataType": "CATEGORICAL", "value": 0, "stringValue": "polite"}, None),  # 0 is what no category is worth
        ({"dataType": "CATEGORICAL", "value": "yes"}, 1.0),
        ({"dataType": "NUMERIC", "value": None}, None),
        ({"dataType": "NUMERIC", "value": "NaN"}, None),
    ],
)
def test_kinds_of_scores_of_langfuse(tmp_path: Path, value: dict[str, Any], expected: float | None) -> None:
    rows = [
        {"id": "s1", "traceId": "t1", "name": "it", **value},
        {"id": "s2", "trace_id": "t2", "name": "it", "value": 1, "data_type": "NUMERIC"},
    ]
    found = {row.sample.id: row.scores["it"].value for row in written(tmp_path, "langfuse", rows, it=(0, 1))}
    assert found == {"t1": expected, "t2": 1.0}


def test_a_score_that_stands_twice_counts_once_and_runs_of_one_item_stay_apart(tmp_path: Path) -> None:
    one = {"id": "s", "traceId": "t", "name": "it", "dataType": "NUMERIC", "value": 1}
    rows = [
        {"id": "t", "input": "q", "scores": [one]},
        one,
        {**one, "id": "s2", "value": 0},
        {"id": "i1", "datasetItemId": "item", "traceId": "u"},
        {"id": "i2", "datasetItemId": "item", "traceId": "v"},
        {**one, "id": "s3", "traceId": "u"},
    ]
    run = written(tmp_path, "langfuse", rows, it=(0, 1))
    named = [(row.sample.id, row.sample.question, row.scores["it"].value) for row in run]
    assert named == [(None, "q", 0.5), ("item", None, 1.0), ("item", None, None)]


def test_a_range_that_assay_wrote_is_known_and_a_stated_one_wins(tmp_path: Path) -> None:
    worse = {"assay.range": "0 to 1", "assay.direction": "lower"}
    rows = [
        {"span_id": f"s{n}", "name": "it", "annotator_kind": "CODE", "result": {"score": 0.5}, "metadata": worse}
        for n in range(2)
    ]
    assert written(tmp_path, "phoenix", rows).metrics["it"].direction == "lower"
    assert written(tmp_path, "phoenix", rows, it=(0, 2)).metrics["it"].high == 2
    with pytest.raises(InputError, match="--scale it=0:1"):  # two ranges are none
        written(tmp_path, "phoenix", [rows[0], {**rows[1], "metadata": RANGE}])


@pytest.mark.parametrize("system", ["phoenix", "langfuse"])
def test_what_has_no_scores_is_refused(tmp_path: Path, system: str) -> None:
    for records in ([{"id": "x"}], [{"question": "q"}], [{"context": {"span_id": "a"}, "parent_id": None}]):
        with pytest.raises(InputError, match=r"no row has a score|there are no rows"):
            written(tmp_path, system, records)


@pytest.mark.parametrize(("system", "record"), [
    ("langfuse", {"id": "1", "traceId": "t", "name": "kind\ud83d", "value": 0.5, "dataType": "NUMERIC",
                  "metadata": RANGE}),
    ("ragas", {"user_input": "q", "response": "a", "faithfulness": 0.5, "kind\ud83d": 0.5}),
])  # fmt: skip
def test_half_a_character_in_the_name_of_a_metric(tmp_path: Path, system: str, record: dict[str, Any]) -> None:
    """It can be stored and shown, as U+FFFD; so can the note on a metric whose scale nobody said."""
    run = written(tmp_path, system, [record])
    said = "\n".join([*run.metrics, *run.notes])
    assert "kind\ufffd" in said
    assert said.encode()
