"""Fits what turns the multilingual reader's logits into probabilities, into its `support.json`.

    python calibrate_multilingual.py --data DATA --files DIR

As calibrate_support.py does, on the same English rows, which training kept out; shared words have no say. Whether the
threshold holds in other languages is measured (measure_multilingual.py), not fitted.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from agreement import calibration_error, claims_of
from assay_embedded.support import margin
from assay_embedded_multilingual.runtime import MultilingualReader, load_from
from calibrate_support import chosen, fitted, grounded_sources
from prepare_reader import CONTRADICTED, NOT_MENTIONED, SUPPORTED, Pair


def columns(models: MultilingualReader, pairs: list[Pair]) -> tuple[np.ndarray, np.ndarray]:
    """Margin of each pair's worst sentence, [n, 1]; contradicted less not mentioned, [n]."""
    units = [(pair.passage, claim, i) for i, pair in enumerate(pairs) for claim in claims_of(pair.claim)]
    found, against = np.full((len(pairs), 1), np.inf), np.zeros(len(pairs))
    for (_, _, i), one in zip(units, models.support_logits([unit[:2] for unit in units]), strict=True):
        if one is not None and margin(one) < found[i, 0]:
            found[i], against[i] = margin(one), one[1] - one[2]
    return found, against


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--data", type=Path, required=True)
    ask.add_argument("--files", type=Path, required=True, help="the files that ship")
    given = ask.parse_args()
    pairs = chosen(given.data, told=60, hold=20, seed=41)
    margins, against = columns(load_from(given.files), pairs)
    sources, labels = np.array([pair.source for pair in pairs]), np.array([pair.label for pair in pairs])
    here = np.isin(sources, list(grounded_sources(given.data)))
    y = (labels[here] == SUPPORTED).astype(int)
    fit = fitted(margins[here], y, sources[here])
    error, _ = calibration_error(y, fit.predict_proba(margins[here])[:, 1])
    told = np.isin(labels, (CONTRADICTED, NOT_MENTIONED))
    cells = np.array([f"{source} {label}" for source, label in zip(sources, labels, strict=True)])
    other = fitted(against[told, None], (labels[told] == CONTRADICTED).astype(int), cells[told])
    found = {
        "reader": fit.coef_[0][0], "words": 0.0, "shift": fit.intercept_[0],
        "against": other.coef_[0][0], "against_shift": other.intercept_[0],
    }  # fmt: skip
    kept = {name: round(float(value), 5) for name, value in found.items()} | {
        "rows": len(y), "expected_calibration_error": round(error, 4),
    }  # fmt: skip
    (given.files / "support.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(kept, indent=1))


if __name__ == "__main__":
    main()
