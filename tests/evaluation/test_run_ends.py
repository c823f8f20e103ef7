"""What ended a run before its last row has a name, and the rows that it did not come to are gaps with a cause."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assay import JudgeFailure, Result, ScoredSample, ScriptedJudge, Store, evaluate
from assay.errors import Cause
from assay.evaluation.run_names import runs_of

ROWS = 40
DATA: list[dict[str, Any]] = [
    {"id": str(n), "answer": f"Cats purr {n}.", "contexts": ["Cats purr."]} for n in range(ROWS)
]


def failing(cause: Cause, after: int = 5) -> ScriptedJudge:
    """A judge that supports the claims of rows 0 to `after` - 1, and then fails."""

    def support(claim: str, passage: str) -> str:
        if int(claim.rstrip(".").rpartition(" ")[2]) >= after:
            raise JudgeFailure(cause, "no more")
        return "supported"

    return ScriptedJudge(support=support)


def check(result: Result, ended: str, causes: dict[str, int], store: Path) -> None:
    """As the run says at its end, so says whoever loads or lists it."""
    scored = ROWS - sum(causes.values())
    for found in (result, Result.load("last", store)):
        summary = found.metrics["faithfulness"]
        assert found.ended == ended
        assert (summary.scored, summary.total) == (scored, ROWS)
        assert dict(summary.causes) == causes
        assert summary.bounds == pytest.approx((scored / ROWS, 1.0))  # all that is scored is 1.0
        assert f"of {ROWS} rows" in found.incomplete[0]
    (line,) = runs_of(Store(store))
    assert line.to_dict()["ended"] == ended
    assert (line.metrics["faithfulness"].total, line.errors) == (ROWS, ROWS - scored)


def test_a_judge_that_fails_again_and_again(tmp_path: Path) -> None:
    """5 rows are scored, 10 fail one after the other and end the run, 25 are not reached."""
    judge = failing(Cause.CONNECTION)
    with pytest.raises(JudgeFailure):
        evaluate(DATA, "faithfulness", judge, store=tmp_path, stop_after=10, concurrency=1, progress=False)
    check(Result.load("last", tmp_path), "interrupted", {"connection": 10, "interrupted": 25}, tmp_path)


def test_a_budget_that_is_spent(tmp_path: Path) -> None:
    """The other rows are gaps by themselves: the run comes to its end, with 5 of 40 rows scored."""
    result = evaluate(DATA, "faithfulness", failing(Cause.BUDGET), store=tmp_path, concurrency=1, progress=False)
    summary = Result.load("last", tmp_path).metrics["faithfulness"]
    assert result.ended is None
    assert (summary.scored, summary.total, dict(summary.causes)) == (5, ROWS, {"budget": 35})


def test_a_budget_that_ends_a_run(tmp_path: Path) -> None:
    """What a caller's own code raises for a spent budget ends the run, and says so."""

    def spend(scored: ScoredSample) -> None:
        if scored.sample.id == "4":
            raise JudgeFailure(Cause.BUDGET, "no more")

    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    with pytest.raises(JudgeFailure):
        evaluate(DATA, "faithfulness", judge, store=tmp_path, concurrency=1, progress=False, on_score=spend)
    found = Result.load("last", tmp_path)
    check(found, "budget", {"budget": ROWS - found.rows}, tmp_path)


def test_a_deadline(tmp_path: Path) -> None:
    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    result = evaluate(DATA, "faithfulness", judge, store=tmp_path, deadline=1e-9, progress=False)
    check(result, "limit", {"timeout": ROWS}, tmp_path)


KILLED = """
import os, sys
from assay import ScriptedJudge, evaluate
from tests.evaluation.test_run_ends import DATA
def support(claim, passage):
    if claim == "Cats purr 30.":
        os.kill(os.getpid(), 9)
    return "supported"
evaluate(DATA, "faithfulness", ScriptedJudge(support=support), store=sys.argv[1], concurrency=1, progress=False)
"""


@pytest.mark.long
def test_a_process_that_is_killed(tmp_path: Path) -> None:
    """What it said at its start counts: it was to score 40 rows. The last rows may not have been written yet."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], cwd=Path(__file__).parents[2], check=False,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})  # fmt: skip
    assert done.returncode == -9
    found = Result.load("last", tmp_path)
    assert 0 < found.rows <= 30
    check(found, "interrupted", {"interrupted": ROWS - found.rows}, tmp_path)


def test_a_sequential_gate_needs_no_more_rows(tmp_path: Path) -> None:
    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    result = evaluate(DATA, "faithfulness", judge, store=tmp_path, concurrency=1, progress=False,
                      until=lambda number, scored: "decided" if number == 7 else None)  # fmt: skip
    for found in (result, Result.load("last", tmp_path)):
        assert (found.ended, found.stopped) == ("sequential", "decided")
        assert (found.metrics["faithfulness"].total, found.unscored) == (found.rows, 0)


def test_a_run_that_finished_has_no_end_before_its_time(tmp_path: Path) -> None:
    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    result = evaluate(DATA, "faithfulness", judge, store=tmp_path, progress=False)
    assert (result.ended, result.stopped, result.complete) == (None, None, True)
    assert Result.load("last", tmp_path).ended is None
