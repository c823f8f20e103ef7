"""What is known of one failed row, drawn from the readings that its scores rest on. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from assay.analysis.diagnosis.answer_form import form_problem
from assay.analysis.diagnosis.refusal_wording import wording_of
from assay.errors import Cause
from assay.evaluation.stored_facts import is_answerable
from assay.judges.claim_rules import refuses, sentence_claims
from assay.judges.claim_rules.languages import LANGUAGES
from assay.metrics.languages import languages_in
from assay.records import Claim, Context, Evidence, Sample, Score, Verdict
from assay.text.languages import code_of
from assay.text.short_answers import aliases

Side = Literal["answer", "reference"]

#: Readings by their key in `Score.verdicts`: whose claims were read, and against what. A conversation's evidence, or an
#: agent's, stands in the place of passages.
CONTEXTS = ("answer/contexts", "answer/conversation", "answer/tools", "reference/contexts")
OTHERS = ("answer/reference", "reference/answer")
#: How the fingerprints of judges begin whose "contradicted" is no evidence of one: docs/causes.md has figures.
UNSURE = ("embedded/",)


@dataclass(frozen=True, slots=True)
class ClaimFacts:
    """One claim, and what was read of it.

    Attributes:
        passages: What all passages together say of it; None: not read.
        cells: What each passage alone says; None: not read.
        other: What the other text says of it: the reference of a claim of the answer, the answer of one of the
            reference.
        blamed: Whether a failed metric counted it as bad.
        evidence: Located quotes of the passages.
        probability: Of "supported by all passages together"; `cell_probabilities`, `other_probability`: of the same by
            each passage alone, and by the other text. None: the judge gives none.
        doubtful: Whether "contradicted" was said of it by a judge whose word for that does not count: see
            `Facts.unsure`.
    """

    text: str
    side: Side
    passages: str | None = None
    cells: tuple[str, ...] | None = None
    other: str | None = None
    blamed: bool = False
    evidence: tuple[Evidence, ...] = ()
    doubtful: bool = False
    probability: float | None = None
    cell_probabilities: tuple[float | None, ...] | None = None
    other_probability: float | None = None

    def places(self, label: str) -> tuple[int, ...]:
        """The numbers of the passages, from 1, that alone say this of it; () where that was not read."""
        return tuple(n for n, cell in enumerate(self.cells or (), 1) if cell == label)

    @property
    def quoted(self) -> tuple[int, ...]:
        """The numbers of the passages, from 1, that a verdict quotes."""
        return tuple(sorted({quote.passage + 1 for quote in self.evidence}))


@dataclass(frozen=True, slots=True)
class Facts:
    """What decides about one failed row.

    Attributes:
        answer, reference: The claims; None where they were not read.
        contexts: The passages in the order of the ranking; None: not known.
        elsewhere: Passages of earlier turns and outputs of tools that count as evidence too.
        useful: Which passages are useful, where a failed metric asked that.
        abstained: Whether the answer states nothing but that it is no answer; None: not known.
        directness: The probability that the answer gives what the question asks for, right or wrong; None: not read.
        answerable: Whether the question can be answered at all; None: not known.
        kept: Whether anything of the row is kept but its scores.
        form: What makes the answer unusable in form, as the rest of a sentence; None: nothing.
        unsure: Whether the judge does not tell what a passage contradicts from what it does not mention.
    """

    answer: tuple[ClaimFacts, ...] | None = None
    reference: tuple[ClaimFacts, ...] | None = None
    contexts: tuple[Context, ...] | None = None
    elsewhere: bool = False
    useful: tuple[bool, ...] | None = None
    abstained: bool | None = None
    directness: float | None = None
    answerable: bool | None = None
    has_reference: bool = False
    short_reference: bool = False
    unsure: bool = False
    kept: bool = True
    form: str | None = None
    failed: Mapping[str, float] | None = None

    @property
    def direct(self) -> bool | None:
        """Whether the answer gives what the question asks for; None: not read."""
        return None if self.directness is None else self.directness >= 0.5

    @property
    def unprompted(self) -> frozenset[int]:
        """The numbers of the passages, from 1, that are known not to have stood in the prompt."""
        return frozenset(n for n, one in enumerate(self.contexts or (), 1) if one.in_prompt is False)

    def claims(self, side: Side) -> tuple[ClaimFacts, ...]:
        """The claims of one side; () where they were not read."""
        return (self.answer if side == "answer" else self.reference) or ()


def facts_of(
    sample: Sample,
    scores: Mapping[str, Score],
    failed: Mapping[str, float],
    answerable: str = "answerable",
    *,
    unsure: bool = False,
) -> Facts:
    """The facts of a row, from all readings of its scores; those of `failed` metrics say which claims are blamed."""
    reference = (sample.reference or "").strip()
    short = bool(aliases(reference)) and not refuses(reference)
    seen = _claims(scores, failed, len(sample.contexts or ()), short)
    return Facts(
        answer=_of_side(seen, "answer"),
        reference=_of_side(seen, "reference"),
        contexts=sample.contexts,
        elsewhere=any(scored.verdicts.get(key) for scored in scores.values() for key in CONTEXTS[1:3]),
        useful=_useful(scores, failed),
        abstained=abstains(sample, scores.values()) or (unsure and wording_of(sample.answer or "").is_likely),
        directness=_directness(scores.values()),
        answerable=is_answerable(sample, answerable),
        has_reference=bool(reference),
        short_reference=short,
        unsure=unsure,
        kept=sample.has_texts,
        form=form_problem(sample),
        failed=failed,
    )


def abstains(sample: Sample, scores: Iterable[Score]) -> bool | None:
    """Whether the answer says that it is none: it is empty, a refusal by its words, or states nothing; None: not known.

    What a judge took for claims of the answer, or for a direct answer, is one, unless all of it is a refusal. Refusals
    are known in English, German, Spanish, French, Italian and Portuguese.
    """
    answer = (sample.answer or "").strip()
    if sample.answer is None:
        return None
    if not answer or refuses(answer):
        return True
    scores = list(scores)
    for score in scores:
        if any(score.verdicts.get(key) for key in ("answer/contexts", "answer/reference", *CONTEXTS[1:3])):
            return False
        if any(one.label == "direct" for one in score.verdicts.get("question/answer", ())):
            return False
    is_short = bool(aliases(answer)) or len(answer.split()) < 3
    if not is_short and any(map(_states_nothing, scores)):
        return True
    language = next(iter(languages_in(sample, ("answer",)).values()), sample.spoken)
    if code_of(language) not in ("en", *LANGUAGES):
        return None  # no rule knows its refusals
    if is_short:
        return False  # "1967" claims nothing that stands alone, and is an answer
    return not sentence_claims(answer, language, sample.question)


def _states_nothing(score: Score) -> bool:
    """Whether a judge looked for claims in the answer and found none."""
    error = score.error
    return error is not None and error.cause is Cause.NO_CLAIMS and error.message.startswith("the answer")


def _directness(scores: Iterable[Score]) -> float | None:
    """The probability that the answer is direct, by the first score that asked; None where none did."""
    for score in scores:
        for verdict in score.verdicts.get("question/answer", ()):
            if verdict.label in ("direct", "indirect"):
                return float(verdict.label == "direct") if verdict.probability is None else verdict.probability
    return None


def _of_side(seen: Sequence[ClaimFacts], side: Side) -> tuple[ClaimFacts, ...] | None:
    return tuple(one for one in seen if one.side == side) or None


def _claims(scores: Mapping[str, Score], failed: Mapping[str, float], passages: int, short: bool) -> list[ClaimFacts]:
    """Every claim once, with all that was read of it.

    Where the reference is a few words, whether the answer gives them is one verdict for all that it claims.
    """
    found: dict[tuple[str, str], ClaimFacts] = {}
    given: str | None = None
    for name, score in sorted(scores.items()):  # the order of metrics decides nothing
        for key in (*CONTEXTS, *OTHERS):
            for verdict in score.verdicts.get(key, ()):
                if verdict.claim is None:
                    continue
                if short and key == "reference/answer":
                    given = verdict.label
                side: Side = "answer" if key.startswith("answer") else "reference"
                one = found.setdefault((side, _key(verdict.claim)), ClaimFacts(verdict.claim.text, side))
                one = _with(one, verdict, key, passages)
                blamed = name in failed and verdict.label != "supported"
                found[side, _key(verdict.claim)] = replace(one, blamed=one.blamed or blamed)
    if given is None:
        return list(found.values())
    of_reference = [one for one in found.values() if one.side == "reference"]
    chance = next((one.other_probability for one in of_reference if one.other is not None), None)
    read = [one for one in of_reference if one.passages is not None] or of_reference
    blamed = any(one.blamed for one in of_reference)
    return [one for one in found.values() if one.side == "answer"] + [
        replace(one, other=given, other_probability=chance, blamed=blamed) for one in read
    ]


def _key(claim: Claim) -> str:
    return f"{claim.span.start} {claim.span.end} {claim.text}"


def _with(one: ClaimFacts, verdict: Verdict, key: str, passages: int) -> ClaimFacts:
    """The claim with one more verdict; the first of a kind stays, and cells are taken from whoever has them."""
    if key in OTHERS:
        if one.other is not None:
            return one
        return replace(one, other=verdict.label, other_probability=verdict.probability)
    cells = tuple(cell.label for cell in verdict.cells) or (
        (verdict.label,) if passages == 1 and key.endswith("/contexts") else None
    )
    first, has_cells = one.passages is None, one.cells is None and bool(cells)
    chances = tuple(cell.probability for cell in verdict.cells) or (verdict.probability,)
    return replace(
        one,
        passages=verdict.label if first else one.passages,
        probability=verdict.probability if first else one.probability,
        cells=cells if has_cells else one.cells,
        cell_probabilities=chances if has_cells else one.cell_probabilities,
        evidence=one.evidence or verdict.evidence,
    )


def _useful(scores: Mapping[str, Score], failed: Mapping[str, float]) -> tuple[bool, ...] | None:
    """Which passages are useful, by the first failed metric that asked; None where none did."""
    for name in sorted(failed):
        for key in ("question+reference/contexts", "question/contexts", "question+answer/contexts"):
            verdicts = scores[name].verdicts.get(key, ())
            if verdicts and all(one.passage is not None for one in verdicts):
                return tuple(one.label == "useful" for one in verdicts)
    return None
