"""How well scores agree with people: AUROC, balanced accuracy, F1, gains, calibration, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from assay_embedded.english import STOP
from assay_embedded.features import stem, words
from sklearn.metrics import f1_score, roc_auc_score

from assay.judges.claim_rules import sentence_claims

Figures = dict[str, Any]


def claims_of(text: str) -> list[str]:
    """What the judge takes for claims: the sentences that state something; all of the text where none does."""
    return [claim.text for claim in sentence_claims(text)] or [text]


def overlap(passage: str, claim: str) -> float:
    """Share of the claim's content words that the passage has."""
    content = {stem(word) for word in words(claim) if word not in STOP}
    return len(content & {stem(word) for word in words(passage)}) / len(content) if content else 0.0


def balanced(labels: np.ndarray, said: np.ndarray) -> float:
    return float(np.mean([(said[labels == label] == label).mean() for label in (0, 1) if (labels == label).any()]))


def interval(measure: Callable[..., float], *columns: np.ndarray, draws: int = 500) -> list[float]:
    """The middle 95 % of the measure over rows drawn with replacement; draws of a single label are left out."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(draws):
        drawn = rng.integers(0, len(columns[0]), len(columns[0]))
        if len(set(columns[0][drawn])) == 2:
            found.append(measure(*(column[drawn] for column in columns)))
    return [round(float(edge), 3) for edge in np.percentile(found, [2.5, 97.5])]


def _auroc(labels: np.ndarray, scores: np.ndarray) -> float:
    return float(roc_auc_score(labels, scores))


def _f1(labels: np.ndarray, said: np.ndarray) -> float:
    return float(f1_score(labels, said, pos_label=0, zero_division=0))


def figures(labels: np.ndarray, scores: np.ndarray, said: np.ndarray, sources: np.ndarray) -> Figures:
    """Everything asked for, over all rows and by source."""
    each = {}
    for source in sorted(set(sources.tolist())):
        here = sources == source
        each[source] = {
            "rows": int(here.sum()),
            "auroc": round(_auroc(labels[here], scores[here]), 3),
            "auroc_95": interval(_auroc, labels[here], scores[here]),
            "balanced_accuracy": round(balanced(labels[here], said[here]), 3),
            "balanced_accuracy_95": interval(balanced, labels[here], said[here]),
            "f1_unsupported": round(_f1(labels[here], said[here]), 3),
        }
    return {
        "rows": len(labels),
        "auroc": round(_auroc(labels, scores), 3),
        "auroc_95": interval(_auroc, labels, scores),
        "balanced_accuracy": round(balanced(labels, said), 3),
        "balanced_accuracy_95": interval(balanced, labels, said),
        "f1_unsupported": round(_f1(labels, said), 3),
        "f1_unsupported_95": interval(_f1, labels, said),
        "auroc_mean_over_sources": round(float(np.mean([one["auroc"] for one in each.values()])), 3),
        "balanced_accuracy_mean_over_sources": round(
            float(np.mean([one["balanced_accuracy"] for one in each.values()])), 3
        ),
        "by_source": each,
    }


def elsewhere(labels: np.ndarray, scores: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """Labels by the threshold that is best on the other sources; where there are none, on the rows themselves."""
    said = np.zeros(len(labels), int)
    for source in set(sources.tolist()):
        here = sources == source
        rest = here if here.all() else ~here
        edges = np.unique(np.quantile(scores[rest], np.linspace(0.01, 0.99, 99)))
        best = max(edges, key=lambda edge: balanced(labels[rest], (scores[rest] >= edge).astype(int)))
        said[here] = scores[here] >= best
    return said


def gain(labels: np.ndarray, scores: np.ndarray, others: np.ndarray) -> Figures:
    """AUROC of the one less that of the other, on the same rows."""

    def difference(y: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
        return _auroc(y, a) - _auroc(y, b)

    return {
        "rows": len(labels),
        "auroc_gain": round(difference(labels, scores, others), 3),
        "auroc_gain_95": interval(difference, labels, scores, others),
    }


def calibration_error(labels: np.ndarray, scores: np.ndarray, bins: int = 10) -> tuple[float, list[Figures]]:
    """Expected calibration error over bins of equal width, and the bins: rows, mean probability, share supported."""
    where = np.minimum((scores * bins).astype(int), bins - 1)
    found, error = [], 0.0
    for k in range(bins):
        here = where == k
        if here.any():
            said, right = float(scores[here].mean()), float(labels[here].mean())
            found.append({"rows": int(here.sum()), "probability": round(said, 3), "supported": round(right, 3)})
            error += here.mean() * abs(said - right)
    return float(error), found


def error_by_chance(scores: np.ndarray, draws: int = 200) -> float:
    """The calibration error that probabilities which are right would show on so few rows, on average.

    Labels are drawn with just these probabilities, and the error is measured as ever: it is never 0.
    """
    rng = np.random.default_rng(0)
    drawn = (calibration_error((rng.random(len(scores)) < scores).astype(int), scores)[0] for _ in range(draws))
    return float(np.mean(list(drawn)))
