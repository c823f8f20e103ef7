"""Gates that are looked at after every row: they end a run once decided, and are wrong no more often for that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import assay
from assay import ScriptedJudge, Store
from assay.analysis.gates import Gate, GateRule
from assay.analysis.gates.early_stopping import Early
from assay.analysis.gates.evidence import of_level as at_the_end
from assay.cli.main import app
from assay.data import open_data
from assay.data.shuffle import ShuffledData
from assay.errors import Cause, InputError
from assay.evaluation.result import Result
from assay.records import Sample, Score, ScoredSample, ScoreError
from assay.stats.power import Assumptions, rows_needed
from tests.analysis.gates.conftest import Runs, quality


def rows_of(scores: Any, **columns: Any) -> list[dict[str, Any]]:
    return [
        {"id": f"r{n}", "question": f"Q{n}?", "answer": "It is so.", "quality": score,
         **{name: values[n] for name, values in columns.items()}}
        for n, score in enumerate(scores)
    ]  # fmt: skip


def scored(gate: Gate, scores: Any, baseline: Result | None, store: Path) -> tuple[Early, Result]:
    """A run that is looked at, of rows of the same ids as those of `runs`."""
    data = ShuffledData(open_data(rows_of(scores)))
    early = Early(gate, [quality], data.rows, ScriptedJudge().fingerprint, baseline)
    result = assay.evaluate(
        data, quality, ScriptedJudge(), store=store, run="now", progress=False, concurrency=4, until=early.take
    )
    return early, result


def test_a_run_that_is_worse_ends_before_all_rows_are_scored(runs: Runs, tmp_path: Path) -> None:
    """Of 400 rows 40 % fall from 1 to 0."""
    before = runs("before", [1.0] * 400)
    early, result = scored(
        Gate((GateRule("quality", "max_drop", 0.02),)), [0.0, 1.0, 1.0, 0.0, 1.0] * 80, before, tmp_path / "store"
    )
    decision = early.decision(result)
    assert (decision.verdict, decision.exit_code) == ("FAIL", 5)
    assert early.rows < 100
    assert early.rows <= result.rows <= early.rows + 4  # those in flight may have ended
    assert result.stopped == f"the gate was decided after {early.rows} of 400 rows"
    assert decision.notes[0] == f"Decided after {early.rows} of 400 rows, in an order by chance: " \
        f"{400 - early.rows} were spared."  # fmt: skip
    (ruling,) = decision.rulings
    assert ruling.interval is not None
    assert ruling.interval[0] <= -0.4 <= ruling.interval[1] < -0.02
    assert {one.value for one in ruling.decisive} == {0.0}


def test_one_that_is_shown_to_be_within_the_margin_passes_early(runs: Runs, tmp_path: Path) -> None:
    before = runs("before", [0.5] * 400)
    early, result = scored(Gate((GateRule("quality", "margin", 0.2),)), [0.5] * 400, before, tmp_path / "store")
    assert (early.decision(result).verdict, early.rows < 200) == ("PASS", True)


def test_undecided_runs_are_held_against_the_gate_with_the_half_that_is_left(runs: Runs, tmp_path: Path) -> None:
    before = runs("before", [1.0] * 20)
    early, result = scored(
        Gate((GateRule("quality", "max_drop", 0.02),)), [1.0] * 19 + [0.0], before, tmp_path / "store"
    )
    decision = early.decision(result)
    assert (early.verdict, result.stopped, result.rows) == (None, None, 20)
    assert (decision.verdict, decision.confidence) == ("INCONCLUSIVE", 0.975)


def test_a_mean_of_these_rows_is_decided_once_no_row_can_change_it(runs: Runs, tmp_path: Path) -> None:
    """Of 10 rows at least 0.8: three at 0 leave 0.7 at most."""
    early, result = scored(Gate((GateRule("quality", "at_least", 0.8),)), [0.0] * 10, None, tmp_path / "store")
    assert (early.verdict, early.rows, early.decision(result).verdict) == ("FAIL", 3, "FAIL")


def fed(early: Early, scores: list[float | None]) -> None:
    """Rows one after the other, until it is decided."""
    for number, value in enumerate(scores, 1):
        gap = ScoreError(cause=Cause.TIMEOUT, message="x") if value is None else None
        score = Score(metric="quality", value=value, error=gap)
        if early.take(number, ScoredSample(sample=Sample(id=f"r{number}"), scores={"quality": score})):
            return


def of_level(limit: float, count: int, **more: Any) -> Early:
    samples = [(number, Sample(id=f"r{number}")) for number in range(1, count + 1)]
    return Early(Gate((GateRule("quality", "at_least", limit, by="interval", **more),)), [quality], samples, "judge")


def test_rows_without_a_value_count_against_passing_and_against_failing() -> None:
    assert_verdict(of_level(0.6, 200), [1.0] * 200, "PASS")
    assert_verdict(of_level(0.6, 200), [1.0, None] * 100, None)  # were they 0, the mean would be 0.5
    assert_verdict(of_level(0.6, 200), [1.0, 1.0, 1.0, None] * 50, None)  # kept, but 75 % have a value
    assert_verdict(of_level(0.6, 200, coverage=0.7), [1.0, 1.0, 1.0, None] * 50, "PASS")
    assert_verdict(of_level(0.6, 200), [0.0] * 200, "FAIL")
    assert_verdict(of_level(0.6, 200), [0.0, 0.0, None, None, None] * 40, None)  # were they 1, it would be 0.6


def assert_verdict(early: Early, scores: list[float | None], verdict: str | None) -> None:
    fed(early, scores)
    assert early.verdict == verdict


@pytest.mark.long
def test_looked_at_after_every_row_gates_fail_by_chance_at_most_5_percent(tmp_path: Path) -> None:
    """The true mean is the limit itself, of 300 rows, with the check of all rows at the end: 400 runs, of which 5 %
    would be 20 and 7.5 % 2.3 standard errors more.
    """
    rng, failed = np.random.default_rng(11), 0
    for _ in range(400):
        early = of_level(0.7, 300)
        values = (rng.random(300) < 0.7).astype(float)
        fed(early, values.tolist())
        verdict = early.verdict
        if verdict is None:
            shown = at_the_end(values.tolist(), 0, 0.0, 1.0, 0.7, clusters=None, alone=None, alpha=0.025)
            verdict = "FAIL" if shown.broken else None
        failed += verdict == "FAIL"
    assert failed / 400 <= 0.075


@pytest.mark.long
@pytest.mark.parametrize(("mean", "margin"), [(0.9, 0.05), (0.8, 0.1)])
def test_where_the_drop_is_twice_the_margin_most_rows_are_spared(runs: Runs, mean: float, margin: float) -> None:
    """At a median of at most 40 % of the rows that a comparison of fixed size needs to see the margin."""
    fixed = rows_needed(Assumptions(mean=mean), margin)
    assert fixed is not None
    up, count = Assumptions(mean=mean).flips(margin)[0], 2 * fixed
    rng, stops = np.random.default_rng(23), []
    first = (rng.random(count) < mean).astype(float)
    before = runs("before", first.tolist())
    samples = [(number, Sample(id=f"r{number - 1}")) for number in range(1, count + 1)]
    for _ in range(100):
        luck = rng.random(count)
        falls, rises = luck < (up + 2 * margin) / mean, luck < up / (1 - mean)
        early = Early(Gate((GateRule("quality", "margin", margin),)), [quality], samples, before.judge, before)
        fed(early, np.where(first == 1.0, 1.0 - falls, rises).tolist())
        stops.append(early.rows if early.verdict == "FAIL" else count)
    assert np.median(stops) <= 0.4 * fixed


def test_what_cannot_be_looked_at_is_named(runs: Runs) -> None:
    before = runs("before", [1.0] * 3)
    before.judge = "judge"  # its metric asked none
    drop, level = GateRule("quality", "max_drop", 0.1), GateRule("quality", "at_least", 0.5)
    rows = [(1, Sample(id="r0"))]
    for gate, judge, baseline, said in [
        (Gate((level,), cluster="doc"), "judge", None, "early: rows that hang together"),
        (Gate((drop,)), "judge", None, "gate quality: it holds a run against another"),
        (Gate((drop,)), "other", before, "early: the baseline 'before' is by .*, and this run by other"),
        (Gate((GateRule("harm", "at_most", 0.5),)), "judge", None, "gate harm: it is not among the metrics"),
    ]:
        with pytest.raises(InputError, match=said):
            Early(gate, [quality], rows, judge, baseline)


def test_the_command_ends_with_the_gates_exit_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"id": str(n), "answer": "yes" if n % 3 else "no", "reference": "yes"} for n in range(300)]
    Path("rows.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    asked = ["score", "rows.jsonl", "--metrics", "ragas:exact_match", "--quiet", "--name"]
    found = CliRunner().invoke(app, [*asked, "bad", "--fail-below", "ragas:exact_match=0.9", "--sequential"])
    assert found.exit_code == 5, found.output
    assert "were spared" in " ".join(found.output.split())
    assert Result.load("bad", Store(".assay")).rows < 200  # 31 that are wrong are enough; a third is
    found = CliRunner().invoke(app, [*asked, "good", "--fail-below", "ragas:exact_match=0.2", "--sequential"])
    assert found.exit_code == 0, found.output
    found = CliRunner().invoke(app, [*asked, "none", "--sequential"])
    assert "--sequential: goes with --gate" in str(found.exception or found.output)
