"""Cutting a text that is longer than a judge can read."""

from __future__ import annotations

from collections.abc import Iterator

from assay.errors import InputError
from assay.records import Span
from assay.text.sentences import split_sentences


def windows(text: str, max_chars: int, language: str = "en") -> tuple[Span, ...]:
    """Consecutive pieces of `text`, each of 1 to `max_chars` characters; `()` for a blank text.

    Cuts at sentence ends. A sentence longer than `max_chars` is cut at a space, and where it has none, anywhere.
    Whatever is in no piece is whitespace. Takes linear time. Raises InputError for `max_chars` below 1.
    """
    if max_chars < 1:
        raise InputError(f"max_chars must be at least 1, not {max_chars!r}")
    trimmed = text.strip()
    if not trimmed:
        return ()
    start = len(text) - len(text.lstrip())
    if len(trimmed) <= max_chars:  # the common case needs no splitter
        return (Span(start, start + len(trimmed)),)
    pieces: list[Span] = []
    for part in _parts(text, max_chars, language):
        if pieces and part.end - pieces[-1].start <= max_chars:
            pieces[-1] = Span(pieces[-1].start, part.end)
        else:
            pieces.append(part)
    return tuple(pieces)


def _parts(text: str, max_chars: int, language: str) -> Iterator[Span]:
    """The sentences, and the pieces of those that are too long."""
    for sentence in split_sentences(text, language):
        start = sentence.start
        while sentence.end - start > max_chars:
            cut = _last_space(text, start, start + max_chars)
            yield Span(start, start + len(text[start:cut].rstrip()))
            start = cut + _leading_space(text, cut, sentence.end)
        yield Span(start, sentence.end)


def _last_space(text: str, start: int, limit: int) -> int:
    """The last position in (start, limit] at which a space stands, or `limit`."""
    for at in range(limit, start, -1):
        if text[at].isspace():
            return at
    return limit


def _leading_space(text: str, start: int, end: int) -> int:
    at = start
    while at < end and text[at].isspace():
        at += 1
    return at - start
