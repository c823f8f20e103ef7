"""Small talk: greetings, thanks, "Here is the summary:", a friendly end. English.

Each is recognised whole, from its first word to its last, so that nothing is stated beside it.
"""

from __future__ import annotations

import re

from assay.judges.claim_rules.plain import has_figures, has_verb, only_names, words
from assay.judges.claim_rules.refusals import SOURCE, offers

_GREETING = (
    r"sure(?: thing)?|certainly|absolutely|of course|hello|hi(?: there)?|ok(?:ay)?"
    r"|good (?:morning|afternoon|evening|day)|dear (?:customer|user|colleague|team|sir|madam)(?: or madam)?"
)
_FOR = (
    r"(?: for (?:asking|reaching out|contacting us"
    r"|(?:your|the) (?:\w{4,12} )?(?:question|interest|patience|message|prompt|query|feedback)))?"
)
_THANKS = (
    rf"thanks?(?: you)?(?: (?:very|so) much)?{_FOR}|you're welcome|(?:great|good) question|my pleasure|no problem"
    r"|(?:i am |i'm |i would be |i'd be )?(?:happy|glad) to help"
)
_BYE = (
    r"have a (?:great|good|nice|lovely|wonderful) (?:day|one|evening|weekend)"
    r"|(?:with )?(?:best|kind|warm) (?:regards|wishes)|sincerely|cheers"
    r"|(?:please )?do not hesitate to (?:ask|reach out|contact us)|just ask"
)
_LOOKING = rf"(?:i (?:have )?|let(?:'s| us| me) )(?:check|look at|review|search|read|think|see)(?:ed)?(?: {SOURCE})?"
_BELOW = (
    r"(?:the |my )?(?:answer|summary|response) (?:is|follows)(?: as follows| below)?"
    r"|(?:please )?(?:find|see) (?:the|my) (?:answer|summary|response|details) below"
    r"|below (?:is|are) (?:the |a |my )?(?:brief |short )?(?:answer|summary|overview|response|details?)"
)
_NOTHING = (
    r"(?:yes,? )?i (?:can|will) help(?: you)?(?: with that)?|that's (?:it|all)|enjoy"
    r"|that(?:'s| is) all (?:i know|(?:the )?information (?:available|i have|that is available|provided|given))"
    r"|(?:(?:please )?note that )?this is not (?:legal|medical|financial|professional) advice"
)
_TALK = re.compile(rf"(?:(?:{_GREETING}|{_THANKS}|{_BYE}|{_LOOKING}|{_BELOW}|{_NOTHING})\W*)+\Z")
#: Answers, and talk where there is another sentence.
_ASIDE = re.compile(
    r"(?:great|perfect|excellent|wonderful|understood|noted|got it|i see|the end|end of (?:the )?answer"
    r"|(?:the )?final answer|answer|conclusion|summary|overview|introduction|got (?:any )?(?:more )?questions\?*"
    r"|(?:hi|hello|hey|dear)(?: [a-z]{2,20}){1,2}[,!])\W*\Z"
)
_LEAD_IN = re.compile(rf"(?:(?:{_GREETING})\W+)?(?:here (?:is|are)|here's)\b([^:]{{0,200}}):\W*\Z")
_CLOSING = re.compile(
    r"(?:(?:i )?hope (?:this|that|it)"
    r" (?:helps|(?:is|was) helpful|answers your question|(?:clarifies|clears up) (?:this|that|things|it)"
    r"|clears (?:this|that|things|it) up)"
    r"|(?:please )?let me know|(?:please )?feel free to (?:ask|reach out|contact me|let me know)"
    r"|if you have (?:any )?(?:other |further |more |additional )?questions,? (?:please )?(?:feel free to"
    r" (?:ask|reach out|contact me)|let me know|ask))\b"
)
_CONDITION = re.compile(r"\W*+(?:(?:.{0,60}\b)?(?:if|whether|what|how|when|in case)\b|\Z)")
_ABOUT_THE_TASK = re.compile(
    r"\b(?:(?:i|we|you|they) (?:can|could|may|should|might) \w+|to \w+|(?:you|i) (?:have |need|want|requested|asked)"
    rf"|it works\b|what {SOURCE} (?:say|state|tell|mention)s?\b)"
)


def is_talk(text: str) -> bool:
    """Whether a plain sentence is a greeting, a lead-in such as "Here is the summary:", or a friendly end."""
    if _TALK.match(text):
        return True
    lead_in = _LEAD_IN.match(text)
    if lead_in is not None:
        said = _ABOUT_THE_TASK.sub(" ", lead_in[1])
        return not has_verb(said) and not re.search(r"[,;]|\b(?:that|why|what|who)\b", said)
    closing = _CLOSING.match(text)
    if closing is None:
        return False
    first, *others = re.split(r"[,;:()–—!]| - |\b(?:because|since|and|but|as|so)\b", text[closing.end() :])
    if not (_CONDITION.match(first) or only_names(first, 12)) or len(words(first)) > 20 or has_figures(first):
        return False
    return all(only_names(other, 4) or offers(other) for other in others)


def is_aside(text: str) -> bool:
    """Whether a plain sentence says nothing beside another: "Great!", "Final answer." Alone it may be the answer."""
    return _ASIDE.match(text) is not None
