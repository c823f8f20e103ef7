"""What states nothing in further languages: refusals, small talk, questions; and what "Ja." answers.

Far less is known here than in English, and in doubt a sentence is a claim. A refusal is recognised whole: a lead-in,
one of the forms of its language, and a few words more without a figure or a clause of their own.
"""

from __future__ import annotations

import re

from assay.judges.claim_rules.languages.french import FRENCH
from assay.judges.claim_rules.languages.german import GERMAN
from assay.judges.claim_rules.languages.italian import ITALIAN
from assay.judges.claim_rules.languages.patterns import LanguagePatterns
from assay.judges.claim_rules.languages.portuguese import PORTUGUESE
from assay.judges.claim_rules.languages.spanish import SPANISH
from assay.judges.claim_rules.statement_model import LONGEST, states_nothing
from assay.text.languages import code_of

#: ISO 639-1 -> what is known of the language.
KNOWN = {"de": GERMAN, "es": SPANISH, "fr": FRENCH, "it": ITALIAN, "pt": PORTUGUESE}
LANGUAGES = tuple(KNOWN)

_BLANKS = re.compile(r"\s+")
_WORDS = re.compile(r"\w+")
_ENDS_ASKING = re.compile(r"\?[\"'”»)*_ ]*\Z")
_MOST = 22  # words of a refusal
_FRAGMENT = 8  # words of an item that is no sentence


def is_further(language: str) -> bool:
    """Whether something is known here of the language."""
    return code_of(language) in KNOWN


def states_something(sentence: str, language: str) -> bool:
    """Whether a sentence makes a checkable statement. Linear."""
    if not _WORDS.search(sentence):
        return False
    if len(sentence) > LONGEST:
        return True
    if _ENDS_ASKING.search(sentence):
        return False
    known, text = KNOWN[code_of(language)], _plain(sentence)
    talk = known.talk.match(text)
    if talk is not None and not text[talk.end() :].strip(" .!:,"):
        return False
    return not (_refuses(text, known) or states_nothing(sentence))


def is_fragment(said: str) -> bool:
    """No sentence, as items of lists mostly are: short, and without a full stop."""
    ended = said.rstrip(" \"'”’»)*_").endswith((".", "!", "?", "…"))
    return not ended and len(_WORDS.findall(said)) <= _FRAGMENT


def is_short_answer(said: str, language: str) -> bool:
    """Whether a sentence is no more than a yes or a no."""
    return " ".join(_WORDS.findall(said.lower())) in KNOWN[code_of(language)].answers


def _refuses(text: str, known: LanguagePatterns) -> bool:
    at = 0
    for _ in range(3):
        lead = known.lead.match(text, at)
        if lead is None:
            break
        at = lead.end()
    rest = text[at:].rstrip(" .!")
    if known.refusal.match(rest) is None:
        return at > 0 and not rest.strip(" .!,")
    return len(_WORDS.findall(rest)) <= _MOST and known.goes_on.search(rest) is None


def _plain(sentence: str) -> str:
    text = _BLANKS.sub(" ", sentence.replace("’", "'")).strip(" \t\n\"'“”„«»*_-")
    return text.lower()
