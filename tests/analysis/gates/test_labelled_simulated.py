"""How often a gate by labels is wrong, from drawn labels to its verdict: thresholds found anew each time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.analysis.gates.label_share import of_share
from assay.analysis.judges.alignment.groups import Group, LabelPair
from assay.analysis.judges.alignment.items import Item
from assay.analysis.judges.alignment.labels import Label
from assay.analysis.judges.alignment.thresholds import threshold_of
from assay.judges.thresholds import Threshold

pytestmark = pytest.mark.long

TIMES = 200


def drawn(kind: str, good: Any, rng: np.random.Generator) -> Any:
    """Values of good and bad rows: that are well told apart, badly, and shares of few claims, many of them all."""
    n = good.size
    if kind == "well":
        return np.where(good, rng.beta(4, 1.5, n), rng.beta(2, 3, n))
    if kind == "badly":
        return np.where(good, rng.beta(3, 1.5, n), rng.beta(2, 1.7, n))
    claims = rng.integers(2, 7, n)
    return rng.binomial(claims, np.where(good, rng.beta(8, 0.8, n), rng.beta(2, 1.5, n))) / claims


def found_on(values: Any, good: Any) -> Threshold | str:
    pairs = tuple(
        LabelPair(
            Item(n, None, "sample", "m", value=float(value)),
            {"": Label(number=n, level="sample", value=float(one), said="")},
        )
        for n, (value, one) in enumerate(zip(values, good, strict=True))
    )
    return threshold_of(Group("m", "sample", None, ("m",), None, pairs=pairs), None)


def wrong(
    kind: str, labels: int, rows: int, among_labels: float, true: float, times: int = TIMES
) -> tuple[float, float, float]:
    """Of gates whose limit is the true share those that fail, that pass, and that have no threshold to go by."""
    rng = np.random.default_rng(labels + rows + int(100 * true))
    failed = passed = none = 0
    for _ in range(times):
        good = rng.random(labels) < among_labels
        one = found_on(drawn(kind, good, rng), good)
        if isinstance(one, str):  # nothing is ruled
            none += 1
            continue
        now = drawn(kind, rng.random(rows) < true, rng).tolist()
        shown = of_share(now, one, "higher", true, clusters=None, alpha=0.05)
        failed += shown.broken
        passed += shown.holds
    return failed / times, passed / times, none / times


@pytest.mark.parametrize("kind", ["well", "badly", "claims"])
@pytest.mark.parametrize("labels", [40, 100, 200])
@pytest.mark.parametrize("rows", [50, 500])
def test_a_gate_whose_limit_is_the_true_share_is_wrong_seldom(kind: str, labels: int, rows: int) -> None:
    """Each way at most 2.5 % by design, at most 5 % allowed, and of 200 two standard errors more: 8 %. Labels may have
    another share of good rows than the run."""
    for among_labels, true in ((0.5, 0.8), (0.7, 0.95), (0.7, 0.5)):
        failed, passed, _ = wrong(kind, labels, rows, among_labels, true)
        assert failed <= 0.08
        assert passed <= 0.08
