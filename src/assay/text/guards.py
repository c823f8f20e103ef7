"""What keeps pysbd 0.3.4 from hanging, losing text or taking quadratic time.

pysbd marks positions by writing symbols of its own into the text, and finds them with some 250 regular expressions.
Three things follow. A text that holds such a symbol loses it, or its sentence. Some expressions take time that grows
with the square of the text, and one, for references such as ".[3, 5-7]", doubles its time with every digit. And some
abbreviations are put into an expression unescaped, so that a text can make it invalid.

`mask` writes harmless characters, one for one, over what upsets pysbd. `split` runs pysbd on such a text, with no
state shared between calls, and checks that what comes back is the whole text. Where it is not, and where the text
holds what pysbd is slow on or does not know, the answer is None and the caller uses `fallback`.

pysbd's expressions for HTML (pySBD issue 92) belong to its `clean=True`, which rewrites the text; we never use it.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import Any

from assay.text.scripts import OTHER_ENDS, REFERENCES, SPACED_CLAUSES

Pieces = list[tuple[int, int]]

#: Languages split by pysbd. It also lists am ar el fa hi hy mr my ur, but has no more than the marks for them, and
#: wrong ones: it cuts Arabic at commas, Persian at colons, Greek at semicolons, Burmese at the genitive particle.
LANGUAGES = frozenset({"en", "zh", "ja", "es", "ru", "pl", "nl", "da", "fr", "it", "de", "kk", "sk", "bg"})

#: Every symbol pysbd writes into a text, from its Rule definitions and replace_punctuation.
RESERVED = "∯∮♨☝ȸȹ♬♭☉☇☈☄☏♟♝ƪ⎋✂⌬ᓰᓱᓳᓴᓷᓸ"
_BLANK = "\ue000"  # private use: no letter, no mark, no space to pysbd

_RESERVED = re.compile(f"[{RESERVED}]")
_BREAKS = re.compile(r"[\t\n\r\v\f\x1c-\x1f\x85\u2028\u2029]")
_REFERENCES = re.compile(rf"\.{REFERENCES}+")
_BEFORE_SENTENCE = re.compile(r"\s+[A-Z\"“(]|\s*\Z")
_OPEN_REFERENCE = re.compile(r"(?<=\.)\[")
_SHOUT = re.compile(r"(?<![!?])[!?]{3,}+(?=\s)")
_EMPHASISED = re.compile(r"([.!?])([*_]{1,3})(?=\s|\Z)")
_ET_AL = re.compile(r"(?<=\bal)\.(?=\s*[\[(])")

_UNKNOWN = re.compile(f"[{OTHER_ENDS}｡]|{SPACED_CLAUSES.pattern}")
#: pysbd rewrites the whole text once per list item, adding to it each time.
_ITEM = re.compile(r"(?<![^\W_])[A-Za-z]\.|[A-Za-z]\)|\d[.)](?=\s|\))")
_MOST_ITEMS = 40
_LONG_RUN = re.compile(r"[^\w\s]{40}|\s{60}|([^\w\s]\s?)\1{20}")  # table-of-contents dots, ruled lines


def mask(text: str) -> str:
    """`text` with every character that upsets pysbd replaced by one that does not; positions stay the same. Linear."""
    text = _BREAKS.sub(" ", _RESERVED.sub(_BLANK, text))
    if ".[" in text:
        text = _OPEN_REFERENCE.sub(_BLANK, _REFERENCES.sub(_mask_references, text))
    text = _SHOUT.sub(lambda match: _BLANK * (len(match.group()) - 1) + match.group()[-1], text)  # "!!!" ends nothing
    text = _EMPHASISED.sub(r"\2\1", text)  # "**Bold.** Next" is cut before the closing asterisks
    return _ET_AL.sub(_BLANK, text)


def _mask_references(match: re.Match[str]) -> str:
    """A full stop before references is moved behind them, where the sentence ends. pysbd would try to, and hang."""
    length = match.end() - match.start()
    ends = _BEFORE_SENTENCE.match(match.string, match.end()) is not None
    return _BLANK * (length - 1) + "." if ends else _BLANK * length


def split(masked: str, language: str) -> Pieces | None:
    """Start and end of each sentence by pysbd; None where it should not be, or was not, up to the task.

    `masked` comes from `mask` and is at most a window long: pysbd's time grows with the square of it.
    """
    if language not in LANGUAGES or _UNKNOWN.search(masked) or _LONG_RUN.search(masked):
        return None
    if sum(1 for _ in _ITEM.finditer(masked)) > _MOST_ITEMS:
        return None
    try:
        # `process` rather than `segment`: the latter looks for each sentence with an expression made of it.
        sentences: list[str] = _segmenter(language).processor(masked).process()
    except Exception:  # pysbd raises re.error and IndexError on texts it did not foresee; the fallback splits them
        return None
    return _positions(masked, sentences)


def _positions(masked: str, sentences: list[str]) -> Pieces | None:
    """Where the sentences stand in the text, or None unless they are all of it but whitespace."""
    pieces: Pieces = []
    at = 0
    for raw in sentences:
        sentence = raw.strip()
        if not sentence:
            continue
        start = _skip_space(masked, at)
        if not masked.startswith(sentence, start):
            return None
        at = start + len(sentence)
        pieces.append((start, at))
    return pieces if _skip_space(masked, at) == len(masked) else None


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _segmenter(language: str) -> Any:
    """A segmenter of one's own: pysbd's keep the text they work on, and so mix up the texts of two threads."""
    return _pysbd().Segmenter(language=language, clean=False)


def abbreviations() -> Any:
    """pysbd's lists of English abbreviations: lower case, without the last full stop."""
    return _segmenter("en").language_module.Abbreviation


@lru_cache(maxsize=1)
def _pysbd() -> Any:
    with warnings.catch_warnings():  # its source has invalid escapes, an error under `python -W error`
        warnings.simplefilter("ignore")
        import pysbd
    return pysbd
