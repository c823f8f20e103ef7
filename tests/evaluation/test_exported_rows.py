"""Exports have a line for each row of a run, also where it is lost or was not reached; nobody scores such lines."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from assay import JudgeFailure, Result, ScoredSample, ScriptedJudge, evaluate
from assay.data import RowError, open_data
from assay.errors import Cause
from assay.report.write import report_run

ROWS = 10
DATA = [{"id": f"r{n}", "answer": f"Cats purr {n}.", "contexts": ["Cats purr."]} for n in range(ROWS)]


def scored(store: Path, after: int = ROWS) -> None:
    """A run whose judge fails for good after so many rows; those before are scored."""

    def support(claim: str, passage: str) -> str:
        return "supported"

    def stop(row: ScoredSample) -> None:
        if row.sample.id == f"r{after - 1}":
            raise JudgeFailure(Cause.BUDGET, "no more")

    options: dict[str, Any] = {} if after == ROWS else {"on_score": stop}
    try:
        evaluate(DATA, "faithfulness", ScriptedJudge(support=support), store=store, concurrency=1, progress=False,
                 **options)  # fmt: skip
    except JudgeFailure:
        assert options


def change(store: Path, sql: str) -> None:
    with closing(sqlite3.connect(store / "assay.db")) as db:
        db.execute(sql)
        db.commit()


def complete(store: Path) -> None:
    scored(store)


def unreadable(store: Path) -> None:
    scored(store)
    change(store, "UPDATE rows SET body = x'' WHERE number > 8")


def deleted(store: Path) -> None:
    scored(store)
    change(store, "DELETE FROM rows WHERE number > 7")


def not_reached(store: Path) -> None:
    scored(store, after=4)


def both(store: Path) -> None:
    scored(store, after=4)
    change(store, "DELETE FROM rows WHERE number = 2")


#: What becomes of a run, how many rows are left, and the causes and ids of the others.
WORLDS: dict[Callable[[Path], None], tuple[int, dict[str, int], list[str]]] = {
    complete: (10, {}, []),
    unreadable: (8, {"lost": 2}, ["assay:lost:1", "assay:lost:2"]),
    deleted: (7, {"lost": 3}, ["assay:lost:1", "assay:lost:2", "assay:lost:3"]),
    not_reached: (4, {"budget": 6}, [f"assay:not_reached:{n}" for n in range(1, 7)]),
    both: (3, {"lost": 1, "budget": 6}, ["assay:lost:1", *(f"assay:not_reached:{n}" for n in range(1, 7))]),
}
EACH = pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.__name__)


def check(world: Callable[[Path], None], lines: list[dict[str, Any]]) -> None:
    """Lines with an id, a value and the cause of a missing one."""
    left, causes, ids = WORLDS[world]
    assert len(lines) == ROWS
    assert [line["id"] for line in lines[left:]] == ids
    assert all(float(line["value"]) == 1.0 and not line["error"] for line in lines[:left])
    assert all(line["value"] in (None, "") for line in lines[left:])
    assert dict(Counter(line["error"] for line in lines[left:])) == causes


@EACH
def test_records_and_csv(world: Callable[[Path], None], tmp_path: Path) -> None:
    world(tmp_path / "store")
    result = Result.load("last", tmp_path / "store")
    records = list(result.records())
    check(world, [{**one, "value": one["faithfulness"], "error": one["faithfulness_error"]} for one in records])
    result.to_csv(tmp_path / "r.csv")
    with (tmp_path / "r.csv").open(newline="") as file:
        lines = list(csv.DictReader(file))
    check(world, [{**one, "value": one["faithfulness"], "error": one["faithfulness_error"]} for one in lines])


@EACH
def test_jsonl(world: Callable[[Path], None], tmp_path: Path) -> None:
    world(tmp_path / "store")
    Result.load("last", tmp_path / "store").to_jsonl(tmp_path / "r.jsonl")
    rows = [ScoredSample.from_dict(json.loads(line)) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    lines = [(row.sample.id, row.scores["faithfulness"]) for row in rows]
    check(world, [{"id": name, "value": one.value, "error": one.error and one.error.cause} for name, one in lines])


@EACH
def test_pandas(world: Callable[[Path], None], tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    world(tmp_path / "store")
    frame = Result.load("last", tmp_path / "store").to_pandas()
    left, causes, _ = WORLDS[world]
    assert (len(frame), frame["faithfulness"].count(), frame["row"].dtype) == (ROWS, left, "Int64")
    assert frame["faithfulness_error"].value_counts().to_dict() == causes


@EACH
@pytest.mark.parametrize("form", ["csv", "parquet", "json"])
def test_reports(world: Callable[[Path], None], form: str, tmp_path: Path) -> None:
    world(tmp_path / "store")
    path = report_run(Result.load("last", tmp_path / "store"), tmp_path / f"r.{form}")
    if form == "json":
        samples = json.loads(path.read_text())["samples"]
        found = [(one["sample"]["id"], one["scores"]["faithfulness"]) for one in samples]
        lines = [{"id": name, "value": one.get("value"), "error": (one.get("error") or {}).get("cause")}
                 for name, one in found]  # fmt: skip
    elif form == "parquet":
        lines = pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()
    else:
        with path.open(newline="") as file:
            lines = list(csv.DictReader(file))
    check(world, lines)


NESTED = {"answer": "sample.answer", "contexts": "sample.contexts"}
READ: dict[str, tuple[str, dict[str, Any] | None]] = {
    "csv": ("csv", None),
    "jsonl": ("jsonl", {**NESTED, "id": "sample.id"}),
    "jsonl, whose ids nobody named": ("jsonl", NESTED),
}


@EACH
@pytest.mark.parametrize("form", READ)
def test_an_export_that_is_read_as_data_has_errors_in_their_place(
    world: Callable[[Path], None], form: str, tmp_path: Path
) -> None:
    world(tmp_path / "store")
    result = Result.load("last", tmp_path / "store")
    suffix, columns = READ[form]
    (result.to_csv if suffix == "csv" else result.to_jsonl)(tmp_path / f"r.{suffix}")
    left, _, ids = WORLDS[world]
    found = [item for _, item in open_data(tmp_path / f"r.{suffix}", column_map=columns)]
    assert len(found) == left + len(ids)
    assert not any(isinstance(item, RowError) for item in found[:left])
    for item in found[left:]:
        assert isinstance(item, RowError)
        assert item.cause == "lost"
        assert "lost or not reached in its run" in item.message


def test_a_row_of_the_users_own_with_texts_is_data() -> None:
    (_, item), = open_data([{"id": "assay:lost:1", "answer": "Cats purr."}])  # fmt: skip
    assert item.answer == "Cats purr."
