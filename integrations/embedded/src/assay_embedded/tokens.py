"""A text in the tokens of a model, words that it has none for too."""

from __future__ import annotations

import re
from typing import Any

from assay_embedded.graphs import native
from assay_embedded.unknown_words import code, spelled

_RUN = re.compile(r"([^\w\s])\1{16,}")  # a line of dashes says no more than sixteen do, and each is a token
#: What stands for words that a vocabulary has no tokens for, and for what no text is to say: where one ends.
_MARKS = ("[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]", "<unk>", "<s>", "</s>", "<pad>", "<mask>")


class Tokens:
    """What splits a text into the tokens of a model.

    Words that it has none for are spelled out, and so are its marks: a text that says "[SEP]" does not end there. Of a
    sign that is repeated the first sixteen are read.
    """

    def __init__(self, content: bytes) -> None:
        with native():
            import numpy  # noqa: F401  with the others: nothing is to be imported while the process forks
            import onnxruntime  # noqa: F401
            from tokenizers import Tokenizer

            self._tokenizer = Tokenizer.from_str(content.decode("utf-8"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._marks = {self._tokenizer.token_to_id(mark) for mark in _MARKS} - {None}

    def __call__(self, text: str) -> list[int]:
        """The tokens, without marks around them; none for white space, which some models have a token for."""
        if not text.strip():
            return []
        text = _RUN.sub(_shortened, _readable(text))
        with native():
            found = self._encoded(text)
            if self._marks.isdisjoint(found.ids):
                return list(found.ids)
            pieces = [(token, text[slice(*place)]) for token, place in zip(found.ids, found.offsets, strict=True)]
            strange = {word: self._spelled(word) for token, word in pieces if token in self._marks}
        return [part for token, word in pieces for part in (strange[word] if token in self._marks else (token,))]

    def _spelled(self, word: str) -> list[int]:
        ids: list[int] = self._encoded(spelled(word, self._knows)).ids
        return ids if self._marks.isdisjoint(ids) else list(self._encoded(code(word)).ids)

    def _knows(self, char: str) -> bool:
        ids = self._encoded(char).ids
        return bool(ids) and self._marks.isdisjoint(ids)

    def _encoded(self, text: str) -> Any:
        return self._tokenizer.encode(text, add_special_tokens=False)


def _shortened(run: re.Match[str]) -> str:
    return run[1] * 16


def _readable(text: str) -> str:
    """Lone surrogates, which no tokenizer takes, become question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
