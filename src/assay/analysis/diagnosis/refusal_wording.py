"""The wording of refusals that no rule of claims knows: a word of not finding, and who or where it was looked for.

English. docs/evidence/causes.md says how often it is right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_CUE = re.compile(
    r"\b(?:sorry|unfortunately|sadly|afraid|unable|can't|cannot|couldn't|could not|don't|didn't|doesn't|wasn't|isn't"
    r"|aren't|not able|no (?:information|mention|details?|idea|figures?|measurements?)|none (?:is|are) given|nothing"
    r"|not (?:find|see|state|mention|contain|cover|given|stated|mentioned|covered|among|brought up)|nowhere|regret"
    r"|silent on|leaves? (?:\w+ ){0,3}(?:open|unexplained))\b",
    re.IGNORECASE,
)
_SOURCE = re.compile(
    r"\b(?:documents?|passages?|texts?|context|sources?|information|material|pages?|excerpts?|here|provided|manual"
    r"|handbook|rules|leaflets?|articles?|notes|minutes|available|covered)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|I've|me|my|we)\b")


@dataclass(frozen=True, slots=True)
class RefusalWording:
    """What an answer has of the wording of a refusal.

    Attributes:
        cues: Words of not finding or not being able to.
        first_person: Words such as "I" and "my".
        has_source: Whether it speaks of passages, pages or the like.
    """

    cues: int
    first_person: int
    has_source: bool

    @property
    def is_likely(self) -> bool:
        """Whether the answer is probably a refusal."""
        return self.cues > 0 and (self.first_person > 0 or self.has_source)


def wording_of(answer: str) -> RefusalWording:
    """Count the words of a refusal. Linear in the text."""
    return RefusalWording(
        len(_CUE.findall(answer)), len(_FIRST_PERSON.findall(answer)), _SOURCE.search(answer) is not None
    )
