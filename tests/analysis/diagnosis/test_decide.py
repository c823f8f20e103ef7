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
    ("not retrieved", facts(reference=(true(NONE),)), "none of 2 passages has the reference's “It snowed.”"),
    ("not retrieved", facts(count=0), "nothing was retrieved"),
    ("not retrieved", facts(answer=(said(NONE, YES),)), "right by the reference"),
    ("not retrieved", facts(useful=(False, False), has_reference=False), "none of 2 passages is useful"),
    ("ranked too low", facts(4, reference=(true(YES, NONE, (NONE, NONE, NONE, YES)),)), "passage 4 of 4"),
    ("ranked too low", facts(3, useful=(False, True, True)), "passage 2 is useful, and stands behind passage 1"),
    ("truncated", facts(2, (2,), reference=(true(YES, NONE, (NONE, YES)),)), "passage 2 has"),
    # a passage that was dropped, and another that says the same and was not
    ("context not used", facts(2, (2,), reference=(true(YES, NONE, (YES, YES)),)), "passages 1 and 2 have"),
    ("contradicted by another passage", facts(2, reference=(true(YES, NONE, (YES, NO)),)), "passage 2 says otherwise"),
    (
        "contradicted by another passage",  # the answer took what the reference contradicts from the other passage
        facts(2, reference=(true(YES, NONE, (YES, NONE)),), answer=(said(YES, NO, (NONE, YES)),)),
        "passage 2 says otherwise",
    ),
    ("contradicted by another passage", facts(2, answer=(said(NO, NONE, (YES, NO)),)), "passage 2 contradicts it"),
    ("context not used", facts(2, reference=(true(YES, NONE, (YES, NONE)),)), "passage 1 has “It snowed.”"),
    (CONTRADICTS, facts(2, answer=(said(NO, NONE, (NONE, NO)),)), "which passage 2 contradicts"),
    (CONTRADICTS, facts(3, answer=(said(NO, NONE, (NO, NONE, NO)),)), "passages 1 and 3 contradict"),
    (UNSUPPORTED, facts(answer=(said(NONE, NONE),)), "“It rained.”, which no passage mentions"),
    # all passages together are said to contradict it, and none of them alone does
    (UNSUPPORTED, facts(2, answer=(said(NO, NONE, (NONE, NONE)),)), "no passage alone supports or contra"),
    ("unexplained", facts(2, answer=(said(NO, NONE, (NONE, YES)),)), "and no passage alone contradicts it"),
    # a judge that does not tell what contradicts from what does not mention; nothing of it has to be read then
    (UNSUPPORTED, facts(answer=(said(NO, NONE),), unsure=True), "the judge takes it for contradicted"),
    (UNSUPPORTED, facts(answer=(said(NONE, NONE),), unsure=True), "“It rained.”, which no passage supports"),
    (UNSUPPORTED, facts(answer=(said(NO, NONE, (YES, NO)),), unsure=True), "which no passage supports"),
    ("not retrieved", facts(reference=(true(NO),), unsure=True), "none of 2 passages has the reference's “It snowed.”"),
    ("context not used", facts(2, reference=(true(YES, NONE, (YES, NO)),), unsure=True), "passage 1 has"),
    (UNSUPPORTED, facts(has_reference=False, answer=(said(NONE),)), "which no passage mentions"),
    ("wrong or incomplete reference", facts(1, reference=(true(NO, NONE, (NO,)),)), "passage 1 contradicts"),
    ("wrong or incomplete reference", facts(1, answer=(said(YES, NONE, (YES,)),)), "the reference does not have it"),
    ("wrong or incomplete reference", facts(1, answer=(said(YES, NO, (YES,)),)), "the reference contradicts it"),
    ("unanswerable and answered", facts(answerable=False, answer=(said(NONE),)), "“It rained.”"),
    ("unexplained", facts(answerable=False, abstained=True), "m counts that as bad"),
    ("answerable and refused", facts(1, abstained=True, reference=(true(YES, NONE, (YES,)),)), "passage 1 has"),
    ("answerable and refused", facts(abstained=True, has_reference=False, answerable=True), "can be answered"),
    ("not retrieved", facts(abstained=True, reference=(true(NONE, NONE),)), "none of 2 passages"),  # rightly refused
    ("unexplained", facts(abstained=True, has_reference=False), "without a reference nobody knows"),
    ("unexplained", facts(contexts=None, answer=(said(None),)), "what was retrieved is not known"),
    (
        "unexplained",
        facts(answer=(said(YES, YES, blamed=False),), reference=(true(YES, YES, blamed=False),)),
        "every claim that was read is supported",
    ),
    ("unexplained", facts(contexts=None, kept=False), "the run keeps no texts of it"),
    ("unexplained", facts(3, useful=(True, False, False)), "2 of 3 are of no use"),
]  # fmt: skip


@pytest.mark.parametrize(("label", "known", "because"), TABLE)
def test_facts_lead_to_one_label_that_says_why(label: str, known: Facts, because: str) -> None:
    found = decide(known)
    assert (found.label, found.read) == (label, ())
    assert because in found.because


@pytest.mark.parametrize(
    ("known", "missing"),
    [
        (facts(reference=(true(None, NONE),)), ("reference/contexts",)),
        (facts(reference=(true(YES, NONE),)), ("reference cells",)),
        (facts(answer=(said(NONE),)), ("answer/reference",)),
        (facts(has_reference=False, answer=(said(NO),)), ("answer cells",)),
        (facts(has_reference=False), ("answer/contexts",)),
        (facts(), ("reference/contexts", "answer/reference", "answer/contexts")),
        (facts(answerable=False, abstained=None), ("answer/contexts",)),
    ],
)
def test_what_has_to_be_read_is_named(known: Facts, missing: tuple[str, ...]) -> None:
    found = decide(known)
    assert (found.label, found.read) == ("not read", missing)


def test_of_several_claims_the_most_frequent_cause_is_the_rows_and_the_earlier_one_of_equals() -> None:
    """Two of three are not retrieved; of one each, what comes first in a pipeline."""
    lost, ignored = true(NONE), true(YES, NONE, (YES, NONE))
    assert decide(facts(reference=(ignored, lost, lost))).label == "not retrieved"
    assert decide(facts(reference=(ignored, ignored, lost))).label == "context not used"
    assert decide(facts(reference=(ignored, lost))).label == "not retrieved"
    assert decide(facts(reference=(ignored, ignored, lost))).because.endswith("(and 1 more of 3 claims)")
    fine = true(YES, YES, blamed=False)
    assert decide(facts(reference=(lost, fine, fine))).because.endswith("“It snowed.” (one of 3 claims)")
    assert decide(facts(reference=(lost,))).because.endswith("“It snowed.”")


def test_what_the_answer_lacks_comes_before_what_it_says_too_much() -> None:
    added = said(NONE, NONE)
    assert decide(facts(reference=(true(NONE),), answer=(added, added))).label == "not retrieved"
    assert decide(facts(reference=(true(NONE, blamed=False),), answer=(added,))).label == UNSUPPORTED


def test_the_rank_from_which_on_a_passage_may_be_overlooked_is_the_users() -> None:
    known = facts(3, reference=(true(YES, NONE, (NONE, YES, NONE)),))
    assert [decide(known, top).label for top in (1, 2)] == ["ranked too low", "context not used"]


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
    assert bool(found.read) == (found.label == "not read")
