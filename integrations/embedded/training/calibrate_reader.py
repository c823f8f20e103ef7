"""Fits what turns the reader's logits into probabilities, into `reader.json`, on documents kept out of its training.

    python calibrate_reader.py --data DATA --reader DIR [--words]

Rows: supported and not supported alike often in each source, at most --each of a source and side; every source weighs
the same. A claim of several sentences counts by the one with the lowest margin, as it does in use. With --words the
regression over shared words (train_support.py) has a say; its weight is fitted with the rest. Where the labels tell
contradicted from not mentioned, a slope and a shift are fitted for those.
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
from agreement import calibration_error, claims_of, logit
from assay_embedded import Models, load
from prepare_reader import CONTRADICTED, NOT_MENTIONED, SUPPORTED, Pair, even, held_out, labelled
from reader import Reader, margin
from sklearn.linear_model import LogisticRegression

STRONG = 1e6  # no regularisation to speak of: two or three numbers from hundreds of rows


def chosen(data: Path, each: int, hold: int, seed: int) -> list[Pair]:
    """Held-out rows, `each` of a source and side at most."""
    rng = random.Random(seed)
    taken: Counter[tuple[str, bool]] = Counter()
    out = []
    for pair in even([pair for pair in labelled(data) if held_out(pair, hold)], rng):
        side = pair.source, pair.label == SUPPORTED
        taken[side] += 1
        if taken[side] <= each:
            out.append(pair)
    return out


def columns(reader: Reader, models: Models, pairs: list[Pair]) -> tuple[np.ndarray, np.ndarray]:
    """Margin and the regression's logit of each pair's worst sentence, [n, 2]; contradicted less not mentioned, [n]."""
    units = [(pair.passage, claim, i) for i, pair in enumerate(pairs) for claim in claims_of(pair.claim)]
    asked = [(passage, claim) for passage, claim, _ in units]
    found, against = np.full((len(pairs), 2), np.inf), np.zeros(len(pairs))
    for (_, _, i), one, words in zip(units, reader.logits(asked), models.support(asked), strict=True):
        if one is not None and margin(one) < found[i, 0]:
            found[i], against[i] = (margin(one), float(logit(words.probability))), one[1] - one[2]
    return found, against


def fitted(x: np.ndarray, y: np.ndarray, sources: np.ndarray) -> LogisticRegression:
    weight = np.ones(len(y))
    for source in set(sources.tolist()):
        here = sources == source
        weight[here] = 1 / here.sum()
    return LogisticRegression(C=STRONG, max_iter=2000).fit(x, y, sample_weight=weight * len(y) / weight.sum())


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--data", type=Path, required=True)
    ask.add_argument("--reader", type=Path, required=True, help="what export_reader.py wrote")
    ask.add_argument("--each", type=int, default=30)
    ask.add_argument("--hold", type=int, default=20)
    ask.add_argument("--seed", type=int, default=41)
    ask.add_argument("--words", action="store_true")
    given = ask.parse_args()
    pairs = chosen(given.data, given.each, given.hold, given.seed)
    x, against = columns(Reader(given.reader), load(), pairs)
    y = np.array([int(pair.label == SUPPORTED) for pair in pairs])
    sources = np.array([pair.source for pair in pairs])
    use = x if given.words else x[:, :1]
    crossed = np.zeros(len(y))
    for source in set(sources.tolist()):
        here = sources == source
        crossed[here] = fitted(use[~here], y[~here], sources[~here]).predict_proba(use[here])[:, 1]
    model = fitted(use, y, sources)
    told = np.array([pair.label in (CONTRADICTED, NOT_MENTIONED) for pair in pairs])
    which = np.array([int(pair.label == CONTRADICTED) for pair in pairs])
    second = fitted(against[told][:, None], which[told], sources[told])
    kept = {
        "reader": round(float(model.coef_[0][0]), 5),
        "words": round(float(model.coef_[0][1]), 5) if given.words else 0.0,
        "shift": round(float(model.intercept_[0]), 5),
        "against": round(float(second.coef_[0][0]), 5),
        "against_shift": round(float(second.intercept_[0]), 5),
        "rows": len(pairs),
        "expected_calibration_error_of_sources_left_out": round(calibration_error(y, crossed)[0], 4),
    }
    (given.reader / "reader.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
