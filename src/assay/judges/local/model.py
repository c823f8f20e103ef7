"""A cross-encoder or token classifier in ONNX, as others ship it, and what it says of a claim.

What goes in are a text and a claim, in the model's own tokens; a text that does not fit is read in parts of whole
sentences, and the part that supports the claim best counts. Every reading is made alone, so it does not depend on its
neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

from assay._util.forks import FORK_LOCK, own_lock
from assay._util.install_hints import install_package
from assay.errors import Cause, InputError, JudgeFailure, MissingExtra
from assay.judges.local.files import files_of
from assay.judges.local.labels import Labels, meanings, probabilities
from assay.records import SupportLabel, fingerprint
from assay.text import split_sentences

INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
USUAL = 512  # tokens of a window where the model does not say; a longer one is used only when it is asked for
FEWEST = 32  # tokens of a text that a reading must have room for
_MARKS = ".,;:!?\"'()"


@dataclass(frozen=True, slots=True)
class DiskReading:
    """What a text says of a claim; `unsupported`: the parts of the claim that a token classifier marks so."""

    probability: float
    contradiction: float
    sentence: tuple[int, int]
    unsupported: tuple[tuple[int, int], ...] = ()


class DiskModel:
    """One model on disk. Opened when something is first read with it; safe to use from several threads."""

    def __init__(
        self, path: Path, *, labels: Labels | None, template: str | None, claim_first: bool, window: int | None,
        threads: int | None,
    ) -> None:  # fmt: skip
        if template is not None and not ("{passage}" in template and "{claim}" in template):
            raise InputError("local judge: template must have {passage} and {claim} in it")
        if window is not None and window < 2 * FEWEST:
            raise InputError(f"local judge: window must be at least {2 * FEWEST} tokens, not {window}")
        self._files = files_of(path)
        self.config = self._files.config
        self.labels, self._template, self._claim_first, self._threads = labels, template, claim_first, threads
        longest = self.config.get("max_position_embeddings")
        own = min(longest, USUAL) if isinstance(longest, int) and longest > 2 * FEWEST else USUAL
        self.window = window or own
        self._lock = own_lock(self, "_lock")
        self._opened: tuple[Any, Any, list[str]] | None = None
        self._meaning: tuple[SupportLabel, ...] | None = None

    @cached_property
    def fingerprint(self) -> str:
        """A hash over the files and everything that decides how they are used."""
        labels = dict(self.labels) if isinstance(self.labels, Mapping) else self.labels
        use = [repr(labels), self.config.get("id2label"), self._template, self._claim_first, self.window]
        return fingerprint([self._files.hashes(), *use])

    def open(self) -> None:
        """Opens the files. Raises MissingExtra, and InputError for files that are not what they should be."""
        self._models()

    def read(self, text: str, claim: str, question: str | None = None) -> DiskReading:
        """What the text says of the claim; probability 0 for an empty one. Raises JudgeFailure (too_long, parse)."""
        if not text.strip() or not claim.strip():
            return DiskReading(0.0, 0.0, (0, 0))
        text, claim, question = self._unmarked(text), self._unmarked(claim), question and self._unmarked(question)
        parts = self._parts(text, claim, question)
        readings = [self._read_part(text[start:end], claim, question, start) for start, end in parts]
        return max(readings, key=lambda reading: reading.probability)

    def _models(self) -> tuple[Any, Any, list[str]]:
        """Session, tokenizer and names of the inputs."""
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    def _open(self) -> tuple[Any, Any, list[str]]:
        with FORK_LOCK.entered():
            try:
                import onnxruntime
                from tokenizers import Tokenizer
            except ImportError as error:
                command = install_package("onnxruntime", "tokenizers", "numpy")
                raise MissingExtra(f"a judge on disk needs onnxruntime and tokenizers: {command}") from error
            options = onnxruntime.SessionOptions()
            options.log_severity_level = 4
            if self._threads is not None:
                options.intra_op_num_threads = self._threads
            try:
                tokenizer = Tokenizer.from_file(str(self._files.tokenizer))
            except Exception as error:  # of tokenizers, which raises nothing more special
                raise InputError(f"local judge: {self._files.tokenizer} is no tokenizer ({error})") from error
            try:
                session = onnxruntime.InferenceSession(str(self._files.model), options, ["CPUExecutionProvider"])
            except Exception as error:
                raise InputError(f"local judge: {self._files.model} is no ONNX model ({error})") from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        inputs = sorted(one.name for one in session.get_inputs())
        if "input_ids" not in inputs or not set(inputs) <= INPUTS:
            raise InputError(
                f"local judge: {self._files.model} takes {', '.join(inputs)}; expected input_ids, attention_mask and, "
                "for some, token_type_ids"
            )
        return session, tokenizer, inputs

    def _unmarked(self, text: str) -> str:
        """No text says where it ends: what the tokenizer takes for such a mark ("[SEP]") is put in other brackets."""
        _, tokenizer, _ = self._models()
        for token in tokenizer.get_added_tokens_decoder().values():
            if token.special and len(token.content) > 2:
                text = text.replace(token.content, f"({token.content[1:-1]})")  # as long, so that offsets stay
        return text

    def _encoded(self, passage: str, claim: str, question: str | None) -> Any:
        _, tokenizer, _ = self._models()
        with FORK_LOCK.entered():
            if self._template is not None:
                return tokenizer.encode(filled(self._template, passage=passage, claim=claim, question=question or ""))
            first, second = (claim, passage) if self._claim_first else (passage, claim)
            return tokenizer.encode(first, second)

    def _parts(self, text: str, claim: str, question: str | None) -> list[tuple[int, int]]:
        """The text in parts that fit a window with the claim: whole sentences, but for those that are longer."""
        room = self.window - len(self._encoded("", claim, question).ids) - 4
        if room < FEWEST:
            raise JudgeFailure(
                Cause.TOO_LONG, f"a claim of {len(claim)} characters leaves no room for a text in {self.window} tokens"
            )
        parts: list[tuple[int, int]] = []
        used = 0
        for span in split_sentences(text):
            for start, end, size in _cut(span.start, span.end, self._size(span.of(text)), room):
                if parts and used + size <= room:
                    parts[-1] = (parts[-1][0], end)
                    used += size
                else:
                    parts.append((start, end))
                    used = size
        return parts

    def _size(self, text: str) -> int:
        _, tokenizer, _ = self._models()
        with FORK_LOCK.entered():
            return len(tokenizer.encode(text, add_special_tokens=False).ids) + 1

    def _read_part(self, text: str, claim: str, question: str | None, offset: int) -> DiskReading:
        import numpy as np

        session, _, inputs = self._models()
        encoded = self._encoded(text, claim, question)
        rows = {
            "input_ids": encoded.ids, "attention_mask": encoded.attention_mask, "token_type_ids": encoded.type_ids,
        }  # fmt: skip
        feed = {name: np.array([rows[name][: self.window]], np.int64) for name in inputs}
        with FORK_LOCK.entered():
            out = np.asarray(session.run(None, feed)[0], np.float64)
        if not out.size or not np.isfinite(out).all():
            raise JudgeFailure(Cause.PARSE, "the model on disk gave something that is no number")
        start, end = nearest_sentence(text, claim)
        place = (offset + start, offset + end)
        if out.ndim == 3:
            return self._by_token(out[0].tolist(), encoded, claim, place)
        yes, against = probabilities(out.reshape(-1).tolist(), self._means(out.size))
        return DiskReading(yes, against, place)

    def _means(self, count: int) -> tuple[SupportLabel, ...]:
        if self._meaning is None:
            self._meaning = meanings(count, self.labels, self.config)
        return self._meaning

    def _by_token(
        self, rows: Sequence[Sequence[float]], encoded: Any, claim: str, place: tuple[int, int]
    ) -> DiskReading:
        """A claim is as well supported as its least supported token."""
        if self._template is not None:
            raise InputError("local judge: a model that labels tokens reads a pair; leave template= out")
        meaning = self._means(len(rows[0]))
        which = 0 if self._claim_first else 1
        tokens = [
            (*probabilities(row, meaning), *place_)
            for row, place_, part in zip(rows, encoded.offsets, encoded.sequence_ids, strict=False)
            if part == which and place_[1] > place_[0]
        ]
        if not tokens:
            raise JudgeFailure(Cause.TOO_LONG, "none of the claim's tokens is in the window of the model on disk")
        worst = min(tokens, key=lambda token: token[0])
        wrong = _joined([(start, end) for yes, _, start, end in tokens if yes < 0.5], claim)
        return DiskReading(worst[0], worst[1], place, tuple(wrong))


def filled(template: str, **values: str) -> str:
    """The template with its names filled in; what is filled in is not looked at again."""
    out, rest = [], template
    while found := [(rest.index("{" + name + "}"), name) for name in values if "{" + name + "}" in rest]:
        start, name = min(found)
        out += [rest[:start], values[name]]
        rest = rest[start + len(name) + 2 :]
    return "".join((*out, rest))


def nearest_sentence(text: str, claim: str) -> tuple[int, int]:
    """The sentence that has most of the claim's words; the first of those that have as many, all of a text without."""
    wanted = {word.casefold().strip(_MARKS) for word in claim.split()}
    spans = [(span.start, span.end) for span in split_sentences(text)]

    def shared(span: tuple[int, int]) -> int:
        return len(wanted & {word.casefold().strip(_MARKS) for word in text[slice(*span)].split()})

    return max(spans, key=shared, default=(0, len(text)))


def _cut(start: int, end: int, size: int, room: int) -> list[tuple[int, int, int]]:
    """A sentence, or one of too many tokens in equal parts: by characters, so with room for uneven ones."""
    count = 1 if size <= room else 2 * -(-size // room)
    edges = [start + (end - start) * n // count for n in range(count + 1)]
    return [(a, b, -(-size // count)) for a, b in pairwise(edges) if b > a]


def _joined(spans: Sequence[tuple[int, int]], text: str) -> list[tuple[int, int]]:
    """Neighbouring tokens as one part, with the white space between them."""
    out: list[tuple[int, int]] = []
    for start, end in spans:
        if out and not text[out[-1][1] : start].strip():
            out[-1] = (out[-1][0], end)
        else:
            out.append((start, end))
    return out
