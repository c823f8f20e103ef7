"""Fits what turns the reader's logits into probabilities, into `support.json`, on documents kept out of its training.

    python calibrate_support.py --data DATA --files DIR

Rows: the groundedness sources, supported and not supported alike often in each; every source weighs the same. (NLI
sets are easier for the reader: probabilities fitted on them too were overconfident on answers, with an expected
calibration error of 0.09 in place of 0.06 on the development sources.) A claim of several sentences counts by the one
with the lowest margin. The regression over shared words (train_support.py) has a say; its weight is fitted with the
rest. Contradicted against not mentioned has a slope and a shift of its own, fitted on the sources whose labels tell
them apart, NLI sets among them, at most --told rows of a source and side; of each source both weigh the same.
The calibration error where the source was left out of the fit is written beside it. (The regression saw these
documents; twenty numbers from 21,851 rows do not remember one.)
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from pathlib import Path

import numpy as np
import rows as reading
from agreement import calibration_error, claims_of
from assay_embedded import Models
from assay_embedded.runtime import load_from
from assay_embedded.support import margin
from prepare_reader import CONTRADICTED, NOT_MENTIONED, SUPPORTED, Pair, even, held_out, labelled
from sklearn.linear_model import LogisticRegression

STRONG = 1e6  # no regularisation to speak of: two or three numbers from hundreds of rows


def chosen(data: Path, told: int, hold: int, seed: int) -> list[Pair]:
    """Held-out rows: all of the groundedness sources, at most `told` of a side of the others."""
    rng = random.Random(seed)
    grounded = grounded_sources(data)
    taken: Counter[tuple[str, bool]] = Counter()
    out = []
    for pair in even([pair for pair in labelled(data) if held_out(pair, hold)], rng):
        side = pair.source, pair.label == SUPPORTED
        taken[side] += 1
        if pair.source in grounded or taken[side] <= told:
            out.append(pair)
    return out


def grounded_sources(data: Path) -> set[str]:
    return {row.source for row in reading.training(data, "groundedness_open")}


def columns(models: Models, pairs: list[Pair]) -> tuple[np.ndarray, np.ndarray]:
    """Margin and the regression's logit of each pair's worst sentence, [n, 2]; contradicted less not mentioned, [n]."""
    units = [(pair.passage, claim, i) for i, pair in enumerate(pairs) for claim in claims_of(pair.claim)]
    asked = [(passage, claim) for passage, claim, _ in units]
    found, against = np.full((len(pairs), 2), np.inf), np.zeros(len(pairs))
    for (_, _, i), one, words in zip(units, models.support_logits(asked), models.word_logits(asked), strict=True):
        if one is not None and margin(one) < found[i, 0]:
            found[i], against[i] = (margin(one), words), one[1] - one[2]
    return found, against


def fitted(x: np.ndarray, y: np.ndarray, groups: np.ndarray) -> LogisticRegression:
    """A regression in which every group weighs the same."""
    weight = np.ones(len(y))
    for group in set(groups.tolist()):
        here = groups == group
        weight[here] = 1 / here.sum()
    return LogisticRegression(C=STRONG, max_iter=2000).fit(x, y, sample_weight=weight * len(y) / weight.sum())


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--data", type=Path, required=True)
    ask.add_argument("--files", type=Path, required=True, help="the files that ship")
    ask.add_argument("--told", type=int, default=60)
    ask.add_argument("--hold", type=int, default=20)
    ask.add_argument("--seed", type=int, default=41)
    given = ask.parse_args()
    pairs = chosen(given.data, given.told, given.hold, given.seed)
    columns_of, against = columns(load_from(given.files), pairs)
    sources = np.array([pair.source for pair in pairs])
    here = np.isin(sources, list(grounded_sources(given.data)))
    x, y, own = columns_of[here], np.array([int(pair.label == SUPPORTED) for pair in pairs])[here], sources[here]
    crossed = np.zeros(len(y))
    for source in set(own.tolist()):
        left = own == source
        crossed[left] = fitted(x[~left], y[~left], own[~left]).predict_proba(x[left])[:, 1]
    error, _ = calibration_error(y, crossed)
    main_fit = fitted(x, y, own)
    labels = np.array([pair.label for pair in pairs])
    cells = np.array([f"{source} {label}" for source, label in zip(sources, labels, strict=True)])
    both = [s for s in set(sources.tolist()) if {CONTRADICTED, NOT_MENTIONED} <= set(labels[sources == s].tolist())]
    told = np.isin(sources, both) & np.isin(labels, (CONTRADICTED, NOT_MENTIONED))
    against_fit = fitted(against[told, None], (labels[told] == CONTRADICTED).astype(int), cells[told])
    found = {
        "reader": main_fit.coef_[0][0], "words": main_fit.coef_[0][1], "shift": main_fit.intercept_[0],
        "against": against_fit.coef_[0][0], "against_shift": against_fit.intercept_[0],
    }  # fmt: skip
    path = given.files / "support.json"
    kept = json.loads(path.read_text(encoding="utf-8"))
    kept["support"] = {name: round(float(value), 5) for name, value in found.items()} | {
        "rows": len(y),
        "expected_calibration_error_of_sources_left_out": round(error, 4),
    }
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(kept["support"], indent=1))


if __name__ == "__main__":
    main()
