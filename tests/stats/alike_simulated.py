"""How often `fuse-check` says what, by simulation; the table of docs/evidence/judge.md.

    python -m tests.stats.alike_simulated

Rows have verdicts that hang together: how doubtful a row is differs from row to row. A usual reading flips a verdict so
often that two of them disagree on `own` of all; the other way flips as often, and affirms `bias` more of all verdicts.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from assay.analysis.judges.batching_check import overall
from assay.stats.alike import Likeness, alike

SEED = 20_261_123
OWN, MARGIN = 0.03, 0.02
AFFIRMED = 0.7  # of the verdicts, in truth
#: Of the Beta distribution of how doubtful rows are: 1 is far from even.
SHAPE = 1.0


def readings(
    rng: np.random.Generator, rows: int, each: int, own: float, bias: float
) -> tuple[list[str], list[str], list[str], list[int]]:
    """Labels of two usual readings and of the other way, and the row of each verdict."""
    flip = own / 2 / (1 - own / 2) if own else 0.0  # two flips in a hundred cancel out; near enough for the mean
    doubt = rng.beta(SHAPE, SHAPE / flip - SHAPE, (rows, 1)) if flip else np.zeros((rows, 1))
    truth = rng.random((rows, each)) < AFFIRMED

    def once() -> np.ndarray:
        return truth ^ (rng.random((rows, each)) < doubt)

    first, again, other = once(), once(), once()
    other = other | (rng.random((rows, each)) < bias / (1 - AFFIRMED))
    labels = [["supported" if yes else "not_mentioned" for yes in found.ravel()] for found in (first, again, other)]
    return labels[0], labels[1], labels[2], [row for row in range(rows) for _ in range(each)]


def said(rng: np.random.Generator, rows: int, each: int, biases: list[float], own: float = OWN) -> Likeness:
    """What one check says of parts with these biases."""
    found = []
    for bias in biases:
        first, again, other, numbers = readings(rng, rows, each, own, bias)
        part = alike(first, again, other, "supported", rows=numbers, margin=MARGIN, looks=len(biases))
        assert part is not None
        found.append(part.verdict)
    return overall(found)


def shares(times: int, rows: int, each: int, biases: list[float], own: float = OWN) -> dict[str, float]:
    """How often each answer comes, of so many checks."""
    rng = np.random.default_rng(SEED)
    count = Counter(said(rng, rows, each, biases, own) for _ in range(times))
    return {answer: count[answer] / times for answer in ("agrees", "differs", "inconclusive")}


def main() -> None:
    for own in (0.0, 0.01, 0.03, 0.06):
        for rows in (50, 100, 150, 200, 300, 500, 800):
            none, one = (shares(200, rows, 4, [0.0] * 5 + [bias], own) for bias in (0.0, 0.05))
            print(f"own {own:4.0%}  rows {rows:4}  no bias: {none}  5 points: {one}", flush=True)


if __name__ == "__main__":
    main()
