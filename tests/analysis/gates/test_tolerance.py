"""Gates that know how far the judge wavers: nothing fails for less."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from assay.analysis.gates import Gate, GateRule, Ruling, check
from assay.analysis.gates.evidence import of_mean
from assay.analysis.gates.tolerance import with_noise
from assay.analysis.judges.noise import NoiseReport
from assay.cli.main import app
from assay.config import configuration
from assay.errors import InputError
from assay.evaluation.result import Result
from assay.stats.noise import Noise, Readings
from tests.analysis.gates.conftest import Runs


def wavering(judge: float, generation: float | None = None, **more: Any) -> Noise:
    """Of 100 rows read twice: 100 degrees of freedom, t = 1.984 at 95 %."""
    known: dict[str, Any] = {
        "metric": "quality", "low": 0.0, "high": 1.0, "rows": 100, "left_out": 0, "readings": 2, "items": 50,
        "means": (0.8, 0.8), "judge": judge, "judge_high": judge, "generation": generation, "item": 0.05, "differ": 9,
        "binary": False,
    }  # fmt: skip
    return Noise(**{**known, **more})


def report(result: Result, *noises: Noise, judge: str | None = None) -> NoiseReport:
    return NoiseReport(judge or result.judge, ("a", "b"), None, {noise.metric: noise for noise in noises})


def one(rule: GateRule, noise: NoiseReport | None, result: Result, baseline: Result | None = None) -> Ruling:
    (found,) = check(Gate((rule,), noise=noise), result, baseline).rulings
    return found


def test_a_mean_that_a_reading_anew_may_lift_to_its_limit_does_not_fail(runs: Runs) -> None:
    """Mean 0.8 of 4 rows; 1.984 · sqrt(0.02 / 4) = 0.140."""
    result = runs("now", [1.0, 0.8, 0.8, 0.6])
    noise = report(result, wavering(0.02))
    assert one(GateRule("quality", "at_least", 0.9), None, result).verdict == "FAIL"
    found = one(GateRule("quality", "at_least", 0.9), noise, result)
    assert (found.verdict, round(found.tolerance or 0.0, 3)) == ("INCONCLUSIVE", 0.140)
    assert found.because == "mean 0.800 on 4 rows; the judge alone may make 0.140 of it"
    assert one(GateRule("quality", "at_least", 0.95), noise, result).verdict == "FAIL"  # 0.15 below
    assert one(GateRule("quality", "at_least", 0.8), noise, result).verdict == "PASS"  # what is reached is reached


def test_a_drop_that_the_judge_makes_is_none(runs: Runs) -> None:
    """0.1 on each of 200 rows; 1.984 · sqrt(2 · 0.3 / 200) = 0.109, and with 0.1 in its place 0.063."""
    before, now = runs("before", [0.9] * 200), runs("now", [0.8] * 200)
    rule = GateRule("quality", "max_drop", 0.02)
    assert one(rule, None, now, before).verdict == "FAIL"
    assert one(rule, report(now, wavering(0.3)), now, before).verdict == "PASS"
    assert one(rule, report(now, wavering(0.1)), now, before).verdict == "FAIL"
    margin = GateRule("quality", "margin", 0.05)
    assert one(margin, None, now, before).verdict == "FAIL"
    assert one(margin, report(now, wavering(0.3)), now, before).verdict == "INCONCLUSIVE"  # not shown to be within it


def test_new_answers_differ_by_more_than_new_readings(runs: Runs) -> None:
    """Answers and readings: 50 degrees of freedom, t = 2.009; 2.009 · sqrt(2 · (0.1 + 0.2) / 200) = 0.110."""
    before, now = runs("before", [0.9] * 200), runs("now", [0.8] * 200)
    found = one(GateRule("quality", "max_drop", 0.02), report(now, wavering(0.1, generation=0.2)), now, before)
    assert (found.verdict, round(found.tolerance or 0.0, 3)) == ("PASS", 0.110)
    level = one(GateRule("quality", "at_least", 0.9), report(now, wavering(0.1, generation=0.2)), now)
    assert round(level.tolerance or 0.0, 3) == 0.044  # these answers: 1.984 · sqrt(0.1 / 200)


def test_an_interval_knows_the_noise_already_and_a_judge_that_never_wavers_changes_nothing(runs: Runs) -> None:
    result = runs("now", [1.0, 0.8, 0.8, 0.6])
    rule = GateRule("quality", "at_least", 0.9, by="interval")
    assert one(rule, report(result, wavering(0.5)), result) == one(rule, None, result)
    still = one(GateRule("quality", "at_least", 0.9), report(result, wavering(0.0)), result)
    assert (still.verdict, still.tolerance, still.because) == ("FAIL", 0.0, "mean 0.800 on 4 rows")


def test_noise_of_another_judge_or_metric(runs: Runs) -> None:
    result = runs("now", [0.8, 0.8])
    result.judge = "judge"  # its metric asked none
    with pytest.raises(InputError, match="noise: it was measured with the judge other, and run 'now' is by"):
        one(GateRule("quality", "at_least", 0.9), report(result, wavering(0.1), judge="other"), result)
    gate = Gate((GateRule("quality", "at_least", 0.9),), noise=report(result, wavering(0.1, metric="harm")))
    decision = check(gate, result)
    assert decision.verdict == "FAIL"
    assert decision.notes == ("how far the judge wavers is not known of quality",)


@pytest.mark.parametrize("wrong", [0.05, 0.2])
def test_means_at_their_limit_fail_by_chance_at_most_5_percent(wrong: float) -> None:
    """60 answers, right or wrong by themselves, read with so many mistakes; the limit is what readings give on average.

    The noise is measured on 100 rows read twice. Two-sided at 95 %: 2.5 % are expected; of 400, 5 % is 3 errors more.
    """
    rng, fails, without = np.random.default_rng(3), 0, 0
    for _ in range(400):
        known = Readings("quality")
        for n, right in enumerate(rng.random(100) < 0.8):
            known.add(n, [float(right != flipped) for flipped in rng.random(2) < wrong])
        noise = known.noise()
        assert noise is not None
        truth = rng.random(60) < 0.8
        seen = (truth != (rng.random(60) < wrong)).astype(float).tolist()
        limit = float(np.where(truth, 1 - wrong, wrong).mean())
        tolerance = (noise.tolerance(60) or 0.0) / math.sqrt(2.0)
        fails += of_mean(seen, 0, 0.0, 1.0, limit, tolerance).broken
        without += of_mean(seen, 0, 0.0, 1.0, limit).broken
    assert fails / 400 <= 0.05
    assert without / 400 >= 0.3


def test_the_command_and_the_configuration_take_a_file(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = runs("now", [1.0, 0.8, 0.8, 0.6])
    report(result, wavering(0.02)).save(tmp_path / "noise.json")
    monkeypatch.chdir(tmp_path)
    asked = ["gate", "now", "--store", "store", "--fail-below", "quality=0.9"]
    assert CliRunner().invoke(app, asked).exit_code == 5
    found = CliRunner().invoke(app, [*asked, "--noise", "noise.json"])
    assert (found.exit_code, "the judge alone may make 0.140 of it" in " ".join(found.output.split())) == (6, True)

    table = '[gates]\nnoise = "{}"\n[gates.faithfulness]\nat_least = 0.9\n'
    (tmp_path / "assay.toml").write_text(table.format("noise.json"))
    config = configuration(folder=tmp_path)
    assert config is not None
    assert config.gates is not None
    assert with_noise(config.gates.gate).noise == NoiseReport.load("noise.json")


def test_a_noise_file_that_is_not_there_yet_stops_the_gate_alone(
    runs: Runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A configuration that names a file that `assay judge noise --out` will write: the command could not run else."""
    runs("now", [1.0, 0.8, 0.8, 0.6])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "assay.toml").write_text('[gates]\nnoise = "gone.json"\n[gates.faithfulness]\nat_least = 0.9\n')
    assert CliRunner().invoke(app, ["show", "now", "--store", "store"]).exit_code == 0
    found = CliRunner().invoke(app, ["gate", "now", "--store", "store"])
    assert (found.exit_code, "gone.json' cannot be read" in " ".join(str(found.exception).split())) == (1, True)
