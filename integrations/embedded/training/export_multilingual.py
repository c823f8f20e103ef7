"""Makes `reader.onnx.gz`, `pieces.q4` and `tokenizer.json.gz` of assay-embedded-multilingual from a trained reader.

    python export_multilingual.py --base DIR --weights RUN/final.pt --out DIR

`--base` is what multilingual_base.py wrote. The graph takes the vectors of the pieces (`words`, [1, tokens, 384]) in
place of their numbers: the vectors stay in `pieces.q4` with 4 bits a weight, as published, and only those that a text
needs become floats.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
from pathlib import Path
from typing import Any

import graphs
import torch
from train_reader import build


class FromVectors(torch.nn.Module):
    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, words: Any, attention_mask: Any, token_type_ids: Any) -> Any:
        return self.model(inputs_embeds=words, attention_mask=attention_mask, token_type_ids=token_type_ids).logits


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--base", type=Path, required=True)
    ask.add_argument("--weights", type=Path, required=True)
    ask.add_argument("--out", type=Path, required=True)
    given = ask.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    model = build(given.base / "base.pt")
    before = model.bert.embeddings.word_embeddings.weight.detach().clone()
    model.load_state_dict(torch.load(given.weights, weights_only=True)["model"])
    if not torch.equal(before, model.bert.embeddings.word_embeddings.weight):
        raise ValueError("the vectors of the pieces were trained; they ship as published")
    model.set_attn_implementation("eager")
    example = {
        "words": torch.zeros(1, 16, before.shape[1]),
        "attention_mask": torch.ones(1, 16, dtype=torch.long),
        "token_type_ids": torch.ones(1, 16, dtype=torch.long),
    }
    floating, stored, quick = (given.out / f"reader{kind}.onnx" for kind in ("-float", "-stored", ""))
    graphs.export(FromVectors(model), example, floating, "support")
    graphs.stored_int8(floating, stored)
    graphs.integer_arithmetic(stored, quick)
    print("reader", graphs.megabytes(floating), graphs.megabytes(quick), "packed", graphs.megabytes(graphs.pack(quick)))
    shutil.copy(given.base / "pieces.q4", given.out / "pieces.q4")
    text = (given.base / "tokenizer.json").read_bytes()
    (given.out / "tokenizer.json.gz").write_bytes(gzip.compress(text, 9, mtime=0))


if __name__ == "__main__":
    main()
