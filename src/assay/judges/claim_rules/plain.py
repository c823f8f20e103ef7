"""One plain form of a sentence, and the signs of a clause of its own. English."""

from __future__ import annotations

import re

_MARKS = str.maketrans({"’": "'", "‘": "'", "`": "'", "_": " ", **dict.fromkeys('*#"“”')})
_SPACES = re.compile(r"\s+")
_NOT = re.compile(r"(?<=[a-z]) ?n ?' ?t\b|(?<=\bcan)not\b")
_REFERENCE = re.compile(r" ?\[[\d,; -]{1,20}\]")
_OPENING = re.compile(r"(?:\d{1,2}[.)] |[^\w\s]|\s)+")
_WORD = re.compile(r"[\w']+")
_DIGIT = re.compile(r"\d")

#: Finite verbs that are rarely anything else in an answer. Longer than needed: what is taken for one makes a claim.
_FINITE = frozenset({
    "am", "is", "are", "was", "were", "has", "have", "had", "does", "do", "did", "will", "would", "can", "could",
    "may", "might", "must", "shall", "should", "cannot", "i'm", "it's", "that's", "there's", "he's", "she's",
    "what's", "they're", "we're", "you're", "i've", "we've", "you've", "they've", "i'll", "we'll", "you'll",
    "they'll", "it'll", "get", "gets", "got", "give", "gives", "gave", "pay", "pays", "paid", "take", "takes", "took",
    "make", "makes", "made", "receive", "receives", "received", "become", "becomes", "became", "need", "needs",
    "want", "wants", "wanted", "remain", "remains", "remained", "say", "says", "said", "mean", "means", "meant",
    "includes", "included", "contain", "contains", "began", "begins", "come", "comes", "came", "go", "goes", "went",
    "know", "knows", "knew", "thinks", "keep", "keeps", "kept", "allow", "allows", "apply", "applies", "applied",
    "belong", "belongs", "exist", "exists", "existed", "holds", "held", "leads", "led", "lost", "meets", "met", "ran",
    "sells", "sold", "send", "sends", "sent", "stood", "wins", "won", "weigh", "weighs", "weighed", "lasts", "lasted",
    "stays", "stayed", "live", "lives", "lived", "happens", "happened", "die", "dies", "died", "born", "builds",
    "built", "owns", "owned", "cures", "cured", "caused", "uses", "offers", "offered", "provides", "opens", "opened",
    "closes", "closed", "starts", "started", "ends", "stopped", "moved", "works", "worked", "carries", "carried",
    "shows", "showed", "found", "brings", "brought", "bought", "sees", "saw", "seen", "wrote", "grew", "fell", "rose",
    "spoke", "sings", "runs", "speaks",
})  # fmt: skip
#: Others show by what follows them: "weighs 90 grams", "painted the bridge".
_VERB_AND_OBJECT = re.compile(
    r"\b\w{2,20}(?:ed|[^s]s) (?:a|an|the|his|her|its|their|our|your|all|\d[\d.,]{0,12})(?!\w)"
)


def plain(sentence: str) -> str:
    """Lower case, one space, no marks of emphasis, no "[1]", "don't" as "do not", nothing before the first word."""
    text = _SPACES.sub(" ", sentence.lower().translate(_MARKS)).strip()
    text = _NOT.sub(" not", _REFERENCE.sub("", text))
    text = re.sub(r"\b(ca|wo) not\b", lambda match: {"ca": "can", "wo": "will"}[match[1]] + " not", text)
    opening = _OPENING.match(text)
    return text[opening.end() :] if opening else text


def words(text: str) -> list[str]:
    """The words of a plain text, "it's" being one."""
    return _WORD.findall(text)


def has_verb(text: str) -> bool:
    """Whether a plain text looks as if it held a clause with a finite verb."""
    return not _FINITE.isdisjoint(words(text)) or _VERB_AND_OBJECT.search(text) is not None


def has_figures(text: str) -> bool:
    """Whether there is a digit in it."""
    return _DIGIT.search(text) is not None


def only_names(text: str, most: int) -> bool:
    """Whether a part of a plain sentence only names things: at most so many words, no figures, no verb."""
    return len(words(text)) <= most and not has_figures(text) and not has_verb(text)
