"""Loads the shipped models and reads texts with them: similarity, usefulness, support.

Every text goes through a model on its own: one reading is the same whatever else is asked. Support and usefulness are
read with products of integers, which is more than twice as quick as float arithmetic. Their sums are exact on every
CPU, and what is float around them is rounded by it: between CPUs a probability may differ by some hundredths, and by
rounding only for similarity, which is float throughout (training/README.md has the figures).
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from assay.forks import GATE, own_lock
from assay.threads import at_the_end
from assay_embedded.excerpt import excerpt
from assay_embedded.features import Passage
from assay_embedded.files import FILES, Packed, fingerprint, verified
from assay_embedded.support import Calibration, Logits, Regression, SupportReading, combined, judged, sigmoid
from assay_embedded.windows import CLS, EMBEDDER_WINDOW, SEP, Window, even, length, windows_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")
_Pair = tuple[str, str]

STOPPING = 0.25  # seconds that the end of the process waits for a reading, or a file that is being opened, at most
EXCERPT = 90  # words of a passage that a claim or a question is read with
GIVEN = 40  # words of the answer that a passage should lead to


class _Graph:
    """One model: unpacked and opened when something is first read with it, since each takes tens of megabytes."""

    __slots__ = ("_packed", "_session")

    def __init__(self, packed: Packed) -> None:
        self._packed: Packed | None = packed
        self._session: Any = None

    def run(self, feed: Mapping[str, Any]) -> NDArray[np.float32]:
        """The model's output. Raises Ending where the process ends."""
        session = self._session or self._opened()
        with _native():
            result: NDArray[np.float32] = session.run(None, feed)[0]
        return result

    def _opened(self) -> Any:
        with _lock:
            if self._session is None and self._packed is not None:
                self._session = _session(self._packed.unpacked())
                self._packed = None
        return self._session


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The files; shared by every Models of a process."""

    tokenizer: Any
    embedder: _Graph
    trunk: _Graph  # the layers that reading for relevance and for support share
    relevance: _Graph
    support: _Graph
    regression: Regression
    calibration: Calibration
    usefulness: tuple[float, float]
    directness: tuple[float, float]
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
        windows = [even(self._tokens(text), EMBEDDER_WINDOW - 2) for text in distinct]
        jobs = [window for group in windows for window in group]
        vectors = iter(self._each(self._embed_one, jobs, size=len))
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
            asked = self._tokens(question)
            read = dict.fromkeys(tuple(self._tokens(text)) for text in texts)
            windows.append([window for tokens in read for window in windows_of(asked, tokens)])
        jobs = [window for group in windows for window in group]
        logits = iter(self._each(self._relevance_one, jobs, size=length))
        best = {
            pair: max((next(logits) for _ in group), default=None)
            for pair, group in zip(distinct, windows, strict=True)
        }
        return [best[pair] for pair in pairs]

    def support(self, pairs: Sequence[tuple[str, str]]) -> list[SupportReading]:
        """For each (passage, claim) whether the passage supports the claim, says otherwise, or does not say.

        The claim is read against the sentences of the whole passage that have most to do with it, 90 words of them.
        What is still more than 256 tokens is read in windows that cover all of it, of which the one that supports the
        claim best counts; a claim of more than 126 tokens counts by its least supported part. Probability 0 for an
        empty passage or claim.
        """
        passages = {text: Passage(text) for text, _ in pairs}
        read = _excerpts(pairs, passages)
        loaded = self._loaded
        readings = []
        for logits, (text, claim) in zip(self._logits(passages, read, pairs), pairs, strict=True):
            words, spans = passages[text].compare(claim), [passages[text].pieces[i].span for i in read[text, claim]]
            readings.append(judged(logits, words, loaded.regression, loaded.calibration, spans))
        return readings

    def word_logits(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each (passage, claim) the log-odds of support by shared words, numbers and names alone."""
        passages = {text: Passage(text) for text, _ in pairs}
        return [self._loaded.regression.logit(passages[text].compare(claim).values) for text, claim in pairs]

    def support_logits(self, pairs: Sequence[tuple[str, str]]) -> list[Logits | None]:
        """What `support` turns into probabilities: the reader's logits; None where a text is empty."""
        passages = {text: Passage(text) for text, _ in pairs}
        return self._logits(passages, _excerpts(pairs, passages), pairs)

    def _logits(
        self, passages: Mapping[str, Passage], read: Mapping[_Pair, Sequence[int]], pairs: Sequence[_Pair]
    ) -> list[Logits | None]:
        windows: list[list[Window]] = []
        for (text, claim), chosen in read.items():
            windows.append(list(windows_of(self._tokens(claim), self._tokens(passages[text].read(chosen)))))
        jobs = [window for group in windows for window in group]
        logits = iter(self._each(self._support_one, jobs, size=length))
        found: dict[tuple[str, str], Logits | None] = {}
        for pair, group in zip(read, windows, strict=True):
            parts = groupby(((part, next(logits)) for part, _ in group), key=lambda one: tuple(one[0]))
            found[pair] = combined([[logit for _, logit in part] for _, part in parts])
        return [found[pair] for pair in pairs]

    def _tokens(self, text: str) -> list[int]:
        with _native():
            ids: list[int] = self._loaded.tokenizer.encode(_readable(text), add_special_tokens=False).ids
        return ids

    def _embed_one(self, window: Sequence[int]) -> NDArray[np.float32]:
        feed = _arrays(input_ids=[CLS, *window, SEP], attention_mask=[1] * (len(window) + 2))
        vector: NDArray[np.float32] = self._loaded.embedder.run(feed)[0]
        return vector

    def _relevance_one(self, window: Window) -> float:
        return float(self._read(self._loaded.relevance, window).reshape(-1)[0])

    def _support_one(self, window: Window) -> Logits:
        yes, against, silent = self._read(self._loaded.support, window).reshape(-1).tolist()
        return yes, against, silent

    def _read(self, head: _Graph, window: Window) -> NDArray[np.float32]:
        first, passage = window
        ids = [CLS, *first, SEP, *passage, SEP]
        types = [0] * (len(first) + 2) + [1] * (len(passage) + 1)
        feed = _arrays(input_ids=ids, attention_mask=[1] * len(ids), token_type_ids=types)
        hidden = self._loaded.trunk.run(feed)
        return head.run({"hidden": hidden, "attention_mask": feed["attention_mask"]})

    def _each(self, run: Callable[[Any], T], jobs: Sequence[Any], size: Callable[[Any], int]) -> list[T]:
        """`run` over the jobs on all threads, the longest first so that none waits long at the end."""
        workers = min(self.threads, len(jobs))
        if workers <= 1:
            return [run(job) for job in jobs]
        todo = deque(sorted(range(len(jobs)), key=lambda i: -size(jobs[i])))
        results: dict[int, T] = {}
        errors: list[BaseException] = []

        def work() -> None:
            while not errors:
                try:
                    number = todo.popleft()
                except IndexError:
                    return
                try:
                    results[number] = run(jobs[number])
                except BaseException as error:
                    errors.append(error)

        # threads for one call cost 0.1 ms, and none is there afterwards
        helpers = [Thread(target=work, name="assay-embedded-reading", daemon=True) for _ in range(workers - 1)]
        for helper in helpers:
            helper.start()
        work()
        for helper in helpers:
            helper.join()
        if errors:
            raise errors[0]
        return [results[i] for i in range(len(jobs))]


def _excerpts(pairs: Sequence[_Pair], passages: Mapping[str, Passage]) -> dict[_Pair, tuple[int, ...]]:
    """Which pieces of its passage each claim is read against, by number."""
    return {(text, claim): excerpt(passages[text], claim, EXCERPT) for text, claim in dict.fromkeys(pairs)}


class Ending(Exception):
    """The process ends: nothing more is read. A thread that is in native code then would bring it down."""


_opened: dict[Path, _Loaded] = {}
_lock = own_lock(sys.modules[__name__])
_ending = False


@contextlib.contextmanager
def _native() -> Iterator[None]:
    """Around native code. Raises Ending where the process ends."""
    with GATE.entered():
        if _ending:
            raise Ending("the process ends")
        yield


def _end() -> None:
    global _ending
    _ending = True
    GATE.empty(STOPPING)


at_the_end(_end)


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
    content = verified(directory)
    with _native():
        import numpy  # noqa: F401  with the others: nothing is to be imported while the process forks
        import onnxruntime  # noqa: F401
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(content.whole["tokenizer.json"].decode("utf-8"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    numbers = json.loads(content.whole["support.json"])
    return _Loaded(
        tokenizer=tokenizer,
        embedder=_Graph(content.packed["embedder.onnx"]),
        trunk=_Graph(content.packed["trunk.onnx"]),
        relevance=_Graph(content.packed["relevance.onnx"]),
        support=_Graph(content.packed["support.onnx"]),
        regression=Regression.of(numbers),
        calibration=Calibration.of(numbers["support"]),
        usefulness=_line(numbers["usefulness"]),
        directness=_line(numbers["directness"]),
        card=json.loads(content.whole["card.json"]),
        fingerprint=fingerprint(content.manifest),
    )


def _session(graph: bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # threads are ours: one text each
    options.log_severity_level = 3
    with _native():
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _line(numbers: Mapping[str, Any]) -> tuple[float, float]:
    return float(numbers["slope"]), float(numbers["shift"])


def _probabilities(logits: Sequence[float | None], calibration: tuple[float, float]) -> NDArray[np.float64]:
    import numpy as np

    slope, shift = calibration
    return np.array([0.0 if logit is None else sigmoid(slope * logit + shift) for logit in logits], np.float64)


def _readable(text: str) -> str:
    """Lone surrogates, which no tokenizer takes, become question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _arrays(**rows: Sequence[int]) -> dict[str, NDArray[np.int64]]:
    import numpy as np

    return {name: np.array([row], np.int64) for name, row in rows.items()}
