"""The reader that ships against the PyTorch model it was exported from: pairs a second, and how far they differ.

    python speed.py --data DATA --onnx PUBLISHED_INT8.onnx --weights RUN/final.pt

Both read the same excerpts of the same development rows (at most --rows of `claim_evidence`, `summ_consistency`, those
that fit one window), on as many threads as there are cores; PyTorch in float32, one by one and in padded batches of 16
of similar length.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import rows as reading
from assay_embedded import load
from assay_embedded.excerpt import excerpt
from assay_embedded.features import Passage
from assay_embedded.reader import EXCERPT
from assay_embedded.runtime import FILES
from assay_embedded.windows import CLS, SEP, windows_of
from tokenizers import Tokenizer
from train_reader import trained

Input = tuple[list[int], list[int]]


def inputs(rows: list[reading.Row]) -> list[list[Input]]:
    """Token ids and types of the windows of each row."""
    tokenizer = Tokenizer.from_file(str(FILES / "tokenizer.json"))
    passages = {text: Passage(text) for text in {row.passage for row in rows}}
    out = []
    for row in rows:
        passage = passages[row.passage]
        chosen = passage.read(excerpt(passage, row.claim, EXCERPT))
        ids = [tokenizer.encode(text, add_special_tokens=False).ids for text in (row.claim, chosen)]
        out.append([
            ([CLS, *first, SEP, *second, SEP], [0] * (len(first) + 2) + [1] * (len(second) + 1))
            for first, second in windows_of(*ids)
        ])  # fmt: skip
    return out


def torch_logits(model: Any, pairs: list[Input], batch: int) -> np.ndarray:
    import torch

    out = np.zeros((len(pairs), 3), np.float32)
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i][0]))
    for start in range(0, len(order), batch):
        chosen = order[start : start + batch]
        longest = max(len(pairs[i][0]) for i in chosen)
        arrays = {n: torch.zeros(len(chosen), longest, dtype=torch.long) for n in ("ids", "mask", "types")}
        for row, i in enumerate(chosen):
            ids, types = pairs[i]
            arrays["ids"][row, : len(ids)] = torch.tensor(ids)
            arrays["types"][row, : len(ids)] = torch.tensor(types)
            arrays["mask"][row, : len(ids)] = 1
        with torch.inference_mode():
            found = model(input_ids=arrays["ids"], attention_mask=arrays["mask"], token_type_ids=arrays["types"])
        out[chosen] = found.logits.numpy()
    return out


def rate(work: Callable[[], object], pairs: int) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return pairs / best


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--data", type=Path, required=True)
    ask.add_argument("--onnx", type=Path, required=True, help="the published int8 file")
    ask.add_argument("--weights", type=Path, required=True, help="what train_reader.py wrote")
    ask.add_argument("--rows", type=int, default=100)
    given = ask.parse_args()
    import torch

    torch.set_num_threads(os.cpu_count() or 1)
    model = trained(given.onnx, given.weights).eval()
    names = ("claim_evidence", "summ_consistency")
    rows = reading.sample([r for n in names for r in reading.development(given.data, n)], given.rows // 6, seed=3)
    windows, models = inputs(rows), load()
    rows = [row for row, found in zip(rows, windows, strict=True) if len(found) == 1]
    pairs = [found[0] for found in windows if len(found) == 1]
    asked = [(row.passage, row.claim) for row in rows]
    shipped = np.array(models.support_logits(asked))
    one, padded = torch_logits(model, pairs, 1), torch_logits(model, pairs, 16)
    print(f"{len(rows)} pairs of {sum(len(p[0]) for p in pairs) / len(pairs):.0f} tokens on average")
    print(f"largest difference of a logit from the shipped int8 file: {np.abs(shipped - one).max():.3f}; "
          f"same label: {(shipped.argmax(1) == one.argmax(1)).mean():.3f}; "
          f"PyTorch alone against batches: {np.abs(one - padded).max():.1e}")  # fmt: skip
    print(f"shipped, from texts to probabilities: {rate(lambda: models.support(asked), len(rows)):.1f} pairs a second")
    print(f"PyTorch float32, one by one: {rate(lambda: torch_logits(model, pairs, 1), len(rows)):.1f}")
    print(f"PyTorch float32, batches of 16: {rate(lambda: torch_logits(model, pairs, 16), len(rows)):.1f}")


if __name__ == "__main__":
    main()
