"""Fits the regression over shared words that has a say in `Models.support`, and writes it to `support.json`.

    python train_support.py --data DATA --files DIR

1. Features of at most --each rows of every source of the open training sets (never `nli_noncommercial`, never a
   development set).
2. Which files to learn from, and how strongly to regularise: each groundedness source in turn is held out, the rest
   is learnt from, and the mean AUROC over the held-out sources decides.
3. The threshold: best mean balanced accuracy over the held-out predictions of step 2. The slope: maximum likelihood
   on the same. Both are folded into weights and intercept, so that probability 0.5 is the threshold.
Every source, and in it every label, weighs the same.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import rows as reading
from assay_embedded.features import FEATURES, Passage
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

FILES = ("groundedness_open", "nli_open", "qa_derived")
MIXES = {
    "groundedness": ("groundedness_open",),
    "groundedness + questions": ("groundedness_open", "qa_derived"),
    "groundedness + nli": ("groundedness_open", "nli_open"),
    "all": FILES,
}
STRENGTHS = (0.0001, 0.0003, 0.001, 0.003, 0.03, 0.3)


class Table:
    """Features with labels, sources and the file each row came from."""

    def __init__(self, data: Path, each: int, seed: int) -> None:
        values, labels, sources, files = [], [], [], []
        for name in FILES:
            for row in reading.sample(reading.training(data, name), each, seed):
                values.append(Passage(row.passage).compare(row.claim).values)
                labels.append(row.label)
                sources.append(row.source)
                files.append(name)
        self.values, self.labels = np.array(values), np.array(labels)
        self.sources, self.files = np.array(sources), np.array(files)

    def weights(self, chosen: np.ndarray) -> np.ndarray:
        out = np.zeros(len(self.labels))
        for source in np.unique(self.sources[chosen]):
            for label in (0, 1):
                cell = chosen & (self.sources == source) & (self.labels == label)
                if cell.any():
                    out[cell] = 1 / cell.sum()
        return out[chosen] * chosen.sum() / out.sum()


class Model:
    """Clipping to the range seen, standardising, regression."""

    def __init__(self, table: Table, chosen: np.ndarray, strength: float) -> None:
        x, weight = table.values[chosen], table.weights(chosen)
        self.low, self.high = np.quantile(x, 0.001, axis=0), np.quantile(x, 0.999, axis=0)
        x = np.clip(x, self.low, self.high)
        self.mean = np.average(x, axis=0, weights=weight)
        self.scale = np.sqrt(np.average((x - self.mean) ** 2, axis=0, weights=weight)) + 1e-9
        fitted = LogisticRegression(C=strength, max_iter=5000)
        fitted.fit((x - self.mean) / self.scale, table.labels[chosen], sample_weight=weight)
        self.weights, self.intercept = fitted.coef_[0], float(fitted.intercept_[0])

    def logits(self, values: np.ndarray) -> np.ndarray:
        return (np.clip(values, self.low, self.high) - self.mean) / self.scale @ self.weights + self.intercept


def held_out(table: Table, mix: tuple[str, ...], strength: float) -> tuple[np.ndarray, dict[str, float]]:
    """Logits of each groundedness source from a model that never saw it, and their AUROC."""
    logits = np.full(len(table.labels), np.nan)
    auroc = {}
    use = np.isin(table.files, mix)
    for source in np.unique(table.sources[table.files == "groundedness_open"]):
        test = table.sources == source
        logits[test] = Model(table, use & ~test, strength).logits(table.values[test])
        auroc[str(source)] = float(roc_auc_score(table.labels[test], logits[test]))
    return logits, auroc


def balanced(labels: np.ndarray, said: np.ndarray) -> float:
    return float(np.mean([(said[labels == label] == label).mean() for label in (0, 1)]))


def calibrate(table: Table, logits: np.ndarray) -> tuple[float, float]:
    """The threshold on the logit, and the slope by which its distance from there is multiplied."""
    seen = ~np.isnan(logits)
    labels, sources, logits, weight = table.labels[seen], table.sources[seen], logits[seen], table.weights(seen)
    cells = defaultdict(list)
    for i, source in enumerate(sources):
        cells[source].append(i)
    candidates = np.quantile(logits, np.linspace(0.02, 0.98, 193))
    scores = [
        np.mean([balanced(labels[rows], (logits[rows] >= edge).astype(int)) for rows in cells.values()])
        for edge in candidates
    ]
    smooth = np.convolve(np.pad(scores, 4, mode="edge"), np.ones(9) / 9, mode="valid")  # a plateau, not a peak
    edge = float(candidates[int(np.argmax(smooth))])

    def loss(slope: float) -> float:
        return float(np.average(np.logaddexp(0, -slope * (2 * labels - 1) * (logits - edge)), weights=weight))

    return edge, float(min(np.geomspace(0.1, 3, 200), key=loss))


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--data", type=Path, required=True)
    ask.add_argument("--files", type=Path, required=True, help="the files that ship")
    ask.add_argument("--each", type=int, default=1500, help="rows of a source")
    ask.add_argument("--seed", type=int, default=11)
    given = ask.parse_args()
    table = Table(given.data, given.each, given.seed)
    print(len(table.labels), "rows of", len(np.unique(table.sources)), "sources")
    tried = {}
    for name, mix in MIXES.items():
        for strength in STRENGTHS:
            logits, auroc = held_out(table, mix, strength)
            tried[name, strength] = (float(np.mean(list(auroc.values()))), logits, auroc)
            print(f"{name:26s} C {strength:<6} mean AUROC held out {tried[name, strength][0]:.4f}", flush=True)
    name, strength = max(tried, key=lambda key: tried[key][0])
    mean, logits, auroc = tried[name, strength]
    edge, slope = calibrate(table, logits)
    use = np.isin(table.files, MIXES[name])
    model = Model(table, use, strength)
    weights, intercept = slope * model.weights, slope * (model.intercept - edge)
    print(f"chosen: {name}, C {strength}; threshold {edge:.3f}, slope {slope:.3f}")
    for feature, weight in sorted(zip(FEATURES, weights, strict=True), key=lambda pair: -abs(pair[1])):
        print(f"  {feature:26s} {weight:+.3f}")
    out = given.files / "support.json"
    kept = json.loads(out.read_text()) if out.exists() else {}
    kept |= {
        "features": list(FEATURES),
        **{
            key: [round(float(v), 6) for v in values]
            for key, values in {
                "low": model.low,
                "high": model.high,
                "mean": model.mean,
                "scale": model.scale,
                "weights": weights,
            }.items()
        },
        "intercept": round(intercept, 6),
        "trained": {
            "files": list(MIXES[name]),
            "sources": sorted(set(table.sources[use].tolist())),
            "rows": int(use.sum()),
            "strength": strength,
            "each": given.each,
            "seed": given.seed,
            "threshold_before_folding": round(edge, 4),
            "slope": round(slope, 4),
            "held_out_auroc": {key: round(value, 3) for key, value in auroc.items()},
            "held_out_auroc_mean": round(mean, 4),
        },
    }
    kept.setdefault("usefulness", {"slope": 1.0, "shift": 0.0})
    kept.setdefault("directness", {"slope": 1.0, "shift": 0.0})
    kept.setdefault("support", {"reader": 1.0, "words": 1.0, "shift": 0.0, "against": 1.0, "against_shift": 0.0})
    out.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
