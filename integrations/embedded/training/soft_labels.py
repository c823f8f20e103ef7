"""What the reader that ships says of training pairs, for a smaller one to learn from (train_reader.py --soft).

    python soft_labels.py --files FILES --pairs DIR/pairs.npz --out FILE.npy

Logits of supported, contradicted and not mentioned, [pairs, 3], in the order of the file. One process a core.
"""

from __future__ import annotations

import argparse
import os
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from assay_embedded.runtime import load_from


def said(files: Path, path: Path, part: int, parts: int) -> np.ndarray:
    """Of every `parts`-th pair of the file, beginning with `part`."""
    reader, data = load_from(files, threads=1), np.load(path)
    ids, starts, firsts = data["ids"], data["starts"], data["firsts"]
    found = []
    for i in range(part, len(firsts), parts):
        tokens, first = ids[starts[i] : starts[i + 1]].tolist(), int(firsts[i])
        found.append(reader._support_one((tokens[1 : first - 1], tokens[first:-1])))
    return np.array(found, np.float32)


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--files", type=Path, required=True, help="the files that ship")
    ask.add_argument("--pairs", type=Path, required=True)
    ask.add_argument("--out", type=Path, required=True)
    given = ask.parse_args()
    parts = os.cpu_count() or 1
    with get_context("spawn").Pool(parts) as pool:
        tasks = [pool.apply_async(said, (given.files, given.pairs, part, parts)) for part in range(parts)]
        columns = [task.get() for task in tasks]
    whole = np.zeros((sum(map(len, columns)), 3), np.float32)
    for part, column in enumerate(columns):
        whole[part::parts] = column
    np.save(given.out, whole)


if __name__ == "__main__":
    main()
