"""Nugget recall: how much of what a good answer must hold is there, where what is vital counts more?

A nugget is a claim of the reference with an importance: "vital" ones must be in a good answer, "okay" ones may be.

    (supported vital + w * supported okay) / (vital + w * okay),   w the weight of an okay nugget, 0.5 by default

Range 0 to 1, higher is better. Source: the weighted score of AutoNuggetizer in the TREC 2024 RAG track (Pradeep et al.,
"Initial Nugget Evaluation Results for the TREC 2024 RAG Track", 2024), which counts partial support as well; with
`okay=0` only vital nuggets count, its strict vital score.

`against="answer"` reads the nuggets against the answer, `against="contexts"` against the retrieved contexts, so that
both ends of a pipeline are measured by the same list. Nuggets that people wrote are taken from `metadata["nuggets"]`: a
list of {"text": ..., "importance": "vital" or "okay"} (vital where it is not said); else they are the claims of the
reference, and the judge says which are vital. Skipped without a nugget, and where no nugget has a weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics.base import Metric
from assay.metrics.shared_prompts import claims_of, gather, probabilities, support, texts_not_judged
from assay.prompts import Claims, Classification, Support
from assay.records import Claim, Sample, Score, ScoreError, Span, Verdict

Against = Literal["answer", "contexts"]

IMPORTANCE = (
    ("vital", "an answer to the QUESTION without it would be incomplete"),
    ("okay", "it is worth having, but an answer to the QUESTION is good without it"),
)
ASKED = "How important is the ITEM, a statement of the REFERENCE, for a good answer to the QUESTION?"


def weighted_recall(supported: Sequence[float], vital: Sequence[bool], okay: float = 0.5) -> float:
    """The weight of the supported nuggets / the weight of all, which must not be 0; an okay one weighs `okay`.

    A nugget that is supported with a probability counts with it.
    """
    weights = [1.0 if one else okay for one in vital]
    return sum(weight * found for weight, found in zip(weights, supported, strict=True)) / sum(weights)


@dataclass(frozen=True)
class NuggetRecall(Metric):
    """Weighted share of the reference's nuggets that the answer, or the contexts, support."""

    name: ClassVar[str] = "nugget_recall"
    asks: ClassVar = (Claims, Support, Classification)
    may_read: ClassVar[tuple[str, ...]] = ("nuggets",)
    needs_passages: ClassVar[bool] = False

    against: Against = "answer"
    okay: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.okay <= 1:  # NaN fails this as well
            raise InputError(f"NuggetRecall: okay: expected a weight in [0, 1], got {self.okay!r}")

    @property
    def label(self) -> str:
        return f"{self.name}_{self.against}"

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]  # depends on what they are read against
        return (self.against,)

    def cannot(self, judge: Judge, language: str = "en") -> JudgeFailure | None:
        # rows that bring nuggets with their importance need no Classification
        return next(filter(None, (judge.cannot(asked, language) for asked in (Claims, Support))), None)

    def missing(self, sample: Sample) -> ScoreError | None:
        if sample.metadata.get("nuggets") is None and not (sample.reference or "").strip():
            what = f"{self.label} reads nuggets against {self.against!r}"
            message = f"{what}: it needs 'reference', or nuggets in the metadata; both are missing"
            return ScoreError(cause=Cause.MISSING_INPUT, message=message)
        return super().missing(sample)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        given = _given(sample.metadata.get("nuggets"))
        claims = tuple(claim for claim, _ in given) if given else ()
        if given is None:
            claims = await judge.find(claims_of(sample, "reference"))
        left = texts_not_judged(sample, claims, "reference") if given is None else {}
        if not claims:
            return self.skip(Cause.NO_CLAIMS, "there is no nugget", texts=left)
        passages = (sample.answer or "",) if self.against == "answer" else sample.passages
        if given is None:
            verdicts, importance = await gather(
                support(claims, passages, sample, judge), _importance(claims, sample, judge)
            )
        else:
            verdicts, importance = await support(claims, passages, sample, judge), ()
        vital = [one.label == "vital" for one in importance] if given is None else [vital for _, vital in given]
        found = [verdict.label == "supported" for verdict in verdicts]
        parts = {
            "vital": float(sum(vital)),
            "okay": float(len(vital) - sum(vital)),
            "vital_found": float(sum(a and b for a, b in zip(vital, found, strict=True))),
            "okay_found": float(sum(b and not a for a, b in zip(vital, found, strict=True))),
        }
        evidence: dict[str, tuple[Verdict, ...]] = {f"reference/{self.against}": verdicts}
        if importance:
            evidence["importance/reference"] = importance
        if not self.okay and not any(vital):
            return self.skip(Cause.NOT_APPLICABLE, "no nugget is vital", verdicts=evidence, texts=left)
        known = probabilities(verdicts)
        if known is not None:
            parts["mean_probability"] = weighted_recall(known, vital, self.okay)
        return self.make_score(weighted_recall(found, vital, self.okay), verdicts=evidence, parts=parts, texts=left)


async def _importance(claims: tuple[Claim, ...], sample: Sample, judge: Judge) -> tuple[Verdict, ...]:
    """Which nuggets are vital. Raises JudgeFailure where the judge cannot say."""
    cannot = judge.cannot(Classification, sample.spoken)
    if cannot is not None:
        hint = "give the rows nuggets with their importance, or name an LLM judge"
        raise JudgeFailure(cannot.cause, f"{cannot.message}; {hint}")
    material = (("QUESTION", sample.question or ""), ("REFERENCE", sample.reference or ""))
    texts = tuple(claim.text for claim in claims)
    shown = tuple(one for one in material if one[1].strip())
    return await judge.find(Classification("importance", ASKED, texts, IMPORTANCE, shown, language=sample.spoken))


def _given(nuggets: Any) -> tuple[tuple[Claim, bool], ...] | None:
    """The nuggets that a row brings, and whether each is vital; None where it brings none. Raises JudgeFailure."""
    if nuggets is None:
        return None
    if not isinstance(nuggets, Sequence) or isinstance(nuggets, str):
        raise _wrong(f"expected a list, found {type(nuggets).__name__}")
    return tuple(_nugget(one, number) for number, one in enumerate(nuggets, 1))


def _nugget(one: Any, number: int) -> tuple[Claim, bool]:
    text = one.get("text") if isinstance(one, Mapping) else one
    importance = one.get("importance", "vital") if isinstance(one, Mapping) else "vital"
    if not isinstance(text, str) or not text.strip():
        raise _wrong(f"number {number}: expected a text, or an object with one under 'text'")
    if importance not in ("vital", "okay"):
        raise _wrong(f"number {number}: importance: expected 'vital' or 'okay', found {importance!r}")
    return Claim(text=text, span=Span(0, 0)), importance == "vital"


def _wrong(message: str) -> JudgeFailure:
    return JudgeFailure(Cause.MISSING_INPUT, f"metadata['nuggets']: {message}")
