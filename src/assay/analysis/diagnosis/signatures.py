"""Which cause explains the verdicts on a failed row best: the one that the fewest of them speak against. Pure.

Each cause expects something of the verdicts: whether the passages support the reference's claims, whether the answer
gives them, and what the answer's own claims rest on. A verdict that is otherwise costs the cause 1; the cause with the
lowest cost is the row's, and of equally good ones the one that comes first in the pipeline. If each verdict is wrong
with one small probability, this is the maximum likelihood estimate, so a single slip of a judge rarely decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal

from assay.analysis.diagnosis.facts import ClaimFacts, Facts
from assay.analysis.diagnosis.labels import LABELS, Label

#: The cost of a passage that contradicts where nothing is expected of it, or the reverse: judges confuse the two most.
CONFUSED = 0.5
#: What decides ties against "not retrieved": one missed support makes any other cause look like it.
TIE = 0.25
#: A refusal where the cause expects an answer, or an answer where it expects a refusal.
REFUSAL = 3.0


@dataclass(frozen=True, slots=True)
class ClaimEvidence:
    """What was read of one claim, as counts of passages.

    Attributes:
        supported: Passages in the prompt that support it; 1 where only all of them together do.
        dropped: Passages that support it and were not in the prompt.
        contradicted: Passages in the prompt that contradict it.
        other: What the other text (answer or reference) says of it; None: not read.
        is_read: Whether it was read against the passages.
    """

    supported: int
    dropped: int
    contradicted: int
    other: str | None
    is_read: bool


def evidence_of(claim: ClaimFacts, facts: Facts) -> ClaimEvidence:
    """Count what the passages say of a claim."""
    supports, dropped = claim.places("supported"), facts.unprompted
    supported = sum(n not in dropped for n in supports)
    together = claim.passages == "supported" and not supports  # or not read one by one
    if together and not dropped:
        supported = 1
    against = sum(n not in dropped for n in claim.places("contradicted"))
    if claim.passages == "contradicted" and claim.cells is None:
        against = 1
    is_read = claim.passages is not None or claim.cells is not None
    unseen = sum(n in dropped for n in supports) or (together and bool(dropped))
    return ClaimEvidence(supported, int(unseen), against, claim.other, is_read)


Cost = Callable[[ClaimEvidence], float]


def _supported(one: ClaimEvidence) -> float:
    return (one.supported == one.contradicted == 0) + one.contradicted


def _dropped(one: ClaimEvidence) -> float:
    return (one.dropped == 0) + one.supported + one.contradicted


def _absent(one: ClaimEvidence) -> float:
    return one.supported + one.dropped + CONFUSED * one.contradicted


def _unmentioned(one: ClaimEvidence) -> float:
    return one.supported + one.dropped + one.contradicted


def _contradicted(one: ClaimEvidence) -> float:
    return (one.supported == one.contradicted == 0) + one.supported + one.dropped


def _wrong(one: ClaimEvidence) -> float:
    return one.supported + one.dropped + CONFUSED * (one.supported == one.contradicted == 0)


def _disputed(one: ClaimEvidence) -> float:
    return (one.supported == 0) + (one.contradicted == 0)


S, C, N = "supported", "contradicted", "not_mentioned"


@dataclass(frozen=True, slots=True)
class Expected:
    """What a cause expects of a claim: of the passages, and of the other text, which may have to be known."""

    passages: Cost
    other: tuple[str, ...] = (S, C, N)
    other_is_known: bool = False

    def cost(self, one: ClaimEvidence) -> float:
        """The number of verdicts that are otherwise; what was not read costs nothing."""
        other = self.other_is_known if one.other is None else one.other not in self.other
        return (self.passages(one) if one.is_read else 0.0) + other


#: How many claims show the fault: any number, also none; at least one (if there are claims); all; some, but not all.
HowMany = Literal["any", "some", "some, if read", "all", "part"]


@dataclass(frozen=True, slots=True)
class Side:
    """What a cause expects of the claims of one text: `usual` ones, and those that show the fault."""

    usual: Expected | None
    fault: Expected | None = None
    how_many: HowMany = "some"

    def cost(self, claims: Sequence[ClaimEvidence]) -> float:
        """The lowest cost of any choice of claims that show the fault; infinite where there are too few claims."""
        if self.fault is None:
            return sum(self.usual.cost(one) for one in claims) if self.usual is not None else 0.0
        if len(claims) < {"some": 1, "part": 2}.get(self.how_many, 0):
            return inf
        if not claims:
            return 0.0
        faults = [self.fault.cost(one) for one in claims]
        if self.usual is None or self.how_many == "all":
            return sum(faults)
        usual = [self.usual.cost(one) for one in claims]
        more = [fault - other for fault, other in zip(faults, usual, strict=True)]
        total = sum(map(min, faults, usual))
        if self.how_many != "any":  # where the cheapest choice is none, the one that costs least
            total += max(0.0, min(more))
        if self.how_many == "part":
            total += max(0.0, -max(more))
        return total


_GIVEN = Expected(_supported, (S,))
_GROUNDED = Expected(_supported, (S, N))
_USUAL_REFERENCE, _USUAL_ANSWER = Side(_GIVEN), Side(_GROUNDED)


@dataclass(frozen=True, slots=True)
class Signature:
    """What a cause expects of the claims of both texts, and of the answer: whether it is a refusal, or direct.

    None: either.
    """

    label: Label
    reference: Side
    answer: Side
    refusal: bool | None = False
    direct: bool | None = True
    prior: float = 0.0

    def cost(self, facts: Facts) -> float:
        """The number of verdicts that speak against the cause; infinite where it needs claims that there are not."""
        reference = [evidence_of(one, facts) for one in facts.claims("reference")]
        if not reference and self.reference.how_many == "all" and self.reference.fault is not None:
            return inf
        answer = [evidence_of(one, facts) for one in facts.claims("answer")]
        refusal = REFUSAL * (None not in (self.refusal, facts.abstained) and self.refusal != facts.abstained)
        direct = None not in (self.direct, facts.direct) and self.direct != facts.direct
        return self.reference.cost(reference) + self.answer.cost(answer) + refusal + direct + self.prior


_LEFT_OUT = Expected(_supported, (N,))
_INVENTED = Expected(_absent, (N, C))
_KNOWN = Expected(_absent, (S,), other_is_known=True)
_OTHERWISE = Expected(_supported, (C,))
#: What a model says that did not see the passage: something else that the passages have, or something invented.
_WITHOUT_IT = Side(Expected(_supported, (S, N)), Expected(_unmentioned), "any")

SIGNATURES: tuple[Signature, ...] = (
    Signature(
        "not retrieved", Side(_GIVEN, Expected(_absent, (N, C))), _WITHOUT_IT, refusal=None, direct=None, prior=TIE
    ),
    Signature("not retrieved", Side(_GIVEN, Expected(_absent), "any"), Side(_GROUNDED, _KNOWN)),
    Signature("truncated", Side(_GIVEN, Expected(_dropped, (N, C))), _WITHOUT_IT, refusal=None, direct=None),
    Signature(
        "conflicting passages",
        Side(_GIVEN, Expected(_disputed, (C,)), "some, if read"),
        Side(_GROUNDED, Expected(_disputed, (C,)), "some, if read"),
    ),
    Signature("answerable and refused", Side(_LEFT_OUT, _LEFT_OUT, "all"), _USUAL_ANSWER, refusal=True, direct=False),
    Signature(
        "hallucination: contradicts the passage",
        Side(_GIVEN, Expected(_supported, (C,)), "any"),
        Side(_GROUNDED, Expected(_contradicted, (C, N))),
    ),
    Signature("context not used", Side(_LEFT_OUT, _LEFT_OUT, "all"), Side(None, _INVENTED, "all"), direct=None),
    Signature(
        "off-topic answer",
        Side(_LEFT_OUT, _LEFT_OUT, "all"),
        Side(_GROUNDED, Expected(_supported, (N,)), "all"),
        direct=False,
    ),
    Signature("incomplete answer", Side(_GIVEN, _LEFT_OUT, "part"), _USUAL_ANSWER),
    Signature("hallucination: unsupported", _USUAL_REFERENCE, Side(_GROUNDED, _INVENTED)),
    Signature(
        "wrong or incomplete reference",
        Side(_GIVEN, Expected(_wrong, (C, N)), "some, if read"),
        Side(_GROUNDED, _OTHERWISE, "some, if read"),
    ),
)
_NO_FAULT = Signature("unclear", _USUAL_REFERENCE, _USUAL_ANSWER)


def costs(facts: Facts) -> dict[Label, float]:
    """The cost of each cause that the row's claims allow, in the order of the pipeline."""
    found: dict[Label, float] = {}
    for one in SIGNATURES:
        found[one.label] = min(one.cost(facts), found.get(one.label, inf))
    return {label: found[label] for label in LABELS if found.get(label, inf) < inf}


def likeliest(facts: Facts) -> Label | None:
    """The cause that the fewest verdicts speak against, of equal ones the first in the pipeline.

    None where no fewer speak against a row in which nothing is wrong.
    """
    found = costs(facts)
    best = min(found, key=found.__getitem__, default=None)
    return best if best is not None and found[best] < _NO_FAULT.cost(facts) else None
