"""Refusals and talk by a linear model over the words of a sentence. English, German, Spanish and French.

A logistic regression over n-grams of one to three words, trained by
`integrations/embedded/training/train_statement_model.py` on sentences written for this project. Words that it does not
know speak for a statement, and so does a sentence of which one clause alone looks like a statement: an invention behind
a refusal ("I don't know, so members get 90 days.") has to be judged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import sqrt

WORDS = 3  # of the longest n-gram
LONGEST = 600  # characters of a text that may state nothing
#: Log-odds of a statement below which a text states nothing: of all of it, also where it is short, and of each clause.
WHOLE, SHORT, CLAUSE = -0.5, -1.5, 1.0
_FEW = 4  # different words of a short text
SCALE = 3.0
_MARKS = str.maketrans({"’": "'", "‘": "'", "´": "'", "`": "'"})
_NOT = re.compile(r"n't\b")
_TOKEN = re.compile(r"[^\W_]+|[?:]")
_WORD = re.compile(r"[^\W_]+")
_JOINT = re.compile(
    r"[^\w\s'.-]| - |\. |\n|\b(?:as|plus|before|but|however|although|though|while|whereas|yet|nevertheless|nonetheless"
    r"|so|therefore|that|dass|thus|hence|consequently|because|since|meaning|except|unless|until|and|or|aber|jedoch"
    r"|doch|sondern|weil|denn|da|also|daher|deshalb|obwohl|während|und|oder"
    r"|pero|sino|aunque|porque|pues|así que|mientras|y|o|mais|car|donc|parce que"
    r"|puisque|alors que|tandis que|et|ou)\b"
)


def states_nothing(text: str) -> bool:
    """Whether a text is no more than a refusal or talk, by all of it and by each of its clauses. Linear.

    False for a text of more than 600 characters, and for a single word, repeated or not: it may be the answer.
    """
    said = plain(text[: LONGEST + 1])
    words = len(set(_WORD.findall(said)))
    if len(text) > LONGEST or words < 2:
        return False
    model = _model()
    if model.log_odds(said) >= (WHOLE if words > _FEW else SHORT):
        return False
    return all(model.log_odds(part) < CLAUSE for part in clauses(said))


def plain(text: str) -> str:
    """Lower case, one kind of apostrophe."""
    return text.lower().translate(_MARKS)


def clauses(text: str) -> list[str]:
    """The parts of a plain text between marks and conjunctions, those without a word left out."""
    return [part for part in _JOINT.split(text) if _TOKEN.search(part)]


def ngrams(text: str) -> Iterator[str]:
    """The n-grams of a plain text, which begins with "<" and ends with ">"; any word with a digit is "0"."""
    found = _TOKEN.findall(_NOT.sub(" not", text).replace("cannot", "can not"))
    words = ["<", *("0" if any(map(str.isdigit, word)) else word for word in found), ">"]
    for n in range(1, WORDS + 1):
        yield from (" ".join(words[at : at + n]) for at in range(len(words) - n + 1))


@dataclass(frozen=True, slots=True)
class StatementModel:
    """The weights of n-grams, in log-odds of a statement."""

    intercept: float
    weights: Mapping[str, float]

    def log_odds(self, text: str) -> float:
        """Of a plain text: below 0 a refusal or talk, above a statement."""
        found = set(ngrams(text))
        return self.intercept + SCALE * sum(self.weights.get(one, 0.0) for one in found) / sqrt(len(found))


@cache
def _model() -> StatementModel:
    text = resources.files(__package__).joinpath("statement_weights.json").read_text(encoding="utf-8")
    data = json.loads(text)
    return StatementModel(data["intercept"], data["weights"])
