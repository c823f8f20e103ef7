"""Why a row failed, decided from its facts alone. Pure; the table stands in docs/causes.md.

Each claim that a failed metric counted as bad has a cause of its own. What the answer should have said and did not
comes before what it says too much: where claims of the reference are blamed, they decide, else those of the answer. Of
their causes the most frequent one is the row's; of equally frequent ones the one that comes first in a pipeline.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from assay.analysis.diagnosis.facts import ClaimFacts, Facts, Side
from assay.analysis.diagnosis.records import LABELS, Label

#: A passage that stands after this rank is one that a generator may well overlook.
TOP = 3
_LONGEST = 160  # characters of a claim in a sentence

#: What may have to be read, by name: see `assay.analysis.diagnosis.missing_prompts`.
ANSWER, REFERENCE, EACH_OTHER = "answer/contexts", "reference/contexts", "answer/reference"
ANSWER_CELLS, REFERENCE_CELLS = "answer cells", "reference cells"
_IN_WORDS = {
    ANSWER: "what the passages say of the answer",
    REFERENCE: "what the passages say of the reference",
    EACH_OTHER: "what answer and reference say of each other",
    ANSWER_CELLS: "what each passage alone says of the answer",
    REFERENCE_CELLS: "what each passage alone says of the reference",
}


@dataclass(frozen=True, slots=True)
class CauseDecision:
    """A label and what shows it; with the label "not read" what would have to be `read`."""

    label: Label
    because: str
    read: tuple[str, ...] = ()


_Cause = Callable[[ClaimFacts, Facts, int], CauseDecision]


def decide(facts: Facts, top: int = TOP) -> CauseDecision:
    """The one cause of a failed row."""
    if not facts.kept:
        return CauseDecision("unexplained", "the run keeps no texts of it (`--lean`), so that nothing can be read")
    early = _without_claims(facts)
    if early is not None:
        return early
    facts = _without_contradiction(facts) if facts.unsure else facts
    facts = facts if _any_blamed(facts) else _all_blamed(facts)
    missing = _unread(facts)
    if missing:
        return _not_read(*missing)
    sides: tuple[tuple[Side, _Cause], ...] = (("reference", _lacking), ("answer", _added))
    for side, cause_of in sides:
        blamed = [one for one in facts.claims(side) if one.blamed]
        if blamed:
            return _most_frequent([cause_of(one, facts, top) for one in blamed], len(facts.claims(side)))
    return _by_usefulness(facts) or CauseDecision(
        "unexplained", f"every claim that was read is supported, and still {_names(facts)} failed"
    )


def _without_claims(facts: Facts) -> CauseDecision | None:
    """What is decided before any claim is looked at: refusals, questions without an answer, empty retrievals."""
    if facts.answerable is False:
        if facts.abstained:
            said = f"the question cannot be answered, and the answer says so; {_names(facts)} counts that as bad"
            return CauseDecision("unexplained", said)
        if facts.abstained is False:
            return CauseDecision("unanswerable and answered", _first_claim(facts))
        return (
            _not_read(ANSWER)
            if facts.contexts
            else CauseDecision("unexplained", "whether it is an answer is not known")
        )
    if facts.contexts is not None and not facts.elsewhere and not any(one.text.strip() for one in facts.contexts):
        if any(one.image for one in facts.contexts):
            return CauseDecision("unexplained", "the passages are pictures, which were not read")
        return CauseDecision("not retrieved", "nothing was retrieved")
    if facts.abstained and not facts.has_reference:
        if facts.useful is not None and not any(facts.useful):
            return CauseDecision("not retrieved", "the answer is a refusal, and none of the passages is useful")
        if facts.answerable:
            return CauseDecision("answerable and refused", "the answer is a refusal, and the question can be answered")
        said = "the answer is a refusal; without a reference nobody knows whether the passages hold the answer"
        return CauseDecision("unexplained", said)
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


def _any_blamed(facts: Facts) -> bool:
    return any(one.blamed for side in (facts.answer, facts.reference) for one in side or ())


def _all_blamed(facts: Facts) -> Facts:
    """Where the failed metric looked at no claims: whatever any reading found bad is blamed."""
    if facts.useful is not None:
        return facts
    sides = {
        side: None if seen is None else tuple(replace(one, blamed=_is_problem(one)) for one in seen)
        for side, seen in (("answer", facts.answer), ("reference", facts.reference))
    }
    return replace(facts, answer=sides["answer"], reference=sides["reference"])


def _is_problem(one: ClaimFacts) -> bool:
    """Whether it is something to blame: not supported by what it was read against."""
    return any(label is not None and label != "supported" for label in (one.passages, one.other))


def _unread(facts: Facts) -> tuple[str, ...]:
    """What has to be read before the claims can decide, in the order of need; () where all is known."""
    if facts.contexts is None and not facts.elsewhere:
        return ()
    blamed = {side: [one for one in facts.claims(side) if one.blamed] for side in ("answer", "reference")}
    found = []
    if not any(blamed.values()) and facts.useful is None:  # the metric failed, and no claim was read
        if facts.has_reference and facts.reference is None:
            found += [REFERENCE, EACH_OTHER]
        if facts.answer is None and not facts.abstained:
            found.append(ANSWER)
    if any(one.passages is None for one in blamed["reference"]):
        found.append(REFERENCE)
    if not blamed["reference"] and facts.has_reference and not facts.short_reference:
        if any(one.other is None for one in blamed["answer"]):
            found.append(EACH_OTHER)
        elif any(one.other == "supported" and one.passages is None for one in blamed["answer"]):
            found.append(ANSWER)
    if not blamed["reference"] and any(one.passages is None for one in blamed["answer"]):
        found.append(ANSWER)
    if found:
        return tuple(dict.fromkeys(found))
    return _unread_cells(facts, blamed)


def _unread_cells(facts: Facts, blamed: dict[str, list[ClaimFacts]]) -> tuple[str, ...]:
    """The same of what single passages say, which matters only where there are several."""
    if facts.elsewhere or len(facts.contexts or ()) < 2:
        return ()
    if any(one.passages == "supported" and one.cells is None for one in blamed["reference"]):
        return (REFERENCE_CELLS,)
    if not blamed["reference"] and any(
        one.passages == "contradicted" and one.cells is None for one in blamed["answer"]
    ):
        return (ANSWER_CELLS,)
    return ()


def _lacking(one: ClaimFacts, facts: Facts, top: int) -> CauseDecision:
    """Why a claim of the reference is not in the passages, or not in the answer."""
    claim = _quoted(one)
    if facts.contexts is None:
        return CauseDecision("unexplained", f"the answer lacks {claim}, and what was retrieved is not known")
    if one.passages == "contradicted":
        said = f"{_passages_text('contradict', one.places('contradicted'))} the reference's {claim}; none supports it"
        return CauseDecision("wrong or incomplete reference", said)
    if one.passages != "supported":
        return CauseDecision("not retrieved", f"none of {len(facts.contexts)} passages has the reference's {claim}")
    places = one.places("supported")
    has = f"{_passages_text('have', places, 'the passages together')} {claim}"
    if places and facts.unprompted.issuperset(places):
        return CauseDecision("truncated", f"{has}, and did not stand in the prompt")
    if facts.abstained:
        return CauseDecision("answerable and refused", f"{has}, and the answer is a refusal")
    against = _contradicting(one, facts)
    if against:
        said = f"{has}, {_passages_text('say', against)} otherwise, and the answer does not give it"
        return CauseDecision("contradicted by another passage", said)
    if places and places[0] > top:
        said = f"{claim} stands first in passage {places[0]} of {len(facts.contexts)}, and the answer does not give it"
        return CauseDecision("ranked too low", said)
    return CauseDecision("context not used", f"{has}, and the answer does not give it")


def _contradicting(one: ClaimFacts, facts: Facts) -> tuple[int, ...]:
    """The passages that say otherwise: of a claim of the reference, or by what the answer took from them against it."""
    found = set(one.places("contradicted"))
    for said in facts.claims("answer"):
        if said.other == "contradicted":
            found.update(said.places("supported"))
    return tuple(sorted(found - set(one.places("supported")) - facts.unprompted))


def _added(one: ClaimFacts, facts: Facts, top: int) -> CauseDecision:
    """Why the answer makes a claim that the passages, or the reference, do not support."""
    claim = _quoted(one)
    if facts.contexts is None and not facts.elsewhere:
        return CauseDecision("unexplained", f"the answer says {claim}, and what was retrieved is not known")
    if one.passages == "supported":
        places = one.places("supported")
        supports = f"{_passages_text('support', places)} the answer's {claim}"
        verb = "contradicts it" if one.other == "contradicted" else "does not have it"
        return CauseDecision("wrong or incomplete reference", f"{supports}; the reference {verb}")
    if one.other == "supported":
        said = f"the answer's {claim} is right by the reference, and none of the passages has it"
        return CauseDecision("not retrieved", said)
    if one.passages == "contradicted":
        places, with_it = one.places("contradicted"), one.places("supported")
        if one.cells is not None and not places:
            return _alone(claim, with_it)
        against = _passages_text("contradict", places)
        if with_it:
            said = f"{_passages_text('support', with_it)} the answer's {claim}, and {against} it"
            return CauseDecision("contradicted by another passage", said)
        return CauseDecision("hallucination: contradicts the passage", f"the answer says {claim}, which {against}")
    verb = "supports" if facts.unsure else "mentions"
    doubt = "; the judge takes it for contradicted, which it is often wrong about" if one.doubtful else ""
    return CauseDecision("hallucination: unsupported", f"the answer says {claim}, which no passage {verb}{doubt}")


def _alone(claim: str, with_it: tuple[int, ...]) -> CauseDecision:
    """Where the passages read together are said to contradict a claim, and no passage alone does."""
    if with_it:
        said = f"{_passages_text('support', with_it)} the answer's {claim}, and no passage alone contradicts it"
        return CauseDecision("unexplained", f"{said}: only all of them together were read so")
    return CauseDecision(
        "hallucination: unsupported", f"the answer says {claim}, which no passage alone supports or contradicts"
    )


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
    return CauseDecision("unexplained", said)


def _most_frequent(found: Sequence[CauseDecision], claims: int) -> CauseDecision:
    """The decision for most of the blamed claims; of equally many the one that comes first in a pipeline.

    It says how many it stands for, of how many `claims` the text has: one that lacks in nine is not nine in nine.
    """
    counts = Counter(one.label for one in found)
    label = min(counts, key=lambda one: (-counts[one], LABELS.index(one)))
    first = next(one for one in found if one.label == label)
    if claims == 1:
        return first
    alike = f"and {counts[label] - 1} more" if counts[label] > 1 else "one"
    return replace(first, because=f"{first.because} ({alike} of {claims} claims)")


def _not_read(*missing: str) -> CauseDecision:
    return CauseDecision("not read", f"to be read: {'; '.join(_IN_WORDS[name] for name in missing)}", missing)


def _first_claim(facts: Facts) -> str:
    said = "the question cannot be answered by its reference or column, and the answer answers it"
    claims = facts.claims("answer")
    return f"{said}: {_quoted(claims[0])}" if claims else said


def _quoted(one: ClaimFacts) -> str:
    flat = " ".join(one.text[: 4 * _LONGEST].split())
    return f"“{flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + '…'}”"


def _passages(numbers: Sequence[int]) -> str:
    """ "passage 2", "passages 1 and 3", "passages 1, 2 and 4 more"; "" for none."""
    if not numbers:
        return ""
    if len(numbers) == 1:
        return f"passage {numbers[0]}"
    if len(numbers) > 3:
        return f"passages {numbers[0]}, {numbers[1]} and {len(numbers) - 2} more"
    return f"passages {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def _passages_text(verb: str, numbers: Sequence[int], otherwise: str = "the passages") -> str:
    """Which passages do something, in their number: "passage 2 has", "passages 1 and 3 contradict"."""
    if len(numbers) == 1:
        return f"{_passages(numbers)} {'has' if verb == 'have' else verb + 's'}"
    return f"{_passages(numbers) or otherwise} {verb}"


def _names(facts: Facts) -> str:
    return ", ".join(facts.failed or ()) or "a metric"
