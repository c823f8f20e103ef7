"""`python -m tests.analysis.diagnosis.fit`: fit the model of causes to the development part, with the embedded judge.

Writes src/assay/analysis/diagnosis/cause_model.json. Multinomial logistic regression with an L2 penalty, by gradient
descent with Nesterov's momentum: a few seconds. The penalty was chosen by cross-validation over topics.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import assay
from assay.analysis.diagnosis import LABELS
from assay.analysis.diagnosis.cause_features import features
from assay.analysis.diagnosis.cause_model import RIGHT
from assay.analysis.diagnosis.facts import facts_of
from tests.analysis.diagnosis.measure import scored_by_embedded
from tests.analysis.diagnosis.seeded_rows import seeded_rows

PENALTY = 10.0  # on the squared weights of standardised features, beside the summed log-loss
STEPS, RATE = 3000, 0.3
FILE = Path(assay.__file__).parent / "analysis" / "diagnosis" / "cause_model.json"

Floats = NDArray[np.float64]


def examples() -> Iterator[tuple[str, dict[str, float], str]]:
    """Topic, features and label of the development rows; those that are wrong in form need no model."""
    rows = {row.data["id"]: row for row in seeded_rows("development")}
    for scored in scored_by_embedded(rows.values()).numbered_rows():
        sample, scores = scored.scored.sample, scored.scored.scores
        row = rows[sample.id or ""]
        if row.fault != "format":
            facts = facts_of(sample, scores, {}, unsure=True)
            yield row.topic, features(sample, facts), row.label or RIGHT


def fitted(x: Floats, y: NDArray[np.int64], classes: int, penalty: float = PENALTY) -> Floats:
    """Weights of shape (classes, 1 + features), the intercepts first, which are not penalised."""
    inputs = np.hstack([np.ones((len(x), 1)), x])
    targets = np.eye(classes)[y]
    weights, ahead = np.zeros((classes, inputs.shape[1])), np.zeros((classes, inputs.shape[1]))
    kept = np.ones(inputs.shape[1])
    kept[0] = 0
    for step in range(STEPS):
        logits = inputs @ ahead.T
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        error = odds / odds.sum(axis=1, keepdims=True) - targets
        gradient = (error.T @ inputs + penalty * kept * ahead) / len(x)
        new = ahead - RATE * gradient
        ahead = new + step / (step + 3) * (new - weights)
        weights = new
    return weights


def main() -> None:
    rows = list(examples())
    names = list(rows[0][1])
    labels = [RIGHT, *(label for label in LABELS if any(label == one[2] for one in rows))]
    x = np.array([[row[1][name] for name in names] for row in rows])
    y = np.array([labels.index(row[2]) for row in rows])
    means, scales = x.mean(axis=0), np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
    weights = fitted((x - means) / scales, y, len(labels))
    model = {
        "features": names,
        "means": _rounded(means),
        "scales": _rounded(scales),
        "weights": {label: _rounded(row) for label, row in zip(labels, weights, strict=True)},
    }
    FILE.write_text(json.dumps(model, indent=1) + "\n", encoding="utf-8")
    print(f"{len(rows)} rows, {len(labels)} classes, {len(names)} features: {FILE.name}")


def _rounded(values: Sequence[float] | Floats) -> list[float]:
    return [round(float(value), 4) for value in values]


if __name__ == "__main__":
    main()
