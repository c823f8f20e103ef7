"""What a row's verdicts and texts say of its cause, as numbers: the input of `cause_model`. Pure, linear in the texts.

The embedded judge gives probabilities and can't tell a contradiction from a missing mention, so its verdicts alone do
not name a cause. Numbers and words that the texts share, and the wording of a refusal, say the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from assay.analysis.diagnosis.facts import ClaimFacts, Facts
from assay.analysis.diagnosis.refusal_wording import wording_of
from assay.judges.claim_rules import refuses
from assay.records import Sample

#: A probability stands for a label that came without one, and for what was not read.
CERTAIN, UNKNOWN = 0.95, 0.5
_MOST = 6  # claims of a text that count
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[a-z']{3,40}")
_COMMON = frozenset(
    _WORD.findall(
        "the and for are was with that this from have has you your not any can will may must but they their its our "
        "out all one two who what when how which there than then them into only also does did"
    )
)


def features(sample: Sample, facts: Facts) -> dict[str, float]:
    """The features of a row by name, each from 0 to 1 but for counts (at most 6)."""
    return dict((*_of_verdicts(facts), *_of_texts(sample), *_of_wording(sample)))


def _of_verdicts(facts: Facts) -> Iterator[tuple[str, float]]:
    reference, answer = facts.claims("reference"), facts.claims("answer")
    for name, values in (
        ("reference in passages", [_by_passages(one) for one in reference]),
        ("reference in answer", [_by_other(one) for one in reference]),
        ("answer in passages", [_by_passages(one) for one in answer]),
        ("answer in reference", [_by_other(one) for one in answer]),
    ):
        known = [value for value in values if value is not None] or [UNKNOWN]
        yield f"{name}, lowest", min(known)
        yield f"{name}, highest", max(known)
        yield f"{name}, mean", sum(known) / len(known)
    yield "direct", UNKNOWN if facts.directness is None else facts.directness
    yield "refusal", float(bool(facts.abstained))
    yield "claims of the reference", min(len(reference), _MOST)
    yield "claims of the answer", min(len(answer), _MOST)
    yield "answer without claims", float(not answer)
    yield "passages cut from the prompt", float(bool(facts.unprompted))
    yield "unanswerable", float(facts.answerable is False)


def _by_passages(one: ClaimFacts) -> float | None:
    return _probability(one.passages, one.probability)


def _by_other(one: ClaimFacts) -> float | None:
    return _probability(one.other, one.other_probability)


def _probability(label: str | None, probability: float | None) -> float | None:
    if label is None or probability is not None:
        return probability
    return CERTAIN if label == "supported" else 1 - CERTAIN


def _of_texts(sample: Sample) -> Iterator[tuple[str, float]]:
    question, answer, reference = sample.question or "", sample.answer or "", sample.reference or ""
    passages = [context.text for context in sample.contexts or ()]
    asked, retrieved = _numbers([question]), _numbers(passages)
    said, right = _numbers([answer]) - asked, _numbers([reference]) - asked
    yield "numbers of the reference in the answer", _share(right, said)
    yield "numbers of the reference in the passages", _share(right, retrieved)
    yield "numbers of the answer in the passages", _share(said, retrieved)
    yield "numbers of the answer in the reference", _share(said, right)
    yield "answer with numbers", float(bool(said))
    yield "reference with numbers", float(bool(right))
    topic, whole = _words([question]), _words(passages)
    words, wanted = _words([answer]), _words([reference])
    new = wanted - topic
    by_passage = [_share(new, _words([one])) for one in passages]
    yield "words of the reference in the answer", _share(new, words)
    yield "words of the reference in the passages", _share(new, whole)
    yield "words of the reference in one passage", max(by_passage, default=UNKNOWN)
    yield "words of the answer in the passages", _share(words - topic, whole)
    yield "words of the answer in the reference", _share(words - topic, wanted)
    yield "words of the question in the answer", _share(topic, words)


def _of_wording(sample: Sample) -> Iterator[tuple[str, float]]:
    answer = (sample.answer or "").strip()
    wording = wording_of(answer)
    yield "cues of a refusal", min(wording.cues, 3)
    yield "first person", min(wording.first_person, 3)
    yield "cues in the first person", float(bool(wording.cues and wording.first_person))
    yield "speaks of its sources", float(wording.has_source)
    yield "cues about its sources", float(bool(wording.cues and wording.has_source))
    yield "refusal by rule", float(refuses(answer))
    yield "length of the answer", min(len(answer.split()), 60) / 60
    yield "reference is a refusal", float(refuses((sample.reference or "").strip()))
    yield "ends with a question", float(answer.endswith("?"))


def _numbers(texts: Sequence[str]) -> set[str]:
    return {found.replace(",", "") for text in texts for found in _NUMBER.findall(text)}


def _words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in _WORD.findall(text.lower())} - _COMMON


def _share(some: set[str], others: set[str]) -> float:
    return len(some & others) / len(some) if some else UNKNOWN
