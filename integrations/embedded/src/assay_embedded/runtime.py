"""Loads the shipped models and reads texts with them: similarity, usefulness, support.

Every text goes through a model on its own: one reading is the same whatever else is asked. Support and usefulness are
read with products of integers, which is more than twice as quick as float arithmetic. Their sums are exact on every
CPU, and what is float around them is rounded by it: between CPUs a probability may differ by some hundredths, and by
rounding only for similarity, which is float throughout (training/README.md has the figures).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay_embedded.excerpt import excerpt
from assay_embedded.features import Passage
from assay_embedded.files import FILES, fingerprint, verified
from assay_embedded.graphs import OnnxGraph, arrays, each
from assay_embedded.model import OpenModels, checked_threads
from assay_embedded.reader import EXCERPT, Reader
from assay_embedded.support import Logits, ProbabilityMap, Regression, SupportReading, sigmoid
from assay_embedded.tokens import Tokens
from assay_embedded.windows import CLS, EMBEDDER_WINDOW, SEP, Window, even, length, pair_feed, windows_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GIVEN = 40  # words of the answer that a passage should lead to


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The files; shared by every Models of a process."""

    tokens: Tokens
    embedder: OnnxGraph
    trunk: OnnxGraph  # the layers that reading for relevance and for support share
    relevance: OnnxGraph
    support: OnnxGraph
    regression: Regression
    calibration: ProbabilityMap
    usefulness: tuple[float, float]
    directness: tuple[float, float]
    card: Mapping[str, Any]
    fingerprint: str


class Models:
    """The shipped models. Safe to use from several threads; holds no state between calls.

    Attributes:
        fingerprint: A hash over the manifest of the files and the version of this package: equal fingerprints mean
            equal readings, but for rounding.
        card: What was measured, limits and languages; the content of card.json.
    """

    def __init__(self, loaded: _Loaded, threads: int) -> None:
        self._loaded = loaded
        self.threads = threads
        self.fingerprint: str = loaded.fingerprint
        self.card: Mapping[str, Any] = loaded.card
        self._reader = Reader(loaded.tokens, self._support_one, loaded.calibration, loaded.regression)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector of length 1 per text, [n, 384]; the scalar product of two is their similarity.

        A text of more than 254 tokens is read in windows of equal length that cover all of it; its vector is their
        mean, made length 1 again.
        """
        import numpy as np

        distinct = list(dict.fromkeys(texts))
        windows = [even(self._loaded.tokens(text), EMBEDDER_WINDOW - 2) for text in distinct]
        jobs = [window for group in windows for window in group]
        vectors = iter(each(self._embed_one, jobs, len, self.threads))
        found: dict[str, NDArray[np.float32]] = {}
        for text, group in zip(distinct, windows, strict=True):
            total: NDArray[np.float64] = np.stack([next(vectors) for _ in group]).astype(np.float64).sum(axis=0)
            found[text] = np.asarray(total / max(float(np.linalg.norm(total)), 1e-12), np.float32)
        return np.stack([found[text] for text in texts]) if texts else np.zeros((0, 384), np.float32)

    def relevance(self, pairs: Sequence[tuple[str, str]], *, twice: bool = True) -> NDArray[np.float64]:
        """For each (question, passage) the probability that the passage is useful for the question, [n].

        Of a passage the sentences are read that share most words with the question: 90 words of them, and again three
        of them and their neighbours alone, because one answer among much else is easily overlooked; not so where the
        question comes with its answer (`queries`), which may go without (`twice=False`). What is still more than 256
        tokens is read in windows that cover all of it. The best reading counts. 0 for an empty passage or question.
        """
        return _probabilities(self.relevance_logits(pairs, twice=twice), self._loaded.usefulness)

    @staticmethod
    def queries(question: str, given: str, passages: Sequence[str]) -> list[str]:
        """What to ask for the usefulness of each passage where `given` is the answer that they should lead to.

        The question, and those sentences of the answer that have most to do with the passage, 40 words of them.
        """
        answer = Passage(given)
        return [f"{question} {answer.read(excerpt(answer, passage, GIVEN))}" for passage in passages]

    def directness(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """For each (question, answer) the probability that the answer meets the question, right or wrong, [n].

        The model of `relevance` reads the answer as a passage, with a calibration of its own. 0 for an empty text. A
        few words that are no sentence score low, whatever they answer.
        """
        return _probabilities(self.relevance_logits(pairs), self._loaded.directness)

    def relevance_logits(self, pairs: Sequence[tuple[str, str]], *, twice: bool = True) -> list[float | None]:
        """What `relevance` turns into probabilities: the reranker's best logit; None where a text is empty."""
        distinct = list(dict.fromkeys(pairs))
        indexed = {passage: Passage(passage) for _, passage in distinct}
        windows: list[list[Window]] = []
        for question, passage in distinct:
            chosen = indexed[passage].read(excerpt(indexed[passage], question, EXCERPT))
            texts = (chosen, indexed[passage].around(question)) if twice else (chosen,)
            asked = self._loaded.tokens(question)
            read = dict.fromkeys(tuple(self._loaded.tokens(text)) for text in texts)
            windows.append([window for tokens in read for window in windows_of(asked, tokens)])
        jobs = [window for group in windows for window in group]
        logits = iter(each(self._relevance_one, jobs, length, self.threads))
        best = {
            pair: max((next(logits) for _ in group), default=None)
            for pair, group in zip(distinct, windows, strict=True)
        }
        return [best[pair] for pair in pairs]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.fingerprint}>"

    def support(self, pairs: Sequence[tuple[str, str]], questions: Sequence[str] | None = None) -> list[SupportReading]:
        """For each (passage, claim) whether the passage supports the claim; see `Reader.support`.

        `questions`: what each claim answers, "" for what has none; None for none at all.
        """
        return self._reader.support(pairs, self.threads, questions)

    def word_logits(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each (passage, claim) the log-odds of support by shared words, numbers and names alone."""
        passages = {text: Passage(text) for text, _ in pairs}
        return [self._loaded.regression.logit(passages[text].compare(claim).values) for text, claim in pairs]

    def support_logits(
        self, pairs: Sequence[tuple[str, str]], questions: Sequence[str] | None = None
    ) -> list[Logits | None]:
        """What `support` turns into probabilities: the reader's logits; None where a text is empty."""
        return self._reader.logits(pairs, self.threads, questions)

    def _embed_one(self, window: Sequence[int]) -> NDArray[np.float32]:
        feed = arrays(input_ids=[CLS, *window, SEP], attention_mask=[1] * (len(window) + 2))
        vector: NDArray[np.float32] = self._loaded.embedder.run(feed)[0]
        return vector

    def _relevance_one(self, window: Window) -> float:
        return float(self._read(self._loaded.relevance, window).reshape(-1)[0])

    def _support_one(self, window: Window) -> Logits:
        yes, against, silent = self._read(self._loaded.support, window).reshape(-1).tolist()
        return yes, against, silent

    def _read(self, head: OnnxGraph, window: Window) -> NDArray[np.float32]:
        feed = arrays(**pair_feed(window, CLS, SEP))
        hidden = self._loaded.trunk.run(feed)
        return head.run({"hidden": hidden, "attention_mask": feed["attention_mask"]})


def load(threads: int | None = None) -> Models:
    """The models of this package, on as many threads (None: one for each CPU this process may use).

    The files are checked against their SHA-256 and opened once per process. Raises FileCorrupt.
    """
    return load_from(FILES, threads)


def load_from(directory: str | os.PathLike[str], threads: int | None = None) -> Models:
    """The same from another directory of files."""
    return Models(_opened.of(directory), checked_threads(threads))


def _open(directory: Path) -> _Loaded:
    content = verified(directory)
    numbers = json.loads(content.whole["support.json"])
    return _Loaded(
        tokens=Tokens(content.whole["tokenizer.json"]),
        embedder=OnnxGraph(content.packed["embedder.onnx"]),
        trunk=OnnxGraph(content.packed["trunk.onnx"]),
        relevance=OnnxGraph(content.packed["relevance.onnx"]),
        support=OnnxGraph(content.packed["support.onnx"]),
        regression=Regression.of(numbers),
        calibration=ProbabilityMap.of(numbers["support"]),
        usefulness=_line(numbers["usefulness"]),
        directness=_line(numbers["directness"]),
        card=json.loads(content.whole["card.json"]),
        fingerprint=fingerprint(content.manifest),
    )


_opened = OpenModels(_open)


def _line(numbers: Mapping[str, Any]) -> tuple[float, float]:
    return float(numbers["slope"]), float(numbers["shift"])


def _probabilities(logits: Sequence[float | None], calibration: tuple[float, float]) -> NDArray[np.float64]:
    import numpy as np

    slope, shift = calibration
    return np.array([0.0 if logit is None else sigmoid(slope * logit + shift) for logit in logits], np.float64)
