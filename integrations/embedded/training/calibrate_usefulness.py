"""Fits the two numbers that turn the reranker's logit into a probability of usefulness, into `support.json`.

    python calibrate_usefulness.py --data DATA --files DIR

People have not labelled passages in the training data, so the pairs are built from questions of Natural Questions
(`qed_nq` in `train/qa_derived.jsonl.gz`), each with a passage that answers it:
- useful: the passage;
- not useful: the passage without the sentences that hold the answer (same topic, no answer), and the passage of
  another question that shares most words with this question (another topic).
Development sets are not used; measure.py reports how well the result holds there.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

import numpy as np
import rows as reading
from assay_embedded.english import STOP
from assay_embedded.features import stem, words
from assay_embedded.runtime import load_from
from assay_embedded.sentences import sentences
from sklearn.metrics import roc_auc_score

Pair = tuple[str, str]


def content(text: str) -> set[str]:
    return {stem(word) for word in words(text) if word not in STOP}


def built(data: Path) -> dict[str, list[Pair]]:
    """Pairs of question and passage, by kind: useful, without its answer, another's."""
    asked = {}
    for row in reading.lines(data / "train" / "qa_derived.jsonl.gz"):
        if row["source"] == "qed_nq" and row["label"] == 1:
            asked[row["question"]] = (row["premise"], row["hypothesis"].split(" answer: ", 1)[1])
    passages = sorted({passage for passage, _ in asked.values()})
    bags = [content(passage) for passage in passages]
    rarity = {word: math.log(len(bags) / sum(word in bag for bag in bags)) for word in set().union(*bags)}
    pairs: dict[str, list[Pair]] = {"useful": [], "without its answer": [], "another's": []}
    for question, (passage, answer) in asked.items():
        pairs["useful"].append((question, passage))
        kept = [passage[a:b] for a, b in sentences(passage) if answer.lower() not in passage[a:b].lower()]
        if len(" ".join(kept)) >= 100:
            pairs["without its answer"].append((question, " ".join(kept)))
        need = content(question)
        others = [i for i, other in enumerate(passages) if other != passage and answer.lower() not in other.lower()]
        near = max(others, key=lambda i: (math.fsum(sorted(rarity[w] for w in need & bags[i])), -i))
        pairs["another's"].append((question, passages[near]))
    return pairs


def fit(logits: np.ndarray, useful: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Slope and shift: 0.5 at the best balanced accuracy (smoothed), the slope by maximum likelihood around it."""
    edges = np.quantile(logits, np.linspace(0.02, 0.98, 193))
    totals = [weight[useful == label].sum() for label in (0, 1)]
    scores = [
        weight[(useful == 0) & (logits < edge)].sum() / totals[0]
        + weight[(useful == 1) & (logits >= edge)].sum() / totals[1]
        for edge in edges
    ]
    smooth = np.convolve(np.pad(scores, 4, mode="edge"), np.ones(9) / 9, mode="valid")
    edge = float(edges[int(np.argmax(smooth))])

    def loss(slope: float) -> float:
        return float(np.average(np.logaddexp(0, -slope * (2 * useful - 1) * (logits - edge)), weights=weight))

    slope = float(min(np.geomspace(0.02, 3, 300), key=loss))
    return slope, -slope * edge


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--data", type=Path, required=True)
    ask.add_argument("--files", type=Path, required=True, help="the files that ship")
    given = ask.parse_args()
    models = load_from(given.files)
    pairs = built(given.data)
    logits = {kind: np.array(models.relevance_logits(listed), float) for kind, listed in pairs.items()}
    for kind, values in logits.items():
        print(f"{kind:20s} {len(values)} pairs, logits {np.round(np.quantile(values, (0.1, 0.5, 0.9)), 2)}")
    useful = np.concatenate([np.full(len(values), int(kind == "useful")) for kind, values in logits.items()])
    weight = np.concatenate([np.full(len(v), (1 if kind == "useful" else 0.5) / len(v)) for kind, v in logits.items()])
    together = np.concatenate(list(logits.values()))
    slope, shift = fit(together, useful, weight)
    print(f"AUROC of the built pairs {roc_auc_score(useful, together, sample_weight=weight):.3f}")
    print(f"slope {slope:.4f} shift {shift:.4f}: useful from logit {-shift / slope:.2f}")
    out = given.files / "support.json"
    kept = json.loads(out.read_text(encoding="utf-8"))
    kept["usefulness"] = {"slope": round(slope, 6), "shift": round(shift, 6), "fitted_on": "qed_nq, built pairs"}
    out.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
