"""Makes `trunk.onnx`, `relevance.onnx` and `support.onnx`: the reranker and the trained reader, what they share once.

    python export_reader.py --onnx PUBLISHED_INT8.onnx --weights RUN/final.pt --out DIR

The trunk holds the embeddings and the lowest layers, which training left as they were; its output `hidden` [batch,
tokens, 384] goes, with the attention mask, into one of the two others: `relevance` [batch], the logit of the
published reranker, or `support` [batch, 3], the logits of supported, contradicted and not mentioned. Embeddings are
int8 in the file, products are of integers (graphs.py). The files are packed with gzip, which takes off a quarter.
What is int8 in the file and float in the arithmetic stays beside them (`-stored`), as a yardstick.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import graphs
import numpy as np
from export_reranker import published, read
from reader_parts import Top, Trunk
from train_reader import build, trained


def shared_layers(reranker: Any, reader: Any) -> int:
    """How many of the lowest layers are the same, bit for bit; the embeddings must be."""
    import torch

    mine, other = reranker.bert.embeddings.state_dict(), reader.bert.embeddings.state_dict()
    if not all(torch.equal(mine[name], other[name]) for name in mine):
        raise ValueError("the reader was trained with other embeddings than the reranker's")
    count = 0
    for first, second in zip(reranker.bert.encoder.layer, reader.bert.encoder.layer, strict=False):
        if not all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True)):
            break
        count += 1
    return count


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--onnx", type=Path, required=True, help="the published int8 file")
    ask.add_argument("--weights", type=Path, required=True, help="what train_reader.py wrote")
    ask.add_argument("--out", type=Path, required=True)
    given = ask.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    import torch

    floats, quantised = read(given.onnx)
    reranker, reader = build(given.onnx, classes=1), trained(given.onnx, given.weights)
    for name in ("weight", "bias"):
        getattr(reranker.classifier, name).data = torch.tensor(np.ascontiguousarray(floats[f"classifier.{name}"]))
    for model in (reranker, reader):
        model.set_attn_implementation("eager")
        model.eval()
    shared = shared_layers(reranker, reader)
    print("layers shared:", shared)
    tokens = {n: torch.ones(2, 16, dtype=torch.long) for n in ("input_ids", "attention_mask", "token_type_ids")}
    states = {
        "hidden": torch.zeros(2, 16, floats["bert.pooler.dense.bias"].size),
        "attention_mask": tokens["attention_mask"],
    }

    for name, module, example, result in (
        ("trunk", Trunk(reranker, shared), tokens, "hidden"),
        ("relevance", Top(reranker, shared), states, "relevance"),
        ("support", Top(reader, shared), states, "support"),
    ):
        floating, stored = given.out / f"{name}-float.onnx", given.out / f"{name}-stored.onnx"
        quick = given.out / f"{name}.onnx"
        graphs.export(module, example, floating, result)
        graphs.stored_int8(floating, stored, published(quantised))
        graphs.integer_arithmetic(stored, quick)
        print(name, graphs.megabytes(floating), graphs.megabytes(quick), "packed", graphs.megabytes(graphs.pack(quick)))


if __name__ == "__main__":
    main()
