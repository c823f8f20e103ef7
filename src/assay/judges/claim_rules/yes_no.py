""" "Yes." as the answer to its question: "Is the library open on Mondays?" and "No." state that it is not. English."""

from __future__ import annotations

import re

_AUXILIARY = (
    "do", "does", "did", "is", "are", "was", "were", "has", "have", "had", "can", "could", "will", "would", "shall",
    "should", "may", "might", "must",
)  # fmt: skip
_YES = r"yes|yeah|yep|yup|correct|right|true|indeed|exactly|that's right|that is (?:right|correct|true)"
_NO = (
    r"no|nope|nah|incorrect|wrong|false|not at all|that's (?:wrong|false)|that is (?:wrong|false|not (?:true|correct))"
)
_OF_COURSE = r"absolutely|certainly|definitely|of course|sure"
_PRONOUN = r"(?:it|they|he|she|you|we|i|there|this|that|one)"
_SHORT = re.compile(
    rf"(?:(?P<yes>{_YES}|{_OF_COURSE})|(?P<no>{_NO}))?(?:\b,? ?(?:{_OF_COURSE}|indeed|{_YES}))?(?:\b[,;!. ]{{1,3}})?"
    rf"(?P<tail>{_PRONOUN}(?:'s| (?P<aux>{'|'.join(_AUXILIARY)}))(?P<not> ?not|n't)?"
    r"(?: so| right| correct| true)?)?[.! ]*"
)
_SENTENCE_BEFORE = re.compile(r".*[.!?:]\s+(?=\S)", re.DOTALL)
_POLAR = re.compile(rf"(?P<aux>{'|'.join(_AUXILIARY)})\s+(?P<rest>\S.*)", re.IGNORECASE | re.DOTALL)
_TO_THE_WRITER = re.compile(r"(?:can|could|will|would|do|did|are|have)\s+you\b", re.IGNORECASE)
_SHORT_SUBJECT = frozenset({
    "it", "they", "he", "she", "we", "i", "you", "there", "this", "that", "these", "those", "everyone", "everybody",
    "anyone", "nobody",
})  # fmt: skip
_DETERMINER = frozenset({
    "the", "a", "an", "this", "that", "these", "those", "my", "your", "his", "her", "its", "our", "their", "all",
    "any", "some", "every", "each", "no",
})  # fmt: skip
_OPENS_PREDICATE = frozenset({
    "a", "an", "the", "any", "some", "no", "not", "also", "still", "ever", "already", "always", "often", "usually",
    "allowed", "free", "open", "closed", "available", "able", "possible", "made", "part", "known",
})  # fmt: skip
_VERBS = frozenset({
    "get", "have", "need", "pay", "work", "offer", "include", "cover", "allow", "accept", "take", "use", "support",
    "contain", "provide", "receive", "cause", "treat", "require", "apply", "own", "sell", "ship", "deliver", "start",
    "close", "open", "cost", "return", "be", "make", "go", "come", "become", "know", "say", "mean", "belong", "exist",
    "been",
})  # fmt: skip
_PREPOSITION = frozenset({
    "in", "on", "at", "by", "for", "from", "to", "with", "within", "during", "before", "after", "under", "over",
    "near", "until", "since", "about",
})  # fmt: skip
_PARTICIPLE = re.compile(r"\w{2,}(?:ed|ing)|\d\S*", re.IGNORECASE)
_LONGEST = 300  # characters of a question


def is_short_answer(sentence: str, *, politely: bool = True) -> bool | None:
    """Whether a sentence is no more than a yes (True) or a no (False); None when it is neither.

    "Of course!" and "Sure!" may be mere politeness; they are answers where `politely` is False.
    """
    text = " ".join(sentence.strip(" \t\n\"'*_-").lower().replace("’", "'").split())
    if len(text) > 40:
        return None
    found = _SHORT.fullmatch(text)
    if found is None or not (found["yes"] or found["no"] or found["tail"]):
        return None
    if politely and not found["tail"] and re.fullmatch(rf"(?:{_OF_COURSE})\W*", text):
        return None
    return not (found["no"] or found["not"])


def as_answer(sentence: str, question: str, *, yes: bool) -> str:
    """What a short answer states, as one sentence where the question allows it, else question and answer."""
    asked = _last_sentence(question)
    stated = _statement(asked, yes=yes)
    return f"{'Yes' if yes else 'No'}, {stated}." if stated else f"{asked or question.strip()} {sentence.strip()}"


def is_polar(question: str) -> bool:
    """Whether a question can be answered by yes or no, and is no request to the one who answers."""
    asked = _last_sentence(question)
    return _POLAR.match(asked) is not None and _TO_THE_WRITER.match(asked) is None


def _last_sentence(question: str) -> str:
    text = question.strip()[-_LONGEST:].strip()
    before = _SENTENCE_BEFORE.match(text.rstrip("?.! "))
    return text[before.end() :] if before else text


def _statement(question: str, *, yes: bool) -> str | None:
    found = _POLAR.match(question.rstrip("?.! \n"))
    if found is None or " or " in question.lower() or _TO_THE_WRITER.match(question):
        return None
    aux, words = found["aux"].lower(), found["rest"].split()
    if words[0].lower() in ("not", "n't"):
        return None
    at = _subject_ends(words, verb=aux not in ("is", "are", "was", "were"))
    if at is None:
        return None
    return " ".join([*words[:at], aux, *([] if yes else ["not"]), *words[at:]])


def _subject_ends(words: list[str], *, verb: bool) -> int | None:
    """Where the predicate begins, by what often opens one. It errs at times, and the words are still the same."""
    lower = [word.lower().strip(",") for word in words]
    if len(words) < 2:
        return None
    if lower[0] in _SHORT_SUBJECT and not (lower[0] in _DETERMINER and lower[1] not in _OPENS_PREDICATE and not verb):
        return 1
    least = 2 if lower[0] in _DETERMINER else 1
    if verb and (known := next((at for at in range(least, len(words)) if lower[at] in _VERBS), None)):
        return known
    for at in range(least, len(words)):
        back = at - 1 >= least
        if lower[at] in _PREPOSITION or (lower[at] == "of" and back and not verb):
            return at - 1 if back else (None if verb else at)
        if lower[at] in _OPENS_PREDICATE or _PARTICIPLE.fullmatch(lower[at]):
            return at - 1 if verb and back and not lower[at].endswith("ed") else at
    return len(words) - 1 if not verb or len(words) == least + 1 else None
