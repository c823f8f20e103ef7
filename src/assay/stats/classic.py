"""Tests that others use for two runs on the same rows, for who has to compare with their numbers.

mcnemar    of scores that are 0 or 1: exact with fewer than 25 rows that differ (as the sign-flip test always is), from
           there on chi-square with continuity correction (Edwards, Psychometrika 13, 1948)
wilcoxon   the signed-rank test of the rows that differ (Biom. Bull. 1, 1945), by scipy: exact for 50 or fewer of them
mlflow     as MLflow's `compare_evaluations` chooses: mcnemar where all scores are 0 or 1, else wilcoxon

The signed-rank test asks another question than the interval: whether the ranks of falls and rises are balanced, not
whether the mean moved. Many small rises outrank a few large falls that bring the mean down; so it is not what assay
goes by.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Literal, get_args

import numpy as np

from assay._util.install_hints import install_extra
from assay.errors import InputError, MissingExtra
from assay.stats.arrays import Floats
from assay.stats.distributions import binomial_two_sided

Method = Literal["sign-flip", "mcnemar", "wilcoxon", "mlflow"]
METHODS: tuple[str, ...] = get_args(Method)
_EXACT_MCNEMAR = 25  # rows that differ, from which on it is approximate
_EXACT_WILCOXON = 50  # up to which it is exact


def classic(
    first: Floats, second: Floats, low: float, high: float, method: Method, clusters: Sequence[Hashable] | None = None
) -> float:
    """The two-sided p of no difference, by one of these tests.

    Raises InputError for a method that is none of them, McNemar's on scores between the ends of the range, and rows
    that hang together, which none of them knows of; MissingExtra for wilcoxon without scipy.
    """
    if method not in METHODS[1:]:
        raise InputError(f"method: expected {', '.join(METHODS)}; got {method!r}")
    if clusters is not None and len(set(clusters)) < len(clusters):
        raise InputError(f"method: {method} takes every row as independent; with clusters the test is sign-flip")
    binary = bool(np.isin(np.concatenate([first, second]), (low, high)).all())
    if method == "mcnemar" and not binary:
        raise InputError(f"method: mcnemar is for scores of {low:g} or {high:g}; these lie between, too")
    moved = second - first
    if method == "mcnemar" or (method == "mlflow" and binary):
        return mcnemar(int((moved > 0).sum()), int((moved < 0).sum()))
    return wilcoxon(moved)


def mcnemar(rose: int, fell: int) -> float:
    """p of so many rows that rose and that fell; 1.0 where none did."""
    differ = rose + fell
    if differ < _EXACT_MCNEMAR:
        return binomial_two_sided(rose, differ)
    return math.erfc(max(0, abs(rose - fell) - 1) / math.sqrt(2.0 * differ))  # the tail of chi-square, one degree


def wilcoxon(moved: Floats) -> float:
    """p of these differences, without those of 0; 1.0 where all are."""
    try:
        from scipy import stats
    except ImportError as error:
        raise MissingExtra(f"method: wilcoxon needs scipy: {install_extra('stats')}") from error
    kept = moved[moved != 0.0]
    if not kept.size:
        return 1.0
    return float(stats.wilcoxon(kept, method="exact" if kept.size <= _EXACT_WILCOXON else "asymptotic").pvalue)
