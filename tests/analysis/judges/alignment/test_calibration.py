"""A calibration by people's labels: what it maps, whom it refuses, and that judgements are used again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import evaluate
from assay.analysis.judges.alignment.alignment import align
from assay.errors import InputError
from assay.judges.calibrated_judge import Calibration, ProbabilityMap, calibrate_judge
from assay.stats.calibration import best_threshold, fit_isotonic, fit_platt
from assay.store.store import Store
from tests.analysis.judges.alignment.conftest import Noisy

UP = Calibration(judge="noisy/noisy", made="2026-01-31", maps={"support": ProbabilityMap(slope=1.0, intercept=-2.0)})


def test_verdicts_have_the_mapped_probability_and_the_label_that_follows(rows, tmp_path):
    """With intercept -2 a probability of 0.7 becomes 1 / (1 + exp(-(0.847 - 2))) = 0.240."""
    row = {"id": "x", "question": "?", "contexts": ["t"], "answer": "a p=0.7. b p=0.95"}
    result = evaluate([row], "faithfulness", calibrate_judge(Noisy(), UP), store=tmp_path, progress=False)
    first, second = result.row("x").scores["faithfulness"].verdicts["answer/contexts"]
    assert (first.label, second.label) == ("not_mentioned", "supported")
    assert first.probability == pytest.approx(0.240, abs=1e-3)
    assert second.probability == pytest.approx(
        0.95 / 0.05 * 0.1353 / (1 + 0.95 / 0.05 * 0.1353), abs=1e-3
    )  # odds x e^-2
    assert result.row("x").scores["faithfulness"].value == 0.5
    assert result.judge.startswith("noisy/noisy#calibrated-")


def test_judgements_of_the_judge_beneath_are_used_again_and_do_not_mix(rows, tmp_path):
    store = Store(tmp_path)
    bare = evaluate(rows[0][:5], "faithfulness", Noisy(), store=store, progress=False)
    judge = Noisy()
    then = evaluate(rows[0][:5], "faithfulness", calibrate_judge(judge, UP), store=store, progress=False)
    assert judge.calls == 0
    again = evaluate(rows[0][:5], "faithfulness", Noisy(), store=store, progress=False)
    assert again.metrics["faithfulness"].mean == bare.metrics["faithfulness"].mean
    assert then.metrics["faithfulness"].mean < bare.metrics["faithfulness"].mean
    assert set(store.judges()) == {"noisy/noisy"}


def test_another_map_is_another_judge():
    other = Calibration(judge="noisy/noisy", made="2026-01-31", maps={"support": ProbabilityMap(slope=1.0)})
    one, two = calibrate_judge(Noisy(), UP), calibrate_judge(Noisy(), other)
    assert len({one.fingerprint, two.fingerprint, "noisy/noisy"}) == 3
    assert len({one.address, two.address, "noisy/noisy"}) == 3


def test_it_is_refused_for_another_judge_and_for_one_that_has_one():
    with pytest.raises(InputError, match="made for noisy/noisy, this judge is noisy/other"):
        calibrate_judge(Noisy("other"), UP)
    with pytest.raises(InputError, match="has one already"):
        calibrate_judge(calibrate_judge(Noisy(), UP), UP)
    with pytest.raises(InputError, match="maps no probabilities"):
        calibrate_judge(Noisy(), Calibration(judge="noisy/noisy", made="2026-01-31"))


@pytest.mark.parametrize("method", ["platt", "isotonic"])
@pytest.mark.parametrize("threshold", ["likely", "balanced"])
def test_a_file_gives_the_same_judge(result, labels, tmp_path, method, threshold):
    made = align(result, labels).calibration(method, threshold, note="from a test")
    made.save(tmp_path / "c.json")
    assert Calibration.load(tmp_path / "c.json") == made
    assert calibrate_judge(Noisy(), tmp_path / "c.json").fingerprint == calibrate_judge(Noisy(), made).fingerprint
    assert made.maps["support"].labels == 180
    # people affirm one half of what has 0.7
    assert made.maps["support"](0.7) == pytest.approx(0.5, abs=0.15)


def test_scored_with_it_the_mean_is_that_of_people(result, rows, labels, tmp_path):
    made = align(result, labels).calibration()
    then = evaluate(rows[0], "faithfulness", calibrate_judge(Noisy(), made), store=tmp_path, progress=False)
    people = sum(rows[1].values()) / 180
    mean = then.metrics["faithfulness"].mean
    assert abs(mean - people) < 0.06 < abs((result.metrics["faithfulness"].mean or 0.0) - people)
    with pytest.raises(InputError, match="has one already"):
        align(then, labels).calibration()


def test_few_labels_make_none(result, labels):
    with pytest.raises(InputError, match="support has 20 labels"):
        align(result, labels[:20]).calibration()


def test_labels_that_fall_where_the_probability_rises_make_none(result, labels):
    turned = [{**one, "label": "no" if one["label"] == "supported" else "yes"} for one in labels]
    with pytest.raises(InputError, match="do not say yes more often"):
        align(result, turned).calibration()


FALLING = '{"format": 1, "judge": "x", "made": "y", "maps": {"support": {"slope": -1}}}'


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}', FALLING])
def test_what_is_no_calibration_is_refused_by_name(tmp_path, text):
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(InputError, match=r"calibration: .*c\.json"):
        Calibration.load(tmp_path / "c.json")


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"slope": 0.0},
        {"slope": 1.0, "threshold": 2.0},
        {"slope": float("nan")},
        {"points": ((0.5, 0.5), (0.4, 0.6))},
        {"points": ((0.1, 0.9), (0.4, 0.6))},
        {"points": ((0.1, 0.9), (0.4, 1.6))},
        {"slope": 1.0, "points": ((0.1, 0.2),)},
    ],
)
def test_maps_that_do_not_rise_are_none(wrong):
    with pytest.raises(InputError, match="calibration"):
        ProbabilityMap(**wrong)


def test_platt_finds_the_line_and_isotonic_the_steps():
    # 40 labels of each probability: 10 yes of 0.4, 30 yes of 0.6; logit(0.25) = -1.0986, logit(0.4) = -0.4055
    p = [0.4] * 40 + [0.6] * 40
    y = [True] * 10 + [False] * 30 + [True] * 30 + [False] * 10
    line = fit_platt(p, y)
    assert line is not None
    assert line[0] == pytest.approx(1.0986 / 0.4055, abs=0.2)  # a little less: labels are smoothed
    assert line[1] == pytest.approx(0.0, abs=1e-6)
    assert fit_isotonic(p, y) == ([0.4, 0.6], [pytest.approx(0.25), pytest.approx(0.75)])
    assert best_threshold(p, y) == pytest.approx(0.5)


def test_nothing_is_fitted_to_labels_of_one_kind_or_to_one_probability():
    for p, y in (([0.1, 0.9], [True, True]), ([0.5, 0.5], [True, False]), ([], [])):
        assert (fit_platt(p, y), best_threshold(p, y)) == (None, None)
    assert fit_isotonic([0.5, 0.5], [True, False]) is None
    assert fit_isotonic([0.9, 0.1], [False, True]) is None
    assert fit_isotonic([0.0, 5e-324], [False, True], [1.0, 0.5]) is None  # which rounding makes one


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans(), st.floats(0.1, 10)), min_size=2, max_size=50),
    st.lists(st.floats(0, 1), min_size=2, max_size=10),
)
def test_every_map_rises_and_stays_within_0_and_1(labels, asked):
    p, y, w = zip(*labels, strict=True)
    line, steps = fit_platt(p, y, w), fit_isotonic(p, y, w)
    maps = [] if line is None else [ProbabilityMap(slope=line[0], intercept=line[1])]
    maps += [] if steps is None else [ProbabilityMap(points=tuple(zip(*steps, strict=True)))]
    for one in maps:
        found = [one(value) for value in sorted(asked)]
        assert found == sorted(found)
        assert all(0.0 <= value <= 1.0 for value in found)
        assert ProbabilityMap.from_dict(json.loads(json.dumps(one.to_dict()))) == one


def test_a_calibrated_judge_gets_thresholds_and_no_other_maps(rows, tmp_path):
    """Samples are good where both of their claims are; the threshold is of the calibrated judge's values."""
    run = evaluate(rows[0], "faithfulness", calibrate_judge(Noisy(), UP), store=tmp_path, progress=False)
    labels = [
        {"id": f"r{n}", "metric": "faithfulness", "label": rows[1][f"r{n}", 0] and rows[1][f"r{n}", 1]}
        for n in range(90)
    ]
    made = align(run, labels).calibration()
    assert (dict(made.maps), list(made.thresholds)) == ({}, ["faithfulness"])
    assert made.judge == run.judge
    claims = [{"id": "r1", "claim": rows[0][1]["answer"].split(". ")[0], "label": "supported"}]
    with pytest.raises(InputError, match="has one already"):
        align(run, claims).calibration()
