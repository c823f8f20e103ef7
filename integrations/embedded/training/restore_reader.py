"""Takes the reader's weights back out of the package, as a start for further training (train_reader.py --start).

    python restore_reader.py --onnx PUBLISHED_INT8.onnx --files FILES --out FILE.pt

They are those that ship, so rounded to seven bits. The layers that the reader shares with the reranker come from the
published file, as they did when it was trained.
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from train_reader import build, thinned


def weights(graph: onnx.GraphProto) -> dict[str, np.ndarray]:
    """Float values of the support graph, by the names of export_reader.Top."""
    constants = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    found = {
        name: value
        for name, value in constants.items()
        if name.startswith(("layers.", "head.")) and not name.endswith(("_q", "_scale"))
    }
    for node in graph.node:
        if node.op_type == "DynamicQuantizeMatMul":
            value = constants[node.input[1]].astype(np.float32) * constants[node.input[2]]
            name = ".".join(node.name.strip("/").split("/")[:-1]).replace("head.head.", "head.")
            found[name + ".weight"] = value.T
    return found


def depth(found: dict[str, np.ndarray]) -> int:
    """How many layers these weights are of."""
    return 1 + max(int(name.split(".")[1]) for name in found if name.startswith("layers."))


def renamed(name: str, shared: int) -> str:
    """The name in the whole PyTorch model."""
    if name.startswith("head."):
        return name.replace("head.0.", "bert.pooler.dense.").replace("head.2.", "classifier.")
    _, layer, rest = name.split(".", 2)
    return f"bert.encoder.layer.{int(layer) + shared}.{rest}"


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--onnx", type=Path, required=True, help="the published int8 file")
    ask.add_argument("--files", type=Path, required=True, help="the files that ship")
    ask.add_argument("--out", type=Path, required=True)
    given = ask.parse_args()
    found, below = (
        weights(onnx.load_from_string(gzip.decompress((given.files / f"{name}.onnx.gz").read_bytes())).graph)
        for name in ("support", "trunk")
    )
    layers, shared = depth(found), depth(below)
    model = thinned(build(given.onnx), range(shared + layers))
    state = {renamed(k, shared): torch.tensor(np.ascontiguousarray(v)) for k, v in found.items()}
    missing, unknown = model.load_state_dict(state, strict=False)
    lower = ("bert.embeddings.", *(f"bert.encoder.layer.{k}." for k in range(shared)))
    if unknown or not all(name.startswith(lower) for name in missing):
        raise ValueError(f"weights do not fit: missing {missing}, unknown {unknown}")
    torch.save({"model": model.state_dict(), "freeze": shared}, given.out)
    print(f"{len(state)} tensors of {layers} layers and the head; {shared} layers are the reranker's")


if __name__ == "__main__":
    main()
