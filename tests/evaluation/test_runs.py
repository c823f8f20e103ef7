"""Runs in a store: their names and notes, what is kept of them, the list, groups, worst rows and failures."""

from __future__ import annotations

import csv
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import ScriptedJudge, Store, evaluate
from assay.errors import Cause, InputError
from assay.evaluation.groups import grouped_by
from assay.evaluation.result import Result
from assay.evaluation.run_names import runs_of
from assay.evaluation.summary import Summary
from assay.records import Sample, Score, ScoredSample, ScoreError
from assay.store.columns import RunColumns
from assay.store.temporary import TemporaryStore

JUDGE = ScriptedJudge(support=lambda claim, passage: "supported" if "good" in claim else "not_mentioned")


def row(name: str | None, answer: str = "It is good.", **more: Any) -> dict[str, Any]:
    return {"id": name, "question": "Q?", "contexts": ["A passage."], "answer": answer, **more}


def run(store: Path, rows: list[dict[str, Any]], **options: Any) -> Result:
    return evaluate(rows, "faithfulness", JUDGE, store=store, **options)


def test_a_name_used_twice_is_an_error_that_names_the_run_and_says_how(tmp_path: Path) -> None:
    run(tmp_path, [row(f"a{n}") for n in range(5)], run="nightly")
    with pytest.raises(InputError, match=r"run: 'nightly' is in the store .* already; .* replace=True"):
        run(tmp_path, [row("b0", "It is bad.")], run="nightly")
    assert len(list(Result.load("nightly", tmp_path))) == 5
    replaced = run(tmp_path, [row("b0", "It is bad."), row("b1", "It is bad.")], run="nightly", replace=True)
    again = Result.load("nightly", tmp_path)
    for result in (replaced, again):  # no row of the first data set is left
        assert [scored.sample.id for scored in result] == ["b0", "b1"]
        assert result.metrics["faithfulness"].mean == 0.0


def test_data_metrics_judge_note_and_time_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text(json.dumps(row("a")) + "\n" + json.dumps(row("b", "", topic="x")) + "\n")
    first = evaluate(str(file), "faithfulness", JUDGE, store=tmp_path, run="one", note="before the change")
    second = run(tmp_path, [row("a")])
    latest, oldest = runs_of(Store(tmp_path))
    assert (latest.run, latest.data, latest.note) == (second.run, "the list", None)
    assert (oldest.run, oldest.data, oldest.note, oldest.judge) == ("one", str(file), "before the change", "scripted")
    assert oldest.started == pytest.approx(first.started, abs=5)
    assert (oldest.rows, oldest.errors) == (2, 1)
    assert oldest.metrics["faithfulness"].mean == 1.0
    again = Result.load("one", tmp_path)
    assert (again.note, again.data) == ("before the change", str(file))
    assert "run one (before the change): 2 rows" in str(again)
    assert json.loads(json.dumps(again.to_dict()))["metrics"]["faithfulness"]["mean"] == 1.0
    assert runs_of(Store(tmp_path), 1) == [latest]


def test_runs_of_an_earlier_assay_are_listed_with_their_means(tmp_path: Path) -> None:
    """They have no note, no data and no summaries: the means come from the rows."""
    run(tmp_path, [row("a"), row("b", "It is bad.")], run="old")
    with sqlite3.connect(tmp_path / "assay.db") as db:
        (info,) = db.execute("SELECT info FROM runs").fetchone()
        known = {name: value for name, value in json.loads(info).items() if name in ("judge", "metrics")}
        db.execute("UPDATE runs SET info = ?, info_digest = NULL, digest = NULL", (json.dumps(known),))
    (line,) = runs_of(Store(tmp_path))
    assert (line.run, line.note, line.data, line.rows) == ("old", None, None, 2)
    assert line.metrics["faithfulness"].mean == 0.5  # one of two claims
    assert Result.load("old", tmp_path).note is None


def test_a_run_that_others_added_to_is_read_anew(tmp_path: Path) -> None:
    result = run(tmp_path, [row("a")], run="shared")
    (scored,) = result
    with Store(tmp_path) as store:
        again = Score(metric="faithfulness", value=0.25)
        store.merge_row("shared", ScoredSample(sample=scored.sample, scores={"faithfulness": again}))
    (line,) = runs_of(Store(tmp_path))
    assert line.metrics["faithfulness"].mean == 0.25


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=30))
def test_a_summary_is_the_same_when_it_is_read_back(values: list[float | None]) -> None:
    summary = Summary(metric="m", direction="lower")
    for value in values:
        gap = ScoreError(cause=Cause.PARSE, message="x") if value is None else None
        summary.add(Score(metric="m", value=value, error=gap, direction="lower"))
    again = Summary.from_dict("m", json.loads(json.dumps(summary.to_dict())))
    assert (again.scored, again.total, again.causes, again.direction) == (
        summary.scored, summary.total, summary.causes, summary.direction,
    )  # fmt: skip
    assert again.mean == (None if summary.mean is None else pytest.approx(summary.mean, abs=1e-12))
    there, here = summary.interval, again.interval
    assert (there is None) == (here is None)
    if there is not None and here is not None:
        assert (here.low, here.high, here.n) == (there.low, there.high, there.n)


# -- worst, groups, failures, CSV -------------------------------------------------------------------------------------


def test_the_worst_rows_the_worst_first_and_the_first_of_equals(tmp_path: Path) -> None:
    answers = ["It is good.", "It is bad.", "It is good. It is bad.", "", "It is bad."]
    result = run(tmp_path, [row(str(n), answer) for n, answer in enumerate(answers)])
    worst = result.worst("faithfulness", 3)  # 1.0, 0.0, 0.5, none, 0.0
    assert [found.number for found in worst] == [2, 5, 3]
    assert result.worst("faithfulness") == worst[0]
    assert len(result.worst("faithfulness", 100)) == 4  # the one without a value is no bad one
    with pytest.raises(InputError, match="not in this run; it has faithfulness"):
        result.worst("nope", 3)
    with pytest.raises(InputError, match="n: expected at least 1"):
        result.worst("faithfulness", 0)


def test_groups_have_the_means_of_their_rows(tmp_path: Path) -> None:
    rows = [row("a", topic="x"), row("b", "It is bad.", topic="x"), row("c", topic=7), row("d")]
    groups = run(tmp_path, rows).by("topic")
    assert list(groups) == ["x", "7", "–"]  # most rows first, then by name
    assert {name: (found["faithfulness"].mean, found["faithfulness"].total) for name, found in groups.items()} == {
        "x": (0.5, 2), "7": (1.0, 1), "–": (1.0, 1),
    }  # fmt: skip
    assert list(run(tmp_path, rows).by("language")) == ["en"]
    with pytest.raises(InputError, match="no row has the column 'tpoic'; rows can be grouped by 'topic', language"):
        run(tmp_path, rows).by("tpoic")


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 1)), min_size=1, max_size=40))
def test_groups_are_a_partition(pairs: list[tuple[str, float]]) -> None:
    scored = [
        ScoredSample(sample=Sample(metadata={"g": group}), scores={"m": Score(metric="m", value=value)})
        for group, value in pairs
    ]
    with TemporaryStore() as store:
        store.put_rows("run", enumerate(scored, 1))
        groups = grouped_by(RunColumns(store, "run"), "g")
    assert sum(found["m"].total for found in groups.values()) == len(pairs)
    for group, found in groups.items():
        values = [value for name, value in pairs if name == group]
        assert found["m"].mean == pytest.approx(sum(values) / len(values))


def test_rows_with_the_same_id_are_said_and_reached_by_number(tmp_path: Path) -> None:
    rows = [row("x"), row("2"), row("x", "It is bad."), row("y"), row("x", "It is bad. It is good.")]
    result = run(tmp_path, rows)
    assert result.notes == ["the id 'x' stands on rows 1, 3, 5; it means the first, 'row:5' the last"]
    assert result.notes[0] in str(result).replace("\n", " ")
    assert Result.load(result.run, tmp_path).notes == result.notes
    assert result.row("x").values == {"faithfulness": 1.0}
    assert result.row(3).values == {"faithfulness": 0.0}
    assert result.row("row:5").values == {"faithfulness": 0.5}
    assert result.row("2").sample.id == "2"
    with pytest.raises(InputError, match="numbered up to 5"):
        result.row("row:6")
    with pytest.raises(InputError, match="numbered up to 5"):
        result.row("9" * 40)
    assert run(tmp_path, [row(None), row(None)]).notes == []  # no id is no id twice


def test_csv_has_a_line_for_each_row(tmp_path: Path) -> None:
    rows = [row("a", 'It is "good",\nreally.'), row("b", "")]
    result = run(tmp_path, rows)
    with result.to_csv(tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    assert list(found[0]) == result.columns
    assert found[0]["answer"] == rows[0]["answer"]
    assert json.loads(found[0]["contexts"]) == ["A passage."]
    assert [(one["row"], one["faithfulness"], one["faithfulness_error"]) for one in found] == [
        ("1", "1.0", ""), ("2", "", result.errors[0].cause),
    ]  # fmt: skip
