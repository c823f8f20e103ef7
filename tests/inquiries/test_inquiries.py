"""What every inquiry promises: prompts, readings that refuse what was not asked, parts that join, decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import BadReply
from assay.inquiries import (
    BackQuestions,
    Claims,
    Criterion,
    Directness,
    Entities,
    Inquiry,
    KeyQuestions,
    Rating,
    Similarity,
    Support,
    Usefulness,
)
from assay.records import Cell, Claim, Evidence, Span, Verdict

ANSWER = "The tower is old. It is 90 m high and stands in Oslo."
PASSAGES = ("The tower is 90 m high. Nobody lives there.", "Oslo has a tower.", "Bread is tasty.")
CLAIMS = (
    Claim(text="The tower is old.", span=Span(0, 17)),
    Claim(text="The tower is 90 m high.", span=Span(18, 53)),
)
MATERIAL = (("QUESTION", "How high?"), ("ANSWER", ANSWER))

ONE_OF_EACH: tuple[Inquiry[Any], ...] = (
    Claims(ANSWER, "How high is the tower?"),
    Support(CLAIMS, PASSAGES, "How high is the tower?"),
    Usefulness("How high is the tower?", PASSAGES, "90 m"),
    BackQuestions(ANSWER),
    Entities(PASSAGES),
    Criterion("Is the answer polite?", MATERIAL),
    Rating("How polite is the answer?", ((1, "rude"), (2, "neutral"), (3, "polite")), MATERIAL),
    KeyQuestions(ANSWER),
    Directness("How high is the tower?", ANSWER),
)


@pytest.mark.parametrize("inquiry", ONE_OF_EACH, ids=lambda i: i.name)
def test_the_prompt_carries_all_text_as_material_and_none_in_the_task(inquiry):
    prompt = type(inquiry).prompt([inquiry])
    shown = "\n".join(section.text for section in prompt.material)
    assert "tower" in shown or "polite" in shown
    assert "tower" not in prompt.task  # judged text is fenced; the task is ours
    assert prompt.schema["required"]
    assert prompt.output_tokens > 0


@pytest.mark.parametrize("inquiry", [ONE_OF_EACH[1], ONE_OF_EACH[2], ONE_OF_EACH[5]], ids=lambda i: i.name)
def test_the_reason_comes_before_the_label(inquiry):
    (items,) = type(inquiry).prompt([inquiry]).schema["properties"].values()
    names = list(items["items"]["properties"])
    assert names.index("reason") < names.index("label")


@pytest.mark.parametrize("inquiry", [*ONE_OF_EACH, Similarity("a", ("b",))], ids=lambda i: i.name)
def test_equal_inquiries_have_equal_keys_and_others_do_not(inquiry):
    key = inquiry.key("judge/1")
    assert key == inquiry.key("judge/1")
    assert key != inquiry.key("judge/2")
    others = [other.key("judge/1") for other in ONE_OF_EACH if other is not inquiry]
    assert key not in others


def test_passages_and_question_come_first_so_that_prefixes_are_shared():
    support = Support.prompt([ONE_OF_EACH[1]]).material
    useful = Usefulness.prompt([ONE_OF_EACH[2]]).material
    assert support[:4] == useful[:4]  # three passages and the question


# ---- claims


def test_claims_are_tied_to_the_sentence_that_makes_them():
    reply = {"texts": [{"text": "T1", "claims": [
        {"sentence": 2, "claim": "The tower is 90 m high."},
        {"sentence": 2, "claim": "The tower stands in Oslo."},
        {"sentence": 1, "claim": "The tower is old."},
    ]}]}  # fmt: skip
    ((first, second, third),) = Claims.read([Claims(ANSWER)], reply)
    assert (first.text, first.span.of(ANSWER)) == ("The tower is old.", "The tower is old.")
    assert second.span.of(ANSWER) == third.span.of(ANSWER) == "It is 90 m high and stands in Oslo."


def test_several_texts_are_read_apart():
    reply = {"texts": [
        {"text": "T2", "claims": [{"sentence": 1, "claim": "Rome is big."}]},
        {"text": "T1", "claims": []},
    ]}  # fmt: skip
    refusal, rome = Claims.read([Claims("I do not know."), Claims("Rome is big.")], reply)
    assert refusal == ()
    assert [claim.text for claim in rome] == ["Rome is big."]


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ({}, "list of texts"),
        ({"texts": []}, "No text for T1"),
        ({"texts": [{"text": "T7", "claims": []}]}, "no text 'T7'"),
        ({"texts": [{"text": "T1", "claims": []}, {"text": "T1", "claims": []}]}, "twice"),
        ({"texts": [{"text": "T1", "claims": [{"sentence": 9, "claim": "x"}]}]}, "from 1 to 2"),
        ({"texts": [{"text": "T1", "claims": [{"sentence": True, "claim": "x"}]}]}, "from 1 to 2"),
        ({"texts": [{"text": "T1", "claims": ["x"]}]}, "'sentence' and 'claim'"),
    ],
)
def test_claims_refuses_what_does_not_answer_it(reply, says):
    with pytest.raises(BadReply, match=says):
        Claims.read([Claims(ANSWER)], reply)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["Rome is old.", "It is big!", "Who lives there?", "Nobody."]), min_size=2, max_size=30)
)
def test_claims_of_the_parts_are_claims_of_the_whole(sentences):
    text = " ".join(sentences)
    for division in (Claims(text).halve(), Claims(text).fit(200)):
        assert division is not None
        found = []
        for part in division.parts:
            assert isinstance(part, Claims)
            found.append((Claim(text=part.text, span=Span(0, len(part.text))),))
        for claim in division.join(found):
            assert claim.span.of(text) == claim.text


# ---- support


def verdict_item(claim: str, label: str, *passages: tuple[str, str, str], **more: Any) -> dict[str, Any]:
    cells = [{"passage": p, "label": la, "quote": q} for p, la, q in passages]
    return {"claim": claim, "reason": "because", "label": label, "passages": cells, **more}


def read_support(*items: Mapping[str, Any]) -> tuple[Verdict, ...]:
    return Support.read([ONE_OF_EACH[1]], {"verdicts": list(items)})[0]


def test_support_gives_a_row_of_cells_and_located_quotes():
    first, second = read_support(
        verdict_item("C1", "not_mentioned"),
        verdict_item("C2", "supported", ("P1", "supported", "tower is 90 m high")),
    )
    assert (first.label, [cell.label for cell in first.cells]) == ("not_mentioned", ["not_mentioned"] * 3)
    assert [cell.label for cell in second.cells] == ["supported", "not_mentioned", "not_mentioned"]
    (quote,) = second.evidence
    assert quote == Evidence(passage=0, span=Span(4, 22), text="tower is 90 m high")
    assert quote.span.of(PASSAGES[0]) == quote.text


def test_a_quote_that_is_not_there_is_no_evidence():
    _, second = read_support(
        verdict_item("C1", "not_mentioned"),
        verdict_item("C2", "supported", ("P1", "supported", "the tower is 100 feet high")),
    )
    assert second.evidence == ()
    assert second.unlocated == 1


def test_one_passage_that_supports_is_enough_for_all_together():
    first, _ = read_support(
        verdict_item("C1", "not_mentioned", ("P2", "supported", "")), verdict_item("C2", "contradicted")
    )
    assert first.label == "supported"


def test_probabilities_are_kept():
    first, _ = read_support(
        verdict_item("C1", "supported", probs={"supported": 0.8, "contradicted": 0.15, "not_mentioned": 0.05}),
        verdict_item("C2", "supported"),
    )
    assert first.probability == 0.8


@pytest.mark.parametrize(
    ("items", "says"),
    [
        ([verdict_item("C1", "supported")], "No verdict for C2"),
        ([verdict_item("C1", "supported"), verdict_item("C3", "supported")], "no claim 'C3'"),
        ([verdict_item("C1", "yes"), verdict_item("C2", "supported")], "label must be one of"),
        ([verdict_item("C1", "supported", ("P9", "supported", "")), verdict_item("C2", "supported")], "P1 to P3"),
        ([{"claim": "C1", "label": "supported", "reason": ""}, verdict_item("C2", "supported")], "list of passages"),
    ],
)
def test_support_refuses_what_does_not_answer_it(items, says):
    with pytest.raises(BadReply, match=says):
        read_support(*items)


def test_claims_of_several_inquiries_are_numbered_through():
    group = [Support(CLAIMS[:1], PASSAGES), Support(CLAIMS[1:], PASSAGES)]
    assert group[0].merge_key() == group[1].merge_key()
    items = [verdict_item("C1", "supported"), verdict_item("C2", "contradicted")]
    first, second = Support.read(group, {"verdicts": items})
    assert [v.label for v in first] == ["supported"]
    assert [v.label for v in second] == ["contradicted"]


def literal(inquiry: Support) -> tuple[Verdict, ...]:
    """Verdicts by string search, with evidence."""
    rows = []
    for claim in inquiry.claims:
        at = [passage.find(claim.text) for passage in inquiry.passages]
        evidence = tuple(
            Evidence(passage=n, span=Span(i, i + len(claim.text)), text=claim.text) for n, i in enumerate(at) if i >= 0
        )
        cells = tuple(Cell(label="supported" if i >= 0 else "not_mentioned") for i in at)
        rows.append(Verdict(label="supported" if evidence else "not_mentioned", claim=claim, cells=cells,
                            evidence=evidence))  # fmt: skip
    return tuple(rows)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 40), st.integers(0, 40), st.integers(260, 900))
def test_support_read_in_pieces_finds_what_the_whole_has(before, after, room):
    """A fact anywhere in a long passage is found, at its offset in the passage, whatever the window."""
    filler = "Nothing happens here at all. "
    passages = ("Short one.", filler * before + "The vault opens at noon. " + filler * after)
    claims = (Claim(text="The vault opens at noon.", span=Span(0, 24)), Claim(text="It rains.", span=Span(25, 34)))
    division = Support(claims, passages).fit(room)
    assert division is not None
    for part in division.parts:
        assert isinstance(part, Support)
        assert sum(map(len, part.passages)) <= room
    vault, rain = division.join([literal(part) for part in division.parts])
    assert (vault.label, rain.label) == ("supported", "not_mentioned")
    assert [cell.label for cell in vault.cells] == ["not_mentioned", "supported"]
    assert all(quote.span.of(passages[quote.passage]) == quote.text for quote in vault.evidence)


def test_halved_support_keeps_the_order_of_claims():
    division = ONE_OF_EACH[1].halve()
    assert division is not None
    joined = division.join([literal(part) for part in division.parts])
    assert [verdict.claim for verdict in joined] == list(CLAIMS)


def test_support_can_be_decided_many_questions_in_one_request():
    questions = ONE_OF_EACH[1].questions()
    assert len(questions) == 2 * (1 + 3)  # each claim against all passages, and against each
    sure = {"supported": 0.9, "contradicted": 0.06, "not_mentioned": 0.04}
    unsure = {"supported": 0.2, "contradicted": 0.1, "not_mentioned": 0.7}
    answers = {q.name: sure if q.name in ("c2", "c2p1") else unsure for q in questions}
    first, second = ONE_OF_EACH[1].decided(answers)
    assert (first.label, first.probability) == ("not_mentioned", 0.2)
    assert (second.label, second.probability) == ("supported", 0.9)
    assert [cell.label for cell in second.cells] == ["supported", "not_mentioned", "not_mentioned"]


# ---- the others


def test_usefulness_reads_and_decides_one_verdict_per_passage():
    said = (("useful", "90 m high"), ("not_useful", "Oslo"), ("not_useful", ""))
    items = [{"passage": f"P{n}", "reason": "r", "label": la, "quote": q} for n, (la, q) in enumerate(said, 1)]
    verdicts = Usefulness.read([ONE_OF_EACH[2]], {"passages": items})[0]
    assert [v.label for v in verdicts] == ["useful", "not_useful", "not_useful"]
    assert [quote.text for v in verdicts for quote in v.evidence] == ["90 m high"]  # quotes of useful passages only
    probs = {"p1": {"useful": 0.7}, "p2": {"useful": 0.2}, "p3": {"useful": 0.5}}
    assert [v.label for v in ONE_OF_EACH[2].decided(probs)] == ["useful", "not_useful", "useful"]
    with pytest.raises(BadReply, match="No verdict for P3"):
        Usefulness.read([ONE_OF_EACH[2]], {"passages": items[:2]})


def test_a_passage_read_in_pieces_is_useful_when_one_piece_is():
    passages = ("It is far away. " * 40 + "The tower is 90 m high.", "Bread.")
    division = Usefulness("How high?", passages).fit(300)
    assert division is not None
    findings = [
        tuple(Verdict(label="useful" if "90 m" in p else "not_useful", passage=n) for n, p in enumerate(part.passages))
        for part in division.parts
    ]
    assert [(v.passage, v.label) for v in division.join(findings)] == [(0, "useful"), (1, "not_useful")]


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ({"questions": ["a", "b"], "noncommittal": False}, "Expected 3 questions, got 2"),
        ({"questions": ["a", "b", ""], "noncommittal": False}, "not empty"),
        ({"questions": ["a", "b", "c"], "noncommittal": "no"}, "true or false"),
    ],
)
def test_back_questions_refuses_what_does_not_answer_it(reply, says):
    with pytest.raises(BadReply, match=says):
        BackQuestions.read([BackQuestions(ANSWER)], reply)


def test_entities_are_those_that_stand_in_the_text_each_once():
    inquiry = Entities(("The Eiffel Tower is in Paris.", "paris has a river, the Seine."))
    (found,) = Entities.read([inquiry], {"entities": ["Paris", "the Seine", "Eiffel Tower", "London", "PARIS"]})
    assert [entity.text for entity in found] == ["Eiffel Tower", "Paris", "the Seine"]
    assert all(entity.span.of(inquiry.passages[entity.passage]) == entity.text for entity in found)


def test_criteria_on_the_same_material_share_a_call_but_votes_do_not():
    polite, short = Criterion("Polite?", MATERIAL), Criterion("Short?", MATERIAL)
    assert polite.merge_key() == short.merge_key()
    assert polite.merge_key() != Criterion("Polite?", MATERIAL, vote=1).merge_key()
    answers = [{"question": "Q2", "reason": "", "label": "No"}, {"question": "Q1", "reason": "ok", "label": "yes"}]
    first, second = Criterion.read([polite, short], {"answers": answers})
    assert (first.label, first.reason, second.label) == ("yes", "ok", "no")
    assert Criterion.prompt([Criterion("Polite?", MATERIAL, vote=2)]).vote == 2
    assert polite.decided({"criterion": {"yes": 0.4, "no": 0.6}}).label == "no"


def test_ratings_are_levels_of_the_scale_and_keep_the_expected_level():
    rating = ONE_OF_EACH[6]
    (rated,) = Rating.read([rating], {"reason": "r", "label": "2", "probs": {"1": 0.1, "2": 0.6, "3": 0.3}})
    assert rated.level == 2
    assert rated.expected == pytest.approx(0.1 * 1 + 0.6 * 2 + 0.3 * 3)
    with pytest.raises(BadReply, match="one of 1, 2, 3"):
        Rating.read([rating], {"reason": "r", "label": "4"})
    assert rating.decided({"rating": {"1": 0.2, "3": 0.8}}).level == 3


def test_key_questions_of_a_long_text_come_from_all_of_its_parts():
    inquiry = KeyQuestions("First half. " * 30 + "Second half. " * 30, count=4)
    division = inquiry.fit(300)
    assert division is not None
    assert "".join(part.text for part in division.parts).count("half") == 60
    joined = division.join([("Same?", f"About part {n}?") for n, _ in enumerate(division.parts)])
    assert joined == ("Same?", *(f"About part {n}?" for n, _ in enumerate(division.parts)))


def test_what_must_not_be_divided_says_so():
    long = "word " * 1000
    assert BackQuestions(long).fit(100) is None
    assert Criterion("Short?", (("ANSWER", long),)).fit(100) is None
    assert Rating("Short?", ((1, "no"), (2, "yes")), (("ANSWER", long),)).fit(100) is None


@pytest.mark.parametrize("inquiry", ONE_OF_EACH, ids=lambda i: i.name)
def test_findings_survive_the_store(inquiry):
    findings: dict[type, Any] = {
        Claims: CLAIMS,
        Support: literal(ONE_OF_EACH[1]),
        Usefulness: (Verdict(label="useful", passage=0, probability=0.25),),
        Criterion: Verdict(label="yes", reason="r"),
        Directness: Verdict(label="direct", evidence=(Evidence(passage=0, span=Span(0, 9), text="The tower"),)),
        KeyQuestions: ("Is it?", "Was it?"),
        Entities: (Evidence(passage=1, span=Span(0, 4), text="Oslo"),),
    }
    finding = findings.get(type(inquiry))
    if finding is None:
        finding = (
            BackQuestions.read([BackQuestions("x", 1)], {"questions": ["q"], "noncommittal": True})[0]
            if isinstance(inquiry, BackQuestions)
            else inquiry.decided({"rating": {"1": 0.5, "2": 0.5}})
        )
    assert type(inquiry).load(type(inquiry).dump(finding)) == finding
