"""The decision, by table: which facts lead to which label, and what has to be read before."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.diagnosis import LABELS
from assay.analysis.diagnosis.classify import decide
from assay.analysis.diagnosis.facts import ClaimFacts, Facts
from assay.records import Context

CONTRADICTS, UNSUPPORTED = "hallucination: contradicts the passage", "hallucination: unsupported"

YES, NO, NONE = "supported", "contradicted", "not_mentioned"


def said(
    passages: str | None, other: str | None = None, cells: tuple[str, ...] | None = None, blamed: bool = True
) -> ClaimFacts:
    return ClaimFacts("It rained.", "answer", passages, cells, other, blamed)


def true(
    passages: str | None, other: str | None = None, cells: tuple[str, ...] | None = None, blamed: bool = True
) -> ClaimFacts:
    return ClaimFacts("It snowed.", "reference", passages, cells, other, blamed)


def facts(count: int = 2, unprompted: tuple[int, ...] = (), **more: Any) -> Facts:
    contexts = tuple(Context(text=f"P{n}", in_prompt=n not in unprompted) for n in range(1, count + 1))
    given: dict[str, Any] = {"contexts": contexts, "abstained": False, "failed": {"m": 0.0}, "has_reference": True}
    return Facts(**{**given, **more})


TABLE = [
    ("not retrieved", facts(reference=(true(NONE, NO),), answer=()), "none of 2 passages has the reference's"),
    ("not retrieved", facts(count=0), "nothing was retrieved"),
    ("not retrieved", facts(answer=(said(NONE, YES),), reference=(true(NONE, YES),)), "none of 2 passages"),
    ("not retrieved", facts(answer=(said(NONE, YES),), reference=(true(YES, YES),)), "which is right by the reference"),
    ("not retrieved", facts(useful=(False, False), has_reference=False), "none of 2 passages is useful"),
    ("not retrieved", facts(abstained=True, reference=(true(NONE, NONE),)), "none of 2 passages"),  # rightly refused
    ("ranked too low", facts(6, reference=(true(YES, NONE, (*5 * (NONE,), YES)),), answer=()), "passage 6 of 6"),
    ("ranked too low", facts(3, useful=(False, True, True)), "passage 2 is useful, and stands behind passage 1"),
    ("truncated", facts(2, (2,), reference=(true(YES, NONE, (NONE, YES)),), answer=()), "passage 2 has"),
    # a passage that was dropped, and another that says the same and was not
    ("context not used", facts(2, (2,), reference=(true(YES, NONE, (YES, YES)),), answer=()), "passages 1 and 2 have"),
    (
        "conflicting passages",
        facts(2, reference=(true(YES, NO, (YES, NO)),), answer=(said(YES, NO, (NO, YES)),)),
        "passage 2 supports the answer's “It rained.”, and passage 1 contradicts it",
    ),
    ("conflicting passages", facts(2, answer=(said(YES, NO, (YES, NO)),), has_reference=False), "2 contradicts"),
    ("context not used", facts(2, reference=(true(YES, NONE, (YES, NONE)),), answer=(said(NONE, NONE),)), "1 has"),
    # what the answer says is in the passages, and not what was asked
    (
        "off-topic answer",
        facts(2, reference=(true(YES, NONE, (YES, NONE)),), answer=(said(YES, NONE, (NONE, YES)),)),
        "which the question asks for; the answer says “It rained.”",
    ),
    (
        "incomplete answer",
        facts(2, reference=(true(YES, YES), true(YES, NONE, (YES, NONE))), answer=(said(YES, YES),)),
        "the answer lacks “It snowed.”, which passage 1 has (1 of 2 claims)",
    ),
    (CONTRADICTS, facts(2, reference=(true(YES, NO),), answer=(said(NO, NO, (NONE, NO)),)), "passage 2 contradicts it"),
    (CONTRADICTS, facts(3, answer=(said(NO, NONE, (NO, NONE, NO)),), has_reference=False), "1 and 3 contradict it"),
    # one slip among the verdicts: a passage that seems to support what the others, and the reference, contradict
    (CONTRADICTS, facts(2, reference=(true(YES, NO),), answer=2 * (said(NO, NO, (NO, NONE)),)), "passage 1"),
    (UNSUPPORTED, facts(answer=(said(NONE, NONE),), reference=(true(YES, YES),)), "which no passage mentions"),
    # all passages together are said to contradict it, and none of them alone does
    (UNSUPPORTED, facts(2, answer=(said(NO, NONE, (NONE, NONE)),), has_reference=False), "no passage mentions"),
    (UNSUPPORTED, facts(has_reference=False, answer=(said(NONE),)), "which no passage mentions"),
    # a judge that does not tell what contradicts from what does not mention; nothing of it has to be read then
    (UNSUPPORTED, facts(answer=(said(NO),), unsure=True, has_reference=False), "the judge takes it for contradicted"),
    (UNSUPPORTED, facts(answer=(said(NONE),), unsure=True, has_reference=False), "which no passage supports"),
    ("not retrieved", facts(reference=(true(NO, NO),), answer=(), unsure=True), "none of 2 passages has"),
    (
        "wrong or incomplete reference",
        facts(1, reference=(true(NO, NO, (NO,)),), answer=(said(YES, NO, (YES,)),)),
        "passage 1 supports the answer's “It rained.”, and the reference contradicts it",
    ),
    (
        "wrong or incomplete reference",
        facts(1, reference=(true(YES, YES),), answer=(said(YES, NONE, (YES,)),)),
        "the reference does not have it",
    ),
    ("unanswerable and answered", facts(answerable=False, answer=(said(NONE),)), "“It rained.”"),
    ("answerable and refused", facts(1, abstained=True, reference=(true(YES, NONE, (YES,)),)), "passage 1 has"),
    ("answerable and refused", facts(abstained=True, has_reference=False, answerable=True), "can be answered"),
    ("format failure", facts(form="is no valid JSON", reference=(true(YES, NONE),)), "the answer is no valid JSON"),
    ("not retrieved", facts(form="is no valid JSON", reference=(true(NONE, NONE),)), "the answer is no valid JSON"),
    ("unclear", facts(answerable=False, abstained=True), "m counts that as bad"),
    ("unclear", facts(abstained=True, has_reference=False), "without a reference nobody knows"),
    ("unclear", facts(contexts=None, answer=(said(None),)), "what was retrieved is not known"),
    ("unclear", facts(answer=(said(YES, YES),), reference=(true(YES, YES),)), "every claim that was read is supported"),
    ("unclear", facts(contexts=None, kept=False), "the run keeps no texts of it"),
    ("unclear", facts(3, useful=(True, False, False)), "2 of 3 are of no use"),
]  # fmt: skip


@pytest.mark.parametrize(("label", "known", "because"), TABLE)
def test_facts_lead_to_one_label_that_says_why(label: str, known: Facts, because: str) -> None:
    found = decide(known)
    assert found.label == label
    assert because in found.because


@pytest.mark.parametrize(
    ("known", "missing"),
    [
        (facts(reference=(true(None, NONE),), answer=(said(YES),)), ("reference/contexts",)),
        (facts(answer=(said(NONE),)), ("answer/reference", "reference/contexts")),
        (facts(has_reference=False), ("answer/contexts",)),
        (facts(), ("answer/reference", "reference/contexts", "answer/contexts")),
        (facts(abstained=True), ("reference/contexts",)),
        (facts(answerable=False, abstained=None), ("answer/contexts",)),
    ],
)
def test_what_has_to_be_read_is_named(known: Facts, missing: tuple[str, ...]) -> None:
    found = decide(known)
    assert (found.label, found.read) == ("not read", missing)


def test_what_single_passages_say_may_be_read_to_know_better() -> None:
    """The label stands without it; with one passage there is nothing more to read."""
    known: dict[str, Any] = {"reference": (true(YES, NO),), "answer": (said(NO, NO),)}
    assert (decide(facts(2, **known)).label, decide(facts(2, **known)).read) == (
        CONTRADICTS,
        ("reference cells", "answer cells"),
    )
    assert decide(facts(1, **known)).read == ()


def test_of_several_claims_the_cause_of_most_is_the_rows_and_the_earlier_one_of_equals() -> None:
    """Two of three are not retrieved; of one each "not retrieved" bears the handicap of ties, 0.25."""
    lost, ignored = true(NONE, NONE), true(YES, NONE, (YES, NONE))
    invented = (said(NONE, NONE),)
    assert decide(facts(reference=(ignored, lost, lost), answer=invented)).label == "not retrieved"
    assert decide(facts(reference=(ignored, ignored, lost), answer=invented)).label == "context not used"
    assert "(1 of 3 claims)" in decide(facts(reference=(lost, true(YES, YES), true(YES, YES)), answer=())).because


def test_what_is_not_retrieved_comes_before_what_the_answer_invents_which_is_named_beside_it() -> None:
    added = said(NONE, NONE)
    found = decide(facts(reference=(true(NONE, NONE),), answer=(added, added)))
    assert (found.label, found.also) == ("not retrieved", (UNSUPPORTED,))
    assert decide(facts(reference=(true(YES, YES),), answer=(added,))).label == UNSUPPORTED


def test_one_changed_verdict_of_many_changes_no_cause() -> None:
    """Contradiction: two claims of the answer, each against passage 1, the reference right by passage 1. Any one of the
    14 verdicts may be another; of the reference's support by passage 1 there are two."""
    cells = {"reference": [YES, NONE, NONE], "answer": [NO, NONE, NONE]}

    def label_with(side: str, claim: int, cell: int, other: str) -> str:
        def claims(name: str, make: Any) -> tuple[ClaimFacts, ...]:
            rows = [list(cells[name]) for _ in range(2)]
            others = [NO, NO]
            if name == side and cell < 3:
                rows[claim][cell] = other
            elif name == side:
                others[claim] = other
            passages = [YES if YES in row else NO if NO in row else NONE for row in rows]
            return tuple(make(p, o, tuple(r)) for p, o, r in zip(passages, others, rows, strict=True))

        return decide(facts(3, reference=claims("reference", true), answer=claims("answer", said))).label

    found = {
        (side, claim, cell, other): label_with(side, claim, cell, other)
        for side in ("reference", "answer") for claim in range(2) for cell in range(4) for other in (YES, NO, NONE)
    }  # fmt: skip
    assert {change: label for change, label in found.items() if label != CONTRADICTS} == {}


def test_the_rank_from_which_on_a_passage_may_be_overlooked_is_the_users() -> None:
    known = facts(3, reference=(true(YES, NONE, (NONE, YES, NONE)),), answer=(said(NONE, NONE),))
    assert [decide(known, top).label for top in (1, 2)] == ["ranked too low", "context not used"]
    assert decide(known, 1).also == ("context not used", UNSUPPORTED)


LABEL = st.sampled_from([YES, NO, NONE])


@st.composite
def any_facts(draw: st.DrawFn) -> Facts:
    count = draw(st.integers(0, 4))
    cells = st.none() | st.tuples(*[LABEL] * count)

    def claims(side: Any) -> Any:
        one = st.builds(
            ClaimFacts, st.text(max_size=5), st.just(side), st.none() | LABEL, cells, st.none() | LABEL, st.booleans()
        )
        return st.none() | st.lists(one, min_size=1, max_size=3).map(tuple)

    contexts = st.tuples(
        *[st.builds(Context, text=st.just("P"), in_prompt=st.sampled_from([None, True, False]))] * count
    )
    return draw(
        st.builds(
            Facts,
            answer=claims("answer"),
            reference=claims("reference"),
            contexts=st.none() | contexts,
            elsewhere=st.booleans(),
            useful=st.none() | st.tuples(*[st.booleans()] * max(1, count)),
            abstained=st.sampled_from([None, True, False]),
            answerable=st.sampled_from([None, True, False]),
            has_reference=st.booleans(),
            short_reference=st.booleans(),
            failed=st.just({"m": 0.0}),
        )
    )


@pytest.mark.long
@given(any_facts(), st.integers(1, 5))
def test_any_facts_have_exactly_one_label_with_a_reason(known: Facts, top: int) -> None:
    found = decide(known, top)
    assert found.label in LABELS
    assert found.because
    assert found.read or found.label != "not read"
