"""What shows a cause, in one sentence: what the answer says, what the passages say (quoted, located). Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from assay.analysis.diagnosis.facts import ClaimFacts, Facts
from assay.analysis.diagnosis.labels import Label

_LONGEST = 160  # characters of a claim or a quote


def explain(label: Label, facts: Facts) -> str:
    """The sentence that shows a cause of a row."""
    return _SENTENCES[label](facts)


def names(facts: Facts) -> str:
    """The metrics that failed."""
    return ", ".join(facts.failed or ()) or "a metric"


def quoted(text: str) -> str:
    """A claim or a quote in quotation marks, shortened."""
    flat = " ".join(text[: 4 * _LONGEST].split())
    return f"“{flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + '…'}”"


def first_rank(facts: Facts) -> int | None:
    """The rank, from 1, of the first passage that supports a claim of the reference which the answer lacks."""
    places = [one.places("supported") or one.quoted for one in _lacking(facts) if one.passages == "supported"]
    return min((one[0] for one in places if one), default=None)


def _not_retrieved(facts: Facts) -> str:
    count, reference = len(facts.contexts or ()), facts.claims("reference")
    absent = [one for one in reference if one.passages != "supported"]
    if not absent:
        known = _first(facts.claims("answer"), lambda one: one.passages != "supported")
        return f"none of {count} passages has the answer's {_text(known)}, which is right by the reference"
    refusal = "; the answer is a refusal" if facts.abstained else ""
    return f"none of {count} passages has the reference's {_text(absent[0])}{_share(absent, reference)}{refusal}"


def _truncated(facts: Facts) -> str:
    reference = facts.claims("reference")
    one = _first(reference, lambda one: not facts.unprompted.isdisjoint(one.places("supported"))) or _first(reference)
    return f"{_where(one, 'supported', 'has', 'have')} {_text(one)}, and was not in the prompt"


def _conflicting(facts: Facts) -> str:
    for one in facts.claims("answer"):
        if one.places("supported") and one.places("contradicted"):
            supports = _where(one, "supported", "supports", "support")
            against = _where(one, "contradicted", "contradicts", "contradict")
            return f"{supports} the answer's {_text(one)}, and {against} it"
    reference = facts.claims("reference")
    right = _first(reference, lambda one: one.passages == "supported") or _first(reference)
    otherwise = {n for one in facts.claims("answer") for n in one.places("supported")}
    if right is not None:
        otherwise = (otherwise | set(right.places("contradicted"))) - set(right.places("supported"))
    says = _passages(sorted(otherwise), "says", "say", "another passage")
    return f"{_where(right, 'supported', 'has', 'have')} {_text(right)}, and {says} otherwise"


def _refused(facts: Facts) -> str:
    reference = facts.claims("reference")
    one = _first(reference, lambda one: one.passages == "supported") or _first(reference)
    return f"{_where(one, 'supported', 'has', 'have')} {_text(one)}, and the answer is a refusal"


def _contradiction(facts: Facts) -> str:
    claims = facts.claims("answer")
    against = [one for one in claims if one.passages == "contradicted" or one.places("contradicted")]
    if against:
        says = _where(against[0], "contradicted", "contradicts", "contradict")
        return f"the answer says {_text(against[0])}, and {says} it{_share(against, claims)}"
    lacking = _lacking(facts)
    one = _first(lacking, lambda one: one.other == "contradicted") or _first(lacking)
    return f"{_where(one, 'supported', 'has', 'have')} {_text(one)}, and the answer says otherwise"


def _off_topic(facts: Facts) -> str:
    one, said = _first(_lacking(facts)), _first(facts.claims("answer"))
    has = _where(one, "supported", "has", "have")
    return f"{has} {_text(one)}, which the question asks for; the answer says {_text(said)}"


def _not_used(facts: Facts) -> str:
    lacking = _lacking(facts)
    one = _first(lacking)
    share = _share(lacking, facts.claims("reference"))
    return f"{_where(one, 'supported', 'has', 'have')} {_text(one)}, and the answer does not give it{share}"


def _incomplete(facts: Facts) -> str:
    lacking = _lacking(facts)
    one = _first(lacking, lambda one: one.passages == "supported") or _first(lacking)
    share = _share(lacking, facts.claims("reference"))
    return f"the answer lacks {_text(one)}, which {_where(one, 'supported', 'has', 'have')}{share}"


def _unsupported(facts: Facts) -> str:
    claims = facts.claims("answer")
    invented = [one for one in claims if one.passages != "supported"] or list(claims)
    verb = "supports" if facts.unsure else "mentions"
    doubt = ""
    if invented[0].doubtful:
        doubt = "; the judge takes it for contradicted, which it is often wrong about"
    return f"the answer says {_text(invented[0])}, which no passage {verb}{doubt}{_share(invented, claims)}"


def _wrong_reference(facts: Facts) -> str:
    for one in facts.claims("answer"):
        if one.passages == "supported" and one.other != "supported":
            verb = "contradicts it" if one.other == "contradicted" else "does not have it"
            supports = _where(one, "supported", "supports", "support")
            return f"{supports} the answer's {_text(one)}, and the reference {verb}"
    reference = facts.claims("reference")
    wrong = _first(reference, lambda one: one.passages == "contradicted" or bool(one.places("contradicted")))
    against = _where(wrong, "contradicted", "contradicts", "contradict")
    return f"{against} the reference's {_text(wrong)}, and none supports it"


_SENTENCES: Mapping[str, Callable[[Facts], str]] = {
    "not retrieved": _not_retrieved,
    "truncated": _truncated,
    "conflicting passages": _conflicting,
    "answerable and refused": _refused,
    "hallucination: contradicts the passage": _contradiction,
    "off-topic answer": _off_topic,
    "context not used": _not_used,
    "incomplete answer": _incomplete,
    "hallucination: unsupported": _unsupported,
    "wrong or incomplete reference": _wrong_reference,
}


def _first(claims: Iterable[ClaimFacts], where: Callable[[ClaimFacts], bool] = lambda one: True) -> ClaimFacts | None:
    return next(filter(where, claims), None)


def _lacking(facts: Facts) -> list[ClaimFacts]:
    """The claims of the reference that the answer does not give."""
    return [one for one in facts.claims("reference") if one.other != "supported"]


def _text(one: ClaimFacts | None) -> str:
    return "the answer to the question" if one is None else quoted(one.text)


def _share(shown: Sequence[ClaimFacts], claims: Sequence[ClaimFacts]) -> str:
    """Of how many claims a sentence speaks: one that lacks in nine is not nine in nine."""
    return f" ({len(shown)} of {len(claims)} claims)" if len(claims) > 1 else ""


def _where(one: ClaimFacts | None, label: str, singular: str, plural: str) -> str:
    """Which passages say this of a claim, with the quote where the judge gave one."""
    places = () if one is None else one.places(label)
    quotes = () if one is None or one.passages != label else one.evidence
    found = next((quote for quote in quotes if not places or quote.passage + 1 in places), None)
    if found is None:
        return _passages(places, singular, plural)
    span = f"characters {found.span.start}–{found.span.end}"
    return f"passage {found.passage + 1} ({quoted(found.text)}, {span}) {singular}"


def _passages(numbers: Sequence[int], singular: str, plural: str, unknown: str = "") -> str:
    """ "passage 2 has", "passages 1 and 3 have", "passages 1, 2 and 4 more have"; "the passages have" for none."""
    if not numbers:
        return f"{unknown} {singular}" if unknown else f"the passages {plural}"
    if len(numbers) == 1:
        return f"passage {numbers[0]} {singular}"
    if len(numbers) > 3:
        return f"passages {numbers[0]}, {numbers[1]} and {len(numbers) - 2} more {plural}"
    return f"passages {', '.join(map(str, numbers[:-1]))} and {numbers[-1]} {plural}"
