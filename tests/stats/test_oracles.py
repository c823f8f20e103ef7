"""Held to MLflow, scipy and statsmodels by what they computed: oracles.json, written by `record_oracles.py`."""

from __future__ import annotations

import builtins
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.errors import InputError, MissingExtra
from assay.stats import Estimate, difference, estimate
from assay.stats.classic import classic, mcnemar
from assay.stats.distributions import normal_quantile
from assay.stats.intervals import wilson
from assay.stats.linking import without_offset
from assay.stats.paired import sign_flip
from assay.stats.power import Assumptions, rows_needed

KNOWN = json.loads((Path(__file__).parent / "oracles.json").read_text(encoding="utf-8"))
PAIRED = KNOWN["paired"]


def test_they_are_of_the_versions_that_are_meant() -> None:
    assert KNOWN["versions"] == {"mlflow": "3.18.0", "scipy": "1.17.1", "statsmodels": "0.15.0"}


@pytest.mark.parametrize("case", PAIRED, ids=lambda case: case["name"])
def test_p_is_that_of_mlflow(case: dict[str, Any]) -> None:
    if case["method"].startswith("wilcoxon"):
        pytest.importorskip("scipy")
    found = difference(case["first"], case["second"], method="mlflow")
    assert found is not None
    assert found.p == pytest.approx(case["p"], rel=1e-9, abs=1e-12)
    assert np.mean(case["second"]) - np.mean(case["first"]) == pytest.approx(found.estimate.mean, abs=1e-12)


def test_of_yes_or_no_with_few_that_differ_ours_is_theirs_too() -> None:
    """The sign-flip test of 0 and 1 is McNemar's exact one, which MLflow takes below 25 rows that differ."""
    exact = [case for case in PAIRED if case["method"] == "mcnemar_exact"]
    assert len(exact) >= 5
    for case in exact:
        found = difference(case["first"], case["second"])
        assert found is not None
        assert found.p == pytest.approx(case["p"], rel=1e-9)


def test_mcnemar_by_hand() -> None:
    """25 to 5: (20 - 1)²/30 = 12.033, p = erfc(sqrt(12.033/2)) = 5.2e-4; 5 to 1: 14/64."""
    assert mcnemar(25, 5) == pytest.approx(math.erfc(19 / math.sqrt(60)))
    assert mcnemar(5, 1) == pytest.approx(14 / 64)
    assert (mcnemar(0, 0), mcnemar(15, 15)) == (1.0, 1.0)


def test_ranks_may_say_the_opposite_of_the_mean() -> None:
    """Forty rises of 0.01 and six falls of 0.9: the mean falls by 0.109, and the ranks say that it rose."""
    pytest.importorskip("scipy")
    moved = np.array([0.01] * 40 + [-0.9] * 6)
    assert moved.mean() < -0.1
    ranks = classic(np.full(46, 0.95), 0.95 + moved, 0.0, 1.0, "wilcoxon")
    assert ranks < 0.05  # for the better
    assert sign_flip(moved) < 0.05  # for the worse, as the mean says


def test_what_does_not_suit_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    graded = ([0.5, 1.0, 0.0], [0.5, 0.0, 0.0])
    with pytest.raises(InputError, match="mcnemar is for scores of 0 or 1"):
        difference(*graded, method="mcnemar")
    with pytest.raises(InputError, match="with clusters the test is sign-flip"):
        difference(*graded, method="wilcoxon", clusters=["a", "a", "b"])
    with pytest.raises(InputError, match="method: expected sign-flip, mcnemar, wilcoxon, mlflow"):
        difference(*graded, method="t")  # type: ignore[arg-type]
    real = builtins.__import__

    def without(name: str, *more: Any) -> Any:
        if name.startswith("scipy"):
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"wilcoxon needs scipy: .*stats"):
        difference(*graded, method="wilcoxon")


# ---- intervals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", KNOWN["wilson"], ids=lambda case: f"{case['k']}/{case['n']} {case['confidence']}")
def test_wilsons_interval(case: dict[str, Any]) -> None:
    z = normal_quantile(0.5 + case["confidence"] / 2.0)
    found = wilson(case["k"] / case["n"], case["n"], z)
    assert found == pytest.approx(case["statsmodels"], abs=1e-9)
    assert found == pytest.approx(case["scipy"], abs=1e-9)


@pytest.mark.parametrize("case", KNOWN["newcombe"], ids=lambda case: "-".join(map(str, case["counts"])))
def test_two_intervals_are_put_together_as_newcombe_does(case: dict[str, Any]) -> None:
    """Of independent shares with Wilson's intervals."""
    k, n, j, m = case["counts"]
    z = normal_quantile(0.975)
    one, other = (Estimate(a / b, *wilson(a / b, b, z), b, b, 0.1) for a, b in ((k, n), (j, m)))
    found = difference([0.0], [1.0])
    assert found is not None
    left = without_offset(type(found)(0.0, 0.0, one, 1.0, None), other, 1.0).estimate
    assert (left.low, left.high) == pytest.approx(case["interval"], abs=1e-9)


@pytest.mark.parametrize("case", KNOWN["student"], ids=lambda case: str(len(case["values"])))
def test_without_ends_it_is_students_interval(case: dict[str, Any]) -> None:
    found = estimate(case["values"], 0.0, math.inf)
    assert found is not None
    assert (found.low, found.high) == pytest.approx(case["interval"], abs=1e-9)


@pytest.mark.parametrize("case", KNOWN["power"], ids=lambda case: f"{case['effect']} {case['power']}")
def test_rows_needed_are_those_of_statsmodels(case: dict[str, Any]) -> None:
    """Its power is by the noncentral t, ours shifts the central one: three rows apart at most. The effect is the drop
    over the standard deviation of a difference (of scores, on other rows); 0.2 of it is 0.1 here.
    """
    drop = case["effect"] * 0.5
    paired = rows_needed(Assumptions(mean=1.0, sd=0.5, correlation=0.5), drop, power=case["power"])
    unpaired = rows_needed(Assumptions(mean=1.0, sd=0.5, paired=False), drop, power=case["power"])
    assert paired == pytest.approx(case["paired"], abs=3)
    assert unpaired == pytest.approx(case["unpaired"], abs=3)
