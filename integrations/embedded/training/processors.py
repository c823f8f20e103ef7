"""How far readings differ between kinds of CPU: what one of them reads, to be compared with another's.

    python processors.py --data $D --pairs pairs.json --out here.json
    valgrind --tool=none --smc-check=all-non-file python processors.py --pairs pairs.json --out haswell.json
    python processors.py --compare here.json haswell.json

valgrind plays a CPU with AVX2 and without AVX-512 and VNNI, whatever the machine has, at a hundredth of the speed, so
that onnxruntime takes the kernels that it takes on such a CPU.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import numpy as np
from assay_embedded import load

LABELS = ("supported", "contradicted", "not_mentioned")


def pairs(data: Path, count: int) -> list[tuple[str, str]]:
    """So many passages and claims of development rows, drawn by a fixed seed."""
    from agreement import claims_of  # here, since a CPU that is played needs minutes for scikit-learn
    from rows import GROUNDEDNESS, development

    every = [
        (row.passage, claim)
        for name in GROUNDEDNESS
        for row in development(data, name)
        for claim in claims_of(row.claim)
    ]
    return random.Random(5).sample(every, count)


def label(supported: float, contradicted: float) -> str:
    return LABELS[0] if supported >= 0.5 else LABELS[1] if contradicted >= 0.5 else LABELS[2]


def compared(one: list[list[float]], other: list[list[float]]) -> str:
    here, there = np.array(one), np.array(other)
    moved = np.abs(here[:, 0] - there[:, 0])
    changed = sum(label(*a) != label(*b) for a, b in zip(here, there, strict=True))
    quantiles = ", ".join(f"{name} {value:.4f}" for name, value in (
        ("mean", moved.mean()), ("95th percentile", np.percentile(moved, 95)), ("most", moved.max()),
    ))  # fmt: skip
    return f"{len(moved)} claims: probability moved by {quantiles}; {changed} labels changed"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--pairs", type=Path, help="made of the data where it is not there")
    parser.add_argument("--claims", type=int, default=120)
    parser.add_argument("--compare", type=Path, nargs=2)
    asked = parser.parse_args()
    if asked.compare:
        print(compared(*(json.loads(path.read_text()) for path in asked.compare)))
        return
    if not asked.pairs.exists():
        asked.pairs.write_text(json.dumps(pairs(asked.data, asked.claims)))
    models = load(threads=1)
    read: list[list[float]] = []
    for pair in json.loads(asked.pairs.read_text()):
        (reading,) = models.support([tuple(pair)])
        read.append([reading.probability, reading.contradiction])
        asked.out.write_text(json.dumps(read))


if __name__ == "__main__":
    main()
