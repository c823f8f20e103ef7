"""Which form of the reranker to ship: agreement with people, independence of the batch, speed.

    python compare.py --data DATA --models DIR_OF_EXPORT_RERANKER --published PUBLISHED_INT8.onnx --tokenizer FILE

Prints one row a form, on `context_relevance.jsonl.gz` (a part of it, the first window of each pair).
"shift" is the largest change of sigmoid(logit) between a pair alone and the same pair in a padded batch of 16.
Speeds are pairs of about 150 tokens per CPU-second of one thread.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from sklearn.metrics import roc_auc_score
from tokenizers import Tokenizer


def session(path: Path) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def logits(model: Any, encodings: list[Any], batch: int) -> np.ndarray:
    out = np.zeros(len(encodings))
    order = sorted(range(len(encodings)), key=lambda i: len(encodings[i].ids))
    for start in range(0, len(order), batch):
        chosen = order[start : start + batch]
        longest = max(len(encodings[i].ids) for i in chosen)
        arrays = {name: np.zeros((len(chosen), longest), np.int64) for name in ("ids", "mask", "types")}
        for row, i in enumerate(chosen):
            one = encodings[i]
            arrays["ids"][row, : len(one.ids)] = one.ids
            arrays["mask"][row, : len(one.ids)] = 1
            arrays["types"][row, : len(one.ids)] = one.type_ids
        feed = {"input_ids": arrays["ids"], "attention_mask": arrays["mask"], "token_type_ids": arrays["types"]}
        out[chosen] = np.asarray(model.run(None, feed)[0]).reshape(-1)
    return out


def speed(model: Any, encodings: list[Any], batch: int, repeat: int = 3) -> float:
    logits(model, encodings[:8], batch)
    best = float("inf")
    for _ in range(repeat):
        start = time.process_time()
        logits(model, encodings, batch)
        best = min(best, time.process_time() - start)
    return len(encodings) / best


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--data", type=Path, required=True)
    ask.add_argument("--models", type=Path, required=True)
    ask.add_argument("--published", type=Path, required=True)
    ask.add_argument("--tokenizer", type=Path, required=True)
    ask.add_argument("--rows", type=int, default=600)
    given = ask.parse_args()
    with gzip.open(given.data / "context_relevance.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    random.Random(7).shuffle(rows)
    rows = rows[: given.rows]
    labels = np.array([row["label"] for row in rows])
    tokenizer = Tokenizer.from_file(str(given.tokenizer))
    tokenizer.no_padding()
    tokenizer.enable_truncation(512, strategy="only_second")
    encodings = [tokenizer.encode(row["question"], "\n".join(row["contexts"])) for row in rows]
    tokenizer.enable_truncation(150, strategy="only_second")
    timed = [tokenizer.encode(row["question"], "\n".join(row["contexts"] * 4)) for row in rows[:64]]
    forms = {"published": given.published} | {
        name: given.models / f"{name}.onnx"
        for name in ("float", "stored", "dynamic", "blocks")
        if (given.models / f"{name}.onnx").exists()
    }
    reference: np.ndarray | None = None
    print(f"{len(rows)} rows; {np.mean([len(e.ids) for e in timed]):.0f} tokens in the timed pairs")
    for name, path in sorted(forms.items(), key=lambda item: item[0] != "float"):
        start = time.perf_counter()
        model = session(path)
        load = time.perf_counter() - start
        alone, padded = logits(model, encodings, 1), logits(model, encodings, 16)
        reference = alone if reference is None else reference
        shift = np.abs(1 / (1 + np.exp(-alone)) - 1 / (1 + np.exp(-padded))).max()
        print(
            f"{name:10s} {path.stat().st_size / 1e6:6.1f} MB  load {load:.2f} s  "
            f"AUROC {roc_auc_score(labels, alone):.4f}  r with float {np.corrcoef(alone, reference)[0, 1]:.4f}  "
            f"shift {shift:.1e}  pairs/CPU-s alone {speed(model, timed, 1):.1f}, by 8 {speed(model, timed, 8):.1f}, "
            f"by 16 {speed(model, timed, 16):.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
