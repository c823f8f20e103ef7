"""Talk of the sources around a statement: "Based on the passages, ...", "Passage 1 states that ...", "[2]". English.

It says where a statement is from, not what it is: who asks whether the passages support it need not find "passage 3" in
them. So it is taken off, and what it introduces is the claim. Only what affirms is: "The passages do not state that
..." stays as it is, and whether it is a refusal is for refusals.py to say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.judges.claim_rules.refusals import SOURCE
from assay.text.citations import BLANKS, MARK, NAMED, marks

_WHICH = r"(?:the|these|those|this|that|both|all|any|each|your|given|provided|retrieved|available|above|supplied)"
_ORDINAL = r"(?:first|second|third|fourth|fifth|sixth|last)"
#: A source by its number, which the sources themselves do not know;
_NUMBERED = (
    rf"(?:(?:the |both )?{NAMED}|{MARK}"
    rf"|(?:the )?{_ORDINAL} (?:passage|document|source|text|article|excerpt|context)\b)"
)
#: and whatever a sentence may say it is from.
_SOURCES = rf"(?:{_NUMBERED}|(?={_WHICH} ){SOURCE})"
_TOLD = (
    r"(?:mentioned|stated|noted|said|described|explained|discussed|suggested|indicated|outlined|shown|seen|reported"
    r"|specified|highlighted|recommended|implied|found|given|provided|listed|detailed|written)"
)
_FROM = (
    rf"(?:based (?:solely |only |strictly |purely )?(?:up)?on|according to|as per|as (?:\w{{2,12}} )?{_TOLD} (?:in|by)"
    r"|as (?:in|per))"
)
_CONNECTIVE = (
    r"(?:therefore|thus|hence|so|overall|in (?:summary|conclusion|short)|to summari[sz]e|additionally|furthermore"
    r"|moreover|also|however|finally|lastly|similarly|likewise|and|but|note|please note|sure|well)"
    r"(?: that)?[,:!.]? "
)
_SAYS = (
    r"(?:states?|mentions?|says?|notes?|indicates?|suggests?|explains?|shows?|reports?|confirms?|claims?|highlights?"
    r"|emphasi[sz]es?|specif(?:y|ies)|reveals?|describes?|clarif(?:y|ies)|recommends?|impl(?:y|ies)|adds?|tells? us"
    r"|points? out|discuss(?:es)?|details?|lists?|provides?|contains?|includes?|offers?|outlines?|covers?|gives?"
    r"|summari[sz]es?|focus(?:es)? on|talks? about|refers? to)"
)
#: What may follow such a verb without "that": a thing, and no denial.
_THING = (
    r" (?!that\b|not\b|no\b|none\b|nothing\b|neither\b|never\b|little\b|few\b)"
    r"(?:(?:(?:some|more|an?|the|specific|detailed|general|useful|additional|further|brief) ){0,3}"
    r"(?:information|details?|instructions|guidance|tips|recommendations|examples?|insights?|ideas?|overview)"
    r" (?:on|about|of|for|regarding) )?"
)
_HOW = r"(?:also|further|clearly|briefly|specifically|explicitly|both|all|then|only|simply|just) "
_IT_SEEMS = (
    rf"(?:it (?:appears|seems|(?:is|was) (?:\w{{4,10}}ly )?{_TOLD}|is (?:clear|evident|worth (?:mentioning|noting)"
    r"|important to note)|can be (?:seen|said|concluded|inferred)) that"
    r"|(?:we|you) can (?:see|say|conclude|gather|infer|determine|tell|learn)(?: that)?) "
)
#: After "according to the text" without a comma: what would make it "the text of the law" is no end of it.
_ONWARD = r"(?:[,:] ?| (?!(?:of|in|from|on|by|for|about|that|which|who|and|or|to|at|with|is|are|was|were|as)\b))"
_OPENING = re.compile(
    rf"(?:{_CONNECTIVE}){{0,2}}(?:{_FROM} {_SOURCES}{_ONWARD}|(?:in|from|within|given|using) {_SOURCES}, "
    rf"|{_SOURCES} (?:{_HOW})?{_SAYS}(?: that |: )|{_NUMBERED} (?:{_HOW})?{_SAYS}{_THING}"
    rf"|as {_SOURCES} (?:{_HOW})?{_SAYS}, |{_SOURCES}: ?|{_IT_SEEMS}(?={_SOURCES} |{_FROM} ))"
    rf"(?:{_CONNECTIVE}|{_IT_SEEMS})?",
    re.IGNORECASE,
)
_ASIDE = re.compile(rf"(?P<comma>,)? ?(?P<open>\()?\b{_FROM} {_SOURCES}(?(open)\)|(?=[.,;:!?)]|\Z))", re.IGNORECASE)
_LABEL = re.compile(r"[*\"]{0,3}\w[\w'’*\"/-]{0,30}(?: [\w'’*\"&/()-]{1,30}){0,6}:[*\"]{0,3} ")
_GOES_ON = re.compile(r",(?! (?:and|but|or|so|which|who|while|because)\b)")
_NEEDED_AFTER = re.compile(r"\b(?:in|by|from|of|to|per|on|see|and|or|with) \Z", re.IGNORECASE)
_MORE = r"(?:more|further|additional) (?:information|details?|about (?:this|it)|on (?:this|it))"
#: "This information can be found in passage 3.", "For more details, see passage 2."
_ONLY_WHERE = re.compile(
    rf"(?:(?:this|that|these|it|they|the)?(?: (?:information|answer|method|process|recipe|steps?|details?))? ?"
    rf"(?:(?:is|are|was|were|can be) (?:{_TOLD}|based|taken|supported|confirmed|backed up)? ?|(?:comes?|stems?) )"
    rf"(?:in|on|by|from|according to) {_SOURCES}"
    rf"|(?:for {_MORE},? )?(?:please )?(?:you can )?"
    rf"(?:see|refer to|check|consult|read {_MORE} in|(?:find|read) more in) {_SOURCES}"
    rf"(?: for {_MORE}| for (?:details|more))?)[.! ]*\Z",
    re.IGNORECASE,
)
_PAGE = r"(?:,? (?:pages?|pp?\.?|sections?|lines?|chapters?|paragraphs?) ?\d[\d.–-]{0,8})?"
_PLACES = rf"(?:{_NUMBERED}{_PAGE}[\s,;.&]*+(?:and )?)"
#: In further languages as well: they are followed by numbers alone.
_SEE = (
    r"(?:sources?|references?|citations?|cited|see(?: also)?|cf|quellen?|siehe|vgl|voir|fuentes?|v[eé]ase|fonti|fontes?"
    r"|vedi|veja)"
)
_POINTS = rf"(?:{_SEE}\b[\s.:*_]*+{_PLACES}*+|{_PLACES}++)"
#: "See passages 1 and 2.", "— Passage 1", and behind a statement "(source: [1])".
_POINTER = re.compile(rf"\W*+{_POINTS}\W*+\Z", re.IGNORECASE)
_POINTER_ASIDE = re.compile(
    rf" ?[(\[]{_POINTS}[)\]]| ?<sup>\[?\d{{1,3}}(?:, ?\d{{1,3}}){{0,9}}\]?</sup>", re.IGNORECASE
)
#: What a list of them goes by.
_LISTED = re.compile(
    r"\W*+(?:sources?|references?|r[eé]f[eé]rences|citations?|bibliography|further reading|quellen|fuentes|referencias"
    r"|fonti|riferimenti|fontes|referências)\W*+\Z",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w")
_MOST_OPENINGS = 3


def without_sources(sentence: str) -> str:
    """The sentence without citations and without talk of its sources; empty where nothing else is left. Linear.

    All other words stay as they are, in their order; the first of what is left gets a capital letter.
    """
    flat = sentence.translate(BLANKS)
    if _ONLY_WHERE.match(flat) or _POINTER.match(flat):
        return ""
    said = _without_asides(_without_openings(_joined(_POINTER_ASIDE.split(sentence))))
    said = _without_marks(said).strip()
    return said if _WORD.search(said) else ""


def heads_sources(sentence: str) -> bool:
    """Whether it is the heading of a list of sources: "References:"."""
    return _LISTED.match(sentence) is not None


def _without_openings(sentence: str) -> str:
    """Without "According to the text, ", at the beginning or behind a label ("Honey: according to passage 1, ...")."""
    said = sentence
    for _ in range(_MOST_OPENINGS):
        flat = said.translate(BLANKS)
        opening = _OPENING.match(flat)
        label = None if opening else _LABEL.match(flat)
        at = label.end() if label else 0
        opening = opening or _OPENING.match(flat, at)
        if opening is None:
            break
        rest = said[opening.end() :].lstrip()
        said = said[:at] + rest[:1].upper() + rest[1:]
    return said


def _without_asides(sentence: str) -> str:
    """Without ", as stated in passage 3," and "(according to the text)"."""
    kept, at = [], 0
    for aside in _ASIDE.finditer(sentence.translate(BLANKS)):
        kept.append(sentence[at : aside.start()])
        at = aside.end()
        if aside["comma"] and _GOES_ON.match(sentence, at):
            at += 1  # of "the school, according to passage 3, pays" both commas go
    return _joined([*kept, sentence[at:]])


def _without_marks(sentence: str) -> str:
    """Without "[2]" and "(Passage 3)", but for those that the sentence cannot do without ("as shown in [2]")."""
    kept, at = [], 0
    for mark in marks(sentence):
        if _NEEDED_AFTER.search(sentence[max(at, mark.span.start - 8) : mark.span.start]):
            continue
        before = sentence[at : mark.span.start]
        kept.append(before.rstrip() if at or before.strip() else before)
        at = mark.span.end
    return _joined([*kept, sentence[at:]])


def _joined(pieces: Sequence[str]) -> str:
    """The pieces in a row; two words do not become one."""
    out = [""]
    for piece in filter(None, pieces):
        if out[-1][-1:].isalnum() and piece[0].isalnum():
            out.append(" ")
        out.append(piece)
    return "".join(out)
