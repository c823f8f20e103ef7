"""What the stored scores of a row say of its question, answer and passages. No judge is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from assay.errors import Cause
from assay.evaluation.default_thresholds import bare_name
from assay.judges.claim_rules import refuses, sentence_claims
from assay.judges.claim_rules.languages import LANGUAGES
from assay.metrics.languages import languages_in
from assay.records import Context, Sample, Score, ScoredSample
from assay.text.languages import code_of
from assay.text.short_answers import aliases

#: Readings of the answer's claims, by their key in `Score.verdicts`.
_ANSWER_READINGS = ("answer/contexts", "answer/reference", "answer/conversation", "answer/tools")
#: Metrics that have no value (no_claims) where the answer states nothing.
_READ_ANSWERS = frozenset({"faithfulness", "grounded", "hallucination"})
_LONGEST_REFUSAL = 300  # characters, in languages whose refusals are known by what a text does not state
_NO = frozenset({"no", "false", "0", "unanswerable", "none", "n"})
_YES = frozenset({"yes", "true", "1", "answerable", "y"})


@dataclass(frozen=True, slots=True)
class ReferenceClaim:
    """One claim of the reference, and what all passages together say of it."""

    passages: str | None


@dataclass(frozen=True, slots=True)
class StoredFacts:
    """Facts of one row.

    Attributes:
        answerable: Whether the question can be answered at all; None: not known.
        abstained: Whether the answer is a refusal; None: not known.
        contexts: The passages; None: not known.
        reference: The claims of the reference that were read against the passages; None: none was.
    """

    answerable: bool | None
    abstained: bool | None
    contexts: tuple[Context, ...] | None
    reference: tuple[ReferenceClaim, ...] | None


def stored_facts(scored: ScoredSample) -> StoredFacts:
    """Read the facts of a row from its texts and its stored scores."""
    sample, scores = scored.sample, scored.scores
    return StoredFacts(is_answerable(sample), is_refusal(sample, scores), sample.contexts, reference_claims(scores))


def is_answerable(sample: Sample, column: str = "answerable") -> bool | None:
    """Whether the question can be answered, by the sample's column or else its reference; None: not known.

    A reference that is a refusal says that it cannot.
    """
    by_column = _yes_no(sample.metadata.get(column))
    if by_column is not None:
        return by_column
    reference = (sample.reference or "").strip()
    return None if not reference else not refuses(reference)


def is_refusal(sample: Sample, scores: Mapping[str, Score]) -> bool | None:
    """Whether the answer is empty, a refusal by its words, or states nothing by a stored score; None: not known.

    Refusals are known by their words in English, German, Spanish, French, Italian and Portuguese.
    """
    if sample.answer is None:
        return None
    answer = sample.answer.strip()
    if not answer or refuses(answer):
        return True
    if _claims_something(scores.values()):
        return False
    if any(_states_nothing(name, score) for name, score in scores.items()):
        return True
    language = code_of(next(iter(languages_in(sample, ("answer",)).values()), sample.spoken))
    if language not in ("en", *LANGUAGES):
        return None  # no rule knows its refusals
    if language == "en" or len(answer) > _LONGEST_REFUSAL or len(answer.split()) < 3 or aliases(answer):
        return False
    return not sentence_claims(answer, language, sample.question)


def reference_claims(scores: Mapping[str, Score]) -> tuple[ReferenceClaim, ...] | None:
    """Each claim of the reference once, with the first verdict on it; None where none was read."""
    found: dict[tuple[int, int, str], ReferenceClaim] = {}
    for _, score in sorted(scores.items()):  # the order of metrics decides nothing
        for verdict in score.verdicts.get("reference/contexts", ()):
            if (claim := verdict.claim) is not None:
                found.setdefault((claim.span.start, claim.span.end, claim.text), ReferenceClaim(verdict.label))
    return tuple(found.values()) or None


def _claims_something(scores: Iterable[Score]) -> bool:
    return any(
        any(score.verdicts.get(key) for key in _ANSWER_READINGS)
        or any(one.label == "direct" for one in score.verdicts.get("question/answer", ()))
        for score in scores
    )


def _states_nothing(name: str, score: Score) -> bool:
    return score.error is not None and score.error.cause is Cause.NO_CLAIMS and bare_name(name) in _READ_ANSWERS


def _yes_no(value: Any) -> bool | None:
    if isinstance(value, bool) or value is None:
        return value
    word = re.sub(r"\.0\Z", "", str(value)[:40].strip().lower())
    return True if word in _YES else False if word in _NO else None
