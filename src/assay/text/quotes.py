"""Judgement a judge's quote in the passage it was taken from.

Judges copy almost verbatim: they straighten quotation marks, change case, join lines, or leave out the middle. So a
quote is looked for as it stands first, and then with both sides normalised. The result points into the passage as it
is: evidence is what the passage says, not what the judge wrote.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left
from dataclasses import dataclass
from itertools import repeat

from assay.records import Span
from assay.text.cache import BoundedCache

_INVISIBLE = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff"
_SINGLE = "'`´‘’‚‛′ʼ＇"
_DOUBLE = '"“”„‟″«»＂'
_DASHES = "‐‑‒–—―−⸺⸻﹘﹣－-"  # the plain one last: a range elsewhere in a character class

_UNIT = re.compile(
    rf"(?P<plain>[A-Za-z0-9,:;?!()\[\]/%&@#$+=<>]+(?![\u0300-\u036f]))"
    rf"|(?P<space>[\s{_INVISIBLE}]+)"
    rf"|(?P<quote>[{_SINGLE}{_DOUBLE}])"
    rf"|(?P<dash>[{_DASHES}]+)"
    rf"|(?P<dots>\.{{3,}}|[…‥]+)"
    rf"|(?P<other>.[\u0300-\u036f]*)",
    re.DOTALL,
)
_DOTS = r"(?:\.{3,}+|…)"
_ELISION = re.compile(rf"\[\s*+{_DOTS}\s*+\]|\(\s*+{_DOTS}\s*+\)|{_DOTS}")
_AROUND = (" ", "'", "...", "[...]", "(...)")
_FEWEST = 3  # letters and digits: what is shorter stands somewhere in any passage
_MOST_TRIES = 1000  # matches that begin or end within a character, such as "s" in "ß"; keeps the search linear


@dataclass(frozen=True, slots=True)
class _Normal:
    """A normalised text; character i of `text` comes from `starts[i]` up to `ends[i]` of the original."""

    text: str
    starts: array[int]
    ends: array[int]


def locate(quote: str, passage: str) -> Span | None:
    """Where `passage` says `quote`; the first place. None where it does not, and for a blank quote.

    Tries the exact string, then ignores case, runs of whitespace, invisible characters, compatibility forms (NFKC),
    the shape of quotation marks, dashes and ellipses, and quotation marks and ellipses around the quote. A quote of
    fewer than 3 letters or digits is found only exactly. Takes linear time.
    """
    if not quote.strip():
        return None
    at = passage.find(quote)
    if at >= 0:
        return Span(at, at + len(quote))
    return _find(quote, _normal(passage), 0)


def locate_parts(quote: str, passage: str) -> tuple[Span, ...]:
    """Where `passage` says the parts of a quote with something left out ("first ... second"), in order.

    One span where the quote stands as a whole; `()` where any part is missing or they come in another order.
    """
    whole = locate(quote, passage)
    if whole is not None:
        return (whole,)
    parts = [part for piece in _ELISION.split(quote) if (part := piece.strip())]
    if len(parts) < 2 or not any(_is_long(normalise(part)) for part in parts):
        return ()
    normal = _normal(passage)
    spans: list[Span] = []
    at = 0
    for part in parts:
        span = _find(part, normal, at) or _exactly(part, passage, at)
        if span is None:
            return ()
        spans.append(span)
        at = span.end
    return tuple(spans)


def normalise(text: str) -> str:
    """What `locate` compares: two texts that differ only in what it ignores give the same string."""
    return _trim(_normalise(text).text)


def _exactly(part: str, passage: str, start: int) -> Span | None:
    at = passage.find(part, start)
    return Span(at, at + len(part)) if at >= 0 else None


def _find(quote: str, passage: _Normal, start: int) -> Span | None:
    wanted = normalise(quote)
    if not _is_long(wanted):
        return None
    at = _index(passage, start)
    for _ in range(_MOST_TRIES):
        at = passage.text.find(wanted, at)
        if at < 0:
            return None
        last = at + len(wanted) - 1
        if _is_border(passage, at) and _is_border(passage, last + 1):
            return Span(passage.starts[at], passage.ends[last])
        at += 1
    return None


def _is_long(normal: str) -> bool:
    return sum(map(str.isalnum, normal)) >= _FEWEST


def _index(passage: _Normal, start: int) -> int:
    """The first normalised character that comes from `start` or later."""
    return bisect_left(passage.starts, start)


def _is_border(passage: _Normal, at: int) -> bool:
    """Whether characters at - 1 and at come from different places, so that a span may begin or end there."""
    return at in (0, len(passage.starts)) or passage.starts[at - 1] != passage.starts[at]


def _trim(text: str) -> str:
    """Without whitespace, quotation marks and ellipses around it."""
    start, end = 0, len(text)
    while around := next((mark for mark in _AROUND if text.startswith(mark, start, end)), None):
        start += len(around)
    while around := next((mark for mark in _AROUND if text.endswith(mark, start, end)), None):
        end -= len(around)
    return text[start:end]


def _normalise(text: str) -> _Normal:
    chars: list[str] = []
    starts, ends = array("q"), array("q")
    for match in _UNIT.finditer(text):
        kind, (start, end) = match.lastgroup, match.span()
        if kind == "plain":  # most of most texts: one normalised character for each
            chars.append(match.group().lower())
            starts.extend(range(start, end))
            ends.extend(range(start + 1, end + 1))
            continue
        unit = _unit(kind, match.group())
        chars.append(unit)
        starts.extend(repeat(start, len(unit)))
        ends.extend(repeat(end, len(unit)))
    return _Normal("".join(chars), starts, ends)


#: A judge gives several quotes from one passage. Each character takes two integers, and itself twice. The longest
#: passage that a judge can read is kept too: to normalise it for each of a thousand quotes would take minutes.
_NORMAL: BoundedCache[str, _Normal] = BoundedCache(16_000_000, lambda passage, normal: 24 * len(passage) + 500, share=1)


def _normal(passage: str) -> _Normal:
    return _NORMAL.get(passage, lambda: _normalise(passage))


_SAME = str.maketrans({**dict.fromkeys(_SINGLE + _DOUBLE, "'"), **dict.fromkeys(_DASHES, "-"), " ": None})


def _unit(kind: str | None, unit: str) -> str:
    if kind == "space":
        return " " if any(char.isspace() for char in unit) else ""
    if kind == "quote":
        return "'"
    if kind == "dash":
        return "-"
    if kind == "dots":
        return "..."
    # Some compatibility forms hold a space ("¨"), which must not be mistaken for one between words.
    return unicodedata.normalize("NFKC", unit).casefold().translate(_SAME)
