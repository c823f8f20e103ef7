"""Refusals: sentences that say no more than that something is not known, or not in the sources. English.

A refusal is recognised whole, from its first word to its last: a lead-in ("Unfortunately, based on the documents,"),
the refusal, and what is not known. Whatever may be a clause of its own ("..., so members get 90 days", "... and the fee
is 20 euros", "Members, who are not mentioned, pay nothing") makes it a statement, and so do words that are not known
here.
"""

from __future__ import annotations

import re

from assay.judges.claim_rules.plain import has_figures, has_verb, only_names, plain, words
from assay.judges.claim_rules.statement_model import LONGEST, states_nothing

_LONGEST_OBJECT = 25  # words
_FEW = r"(?:[\w-]{1,16} ){0,%d}?"

#: "the given passages", "any of these documents": what a refusal, or a statement, may say it speaks of.
SOURCE = (
    r"(?:(?:any|none|all|both|each) of )?"
    r"(?:(?:the|these|those|this|that|your|my|any|given|provided|retrieved|available|above|following|supplied"
    r"|search) ){0,4}"
    r"(?:contexts?|passages?|documents?|sources?|texts?|articles?|excerpts?|snippets?|materials?|information|data"
    r"|knowledge base|search results?)\b(?: \d{1,2}\b)?"
    r"(?: (?:provided|given|above|available|supplied|i have|i found|you (?:have )?provided)\b)?"
)
_BASED_ON = rf"(?:based (?:\w{{1,10}} )?on|according to|from|in|within|given|as per|using) {SOURCE}"
_FACTS = r"(?:information|knowledge|details?|data|mention|context|reference|indication|answers?)\b"
_TOLD = r"(?:mentioned|specified|stated|discussed|addressed|described|explained)"


def any_of(*alternatives: str) -> re.Pattern[str]:
    """A pattern that matches what one of these does."""
    return re.compile("(?:" + "|".join(alternatives) + ")")


_SORRY = (
    r"(?:(?:(?:i am|i'm|we are|we're) )?(?:very |so |really )?sorry\b(?: that\b)?|(?:i|we) apologi[sz]e\b|apologies\b)"
)
_LEAD = re.compile(
    rf"(?:(?:{_BASED_ON}|{_SORRY}|as an ai(?: language)?(?: model| assistant| system)?\b|on the other hand"
    r"|at the moment|as such|please note|in (?:short|summary|conclusion)|(?:however|therefore|thus|hence|unfortunately"
    r"|regrettably|sadly|furthermore|moreover|additionally|overall|also|and|but|so|note|currently|wow|oh|hmm|well"
    r"|either)\b)(?: that\b)?)"
    r"(?:[ ,:.!]{1,3}|$)"
)
_REFUSAL = any_of(
    rf"(?:i|we) {_FEW % 1}(?:do|can) not {_FEW % 2}(?:know|answer|find|determine|tell|say|provide|locate|confirm|give"
    r"|help|assist|verify|identify|do that)\b",
    rf"(?:i|we) (?:could|did) not {_FEW % 1}(?:know|determine|find (?:any|anything|information|enough))\b",
    rf"(?:i|we) (?:do|did) not {_FEW % 1}have {_FEW % 4}{_FACTS}",
    rf"i do not {_FEW % 1}have {_FEW % 2}access to\b",
    rf"(?:i|we) have (?:no|not enough|insufficient) {_FEW % 3}(?:{_FACTS}|idea\b)",
    rf"(?:(?:i am|i'm|we are|we're) )?(?:not able|unable) to {_FEW % 1}(?:answer|determine|find|say|tell|provide"
    r"|confirm|help|assist|give|locate|verify|identify)\b",
    r"(?:i am|i'm|we are|we're) (?:not (?:sure|certain|aware)|unsure|uncertain)\b",
    rf"(?:it is|it's) (?:not possible|impossible) to {_FEW % 1}(?:answer|determine|find|say|tell|provide|know)\b",
    rf"{SOURCE} {_FEW % 1}(?:do|does|did) not {_FEW % 2}(?:mention|provide|contain|specify|say|state|include|answer"
    r"|address|give|offer|discuss|indicate|explain|describe|cover|clarify|list|tell|refer)\b",
    rf"(?:none|neither) of {SOURCE} (?:{_FEW % 1})(?:mention|provide|contain|specify|say|state|include|answer|address"
    r"|give|offer|discuss|indicate|explain|describe|cover)s?\b",
    rf"{SOURCE} (?:contain|provide|include|give|offer|make|have|has)s? (?:no|not enough|insufficient)"
    rf" {_FEW % 3}{_FACTS}",
    rf"(?:there (?:is|are|was|were) |there's )?(?:no|not (?:any|enough|sufficient)|insufficient) {_FEW % 2}{_FACTS}"
    r"(?=[ .!]*$|,| (?:about|on|regarding|concerning|in|of|as to|for|to|available|provided|given|whether|is)\b)"
    r"(?: (?:is |was )?(?:available|provided|given)\b)?",
    r"not (?:explicitly )?(?:mentioned|specified|stated|provided|given|available|known|found)(?=[ .!]*$| in | by )",
)
#: What is not mentioned may come first: "The year is not mentioned in the text."
_PASSIVE = re.compile(
    rf"\b(?:is|are|was|were) not {_FEW % 1}(?:{_TOLD}|provided|given|included|clear|found)\b", re.IGNORECASE
)
_IN_SOURCE = re.compile(rf"(?:^| )(?:in|by|from|within|on|to) {SOURCE}")
#: An indirect question may have a verb: "... whether it is open", "... about who paid".
_ASKED = re.compile(
    r"\b(?:whether|how|what)\b"
    r"|(?:^\W*|\b(?:about|on|of|as to|regarding|for|to) )(?:if|when|where|who|whom|which|whose)\b"
)
_ASKED_TOO = re.compile(r"\W*(?:whether|if|how|what|when|where|who|which)\b")
_PRESUPPOSED = re.compile(
    r"\b(?:why|that)\b(?! (?:information|question|request|topic|data|specific|in|from|on|for|with|based)\b|[ .!]*$)"
)
_RELATIVE = re.compile(r"\b(?:that|which|who|whose|whom|why)\b|[,;:()–—]")
#: Where a clause may begin. After the weak ones there may also be one more thing of a list.
_JOINT = re.compile(
    r", only\b|(?P<or>,? or\b)|(?P<and>,? and\b)|(?P<comma>,|\))|\("
    r"|[;:–—!?…]| - |\. |\b(?:but|however|although|though|while|whereas|yet|nevertheless"
    r"|nonetheless|so|therefore|thus|hence|consequently|because|since|which|who|whose|whom|meaning|except|unless"
    r"|until)\b"
)
#: How many words may follow such a joint and still be no more than one thing of a list. A comma lists where "and" or
#: "or" comes later, as in "meats, vegetables, or grains"; else what follows may be a clause of its own, or the answer:
#: "I do not know the winner, Denver." So it may in brackets.
_MOST_NAMES = {"or": 12, "and": 4}
_LISTED = 5
_BY_THE_WAY = re.compile(
    r"\W*(?:but )?(?:unfortunately|regrettably|sadly|alas|sorry|(?:i am|i'm) (?:afraid|sorry)|my apologies|though"
    r"|however|either|yet|so far|at all|at present|at the moment)\b\W*\Z"
)
_OFFER = re.compile(
    r"\W*(?:(?:i|we) (?:can|could|would|will|am|are)|(?:i|we)'(?:d|ll|m|re))(?: be)?(?: happy| glad)?(?: to)?"
    r" (?:help|assist|try)\b"
)
_APPOSITION = re.compile(rf"\W*(?:{_BASED_ON}|such as|like|including|or|nor)\b")
_ANY_SOURCE = re.compile(rf"\b(?:in|by|from|within|on) {SOURCE}")
_WORDS = re.compile(r"\w")
_NOT_WORDS = re.compile(r"\W*")


def refuses(text: str) -> bool:
    """Whether a text says that something is not known, or not in its sources, and nothing besides. Linear."""
    return len(text) <= LONGEST and (refuses_plainly(plain(text)) or states_nothing(text))


def refuses_plainly(text: str, depth: int = 3) -> bool:
    """The same of a plain text; `depth` is how many refusals may follow each other."""
    at, leads = 0, ""
    while _REFUSAL.match(text, at) is None:  # "information is not given" begins like a lead-in and is none
        lead = _LEAD.match(text, at)
        if lead is None or not lead.group():
            break
        at, leads = lead.end(), leads + lead.group()
    if _NOT_WORDS.fullmatch(text, at):
        return "sorry" in leads or "apolog" in leads
    refusal = _REFUSAL.match(text, at)
    if refusal is not None and _goes_on_quietly(text[refusal.end() :], depth):
        return True
    return _refuses_passively(text[at:], leads, depth)


def offers(part: str) -> bool:
    """Whether a part of a plain sentence offers help: "I can help you with other questions"."""
    return _OFFER.match(part) is not None and len(words(part)) <= 10 and not has_figures(part)


def _refuses_passively(text: str, leads: str, depth: int) -> bool:
    found = _PASSIVE.search(text)
    if found is None:
        return False
    head, tail = text[: found.start()], text[found.end() :]
    # "According to the text, breakfast is not included" is a fact; "... is not mentioned" is none
    told = re.search(rf"{_TOLD}\Z", found.group()) is not None
    if not _IN_SOURCE.search(tail) and not (told and _IN_SOURCE.search(leads)):
        return False
    if len(words(head)) > _LONGEST_OBJECT or has_verb(head) or _RELATIVE.search(head):
        return False
    return _goes_on_quietly(tail, depth)


def _goes_on_quietly(rest: str, depth: int) -> bool:
    """Whether all that follows a refusal belongs to it: what is not known, one more refusal, an offer of help."""
    asked = _ASKED.search(rest)
    joint = _JOINT.search(rest)
    if asked is not None and joint is not None and joint.start() < asked.start():
        asked = None  # it belongs to what comes later
    elif asked is not None:
        joint = _JOINT.search(rest, asked.end())
    first = rest[: joint.start() if joint else len(rest)]
    told = rest[: asked.start()] if asked else first
    if len(words(first)) > _LONGEST_OBJECT or has_verb(told) or _PRESUPPOSED.search(told):
        return False
    named = _WORDS.search(_ANY_SOURCE.sub("", first)) is not None  # only what is named can be the first of a list
    while joint is not None:
        after = _JOINT.search(rest, joint.end())
        part = rest[joint.end() : after.start() if after else len(rest)]
        if depth and _is_refused(rest[joint.end() :], depth):
            return True
        most = _MOST_NAMES.get(joint.lastgroup or "", 0) if named else 0
        if joint["comma"] == "," and named and after is not None and re.search(r" (?:and|or)\b", rest[joint.end() :]):
            most = _LISTED
        if not _adds_nothing(part, most=most):
            return False
        joint = after
    return True


def _is_refused(rest: str, depth: int) -> bool:
    rest = rest.lstrip(" ,")
    return bool(rest) and refuses_plainly(rest, depth - 1)


def _adds_nothing(part: str, *, most: int) -> bool:
    if _NOT_WORDS.fullmatch(part) or _BY_THE_WAY.match(part) or offers(part):
        return True
    if most and _ASKED_TOO.match(part):  # "..., or how they are made"
        return len(words(part)) <= 12 and not has_figures(part)
    if _APPOSITION.match(part):
        return only_names(part, 12)
    return only_names(part, most)
