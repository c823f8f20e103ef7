"""Which sentences state something that could be checked. English.

All do but refusals, questions that only ask, and small talk. When in doubt a sentence is a claim: an honest one too
many costs a little, an invention that slips through would never be judged.
"""

from __future__ import annotations

import re

from assay.judges.claim_rules.plain import has_figures, has_verb, only_names, plain, words
from assay.judges.claim_rules.refusals import SOURCE, offers, refuses_plainly
from assay.judges.claim_rules.small_talk import is_talk
from assay.judges.claim_rules.statement_model import LONGEST, states_nothing

_WORD = re.compile(r"\w")
_SO = r"(?:(?:so|therefore|thus|hence|in summary|overall|sure|certainly),? )?"
#: Lead-ins. What they name (`aim`) must be in the question, and then they state nothing: "To cook a steak, follow these
#: steps:", "Here is how to cook a steak:", "The steps to cook a steak are as follows:", "The answer to ... is:".
_FOLLOW = re.compile(
    rf"{_SO}(?:to (?P<aim>[^,:;.]{{1,120}}),? )?(?:you (?:can|should|must|may|(?:will )?need to) )?(?:simply |just )?"
    r"follow (?:these|the|this|the following)(?: \w{2,12}){0,2} (?:steps?|instructions|guidelines|methods?|tips|recipe"
    rf"|process|procedure)(?: below| (?:(?:outlined|described|given) )?in {SOURCE})?\W*\Z"
)
_NAMES = re.compile(
    rf"{_SO}(?P<aim>[^:]{{1,200}}?) (?:is|are|includes?|(?:can|could) be \w{{4,12}})"
    r"(?: (?:as follows|by|in|through|as|the|following|these|several|key|factors?|steps?|ways?|points?)){0,5}\W*\Z"
)
_HERE = re.compile(rf"{_SO}(?:here (?:is|are)|here's) (?P<aim>[^:]{{1,300}}):?\W*\Z")
#: What a lead-in may name besides: words that say nothing of the matter.
_GENERAL = (
    "the following main key general steps ways answer some about based brief possible basic different question"
    " recipe process overview summary list this that what short with your"
)

_ASKING = re.compile(
    r"(?:(?:so|and|but|or|also|oh|well|hi(?: there)?|hello|hey|then|now|ok|okay|right|sorry|thanks|if so|in that case"
    r"|by the way|in the meantime|q|question)[ ,!:.]{1,3}){0,3}"
    r"(?P<first>what's|who's|how's|what|which|whose|whom|who|when|where|why|how|do|does|did|is|are|was|were|am|have|has"
    r"|had|can|could|will|would|shall|should|may|might|must|any|anything|anyone)\b"
)
_SAYS_LITTLE = re.compile(r"(?:oh |and )?(?:really|anything else|what about you|and you|you)\W*\Z")
_NEGATED = re.compile(r"\w+ (?:\w+ ){0,2}?not\b")
_RHETORICAL = re.compile(
    r"who (?:do|does|did|would|could|can|will|knew)\b|(?:who|what)(?: else)? but\b|what if\b|how is it that\b"
    r"|.{0,40}\bdoubt\b"
)
#: "Did you know that ..." tells what follows; "Do you know who ..." asks.
_TELLS = re.compile(
    r"\w+ (?:you|we|people|everyone|anyone|i) (?:\w+ ){0,2}?(?:know|knew|hear|heard|reali[sz]ed?|aware|believed?"
    r"|noticed?|remember|recall|agree|see that|understand|imagine|learn|say|mention|forget|forgotten)\b"
)
_INDIRECT = re.compile(
    r"\W*(?:(?:of|about|for sure|more|now)\b ?)?(?:who|what|how|when|where|which|whether|if)\b|\W*(?:of|about)\b"
)
_CLAUSE = re.compile(
    r"[;:–—]| - |[.!?] ?\w|,? \b(?:because|although|though|given that|considering|now that|even if|whereas)\b"
    r"|, (?:when|as|since|while|who|which|where)\b"
)
_PARTS = re.compile(r"[,()]")


def states_something(sentence: str) -> bool:
    """Whether a sentence makes a checkable statement. Linear."""
    if not _WORD.search(sentence):
        return False
    if len(sentence) > LONGEST:
        return True
    text = plain(sentence)
    if is_question(sentence):
        return not only_asks(text)
    return not (is_talk(text) or refuses_plainly(text) or states_nothing(sentence))


def leads_in(sentence: str, question: str | None) -> bool:
    """Whether a sentence only announces the answer: what it names besides is in the question."""
    text = plain(sentence)
    if len(text) > LONGEST:
        return False
    found = _FOLLOW.match(text)
    if found is None and sentence.rstrip(" *_").endswith((":", '?"', "?”")):
        found = _NAMES.match(text) or _HERE.match(text)
    if found is not None:
        aim = found["aim"] or ""
    elif sentence.rstrip(" *_").endswith(":") and not has_verb(text):
        aim = text  # a title, in the words of the question
    else:
        return False
    return _stems(aim) <= _stems(f"{question or ''} {_GENERAL}")


def _stems(text: str) -> set[str]:
    """The beginnings of the longer words of a text, and its figures: "steaks" and "steak" have the same."""
    return {word[:4] for word in words(plain(text)) if len(word) > 3 or has_figures(word)}


def is_question(sentence: str) -> bool:
    """Whether a sentence ends as a question does."""
    return sentence.rstrip(" \"'”’)*_").endswith(("?", "？", "؟"))


def asks(question: str) -> bool:
    """Whether what is asked of a system is a question, with its mark or without: "how do you cook tuna"."""
    return is_question(question) or _ASKING.match(plain(question)) is not None


def only_asks(text: str) -> bool:
    """Whether a plain sentence that ends with a question mark asks, and tells nothing."""
    if _SAYS_LITTLE.match(text) or offers(text):
        return True
    asking = _ASKING.match(text)
    if asking is None:  # "Members get 90 days, right?"
        return False
    text = text[asking.start("first") :].rstrip("?!. ")
    if asking["first"] == "why" or _NEGATED.match(text) or _RHETORICAL.match(text):
        return False
    tells = _TELLS.match(text)
    if tells is not None:
        rest = text[tells.end() :]
        if not _INDIRECT.match(rest) and not only_names(rest, 3):
            return False
    if _CLAUSE.search(text):
        return False
    return all(_ASKING.match(part.strip()) or not _is_statement(part) for part in _PARTS.split(text)[1:])


def _is_statement(part: str) -> bool:
    return has_verb(part) or re.search(r"\b(?:who|which|that)\b", part) is not None
