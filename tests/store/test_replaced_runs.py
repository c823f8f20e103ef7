"""Two writers of one run never mix their rows: whoever was replaced learns it, and writes no more."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from assay import Result, ScoredSample, ScriptedJudge, Store, evaluate
from assay.errors import RunReplacedError
from assay.records import Sample, Score

ROWS: list[dict[str, Any]] = [
    {"id": str(n), "answer": f"Cats purr {n}.", "contexts": ["Cats purr."]} for n in range(30)
]


def scored(value: float, name: str = "a") -> ScoredSample:
    return ScoredSample(sample=Sample(id=name, answer="x"), scores={"m": Score(metric="m", value=value)})


def test_rows_and_facts_of_a_run_that_is_gone_are_refused(tmp_path: Path) -> None:
    store, other = Store(tmp_path), Store(tmp_path)
    started = store.create_run("nightly", {"judge": "first", "metrics": ["m"]})
    store.put_row("nightly", 1, scored(1.0), started=started)
    other.delete_run("nightly")
    for anew in (False, True):
        if anew:
            other.create_run("nightly", {"judge": "second", "metrics": ["m"]})
        with pytest.raises(RunReplacedError, match="'nightly' was deleted or replaced"):
            store.put_row("nightly", 2, scored(1.0), started=started)
        with pytest.raises(RunReplacedError):
            store.put_rows("nightly", [(2, scored(1.0)), (3, scored(1.0))], started=started)
        with pytest.raises(RunReplacedError):
            store.put_run("nightly", {"judge": "first", "metrics": ["m"]}, started=started)
        assert list(other.rows("nightly")) == []
        assert other.has_run("nightly") is anew
    assert other.get_run("nightly")["judge"] == "second"


def judge_of(label: str, wait: threading.Event | None = None, reached: threading.Event | None = None) -> ScriptedJudge:
    """Judges all claims alike; at row 10 it says so, and waits."""

    def support(claim: str, passage: str) -> str:
        if claim == "Cats purr 10." and reached is not None and wait is not None:
            reached.set()
            assert wait.wait(60)
        return label

    return ScriptedJudge(support=support)


def test_an_evaluation_that_is_replaced_midway_ends_and_the_other_is_whole(tmp_path: Path) -> None:
    """The first supports everything, the second nothing: a mean between 0 and 1 would be a mixture."""
    wait, reached = threading.Event(), threading.Event()
    found: list[Exception] = []

    def first() -> None:
        try:
            evaluate(ROWS, "faithfulness", judge_of("supported", wait, reached), store=tmp_path, run="nightly",
                     concurrency=1, progress=False)  # fmt: skip
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=first)
    thread.start()
    assert reached.wait(60)
    second = evaluate(ROWS, "faithfulness", judge_of("not_mentioned"), store=tmp_path, run="nightly", replace=True,
                      progress=False)  # fmt: skip
    wait.set()
    thread.join(60)
    assert "run 'nightly' was deleted or replaced" in str(found[0])
    for result in (second, Result.load("nightly", tmp_path)):
        assert (result.rows, result.metrics["faithfulness"].mean, result.complete) == (30, 0.0, True)


PROCESS = """
import sys
from assay import evaluate
from tests.store.test_replaced_runs import ROWS, judge_of
try:
    evaluate(ROWS, "faithfulness", judge_of(sys.argv[2]), store=sys.argv[1], run="nightly", replace=True,
             concurrency=1, progress=False)
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.long
def test_processes_that_replace_one_run_at_once_leave_the_rows_of_one(tmp_path: Path) -> None:
    """Four begin at the same time; who is replaced ends with an error, and the run is that of one of them."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    labels = ("supported", "not_mentioned", "supported", "not_mentioned")
    begun = [
        subprocess.Popen([sys.executable, "-c", PROCESS, str(tmp_path), label], cwd=Path(__file__).parents[2], env=env,
                         stdout=subprocess.PIPE, text=True)
        for label in labels
    ]  # fmt: skip
    said = [process.communicate(timeout=120)[0] for process in begun]
    assert sum(text == "" for text in said) >= 1, said
    assert all(text == "" or "nightly" in text for text in said)
    result = Result.load("nightly", tmp_path)
    assert result.metrics["faithfulness"].mean in (0.0, 1.0)
    assert (result.rows, result.complete) == (30, True)
