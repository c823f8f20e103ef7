"""What is known of a language besides English."""

from __future__ import annotations

import re
from dataclasses import dataclass

#: Up to so many words, as few as do: `FEW % 3`.
FEW = r"(?:[\w'-]{1,20} ){0,%d}?"
#: After "I do not know": the end, or one short thing; what else follows may be a statement without a mark before it.
ENDS = r"(?=$|(?: [\w'-]{1,20}){1,2}$)"
#: What may be a statement of its own in any language: a figure, a mark between clauses, another sentence.
AGAIN = r"\d|[;:–—(]|[.!?…] *\w"


@dataclass(frozen=True, slots=True)
class LanguagePatterns:
    """Patterns for a sentence in lower case, each asked of its beginning but `goes_on`.

    Attributes:
        lead: What may come before a refusal: an apology, "according to the text,".
        refusal: That something is not known, or not in the sources.
        goes_on: What in the rest may be a statement: the sentence is then no refusal.
        talk: Greetings and the like.
        answers: What is no more than a yes or a no.
    """

    lead: re.Pattern[str]
    refusal: re.Pattern[str]
    goes_on: re.Pattern[str]
    talk: re.Pattern[str]
    answers: frozenset[str]
