"""What each kind of training pair brings: the reader trained without it, or with more of it, for as many steps.

    python ablate.py --data DATA --onnx PUBLISHED_INT8.onnx --pairs DIR/pairs.npz --out DIR --steps 300

Each variant starts from the published reranker and sees the same number of batches. Measured on --each rows of every
development source, half of them supported, by the reader alone (float32, no regression): AUROC over all rows, mean
over sources, and the difference to the first variant, with its paired bootstrap interval. One seed each: what "another
seed" differs by may be chance, whatever the interval over rows says. Variants that are done are kept, so that
the script may be stopped and started again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import prepare_reader
import rows as reading
from agreement import claims_of, figures, gain
from measure import all_rows
from signals import of_answer
from speed import inputs, torch_logits
from train_reader import trained

DERIVED = ("--without", "derived/")
NLI = sorted(prepare_reader.NLI)
SWAPS = ("number", "name", "exchange", "negate", "opposite")


def with_quarter(*kinds: str) -> tuple[str, ...]:
    """Of all that is derived these kinds alone, as a quarter of the pairs."""
    return (*DERIVED, "--share", "0.25", "--of", *(f"derived/{kind}" for kind in kinds))


# what train_reader.py is told
VARIANTS: dict[str, tuple[str, ...]] = {
    "without anything derived": DERIVED,
    "a quarter swaps": with_quarter(*SWAPS),
    "a quarter other passages": with_quarter("wrong", "without"),
    "a quarter among others": with_quarter("among"),
    "a quarter copied": with_quarter("copied"),
    "a quarter joined": with_quarter("joined"),
    "two fifths NLI sets": (*DERIVED, "--share", "0.4", "--of", *NLI),
    "everything": (),
    "everything without swaps": ("--without", *(f"derived/{kind}" for kind in (*SWAPS, "copied, ch"))),
    "everything without NLI sets": ("--without", *NLI),
    "another seed": (*DERIVED, "--seed", "24"),
}  # fmt: skip


def scores(model: Any, rows: list[reading.Row]) -> np.ndarray:
    """The reader's margin of each row."""
    units = [
        (i, reading.Row(row.passage, claim, 0, "")) for i, row in enumerate(rows) for claim in claims_of(row.claim)
    ]
    logits = torch_logits(model, [found[0] for found in inputs([unit for _, unit in units])], 16)
    margins = logits[:, 0] - np.logaddexp(logits[:, 1], logits[:, 2])
    owners = np.array([i for i, _ in units])
    return np.array([of_answer(margins[owners == i].tolist()) for i in range(len(rows))])


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--data", type=Path, required=True)
    ask.add_argument("--onnx", type=Path, required=True, help="the published int8 file")
    ask.add_argument("--pairs", type=Path, required=True)
    ask.add_argument("--out", type=Path, required=True)
    ask.add_argument("--steps", type=int, default=300)
    ask.add_argument("--tokens", type=int, default=2048)
    ask.add_argument("--each", type=int, default=150)
    ask.add_argument("--only", nargs="+", choices=VARIANTS, default=list(VARIANTS), help="the first is the yardstick")
    given = ask.parse_args()
    import torch

    rows = [row for row in all_rows(given.data, reading.GROUNDEDNESS) if row.source != "foolmetwice"]
    rows = reading.sample(rows, given.each, seed=5, even=True)
    labels, sources = np.array([row.label for row in rows]), np.array([row.source for row in rows])
    base: np.ndarray | None = None
    for name in given.only:
        directory = given.out / name.replace(",", "").replace(" ", "-")
        kept = directory / "scores.npy"
        if not kept.exists():
            command = [sys.executable, str(Path(__file__).with_name("train_reader.py")), "--onnx", str(given.onnx),
                       "--pairs", str(given.pairs), "--out", str(directory), "--steps", str(given.steps),
                       "--tokens", str(given.tokens), "--flat", "0.3", *VARIANTS[name]]  # fmt: skip
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            model = trained(given.onnx, directory / "final.pt")
            torch.set_num_threads(os.cpu_count() or 1)
            np.save(kept, scores(model.eval(), rows))
        found = np.load(kept)
        base = found if base is None else base
        told = figures(labels, found, (found >= 0).astype(int), sources)
        lost = gain(labels, found, base)
        means = f"{told['auroc_mean_over_sources']:.3f}, {lost['auroc_gain']:+.3f} {lost['auroc_gain_95']}"
        print(f"{name:32s} AUROC {told['auroc']:.3f} {told['auroc_95']} mean over sources {means}", flush=True)
        print("   ", json.dumps({source: one["auroc"] for source, one in told["by_source"].items()}), flush=True)


if __name__ == "__main__":
    main()
