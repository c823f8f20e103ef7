"""Loads the shipped models and reads texts with them: similarity, usefulness, support.

Every text goes through a model on its own, in float arithmetic: one reading is the same whatever else is asked, and
differs between machines by rounding only. (Arithmetic in int8 would be twice as fast, but moves a probability by up
to 0.14 with the batch, and by 0.03 with the kernels of the CPU; see training/README.md.)
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from assay_embedded.errors import FileCorrupt
from assay_embedded.features import FEATURES, Passage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

FILES = Path(__file__).parent / "files"
EMBEDDER_WINDOW = 256  # tokens, with the two marks around them: what the model was made for
# The reranker could take 512, but was trained on short passages: one answer among other text in a long window moves it
# less than in a short one (training/README.md has the figures).
RERANKER_WINDOW = 256  # tokens, with three marks
QUESTION_WINDOW = 126  # of those at most for the question, so that half is left for the passage
STRIDE_BACK = 64  # tokens that neighbouring windows of a passage share, so that no answer is cut in two
CLS, SEP = 101, 102


@dataclass(frozen=True, slots=True)
class SupportReading:
    """What a passage says of a claim, as far as words show it.

    probability      that the passage supports the claim, in [0, 1]; 0.5 is the threshold measured on the card
    sentence         offsets in the passage of the sentence that covers the claim best; (0, 0) when none shares a word
    missing_numbers  numbers of the claim, as written there, that are nowhere in the passage
    missing_names    the same for names
    overlap          share of the claim's different content words that the passage has, in [0, 1]
    """

    probability: float
    sentence: tuple[int, int]
    missing_numbers: tuple[str, ...]
    missing_names: tuple[str, ...]
    overlap: float


@dataclass(frozen=True, slots=True)
class _Support:
    """The logistic regression over the features, as trained by training/train_support.py."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]
    intercept: float

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> _Support:
        if list(data["features"]) != list(FEATURES):
            raise FileCorrupt("support.json", "its features are not those of features.py")
        fields = {name: tuple(map(float, data[name])) for name in ("low", "high", "mean", "scale", "weights")}
        return cls(**fields, intercept=float(data["intercept"]))

    def probability(self, values: Sequence[float]) -> float:
        """Features outside the range seen in training count as its edge."""
        terms = (
            weight * (min(max(value, low), high) - mean) / scale
            for value, low, high, mean, scale, weight in zip(
                values, self.low, self.high, self.mean, self.scale, self.weights, strict=True
            )
        )
        return _sigmoid(self.intercept + math.fsum(terms))


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The open files; shared by every Models of a process."""

    tokenizer: Any
    embedder: Any
    reranker: Any
    support: _Support
    usefulness: tuple[float, float]
    card: Mapping[str, Any]
    fingerprint: str


class Models:
    """The shipped models. Safe to use from several threads; holds no state between calls.

    fingerprint  a hash over the manifest of the files and the version of this package: equal fingerprints mean equal
                 readings, but for rounding
    card         what was measured, limits and languages; the content of card.json
    """

    def __init__(self, loaded: _Loaded, threads: int) -> None:
        self._loaded = loaded
        self.threads = threads
        self.fingerprint: str = loaded.fingerprint
        self.card: Mapping[str, Any] = loaded.card

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector of length 1 per text, [n, 384]; the scalar product of two is their similarity.

        A text of more than 254 tokens is read in windows of equal length that cover all of it; its vector is their
        mean, made length 1 again.
        """
        import numpy as np

        distinct = list(dict.fromkeys(texts))
        windows = [_even(self._tokens(text), EMBEDDER_WINDOW - 2) for text in distinct]
        jobs = [window for group in windows for window in group]
        vectors = iter(self._each(self._embed_one, jobs, size=len))
        found: dict[str, NDArray[np.float32]] = {}
        for text, group in zip(distinct, windows, strict=True):
            total: NDArray[np.float64] = np.stack([next(vectors) for _ in group]).astype(np.float64).sum(axis=0)
            found[text] = np.asarray(total / max(float(np.linalg.norm(total)), 1e-12), np.float32)
        return np.stack([found[text] for text in texts]) if texts else np.zeros((0, 384), np.float32)

    def relevance(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
        """For each (question, passage) the probability that the passage is useful for the question, [n].

        A pair of more than 256 tokens is read in windows that overlap and cover all of it. A passage of many sentences
        is also read in short: those that share most words with the question, and their neighbours; one answer among
        much else is easily overlooked. The best reading counts. 0 for an empty passage or question.
        """
        import numpy as np

        slope, shift = self._loaded.usefulness
        found = (0.0 if logit is None else _sigmoid(slope * logit + shift) for logit in self.relevance_logits(pairs))
        return np.fromiter(found, np.float64, len(pairs))

    def relevance_logits(self, pairs: Sequence[tuple[str, str]]) -> list[float | None]:
        """What `relevance` turns into probabilities: the reranker's best logit; None where a text is empty."""
        distinct = list(dict.fromkeys(pairs))
        indexed = {passage: Passage(passage) for _, passage in distinct}
        read = [list(dict.fromkeys((passage, indexed[passage].around(question)))) for question, passage in distinct]
        texts = dict.fromkeys(
            text for (question, _), given in zip(distinct, read, strict=True) for text in (question, *given)
        )
        tokens = {text: self._tokens(text) for text in texts}
        windows = [
            [window for text in given for window in _pairs(tokens[question], tokens[text])]
            for (question, _), given in zip(distinct, read, strict=True)
        ]
        jobs = [window for group in windows for window in group]
        logits = iter(self._each(self._relevance_one, jobs, size=lambda job: len(job[0]) + len(job[1])))
        best = {
            pair: max((next(logits) for _ in group), default=None)
            for pair, group in zip(distinct, windows, strict=True)
        }
        return [best[pair] for pair in pairs]

    def support(self, pairs: Sequence[tuple[str, str]]) -> list[SupportReading]:
        """For each (passage, claim) what their words say; no model beyond a regression over FEATURES is asked."""
        passages: dict[str, Passage] = {}
        readings = []
        for text, claim in pairs:
            if text not in passages:
                passages[text] = Passage(text)
            found = passages[text].compare(claim)
            readings.append(
                SupportReading(
                    probability=self._loaded.support.probability(found.values),
                    sentence=found.sentence,
                    missing_numbers=found.missing_numbers,
                    missing_names=found.missing_names,
                    overlap=found.overlap,
                )
            )
        return readings

    def _tokens(self, text: str) -> list[int]:
        ids: list[int] = self._loaded.tokenizer.encode(_readable(text), add_special_tokens=False).ids
        return ids

    def _embed_one(self, window: Sequence[int]) -> NDArray[np.float32]:
        feed = _arrays(input_ids=[CLS, *window, SEP], attention_mask=[1] * (len(window) + 2))
        vector: NDArray[np.float32] = self._loaded.embedder.run(None, feed)[0][0]
        return vector

    def _relevance_one(self, window: tuple[Sequence[int], Sequence[int]]) -> float:
        question, passage = window
        ids = [CLS, *question, SEP, *passage, SEP]
        types = [0] * (len(question) + 2) + [1] * (len(passage) + 1)
        feed = _arrays(input_ids=ids, attention_mask=[1] * len(ids), token_type_ids=types)
        return float(self._loaded.reranker.run(None, feed)[0].reshape(-1)[0])

    def _each(self, run: Callable[[Any], T], jobs: Sequence[Any], size: Callable[[Any], int]) -> list[T]:
        """`run` over the jobs on all threads, the longest first so that none waits long at the end."""
        workers = min(self.threads, len(jobs))
        if workers <= 1:
            return [run(job) for job in jobs]
        order = sorted(range(len(jobs)), key=lambda i: -size(jobs[i]))
        # a pool per call costs 0.1 ms, leaves no threads behind, and survives a fork of the process
        with ThreadPoolExecutor(workers, thread_name_prefix="assay-embedded") as pool:
            results = dict(zip(order, pool.map(run, [jobs[i] for i in order]), strict=True))
        return [results[i] for i in range(len(jobs))]


_opened: dict[Path, _Loaded] = {}
_lock = threading.Lock()


def load(threads: int | None = None) -> Models:
    """The models of this package, on as many threads (None: one for each CPU this process may use).

    The files are checked against their SHA-256 and opened once per process. Raises FileCorrupt.
    """
    return load_from(FILES, threads)


def load_from(directory: str | os.PathLike[str], threads: int | None = None) -> Models:
    """The same from another directory of files."""
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")
    path = Path(directory).resolve()
    with _lock:
        if path not in _opened:
            _opened[path] = _open(path)
        loaded = _opened[path]
    return Models(loaded, threads if threads is not None else _cpus())


def _cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _open(directory: Path) -> _Loaded:
    content = _verified(directory)
    import onnxruntime
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # threads are ours: one text each
    options.log_severity_level = 3

    def session(name: str) -> Any:
        return onnxruntime.InferenceSession(content[name], options, providers=["CPUExecutionProvider"])

    tokenizer = Tokenizer.from_str(content["tokenizer.json"].decode("utf-8"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    support = json.loads(content["support.json"])
    return _Loaded(
        tokenizer=tokenizer,
        embedder=session("embedder.onnx"),
        reranker=session("reranker.onnx"),
        support=_Support.read(support),
        usefulness=(float(support["usefulness"]["slope"]), float(support["usefulness"]["shift"])),
        card=json.loads(content["card.json"]),
        fingerprint=_fingerprint(content["manifest.json"]),
    )


def _verified(directory: Path) -> dict[str, bytes]:
    """The bytes of every file the manifest names, and of the manifest; what is checked is what is used."""
    content = {"manifest.json": _read(directory, "manifest.json")}
    try:
        listed: dict[str, dict[str, Any]] = json.loads(content["manifest.json"])["files"]
    except (ValueError, KeyError, TypeError):
        raise FileCorrupt("manifest.json", "it is not a manifest") from None
    for name, expected in listed.items():
        content[name] = _read(directory, name)
        if hashlib.sha256(content[name]).hexdigest() != expected["sha256"]:
            raise FileCorrupt(name, "its SHA-256 is not the one in the manifest")
    return content


def _read(directory: Path, name: str) -> bytes:
    try:
        return (directory / name).read_bytes()
    except OSError as error:
        raise FileCorrupt(name, f"it cannot be read ({error.strerror})") from None


def _fingerprint(manifest: bytes) -> str:
    return hashlib.sha256(version("assay-embedded").encode() + b"\n" + manifest).hexdigest()


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def _readable(text: str) -> str:
    """Lone surrogates, which no tokenizer takes, become question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _arrays(**rows: Sequence[int]) -> dict[str, NDArray[np.int64]]:
    import numpy as np

    return {name: np.array([row], np.int64) for name, row in rows.items()}


def _even(tokens: Sequence[int], longest: int) -> list[Sequence[int]]:
    """All tokens, in as few windows as fit, their lengths differing by 1 at most; one empty window for no tokens."""
    count = max(1, math.ceil(len(tokens) / longest))
    edges = [len(tokens) * i // count for i in range(count + 1)]
    return [tokens[edges[i] : edges[i + 1]] for i in range(count)]


def _pairs(question: Sequence[int], passage: Sequence[int]) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
    """Windows that show every token of both; none when one of them is empty."""
    if not question or not passage:
        return
    for asked in _even(question, QUESTION_WINDOW):
        room = RERANKER_WINDOW - 3 - len(asked)
        start = 0
        while True:
            yield asked, passage[start : start + room]
            if start + room >= len(passage):
                break
            start += room - STRIDE_BACK
