"""What a cascade does with a prompt: who answers it, and which of its verdicts are in doubt."""

from __future__ import annotations

from typing import Any, Literal

from assay.judges.base import BaseJudge
from assay.judges.classifier.requests import decides
from assay.prompts import JudgePrompt, Support
from assay.prompts.directness import Directness
from assay.records import Verdict

#: From `low` up to, not including, `high`; a `high` of 1 includes 1. Equal ends are an empty band.
Band = tuple[float, float]
EVERYTHING: Band = (0.0, 1.0)
NOTHING: Band = (0.5, 0.5)

Route = Literal["first", "both", "then"]


def kind_of(prompt: JudgePrompt[Any]) -> str:
    """The name under which bands are kept: what passages say of claims is one kind, with its cells and without."""
    return Support.name if isinstance(prompt, Support) else prompt.name


def in_doubt(probability: float | None, band: Band) -> bool:
    """Whether a verdict with this probability of the affirmative label is to be asked again. Unknown is in doubt."""
    low, high = band
    if low >= high:
        return False
    return probability is None or (low <= probability and (probability < high or high >= 1.0))


def affirms(prompt: JudgePrompt[Any], verdict: Verdict) -> bool:
    """Whether the verdict is supported, useful or yes: what two judges agree or disagree on."""
    return verdict.label == prompt.labels()[0]


def may_escalate(prompt: type[JudgePrompt[Any]]) -> bool:
    """Whether prompts of this type may come to the second judge although the first can answer them.

    Every decision may but directness: it has no band, and a first judge that cannot tell says so.
    """
    return decides(prompt) and not issubclass(prompt, Directness)


def route(prompt: JudgePrompt[Any], first: BaseJudge, then: BaseJudge) -> Route:
    """Who answers: verdicts that can be divided the first judge, and the second where it is in doubt ("both").

    Other decisions (ratings) the second alone: the first gives no probability to doubt. Texts (claims, questions) and
    directness the first where it can. What does not tell its language (similarity) the second where it can, because
    the first may not read that language.
    """
    language = getattr(prompt, "language", None)
    able = first.cannot(type(prompt), language or "en") is None
    if prompt.divisible:
        return "both" if able else "then"
    if may_escalate(type(prompt)) or not able:
        return "then"
    return "then" if language is None and then.cannot(type(prompt)) is None else "first"
