"""Measures the multilingual reader on pairs in many languages, into its `card.json`.

    python measure_multilingual.py --pairs DIR --files DIR

DIR holds one file a language, `de.jsonl`, with a pair a line: premise, hypothesis, label (entailment, neutral or
contradiction) and source. Nothing was trained or fitted on them. Each premise is read as a passage and its hypothesis
as a claim; supported is entailment. Beside it: word overlap, with the threshold that is best on these very rows, and
the reader of English on the same rows. Which sets we took is in ../../multilingual/README.md.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from agreement import balanced, calibration_error, elsewhere, figures, interval, overlap
from assay_embedded import load as load_english
from assay_embedded_multilingual.runtime import load_from
from sklearn.metrics import roc_auc_score


def pairs_of(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def measured(rows: list[dict[str, str]], models: Any, english: Any) -> dict[str, Any]:
    """The figures of one language."""
    labels = np.array([int(row["label"] == "entailment") for row in rows])
    sources = np.array([row["source"] for row in rows])
    asked = [(row["premise"], row["hypothesis"]) for row in rows]
    readings = models.support(asked)
    scores = np.array([one.probability for one in readings])
    found: dict[str, Any] = figures(labels, scores, (scores >= 0.5).astype(int), sources)
    found["calibration_error"] = round(calibration_error(labels, scores)[0], 3)
    told = np.array([row["label"] != "entailment" for row in rows]) & (scores < 0.5)
    against = np.array([int(row["label"] == "contradiction") for row in rows])[told]
    said = np.array([one.contradiction / max(1e-9, 1 - one.probability) for one in readings])[told]
    if len(set(against.tolist())) == 2:
        found["contradicted_or_not_mentioned"] = {
            "rows": len(against),
            "auroc": round(float(roc_auc_score(against, said)), 3),
            "balanced_accuracy": round(balanced(against, (said > 0.5).astype(int)), 3),
        }
    for name, others, verdicts in (
        (
            "word_overlap",
            (shared := np.array([overlap(*pair) for pair in asked])),
            elsewhere(labels, shared, labels * 0),
        ),
        ("english_reader", (own := np.array([one.probability for one in english.support(asked)])), (own >= 0.5) * 1),
    ):
        found[name] = {
            "auroc": round(float(roc_auc_score(labels, others)), 3),
            "balanced_accuracy": round(balanced(labels, verdicts), 3),
            "balanced_accuracy_95": interval(balanced, labels, verdicts),
        }
    return found


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--pairs", type=Path, required=True)
    ask.add_argument("--files", type=Path, required=True, help="the files that ship")
    ask.add_argument("--most", type=int, help="pairs of a language, the first ones")
    given = ask.parse_args()
    models, english = load_from(given.files), load_english()
    path = given.files / "card.json"
    card = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    card["languages"] = {}
    for file in sorted(given.pairs.glob("*.jsonl")):
        found = measured(pairs_of(file)[: given.most], models, english)
        card["languages"][file.stem] = found
        print(file.stem, found["rows"], found["auroc"], found["balanced_accuracy"], found["balanced_accuracy_95"],
              {name: one["balanced_accuracy"] for name, one in found["by_source"].items()},
              "overlap", found["word_overlap"]["balanced_accuracy"], flush=True)  # fmt: skip
    path.write_text(json.dumps(card, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
