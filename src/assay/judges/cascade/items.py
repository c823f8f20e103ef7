"""What a cascade does with an inquiry: who answers it, which of its verdicts are in doubt, and the two joined again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from assay.inquiries import Criterion, Directness, Inquiry, Support, Usefulness
from assay.judges.base import BaseJudge
from assay.judges.deciding.plan import decides
from assay.records import Verdict, fingerprint

#: From `low` up to, not including, `high`; a `high` of 1 includes 1. Equal ends are an empty band.
Band = tuple[float, float]
EVERYTHING: Band = (0.0, 1.0)
NOTHING: Band = (0.5, 0.5)

#: Inquiries whose verdicts can be asked for one by one.
Divisible = Support | Usefulness | Criterion

_AFFIRMATIVE = frozenset({"supported", "useful", "yes"})

Route = Literal["first", "both", "then"]


def in_doubt(probability: float | None, band: Band) -> bool:
    """Whether a verdict with this probability of the affirmative label is to be asked again. Unknown is in doubt."""
    low, high = band
    if low >= high:
        return False
    return probability is None or (low <= probability and (probability < high or high >= 1.0))


def affirms(verdict: Verdict) -> bool:
    """Whether the verdict is supported, useful or yes: what two judges agree or disagree on."""
    return verdict.label in _AFFIRMATIVE


def may_escalate(inquiry: type[Inquiry[Any]]) -> bool:
    """Whether inquiries of this type may come to the second judge although the first can answer them.

    Every decision may but directness: it has no band, and a first judge that cannot tell says so.
    """
    return decides(inquiry) and not issubclass(inquiry, Directness)


def route(inquiry: Inquiry[Any], first: BaseJudge, then: BaseJudge) -> Route:
    """Who answers: verdicts that can be divided the first judge, and the second where it is in doubt ("both").

    Other decisions (ratings) the second alone: the first gives no probability to doubt. Texts (claims, questions) and
    directness the first where it can. What does not tell its language (similarity) the second where it can, because
    the first may not read that language.
    """
    language = getattr(inquiry, "language", None)
    able = first.cannot(type(inquiry), language or "en") is None
    if isinstance(inquiry, Divisible):
        return "both" if able else "then"
    if may_escalate(type(inquiry)) or not able:
        return "then"
    return "then" if language is None and then.cannot(type(inquiry)) is None else "first"


def verdicts_of(inquiry: Inquiry[Any], finding: Any) -> tuple[Verdict, ...]:
    """The verdicts of a finding on a divisible inquiry, in order."""
    return (finding,) if isinstance(inquiry, Criterion) else tuple(finding)


def part(inquiry: Inquiry[Any], numbers: Sequence[int]) -> Inquiry[Any]:
    """The inquiry for these of its verdicts alone; the inquiry itself when these are all."""
    if isinstance(inquiry, Support) and len(numbers) < len(inquiry.claims):
        return replace(inquiry, claims=tuple(inquiry.claims[n] for n in numbers))
    if isinstance(inquiry, Usefulness) and len(numbers) < len(inquiry.passages):
        return replace(inquiry, passages=tuple(inquiry.passages[n] for n in numbers))
    return inquiry


def joined(inquiry: Inquiry[Any], finding: Any, numbers: Sequence[int], of_part: Any) -> Any:
    """The finding with the verdicts on `part(inquiry, numbers)` in their places."""
    if isinstance(inquiry, Criterion):
        return of_part if numbers else finding
    verdicts = list(finding)
    for n, verdict in zip(numbers, of_part, strict=True):
        verdicts[n] = _moved(verdict, numbers) if isinstance(inquiry, Usefulness) else verdict
    return tuple(verdicts)


def texts_of(inquiry: Inquiry[Any]) -> str:
    """The same for inquiries on the same texts: verdicts on one sample are not independent of each other."""
    return fingerprint([[section.title, section.text] for section in inquiry.sections()])[:16]


def _moved(verdict: Verdict, numbers: Sequence[int]) -> Verdict:
    """A verdict on a passage of the part, with the number that the passage has in the whole."""
    return replace(
        verdict,
        passage=None if verdict.passage is None else numbers[verdict.passage],
        evidence=tuple(replace(quote, passage=numbers[quote.passage]) for quote in verdict.evidence),
    )
