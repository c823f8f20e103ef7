"""Fits the two numbers that turn the reranker's logit into a probability that an answer meets a question.

    python calibrate_directness.py --data DATA --files DIR

People have not labelled answers for that in the training data, so the pairs are built from `train/qa_derived.jsonl.gz`:
- direct: a question of PubMedQA with the conclusion of its abstract, a question of Natural Questions with the
  sentence that holds its answer;
- not: the question with the answer of the other question that is most like it.
Development sets are not used; measure.py reports how well the result holds on `qa_gold`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import rows as reading
from assay_embedded import Models
from assay_embedded.runtime import load_from
from assay_embedded.sentences import sentences
from calibrate_usefulness import fit
from sklearn.metrics import roc_auc_score

from assay.judges.embedded.judge import too_short


def answers(data: Path) -> dict[str, list[tuple[str, str]]]:
    """(question, its answer) by source, from the training data."""
    found: dict[str, dict[str, str]] = {}
    for row in reading.lines(data / "train" / "qa_derived.jsonl.gz"):
        if row["label"] != 1:
            continue
        source, text = reading.group(row["source"]), row["premise"]
        answer = row["hypothesis"].rpartition(" answer: ")[2]
        if source == "qed_nq":
            answer = next((text[a:b] for a, b in sentences(text) if answer in text[a:b]), "")
        found.setdefault(source, {})[row["question"]] = answer
    return {
        source: sorted((question, answer) for question, answer in pairs.items() if not too_short(answer))
        for source, pairs in found.items()
    }


def nearest(models: Models, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Each question with the answer of the question nearest to it by embedding."""
    vectors = models.embed([question for question, _ in pairs])
    likeness = vectors @ vectors.T
    np.fill_diagonal(likeness, -np.inf)
    return [(question, pairs[int(i)][1]) for (question, _), i in zip(pairs, likeness.argmax(1), strict=True)]


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--data", type=Path, required=True)
    ask.add_argument("--files", type=Path, required=True, help="the files that ship")
    ask.add_argument("--each", type=int, default=400, help="questions of a source, at most")
    given = ask.parse_args()
    models = load_from(given.files)
    logits, labels, weights = [], [], []
    for source, pairs in answers(given.data).items():
        chosen = pairs[:: max(1, len(pairs) // given.each)][: given.each]
        for label, listed in ((1, chosen), (0, nearest(models, chosen))):
            found = np.array(models.relevance_logits(listed), float)
            print(f"{source:10s} {label} {len(found)} pairs, logits {np.round(np.quantile(found, (0.1, 0.5, 0.9)), 2)}")
            logits.append(found)
            labels.append(np.full(len(found), label))
            weights.append(np.full(len(found), 1 / len(found)))
    together, direct, weight = np.concatenate(logits), np.concatenate(labels), np.concatenate(weights)
    slope, shift = fit(together, direct, weight)
    print(f"AUROC of the built pairs {roc_auc_score(direct, together, sample_weight=weight):.3f}")
    print(f"slope {slope:.4f} shift {shift:.4f}: direct from logit {-shift / slope:.2f}")
    path = given.files / "support.json"
    kept = json.loads(path.read_text(encoding="utf-8"))
    kept["directness"] = {
        "slope": round(slope, 6), "shift": round(shift, 6), "fitted_on": "pubmedqa and qed_nq, built pairs",
    }  # fmt: skip
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
