"""Runs of `mlflow.genai.evaluate`, compared by assay."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace as Made
from typing import Any

import pytest
from assay_mlflow import evaluations
from typer.testing import CliRunner

from assay.analysis.comparison.compare import compare
from assay.cli.main import app
from assay.errors import Cause, InputError, MissingExtra
from assay.evaluation import external_runs as elsewhere
from assay.evaluation.external_runs import load_external_run, result_of
from assay.evaluation.result import Result

JUDGE = Made(source_type="LLM_JUDGE", source_id="openai:/m")
CODE = Made(source_type="CODE", source_id="rating")


def feedback(name: str, value: Any, source: Made = JUDGE, **more: Any) -> Made:
    given = {"valid": True, "run_id": None, "error": None, **more}
    return Made(name=name, value=value, source=source, feedback=Made(value=value), **given)


def trace(number: int, assessments: list[Made], inputs: Any = None) -> Made:
    span = Made(parent_id=None, inputs={"question": f"Q{number}?"} if inputs is None else inputs, outputs="Yes.")
    info = Made(assessments=assessments, trace_id=f"tr-{number}")
    return Made(info=info, data=Made(spans=[span]))


class Pages(list[Any]):
    token: str | None = None


class Client:
    """Gives a run's traces by twos, the latest first, as MLflow does."""

    def __init__(self, runs: dict[str, list[Made]]) -> None:
        self.runs = runs

    def get_run(self, run: str) -> Made:
        if run not in self.runs:
            raise ValueError("no such run")
        return Made(info=Made(experiment_id="0"))

    def search_traces(self, *, filter_string: str, page_token: str | None, **_: Any) -> Pages:
        traces = self.runs[filter_string.split("'")[1]][::-1]
        start = int(page_token or 0)
        page = Pages(traces[start : start + 2])
        page.token = str(start + 2) if start + 2 < len(traces) else None
        return page


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes runs of lists of traces."""

    def hold(**runs: list[Made]) -> None:
        monkeypatch.setattr(evaluations, "client_of", lambda uri: Client(runs))
        point = EntryPoint("mlflow", "assay_mlflow.evaluations:open_run", elsewhere.GROUP)
        monkeypatch.setattr(elsewhere, "entry_points", lambda group: [point])

    return hold


def test_ten_answers_that_got_wrong_are_worse(held: Any) -> None:
    """Of 20 answers right in one run ten are wrong in the other: -0.5, p = 2·0.5¹⁰."""
    held(a=[trace(n, [feedback("correct", True)]) for n in range(20)],
         b=[trace(n, [feedback("correct", "no" if n < 10 else "Yes")]) for n in reversed(range(20))])  # fmt: skip
    one = compare(load_external_run("mlflow:a"), load_external_run("mlflow:b")).metrics["correct"]
    assert (one.verdict, one.pairs, one.p) == ("worse", 20, pytest.approx(2 * 0.5**10))
    assert one.difference is not None
    assert one.difference.estimate.mean == -0.5


def test_what_counts_and_what_does_not(held: Any) -> None:
    """Two feedbacks of one name are their mean; those of other runs, errors and words are no numbers."""
    held(a=[
        trace(1, [feedback("m", 1.0), feedback("m", 0.0), feedback("m", 1.0, run_id="z"), feedback("n", 4, CODE)]),
        trace(2, [feedback("m", None, error=Made(error_message="timed out")), feedback("n", "good", CODE)]),
        trace(3, [feedback("m", 1.0, valid=False), feedback("words", "good")], inputs={"a": 1, "b": [2]}),
    ])  # fmt: skip
    result = load_external_run("mlflow:a")
    assert (result.judge, result.rows, list(result.metrics)) == ("mlflow: openai:/m", 3, ["m", "n"])
    scores = [row.scores for row in result]
    assert (scores[0]["m"].value, scores[0]["n"].value) == (0.5, 4.0)
    assert (scores[0]["m"].high, scores[0]["n"].high) == (1.0, float("inf"))
    assert scores[1]["m"].error is not None
    assert (scores[1]["m"].error.cause, "timed out" in scores[1]["m"].error.message) == (Cause.BUG, True)
    assert scores[1]["n"].error is not None
    assert "'good' is no number" in scores[1]["n"].error.message
    assert scores[2]["m"].error is not None
    assert [row.sample.question for row in result] == ["Q1?", "Q2?", '{"a": 1, "b": [2]}']


def test_a_range_without_ends_compares(held: Any) -> None:
    held(a=[trace(n, [feedback("r", 2.0 + n % 2, CODE)]) for n in range(12)],
         b=[trace(n, [feedback("r", 1.0, CODE)]) for n in range(12)])  # fmt: skip
    one = compare(load_external_run("mlflow:a"), load_external_run("mlflow:b")).metrics["r"]
    assert one.verdict == "worse"
    assert one.difference is not None
    assert one.difference.estimate.high < -1.0


def test_the_command_and_runs_that_are_not_there(held: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    held(a=[trace(n, [feedback("correct", True)]) for n in range(12)],
         b=[trace(n, [feedback("correct", n > 9)]) for n in range(12)], none=[])  # fmt: skip
    nowhere = ["--store", str(tmp_path / "none")]
    for arguments in (["mlflow:a", "mlflow:b"], ["--from", "mlflow:a", "--from", "mlflow:b"]):
        done = CliRunner().invoke(app, ["compare", *arguments, *nowhere])
        assert done.exit_code == 0, done.output
        assert done.output.startswith("mlflow:b against mlflow:a: worse on correct (12 rows in both)")
    assert isinstance(CliRunner().invoke(app, ["compare", *nowhere]).exception, InputError)
    with pytest.raises(InputError, match="has no rows"):
        load_external_run("mlflow:none")
    with pytest.raises(InputError, match="as mlflow:RUN"):
        load_external_run("mlflow:")
    with pytest.raises(InputError, match="no package reads runs of 'wandb'"):
        load_external_run("wandb:x")
    monkeypatch.setattr(elsewhere, "entry_points", lambda group: [])
    with pytest.raises(MissingExtra, match="mlflow"):
        load_external_run("mlflow:a")


WRITE = """
import sys, mlflow
from mlflow.entities import AssessmentSource
mlflow.set_tracking_uri(sys.argv[1])
for second in (False, True):
    with mlflow.start_run() as run:
        for n in range(8):
            with mlflow.start_span("predict") as span:
                span.set_inputs({"question": f"Q{n}?"})
                span.set_outputs("yes")
            mlflow.flush_trace_async_logging()
            source = AssessmentSource(source_type="LLM_JUDGE", source_id="openai:/m")
            mlflow.log_feedback(trace_id=span.trace_id, name="correct", value=not second or n > 6, source=source)
    print("RUN", run.info.run_id)
"""


@pytest.mark.long
def test_runs_of_mlflow_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seven of eight answers got wrong: p = 2·0.5⁷ = 0.0156."""
    try:
        import alembic  # noqa: F401

        uri = f"sqlite:///{tmp_path}/local.db"
    except ImportError:  # MLflow without its server
        uri = (tmp_path / "runs").as_uri()
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    done = subprocess.run([sys.executable, "-c", WRITE, uri], capture_output=True, text=True, timeout=300, check=True)
    ids = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("RUN ")]
    first, second = (result_of(f"mlflow:{run}", *evaluations.open_run(run)) for run in ids)
    assert isinstance(first, Result)
    one = compare(first, second).metrics["correct"]
    assert (one.pairs, one.verdict, one.p) == (8, "worse", pytest.approx(2 * 0.5**7))
