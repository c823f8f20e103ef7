"""Why a row failed, decided from its facts alone. Pure; the table stands in docs/causes.md.

What needs no claim comes first: refusals, questions without an answer, empty retrievals. Then what is missing is named,
so that it can be read. Then the cause that the fewest verdicts speak against: see `signatures`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from assay.analysis.diagnosis.explanations import explain, first_rank, names, quoted
from assay.analysis.diagnosis.facts import ClaimFacts, Facts
from assay.analysis.diagnosis.labels import Label
from assay.analysis.diagnosis.signatures import likeliest

#: A passage that stands after this rank is one that a generator may well overlook.
TOP = 5
#: Causes of an answer that does not give what the passages have.
UNUSED: tuple[Label, ...] = ("context not used", "off-topic answer", "incomplete answer")

#: What may have to be read, by name: see `assay.analysis.diagnosis.missing_prompts`.
ANSWER, REFERENCE, EACH_OTHER = "answer/contexts", "reference/contexts", "answer/reference"
ANSWER_CELLS, REFERENCE_CELLS, DIRECTNESS = "answer cells", "reference cells", "question/answer"
_IN_WORDS = {
    ANSWER: "what the passages say of the answer",
    REFERENCE: "what the passages say of the reference",
    EACH_OTHER: "what answer and reference say of each other",
    ANSWER_CELLS: "what each passage alone says of the answer",
    REFERENCE_CELLS: "what each passage alone says of the reference",
    DIRECTNESS: "whether the answer gives what the question asks for",
}


@dataclass(frozen=True, slots=True)
class CauseDecision:
    """A label and what shows it; `read` is what would have to be read to know (label "not read"), or to know better.

    `probability` is that of the label, where it is known.
    """

    label: Label
    because: str
    read: tuple[str, ...] = ()
    also: tuple[Label, ...] = ()
    probability: float | None = None


def decide(facts: Facts, top: int = TOP) -> CauseDecision:
    """The one cause of a failed row."""
    if not facts.kept:
        return CauseDecision("unclear", "the run keeps no texts of it (`--lean`), so that nothing can be read")
    if facts.form is not None:
        return _unreadable(facts.form, facts)
    early = _without_claims(facts)
    if early is not None:
        return early
    facts = _without_contradiction(facts) if facts.unsure else facts
    missing = _unread(facts)
    if missing:
        return not_read(*missing)
    return replace(_by_verdicts(facts, top), read=_unread_passages(facts))


def _by_verdicts(facts: Facts, top: int) -> CauseDecision:
    """The likeliest cause of what was read; where none is, what the ranking or the reference shows."""
    if facts.contexts is None and not facts.elsewhere:
        return CauseDecision("unclear", f"what was retrieved is not known, so {names(facts)} can't be explained")
    label = likeliest(facts)
    if label is None:
        return _by_usefulness(facts) or _more_than_the_reference(facts) or _nothing_wrong(facts)
    return by_rank(CauseDecision(label, explain(label, facts), also=_also(label, facts)), facts, top)


def by_rank(found: CauseDecision, facts: Facts, top: int) -> CauseDecision:
    """The decision, or "ranked too low" where the first passage that has what the answer lacks is below this rank."""
    rank = first_rank(facts)
    if found.label not in UNUSED or rank is None or rank <= top:
        return found
    because = f"passage {rank} of {len(facts.contexts or ())} is the first that has the answer; {found.because}"
    return replace(found, label="ranked too low", because=because, also=(found.label, *found.also))


def _also(label: Label, facts: Facts) -> tuple[Label, ...]:
    """The cause that the answer's claims alone have, where it is another one."""
    other = likeliest(replace(facts, reference=None))
    return () if other is None or other == label else (other,)


def _unreadable(problem: str, facts: Facts) -> CauseDecision:
    """A text that is no answer in form; what was retrieved for it comes first in the pipeline."""
    said = f"the answer {problem}"
    reference = tuple(replace(one, other=None) for one in facts.claims("reference"))
    label = likeliest(replace(facts, answer=None, reference=reference, abstained=None))
    if label in ("not retrieved", "truncated") and not facts.unsure:
        return CauseDecision(label, f"{explain(label, facts)}; {said}", also=("format failure",))
    return CauseDecision("format failure", said)


def _more_than_the_reference(facts: Facts) -> CauseDecision | None:
    """Where the answer only says more than the reference, and the passages have it."""
    for one in facts.claims("answer"):
        if one.blamed and one.passages == "supported" and one.other != "supported":
            return CauseDecision("wrong or incomplete reference", explain("wrong or incomplete reference", facts))
    return None


def _nothing_wrong(facts: Facts) -> CauseDecision:
    return CauseDecision("unclear", f"every claim that was read is supported, and still {names(facts)} failed")


def _without_claims(facts: Facts) -> CauseDecision | None:
    """What is decided before any claim is looked at: refusals, questions without an answer, empty retrievals."""
    if facts.answerable is False:
        if facts.abstained:
            said = f"the question cannot be answered, and the answer says so; {names(facts)} counts that as bad"
            return CauseDecision("unclear", said)
        if facts.abstained is False:
            return CauseDecision("unanswerable and answered", _first_claim(facts))
        return not_read(ANSWER) if facts.contexts else CauseDecision("unclear", "whether it is an answer is not known")
    if facts.contexts is not None and not facts.elsewhere and not any(one.text.strip() for one in facts.contexts):
        if any(one.image for one in facts.contexts):
            return CauseDecision("unclear", "the passages are pictures, which were not read")
        return CauseDecision("not retrieved", "nothing was retrieved")
    if facts.abstained and not facts.has_reference:
        if facts.useful is not None and not any(facts.useful):
            return CauseDecision("not retrieved", "the answer is a refusal, and none of the passages is useful")
        if facts.answerable:
            return CauseDecision("answerable and refused", "the answer is a refusal, and the question can be answered")
        said = "the answer is a refusal; without a reference nobody knows whether the passages hold the answer"
        return CauseDecision("unclear", said)
    return None


def _without_contradiction(facts: Facts) -> Facts:
    """With "not mentioned" in the place of "contradicted" by passages, where the judge does not tell the two apart."""

    def softened(one: ClaimFacts) -> ClaimFacts:
        cells = None if one.cells is None else tuple("not_mentioned" if c == "contradicted" else c for c in one.cells)
        if one.passages != "contradicted":
            return replace(one, cells=cells)
        return replace(one, passages="not_mentioned", cells=cells, doubtful=True)

    answer, reference = (side and tuple(map(softened, side)) for side in (facts.answer, facts.reference))
    return replace(facts, answer=answer, reference=reference)


def _unread(facts: Facts) -> tuple[str, ...]:
    """What has to be read before the claims can decide; () where all is known."""
    if facts.useful is not None or (facts.contexts is None and not facts.elsewhere):
        return ()
    found = []
    lacking = [one for one in facts.claims("reference") if facts.abstained or one.other != "supported"]
    if facts.has_reference:
        if not facts.abstained and (facts.reference is None or any(one.other is None for one in facts.reference)):
            found.append(EACH_OTHER)
        if facts.reference is None or any(one.passages is None for one in lacking):
            found.append(REFERENCE)
    if not lacking and _is_answer_unread(facts):
        found.append(ANSWER)
    return tuple(found)


def _is_answer_unread(facts: Facts) -> bool:
    return not facts.abstained and (facts.answer is None or any(one.passages is None for one in facts.answer))


def _unread_passages(facts: Facts) -> tuple[str, ...]:
    """What the passages say of the answer, and single ones of a claim: it may change the cause, but it need not."""
    found = [ANSWER] if _is_answer_unread(facts) else []
    if facts.elsewhere or len(facts.contexts or ()) < 2:
        return tuple(found)
    reference = [one for one in facts.claims("reference") if one.passages == "supported" and one.other != "supported"]
    if any(one.cells is None for one in reference):
        found.append(REFERENCE_CELLS)
    against = [one for one in facts.claims("answer") if one.passages == "contradicted" or one.other == "contradicted"]
    if any(one.cells is None for one in against):
        found.append(ANSWER_CELLS)
    return tuple(found)


def _by_usefulness(facts: Facts) -> CauseDecision | None:
    """Why a metric of the ranking failed; None where none did."""
    useful = facts.useful
    if useful is None:
        return None
    if not any(useful):
        return CauseDecision("not retrieved", f"none of {len(useful)} passages is useful for the question")
    first = useful.index(False) if False in useful else len(useful)
    behind = [n for n, good in enumerate(useful, 1) if good and n > first + 1]
    if behind:
        return CauseDecision(
            "ranked too low", f"passage {behind[0]} is useful, and stands behind passage {first + 1}, which is not"
        )
    said = f"the useful passages stand first; {useful.count(False)} of {len(useful)} are of no use"
    return CauseDecision("unclear", said)


def not_read(*missing: str) -> CauseDecision:
    """The decision that this has to be read first."""
    return CauseDecision("not read", f"to be read: {'; '.join(_IN_WORDS[name] for name in missing)}", missing)


def _first_claim(facts: Facts) -> str:
    said = "the question cannot be answered by its reference or column, and the answer answers it"
    claims = facts.claims("answer")
    return f"{said}: {quoted(claims[0].text)}" if claims else said
