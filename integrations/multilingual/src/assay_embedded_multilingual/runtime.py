"""Loads the multilingual reader and reads claims with it.

Every text goes through the model on its own: one reading is the same whatever else is asked. Products are of integers,
as in assay_embedded.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay_embedded import SupportReading
from assay_embedded import files as packed
from assay_embedded.graphs import OnnxGraph, arrays
from assay_embedded.model import OpenModels, checked_threads
from assay_embedded.reader import Reader
from assay_embedded.support import Logits, ProbabilityMap
from assay_embedded.tokens import Tokens
from assay_embedded.windows import Window, pair_feed

from assay_embedded_multilingual.sentences import goes_on
from assay_embedded_multilingual.vectors import Vectors

DISTRIBUTION = "assay-embedded-multilingual"
FILES = Path(__file__).parent / "files"
#: ISO 639-1; served where at least 300 pairs that people wrote or translated say so (card.json).
LANGUAGES = ("de", "es", "fr", "it", "pt")
BEGIN, END = 0, 2  # the marks before the first text and after each


@dataclass(frozen=True, slots=True)
class _Loaded:
    tokens: Tokens
    vectors: Vectors
    graph: OnnxGraph
    calibration: ProbabilityMap
    card: Mapping[str, Any]
    fingerprint: str


class MultilingualReader:
    """The shipped reader. Safe to use from several threads; holds no state between calls.

    Attributes:
        fingerprint: A hash over the manifest of the files and the version of this package.
        card: What was measured, by language; the content of card.json.
    """

    def __init__(self, loaded: _Loaded, threads: int) -> None:
        self._loaded = loaded
        self.threads = threads
        self.fingerprint: str = loaded.fingerprint
        self.card: Mapping[str, Any] = loaded.card
        self._reader = Reader(loaded.tokens, self._one, loaded.calibration, goes_on=goes_on)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.fingerprint}>"

    def support(self, pairs: Sequence[tuple[str, str]]) -> list[SupportReading]:
        """For each (passage, claim) whether the passage supports the claim; see `assay_embedded.reader.Reader`.

        Both are to be in one language. `unsupported` tells numbers alone: words are told by rules for English.
        """
        return self._reader.support(pairs, self.threads)

    def support_logits(self, pairs: Sequence[tuple[str, str]]) -> list[Logits | None]:
        """What `support` turns into probabilities: the reader's logits; None where a text is empty."""
        return self._reader.logits(pairs, self.threads)

    def _one(self, window: Window) -> Logits:
        feed = pair_feed(window, BEGIN, END)
        ids = feed.pop("input_ids")
        logits = self._loaded.graph.run({"words": self._loaded.vectors.of(ids), **arrays(**feed)})
        yes, against, silent = logits.reshape(-1).tolist()
        return yes, against, silent


def fingerprint() -> str:
    """That of the shipped reader, without loading it. Raises FileCorrupt."""
    return packed.fingerprint(packed.read(FILES, "manifest.json"), DISTRIBUTION)


def load(threads: int | None = None) -> MultilingualReader:
    """The reader of this package, on as many threads (None: one for each CPU this process may use).

    The files are checked against their SHA-256 and opened once per process. Raises FileCorrupt.
    """
    return load_from(FILES, threads)


def load_from(directory: str | os.PathLike[str], threads: int | None = None) -> MultilingualReader:
    """The same from another directory of files."""
    return MultilingualReader(_opened.of(directory), checked_threads(threads))


def _open(directory: Path) -> _Loaded:
    content = packed.verified(directory)
    return _Loaded(
        tokens=Tokens(content.packed["tokenizer.json"].unpacked()),
        vectors=Vectors(content.tables["pieces.q4"]),
        graph=OnnxGraph(content.packed["reader.onnx"]),
        calibration=ProbabilityMap.of(json.loads(content.whole["support.json"])),
        card=json.loads(content.whole["card.json"]),
        fingerprint=packed.fingerprint(content.manifest, DISTRIBUTION),
    )


_opened = OpenModels(_open)
