"""From what a judge says to what people say: a monotone map of its probabilities, and the best threshold.

Platt     q = 1 / (1 + exp(-(a logit p + b))), a > 0, to smoothed labels   Platt, Adv. Large Margin Classif. 1999
isotonic  the steps that fit best and never fall, joined by lines        Zadrozny and Elkan, KDD 2002
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.stats.arrays import Floats

#: Probabilities nearer to 0 or 1 than this are taken as this near: a logit has to be finite.
NEAR = 1e-4
_ROUNDS = 100


def logit(p: Floats) -> Floats:
    """log(p / (1 - p)) of probabilities, those at the ends moved inwards by `NEAR`."""
    inside = np.clip(p, NEAR, 1.0 - NEAR)
    found: Floats = np.log(inside / (1.0 - inside))
    return found


def fit_platt(
    probability: Sequence[float], truth: Sequence[bool], weights: Sequence[float] | None = None
) -> tuple[float, float] | None:
    """Slope and intercept over logits; None where the labels do not rise with the probabilities, or are all alike."""
    x, y, w = _arrays(probability, truth, weights)
    yes, no = float(w[y > 0.5].sum()), float(w[y < 0.5].sum())
    if not yes or not no or np.ptp(x) < 1e-9:
        return None
    scale = len(y) / w.sum()
    target = np.where(y > 0.5, (scale * yes + 1.0) / (scale * yes + 2.0), 1.0 / (scale * no + 2.0))
    z = logit(x)
    a, b = 1.0, 0.0
    for _ in range(_ROUNDS):  # Newton's steps, with a little weight towards no change
        q = 1.0 / (1.0 + np.exp(-np.clip(a * z + b, -40.0, 40.0)))
        off, curve = w * (q - target), w * q * (1.0 - q) + 1e-9
        slope = np.array([(off * z).sum(), off.sum()])
        bend = np.array([[(curve * z * z).sum(), (curve * z).sum()], [(curve * z).sum(), curve.sum()]])
        step = np.linalg.solve(bend + 1e-9 * np.eye(2), slope)
        size = float(np.abs(step).max())
        step *= min(1.0, 2.0 / size) if size else 1.0
        a, b = a - float(step[0]), b - float(step[1])
        if size < 1e-10:
            break
    return (a, b) if a > 0.0 else None


def fit_isotonic(
    probability: Sequence[float], truth: Sequence[bool], weights: Sequence[float] | None = None
) -> tuple[list[float], list[float]] | None:
    """Points (probabilities, what they come to), rising in both; None where the labels do not rise, or are all alike.

    No point is at 0 or 1: as if one more label of the other kind were there (1 / (labels + 2)).
    """
    x, y, w = _arrays(probability, truth, weights)
    values, place = np.unique(x, return_inverse=True)
    weight = np.bincount(place, w)
    mean = np.bincount(place, w * y) / weight
    blocks: list[list[float]] = []  # sum of x, of y, and weight
    for at, height, mass in zip(values, mean, weight, strict=True):
        blocks.append([at * mass, height * mass, mass])
        while len(blocks) > 1 and blocks[-2][1] * blocks[-1][2] >= blocks[-1][1] * blocks[-2][2]:
            last = blocks.pop()
            blocks[-1] = [one + other for one, other in zip(blocks[-1], last, strict=True)]
    if len(blocks) < 2:
        return None
    edge = 1.0 / (len(y) + 2.0)
    points: dict[float, float] = {}  # blocks so near to each other that rounding makes them one keep the first height
    for at, height, mass in blocks:
        points.setdefault(min(1.0, float(at / mass)), min(1.0 - edge, max(edge, float(height / mass))))
    places = sorted(points)
    heights = np.maximum.accumulate([points[place] for place in places])
    return (places, [float(height) for height in heights]) if len(places) > 1 else None


def best_threshold(
    values: Sequence[float], truth: Sequence[bool], weights: Sequence[float] | None = None
) -> float | None:
    """The value from which on to say yes, for the highest balanced accuracy; None where labels or values are all alike.

    It lies in the middle between two values that were seen; of thresholds that are as good, in the middle of them.
    """
    x, y, w = _arrays(values, truth, weights)
    seen, place = np.unique(x, return_inverse=True)
    yes, no = np.bincount(place, w * y), np.bincount(place, w * (1.0 - y))
    if seen.size < 2 or not yes.sum() or not no.sum():
        return None
    # saying yes above the gap after each value: what of the true is found there, what of the false is left below
    found = 1.0 - np.cumsum(yes)[:-1] / yes.sum()
    left = np.cumsum(no)[:-1] / no.sum()
    balanced = found + left
    best = np.flatnonzero(balanced >= balanced.max() - 1e-12)
    chosen = int(best[len(best) // 2])
    return float((seen[chosen] + seen[chosen + 1]) / 2.0)


def _arrays(
    values: Sequence[float], truth: Sequence[bool], weights: Sequence[float] | None
) -> tuple[Floats, Floats, Floats]:
    x, y = np.asarray(values, dtype=float), np.asarray(truth, dtype=float)
    return x, y, np.ones(x.size) if weights is None else np.asarray(weights, dtype=float)
