"""Claims without a language model: the sentences of a text, less those that state nothing.

English only. A sentence counts as a claim unless it is a question, a greeting or offer, or says that something is not
known or not in the sources. Fragments of fewer than four words join the sentence before them (else the one after).
"""

from __future__ import annotations

import re

from assay.records import Claim, Span
from assay.text import split_sentences

#: Raise it when texts are read differently: decision judges then ask anew. The embedded judge has `RULES` of its own.
RULES = 2

_NOTHING_KNOWN = re.compile(
    r"""\b(?:
      (?:i|we)\s+(?:do\s*n[o']t|don['’]t|did\s*n[o']t|didn['’]t|cannot|can\s*not|can['’]t|could\s*n[o']t|couldn['’]t)
        \s+(?:\w+\s+){0,2}?(?:know|answer|find|determine|tell|say|have|provide|see|locate|confirm)\b
    | (?:i['’]?m|i\s+am|we['’]?re|we\s+are|am)\s+(?:sorry|unable|not\s+(?:sure|able|aware|certain))\b
    | (?:unable|impossible|not\s+possible)\s+to\s+(?:\w+\s+)?(?:answer|determine|find|say|tell|provide)\b
    | (?:there\s+is|there['’]s|i\s+have|we\s+have|contains?|provides?|includes?|gives?|offers?|has)\s+
        (?:no|not\s+enough|insufficient)\s+(?:\w+\s+){0,3}?(?:information|details?|data|mention|answer|context)\b
    | (?:do(?:es)?\s+not|do(?:es)?n['’]t|did\s+not|didn['’]t)\s+(?:\w+\s+){0,2}?
        (?:mention|provide|contain|specify|say|state|include|answer|address|give|offer|discuss|indicate)\b
    | (?:is|are|was|were)(?:\s+not|n['’]t)\s+(?:\w+\s+){0,2}?
        (?:mentioned|provided|specified|stated|available|included|given|discussed|clear|known|addressed)\b
    | (?:insufficient|not\s+enough|no)\s+(?:\w+\s+){0,2}?information\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
#: Words by which a sentence speaks of its sources or of the speaker; without one, "is not known" may be a plain fact.
_SOURCES = re.compile(
    r"\b(?:i|we|i['’]m|context|contexts|passages?|documents?|sources?|texts?|articles?|information|provided|question)\b",
    re.IGNORECASE,
)
#: Where a sentence that refuses may go on to state something: "..., but it was in 1867".
_AND_YET = re.compile(
    r"\b(?:but|however|although|though|while|whereas|yet|nevertheless|nonetheless|still|instead)\b|[;:–—]",
    re.IGNORECASE,
)
_OFFER = re.compile(r"^\W*(?:i|we)(?:\s+(?:can|could|would|will|am|are)\b|['’](?:d|ll|m|re)\b)", re.IGNORECASE)
_GREETING = r"sure|certainly|of\ course|absolutely|hello|hi(?:\ there)?|ok(?:ay)?"
_TALK = re.compile(
    rf"""^\W*(?:
      (?:{_GREETING}|thanks?(?:\ you)?(?:\ (?:very|so)\ much)?|you['’]re\ welcome|(?:great|good)\ question
        |(?:i['’]?m\ |i\ am\ )?happy\ to\ help)\W*$
    | (?:(?:{_GREETING})\W+)?here(?:\ is|\ are|['’]s)\ [^.!?:]*:\W*$
    | (?:i\ hope\ (?:this|that|it)\ helps|(?:please\ )?let\ me\ know|(?:please\ )?feel\ free)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_WORD = re.compile(r"\w+")


def sentence_claims(text: str, language: str = "en") -> tuple[Claim, ...]:
    """The claims of `text`, verbatim, in order. Empty for a refusal, small talk or an empty text."""
    spans = [span for span in split_sentences(text, language) if states_something(span.of(text))]
    return tuple(Claim(text=span.of(text), span=span) for span in _without_fragments(text, spans))


def states_something(sentence: str) -> bool:
    """Whether a sentence makes a checkable statement."""
    if not _WORD.search(sentence):
        return False
    if sentence.rstrip(" \"'”’)").endswith(("?", "？", "؟")):
        return False
    if _TALK.match(sentence):
        return False
    if not refuses(sentence):
        return True
    # when in doubt it is a claim: one that slips through as a refusal would never be checked
    clauses = [clause for clause in _AND_YET.split(sentence) if len(_WORD.findall(clause)) >= 4]
    return any(not refuses(clause) and not _OFFER.match(clause) for clause in clauses)


def refuses(text: str) -> bool:
    """Whether a text says that something is not known, or not in its sources."""
    # two short searches rather than one pattern: the order of both parts is free
    return bool(_NOTHING_KNOWN.search(text) and _SOURCES.search(text))


def _without_fragments(text: str, spans: list[Span]) -> list[Span]:
    joined: list[Span] = []
    held: Span | None = None  # a fragment at the start waits for the sentence after it
    for span in spans:
        if held is not None:
            span, held = Span(held.start, span.end), None
        if len(_WORD.findall(span.of(text))) >= 4:
            joined.append(span)
        elif joined and not text[joined[-1].end : span.start].strip():
            joined[-1] = Span(joined[-1].start, span.end)
        else:
            held = span
    return joined if held is None else [*joined, held]
