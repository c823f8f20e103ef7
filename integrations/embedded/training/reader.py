"""Reads a claim against a passage with what export_reader.py wrote: logits of supported, contradicted, not mentioned.

Nothing that ships uses it yet: it is how a trained reader is measured before it takes the regression's place.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from assay_embedded.features import Passage
from assay_embedded.runtime import CLS, FILES, SEP, _pairs
from excerpt import excerpt

Logits = tuple[float, float, float]
EXCERPT = 130  # words of a passage that a claim is read against


def margin(logits: Logits) -> float:
    """Log-odds of supported, as the reader has them."""
    yes, *no = logits
    top = max(no)
    return yes - (top + math.log(sum(math.exp(x - top) for x in no)))


def combined(parts: Sequence[Sequence[Logits]]) -> Logits | None:
    """One for all windows: of each part of a claim the window that supports it best, of those the worst part.

    None when there is nothing to read, that is, where the claim or the passage is empty.
    """
    best = [max(windows, key=margin) for windows in parts if windows]
    return min(best, key=margin) if best else None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Turns logits into probabilities, as fitted by calibrate_reader.py; `words` is the weight of the regression."""

    reader: float
    words: float
    shift: float
    against: float
    against_shift: float

    @classmethod
    def read(cls, path: Path) -> Calibration:
        data = json.loads(path.read_text(encoding="utf-8"))
        return cls(*(float(data[name]) for name in ("reader", "words", "shift", "against", "against_shift")))

    def probabilities(self, logits: Logits | None, words: float) -> tuple[float, float]:
        """Of support and of contradiction, from the reader's logits and the regression's; zeros for no logits."""
        if logits is None:
            return 0.0, 0.0
        yes = sigmoid(self.reader * margin(logits) + self.words * words + self.shift)
        return yes, (1 - yes) * sigmoid(self.against * (logits[1] - logits[2]) + self.against_shift)


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


class Reader:
    """The exported reader, one pair at a time on each of `threads` threads."""

    def __init__(self, directory: Path, threads: int = 2) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._sessions = [
            onnxruntime.InferenceSession(str(directory / name), options, providers=["CPUExecutionProvider"])
            for name in ("trunk.onnx", "support.onnx")
        ]
        self._tokenizer = Tokenizer.from_file(str(FILES / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._threads = threads

    def logits(self, pairs: Sequence[tuple[str, str]]) -> list[Logits | None]:
        """For each (passage, claim); None where one of them is empty. All of the excerpt is read, in windows."""
        distinct = list(dict.fromkeys(pairs))
        passages = {text: Passage(text) for text, _ in distinct}
        with ThreadPoolExecutor(self._threads) as pool:
            found = dict(
                zip(distinct, pool.map(lambda pair: self._one(passages[pair[0]], pair[1]), distinct), strict=True)
            )
        return [found[pair] for pair in pairs]

    def _one(self, passage: Passage, claim: str) -> Logits | None:
        chosen = " ".join(passage.text[start:end] for start, end in excerpt(passage, claim, EXCERPT))
        read = [(tuple(part), self._window(part, text)) for part, text in _pairs(self._ids(claim), self._ids(chosen))]
        return combined([[logits for _, logits in part] for _, part in groupby(read, key=lambda one: one[0])])

    def _window(self, claim: Sequence[int], passage: Sequence[int]) -> Logits:
        ids = [CLS, *claim, SEP, *passage, SEP]
        types = [0] * (len(claim) + 2) + [1] * (len(passage) + 1)
        feed: dict[str, Any] = {
            "input_ids": np.array([ids], np.int64),
            "attention_mask": np.ones((1, len(ids)), np.int64),
            "token_type_ids": np.array([types], np.int64),
        }
        trunk, support = self._sessions
        hidden = trunk.run(None, feed)[0]
        yes, against, silent = support.run(None, {"hidden": hidden, "attention_mask": feed["attention_mask"]})[0][0]
        return float(yes), float(against), float(silent)

    def _ids(self, text: str) -> list[int]:
        readable = text.encode("utf-8", "replace").decode("utf-8")
        ids: list[int] = self._tokenizer.encode(readable, add_special_tokens=False).ids
        return ids
