"""Gates by labels: the share of rows that people would call good, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from assay.analysis.gates import Gate, GateRule, Ruling, check
from assay.analysis.gates.early_stopping import Early
from assay.analysis.judges.alignment.alignment import align
from assay.cli.main import app
from assay.config import configuration
from assay.errors import InputError
from assay.evaluation.result import Result
from assay.judges.calibrated_judge import Calibration
from assay.judges.thresholds import Threshold
from assay.stats.shares import ConfusionCounts, true_share
from tests.analysis.gates.conftest import Runs


def threshold(value: float = 0.6, n: int = 998, found: float = 0.9, left: float = 0.9, **more: Any) -> Threshold:
    """So many labels of each kind."""
    known: dict[str, Any] = {"value": value, "parts": (value,) * 5, "labels": 2 * n}
    return Threshold(**{**known, "yes": float(n), "no": float(n), "found": found, "left": left, **more})


def calibration(result: Result, metric: str = "quality", one: Threshold | None = None, **more: Any) -> Calibration:
    known = {"judge": result.judge, "made": "2026-01-31", "thresholds": {metric: one or threshold()}}
    return Calibration(**{**known, **more})


def ruled(result: Result, held: Calibration | Path | None, limit: float = 0.5, **more: Any) -> Ruling:
    (found,) = check(Gate((GateRule("quality", "good_share", limit),), thresholds=held, **more), result).rulings
    return found


def test_rows_that_reach_the_threshold_are_corrected_by_what_it_is_worth(runs: Runs) -> None:
    """58 of 100 reach 0.6. With one more of each (898.2 + 1) / 1000 = 0.8992: (0.58 - 0.1008) / 0.7984 = 0.6002."""
    result = runs("now", [0.6] * 58 + [0.59] * 42)
    found = ruled(result, calibration(result), 0.5)
    assert found.value == pytest.approx((0.58 - 0.1008) / 0.7984)
    assert (found.verdict, found.good) == ("INCONCLUSIVE", 58)
    assert found.interval is not None
    low, high = found.interval
    assert low < 0.5 < high
    assert found.because == (
        f"share that people would call good 0.600 ({low:.3f} to {high:.3f}) on 100 rows; 58 of 100 are on the good "
        "side of 0.6, from which on people say yes (of 1996 labels 90% of yes and 10% of no reach it); "
        "so few rows and labels do not show on which side of the limit it is"
    )
    assert ruled(result, calibration(result), 0.4).verdict == "PASS"
    assert ruled(result, calibration(result), 0.8).verdict == "FAIL"


def test_few_labels_leave_the_gate_open_however_many_rows_there_are(runs: Runs) -> None:
    """The same shares of 20 labels of each kind in place of 998: 0.7 of 400 rows no longer show 0.67."""
    result = runs("now", [1.0] * 280 + [0.0] * 120)
    many, few = (calibration(result, one=threshold(n=n)) for n in (998, 20))
    assert ruled(result, many, 0.67).verdict == "PASS"
    assert ruled(result, few, 0.67).verdict == "INCONCLUSIVE"
    low, high = true_share(0.7, 399, ConfusionCounts(20, 20, 0.9, 0.9))[1:]
    assert ruled(result, few, 0.67).interval == pytest.approx((low, high), abs=1e-3)


def test_where_less_is_better_good_rows_lie_below(runs: Runs, both: tuple[Any, Any]) -> None:
    """Yes is said of harm: 10 of 100 rows reach 0.6, and 90 are good; (0.9 - 0.1008) / 0.7984 is 1 at most."""
    harm = [0.7] * 10 + [0.1] * 90
    result = runs("now", harm, both[1], harm=harm)
    held = calibration(result, "harm")
    (found,) = check(Gate((GateRule("harm", "good_share", 0.8),), thresholds=held), result).rulings
    assert (found.verdict, found.good, found.value) == ("PASS", 90, 1.0)
    worse = [0.7] * 60 + [0.1] * 40
    result = runs("worse", worse, both[1], harm=worse)
    (found,) = check(Gate((GateRule("harm", "good_share", 0.8),), thresholds=held), result).rulings
    assert found.verdict == "FAIL"
    assert found.value == pytest.approx((0.4 - 0.1008) / 0.7984)
    assert found.decisive[0].value == 0.7


def test_rows_without_a_value_count_against_either_verdict(runs: Runs) -> None:
    rows: list[float | str] = [1.0] * 80 + [0.0] * 5
    result = runs("now", [*rows, *["no_claims"] * 15])
    held = calibration(result)
    found = ruled(result, held, 0.8)
    assert found.verdict == "INCONCLUSIVE"
    # 80 and 95 of 100: (0.80 - 0.1008) / 0.7984 = 0.876, and more than 1
    assert found.bounds == (pytest.approx((0.8 - 0.1008) / 0.7984), 1.0)
    assert "were the 15 without a value known" in found.because
    gate = Gate((GateRule("quality", "good_share", 0.8, leave_out=("no_claims",)),), thresholds=held)
    assert check(gate, result).verdict == "PASS"
    assert check(
        Gate((GateRule("quality", "good_share", 0.8),), thresholds=held), runs("none", ["no_claims"] * 3)
    ).verdict == ("INCONCLUSIVE")


def test_rows_of_one_document_are_one_witness(runs: Runs) -> None:
    values = [1.0] * 90 + [0.0] * 30
    result = runs("now", values, source=[f"s{n // 15}" for n in range(120)])
    held = calibration(result)
    alone, together = ruled(result, held, 0.6), ruled(result, held, 0.6, cluster="source")
    assert (alone.verdict, together.verdict) == ("PASS", "INCONCLUSIVE")
    assert alone.value == together.value
    same = runs("same", [1.0] * 120, source=["one"] * 120)
    assert ruled(same, held, 0.6, cluster="source").verdict == "INCONCLUSIVE"


def test_thresholds_of_other_parts_count_as_many_rows_as_reach_them(runs: Runs) -> None:
    """Parts at 0.3 and 0.7: of 0.5 one half is reached. (60 + 20 / 2) / 100 = 0.7."""
    result = runs("now", [0.9] * 60 + [0.5] * 20 + [0.1] * 20)
    found = ruled(result, calibration(result, one=threshold(0.5, parts=(0.3, 0.7))))
    assert found.value == pytest.approx((0.7 - 0.1008) / 0.7984)
    assert found.good == 80  # by the threshold of all labels


def test_it_is_refused_without_a_calibration_and_for_another_judge_metric_or_version(
    runs: Runs, tmp_path: Path
) -> None:
    result = runs("now", [1.0, 0.0])
    with pytest.raises(InputError, match=r"gate quality: good_share goes by a threshold .* name the file"):
        ruled(result, None)
    with pytest.raises(InputError, match=r"'.*gone.json' cannot be read"):
        ruled(result, tmp_path / "gone.json")
    with pytest.raises(InputError, match="they were found on values of the judge other/1, and this run is by "):
        ruled(result, calibration(result, judge="other/1"))
    with pytest.raises(InputError, match="no labels of samples were about it; it has harm"):
        ruled(result, calibration(result, "harm"))
    with pytest.raises(InputError, match="no labels of samples were about it; it has none"):
        ruled(result, calibration(result, thresholds={}))
    with pytest.raises(InputError, match="nothing is told apart"):
        ruled(result, calibration(result, one=threshold(found=0.5, left=0.4)))
    with pytest.raises(InputError, match=r"found for quality\(old=True\), and run 'now' measured"):
        ruled(result, calibration(result, one=threshold(metric="quality(old=True)")))
    old = tmp_path / "old.json"
    old.write_text('{"judge": "x", "made": "2026-01-31", "thresholds": {"quality": 0.8}, "format": 1}')
    with pytest.raises(InputError, match="no calibration of this version"):
        ruled(result, old)


@pytest.mark.parametrize("limit", [0.0, 1.0, 1.5, -0.1])
def test_a_share_that_nothing_can_show_is_refused(limit: float) -> None:
    with pytest.raises(InputError, match="good_share: expected a share between 0 and 1"):
        GateRule("quality", "good_share", limit)
    with pytest.raises(InputError, match="by: goes with at_least and at_most"):
        GateRule("quality", "good_share", 0.5, by="interval")


def labelled(runs: Runs, n: int = 120, yes: float = 0.6) -> tuple[Result, list[dict[str, Any]]]:
    """Values of good rows around 0.75, of bad ones around 0.35."""
    rng = np.random.default_rng(3)
    good = rng.random(n) < yes
    values = np.where(good, rng.beta(6, 2, n), rng.beta(3, 5, n)).round(3)
    result = runs("labelled", values.tolist())
    return result, [
        {"id": f"r{k}", "metric": "quality", "label": "good" if one else "bad"} for k, one in enumerate(good)
    ]


def test_labels_give_a_threshold_that_gates_go_by(runs: Runs, tmp_path: Path) -> None:
    result, labels = labelled(runs)
    made = align(result, labels).calibration()
    one = made.thresholds["quality"]
    assert (one.labels, one.yes + one.no, len(one.parts)) == (120, 120.0, 5)
    assert 0.4 < one.value < 0.7
    assert all(0.4 < part < 0.7 for part in one.parts)
    # by hand: 0.5 parts Beta(6, 2) at 0.94 above, Beta(3, 5) at 0.77 below; labels that it was not found on, about so
    assert one.found == pytest.approx(0.9, abs=0.1)
    assert one.left == pytest.approx(0.77, abs=0.15)
    made.save(tmp_path / "c.json")
    assert Calibration.load(tmp_path / "c.json") == made
    found = ruled(result, tmp_path / "c.json")
    good = sum(label["label"] == "good" for label in labels) / 120
    assert found.interval is not None
    assert found.interval[0] <= good <= found.interval[1]


def test_weights_count_as_labels_of_one_weight_would(runs: Runs) -> None:
    """Half of the labels with weight 3: of n of a kind (3a + b)² / (9a + b) say as much."""
    result, labels = labelled(runs)
    for k, label in enumerate(labels):
        label["weight"] = 3.0 if k % 2 else 1.0
    one = align(result, labels).calibration().thresholds["quality"]
    heavy = sum(label["label"] == "good" and label["weight"] == 3.0 for label in labels)
    light = sum(label["label"] == "good" and label["weight"] == 1.0 for label in labels)
    assert one.yes == pytest.approx((3 * heavy + light) ** 2 / (9 * heavy + light))


def test_too_few_labels_say_how_many_there_are_and_what_is_needed(runs: Runs) -> None:
    result, labels = labelled(runs)
    with pytest.raises(
        InputError, match=r"quality has 20 labels of samples with a value, .* expected 30, and 8 of each"
    ):
        align(result, labels[:20]).calibration()
    bad = [label for label in labels if label["label"] == "bad"][:5]
    few = [label for label in labels if label["label"] == "good"][:40] + bad
    with pytest.raises(InputError, match="quality has 45 labels of samples with a value, 40 of them yes; expected"):
        align(result, few).calibration()
    grades = [{**label, "label": 0.1 * (k % 10)} for k, label in enumerate(labels)]
    with pytest.raises(InputError, match="grades for labels"):
        align(result, grades).calibration()
    turned = [{**label, "label": "bad" if label["label"] == "good" else "good"} for label in labels]
    with pytest.raises(InputError, match="people do not say yes more often where its value is higher"):
        align(result, turned).calibration()
    same = runs("same", [1.0] * 120)
    with pytest.raises(InputError, match="the same value on nearly all labelled samples"):
        align(same, labels).calibration()


def test_why_there_is_no_threshold_is_kept_beside_those_that_there_are(runs: Runs, both: tuple[Any, Any]) -> None:
    result, labels = labelled(runs)
    values = [0.0, 1.0] * 60
    result = runs("two", [row.sample.metadata["quality"] for row in result], list(both), harm=values)
    more = [{"id": f"r{k}", "metric": "harm", "label": "yes"} for k in range(12)]
    made = align(result, [*labels, *more]).calibration()
    assert list(made.thresholds) == ["quality"]
    gate = Gate((GateRule("harm", "good_share", 0.5),), thresholds=made)
    with pytest.raises(InputError, match="harm has 12 labels of samples with a value, 12 of them yes; expected 30"):
        check(gate, result)


def test_a_configuration_names_the_file_which_may_come_later(tmp_path: Path) -> None:
    file = tmp_path / "assay.toml"
    file.write_text('[gates]\nthresholds = "c.json"\n[gates.faithfulness]\ngood_share = 0.9\n')
    found = configuration(file)
    assert found is not None
    assert found.gates is not None
    assert found.gates.gate.rules == (GateRule("faithfulness", "good_share", 0.9),)
    assert found.gates.gate.thresholds == tmp_path / "c.json"
    file.write_text("[gates.faithfulness]\ngood_share = 0.9\n")
    with pytest.raises(
        InputError, match=r"\[gates.faithfulness\] good_share line 2: name what `assay judge align LABELS"
    ):
        configuration(file)
    file.write_text('[gates]\nthresholds = "c.json"\n[gates.faithfulness]\ngood_share = 90\n')
    with pytest.raises(InputError, match=r"good_share line 4: expected a share between 0 and 1, as 0.9, got 90"):
        configuration(file)


def test_the_command_goes_by_the_file(runs: Runs, tmp_path: Path) -> None:
    result, labels = labelled(runs)
    align(result, labels).calibration().save(tmp_path / "c.json")
    command = ["gate", "labelled", "--store", str(tmp_path / "store"), "--good-share", "quality=0.3"]
    done = CliRunner().invoke(app, [*command, "--thresholds", str(tmp_path / "c.json")])
    assert done.exit_code == 0
    assert "PASS quality good by people's measure on at least 0.3 of rows" in done.stdout
    done = CliRunner().invoke(app, [*command, "--thresholds", str(tmp_path / "c.json"), "--json"])
    assert '"labels": 120' in done.stdout
    done = CliRunner().invoke(app, command)
    assert isinstance(done.exception, InputError)
    assert "or --thresholds" in str(done.exception)


def test_a_wrong_file_is_found_before_anything_is_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text('{"question": "?", "answer": "It is so.", "contexts": ["It is so."]}\n')
    Path("assay.toml").write_text('[gates]\nthresholds = "c.json"\n[gates.faithfulness]\ngood_share = 0.9\n')
    Calibration(judge="other/1", made="2026-01-31", thresholds={"faithfulness": threshold()}).save("c.json")
    done = CliRunner().invoke(
        app, ["score", "rows.jsonl", "--metrics", "faithfulness", "--gate", "--config", "assay.toml"]
    )
    assert isinstance(done.exception, InputError)
    assert "values of the judge other/1" in str(done.exception)
    assert not Path(".assay").exists()


def test_early_leaves_it_to_all_rows(runs: Runs, both: tuple[Any, Any]) -> None:
    """All 40 rows are good, and a mean of 0.1 is reached after a few; the share is asked of all of them."""
    result = runs("now", [1.0] * 40)
    held = calibration(result)
    gate = Gate((GateRule("quality", "good_share", 0.5), GateRule("quality", "at_least", 0.1)), thresholds=held)
    rows = [(row.number, row.scored.sample) for row in result.numbered_rows()]
    early = Early(gate, [both[0]], rows, result.judge)
    assert [early.take(row.number, row.scored) for row in result.numbered_rows()] == [None] * 40
    assert early.decision(result).verdict == "PASS"


def test_a_run_that_another_rule_ended_does_not_say_what_the_share_is(runs: Runs, both: tuple[Any, Any]) -> None:
    result = runs("now", [0.0] * 40)
    gate = Gate(
        (GateRule("quality", "good_share", 0.1), GateRule("quality", "at_least", 0.9)), thresholds=calibration(result)
    )
    early = Early(gate, [both[0]], [(row.number, row.scored.sample) for row in result.numbered_rows()], result.judge)
    ended = [early.take(row.number, row.scored) for row in result.numbered_rows()]
    # the mean can no longer be 0.9 once 5 of 40 are 0
    assert ended[4] == "the gate was decided after 5 of 40 rows"
    share, mean = early.decision(result).rulings
    assert (share.verdict, mean.verdict) == ("INCONCLUSIVE", "FAIL")
    assert share.because.endswith("; not decided when the run ended")


@pytest.mark.parametrize(
    "broken",
    [
        {"found": 1.2},
        {"yes": 0.0},
        {"parts": []},
        {"value": float("nan")},
        {"parts": [float("inf")]},
        {"no": -3},
        {"left": "x"},
    ],
)
def test_a_file_that_was_spoilt_is_refused(tmp_path: Path, broken: dict[str, Any]) -> None:
    good = Calibration(judge="a/1", made="2026-01-31", thresholds={"quality": threshold()}).to_dict()
    good["thresholds"]["quality"] |= broken
    (tmp_path / "c.json").write_text(json.dumps(good))
    with pytest.raises(InputError, match=r"c\.json"):
        Calibration.load(tmp_path / "c.json")
