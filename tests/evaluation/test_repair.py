"""A run that has lost rows gets them back from its data, and nothing else changes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay import InputError, ScriptedJudge, Store, evaluate
from assay._util.sync import run_sync
from assay.errors import StoreError
from assay.evaluation.repair import RepairResult, arepair, lost_in_words
from assay.evaluation.result import Result
from assay.store.pruning import prune

ROWS: list[dict[str, Any]] = [
    {"id": f"r{n}", "question": f"Q{n}?", "contexts": [f"It is {n}."], "answer": f"It is {n if n > 2 else 0}."}
    for n in range(1, 11)
]


class Counting(ScriptedJudge):
    """Supports what a passage says word for word; its judgements are kept in the store, as an LLM's are."""

    durable = True

    def __init__(self) -> None:
        super().__init__(claims=lambda text: [text], support=lambda claim, passage: _quote(claim, passage))


def _quote(claim: str, passage: str) -> str:
    return passage if claim == passage else "not_mentioned"


@pytest.fixture
def run(address: str) -> Result:
    """Rows 1 and 2 are wrong: the mean is 0.8."""
    result = evaluate(ROWS, "faithfulness", Counting(), store=address, run="one", progress=False)
    assert result.metrics["faithfulness"].mean == 0.8
    return result


def repair(address: str, rows: object = ROWS, judge: ScriptedJudge | None = None, **options: Any) -> RepairResult:
    with Store(address) as store:
        return run_sync(lambda: arepair("one", store, rows, judge or Counting(), progress=False, **options))


def damage(address: str, *statements: str) -> None:
    with Store(address) as store:
        for statement in statements:
            store.write(lambda db, statement=statement: db.execute(statement))


def rows_of(result: Result) -> list[tuple[int, Any]]:
    """What rows say, without what they cost."""
    return [
        (row.number, row.scored.sample, {n: (s.value, s.verdicts) for n, s in row.scored.scores.items()})
        for row in result.numbered_rows()
    ]


DAMAGES = {
    "unreadable": ("UPDATE rows SET body = '' WHERE number IN (1, 5)", (1, 5)),
    "deleted": ("DELETE FROM rows WHERE number IN (1, 2, 9)", (1, 2, 9)),
    "another row's": ("UPDATE rows SET body = (SELECT body FROM rows WHERE number = 5) WHERE number = 1", (1,)),
    "renumbered": ("UPDATE rows SET number = 70 WHERE number = 1", (1,)),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_lost_rows_come_back_as_they_were(address: str, run: Result, kind: str) -> None:
    before = rows_of(run)
    statement, lost = DAMAGES[kind]
    damage(address, statement)
    assert not Result.load("one", address).complete
    found = repair(address)
    assert (found.rows, found.judged) == (lost, 0)  # everything was cached
    again = Result.load("one", address)
    assert (again.complete, again.metrics["faithfulness"].mean, again.rows) == (True, 0.8, 10)
    assert rows_of(again) == before
    assert repair(address).rows == ()
    with Store(address) as store:
        assert [one.id for one in store.runs()] == ["one"]
        assert lost_in_words("one", store) == ""


def test_several_kinds_at_once_and_what_was_not_cached_is_asked(address: str, run: Result) -> None:
    damage(
        address,
        "UPDATE rows SET body = '' WHERE number = 1",
        "DELETE FROM rows WHERE number = 2",
        "DELETE FROM judgements",
        "DELETE FROM run_judgements",
    )
    with Store(address) as store:
        assert lost_in_words("one", store) == "cannot be read: 1; gone: 2"
    found = repair(address)
    assert (found.rows, found.judged > 0, found.result.complete) == ((1, 2), True, True)
    assert found.result.metrics["faithfulness"].mean == 0.8


def test_pruned_rows_come_back_too(address: str, run: Result) -> None:
    damage(address, "UPDATE rows SET at = 0 WHERE number < 4")
    with Store(address) as store:
        assert prune(store, older_than=86_400.0).rows == 3
    assert Result.load("one", address).pruned == 3
    found = repair(address)
    assert (found.rows, found.result.incomplete, found.result.pruned) == ((1, 2, 3), (), 0)


def test_a_row_of_the_data_that_could_not_be_read_is_restored_as_that(tmp_path: Path) -> None:
    data = tmp_path / "rows.jsonl"
    data.write_text("\n".join([json.dumps(ROWS[0]), "{", json.dumps(ROWS[1])]))
    store = str(tmp_path / "store")
    before = rows_of(evaluate(str(data), "faithfulness", Counting(), store=store, run="one", progress=False))
    damage(store, "DELETE FROM rows WHERE number = 2")
    found = repair(store, str(data))
    assert (found.rows, found.judged, found.result.complete) == ((2,), 0, True)
    assert rows_of(found.result) == before


def test_what_is_not_the_run_is_refused_and_changes_nothing(address: str, run: Result) -> None:
    damage(address, "DELETE FROM rows WHERE number IN (1, 2)")
    before = Result.load("one", address)
    others = [{**row, "answer": "Other."} for row in ROWS]
    for rows, options, said in (
        (others, {}, "data: run 'one' has 10 rows; here are 10, of which 8 of 8 differ"),
        (ROWS[:9], {}, "data: run 'one' has 10 rows; here are 9"),
        ([*ROWS, {**ROWS[0], "id": "r11"}], {}, "data: 11 rows, and run 'one' has 10 of them"),
        (ROWS, {"judge": ScriptedJudge(name="another")}, "judge: run 'one' was scored by scripted"),
        (ROWS, {"metrics": "hallucination"}, "metrics: run 'one' has also faithfulness"),
    ):
        with pytest.raises(InputError, match=said):
            repair(address, rows, **options)
    after = Result.load("one", address)
    assert (after.missing, after.rows, rows_of(after)) == (2, 8, rows_of(before))


@pytest.mark.parametrize(
    "statement", [None, "DELETE FROM rows WHERE number = 9", "UPDATE rows SET body = '' WHERE number = 9"]
)
@pytest.mark.parametrize("edited", [(1,), (1, 2), (1, 2, 3, 4)])
def test_data_that_were_edited_make_no_run_better(
    address: str, run: Result, statement: str | None, edited: tuple[int, ...]
) -> None:
    """Rows 1 and 2 are wrong in the run and right in the data: they are not damaged, so they stay as they are."""
    if statement:
        damage(address, statement)
    before = Result.load("one", address)
    data = [
        {**row, "answer": f"It is {n}.", "question": f"Edited {n}?"} if n in edited else row
        for n, row in enumerate(ROWS, 1)
    ]
    with pytest.raises(InputError, match=rf"data: {len(edited)} rows? \({', '.join(map(str, edited))}\) differ"):
        repair(address, data)
    after = Result.load("one", address)
    assert rows_of(after) == rows_of(before)
    assert after.complete is (statement is None)


def test_a_run_of_the_user_s_is_not_the_run_that_a_repair_makes(address: str, run: Result) -> None:
    evaluate(ROWS[:3], "faithfulness", Counting(), store=address, run="one (repair)", progress=False)
    damage(address, "DELETE FROM rows WHERE number = 1 AND run = 'one'")
    repair(address)
    with Store(address) as store:
        assert sorted(one.id for one in store.runs()) == ["one", "one (repair)"]
    assert Result.load("one (repair)", address).rows == 3


def test_a_run_that_did_not_finish_is_scored_again(address: str, run: Result) -> None:
    with Store(address) as store:
        store.put_run("one", {**store.get_run("one"), "stopped": "interrupted"})
    with pytest.raises(InputError, match="run 'one' did not finish; score its data again"):
        repair(address)


def test_a_run_of_which_nothing_is_known_cannot_be_repaired(address: str, run: Result) -> None:
    damage(address, "UPDATE runs SET info = REPLACE(info, 'faithfulness', 'faithfulnesz')")
    with pytest.raises(StoreError, match="what is known about it is damaged"):
        repair(address)
    with Store(address) as store, pytest.raises(StoreError, match="what is known about it is damaged"):
        lost_in_words("one", store)


def test_metrics_that_no_name_stands_for_are_given(address: str) -> None:
    def length(answer: str) -> float:
        return float(len(answer) > 3)

    evaluate(ROWS, length, Counting(), store=address, run="one", progress=False)
    damage(address, "DELETE FROM rows WHERE number = 4")
    with pytest.raises(InputError, match="length"):
        repair(address)
    assert repair(address, metrics=length).result.complete


def test_metrics_with_other_parameters_are_refused(address: str) -> None:
    from assay.metrics.deepeval.faithfulness import Faithfulness

    evaluate(ROWS, Faithfulness(threshold=0.7), Counting(), store=address, run="one", progress=False)
    damage(address, "DELETE FROM rows WHERE number = 4")
    with pytest.raises(InputError, match=r"run 'one' has .*threshold=0\.7.* name it so"):
        repair(address)
    assert repair(address, metrics=Faithfulness(threshold=0.7)).result.complete
