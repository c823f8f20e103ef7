"""Directness: what is asked, how replies are read, and how the pieces of a long answer make one verdict."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import Cause, InconsistentReply, InvalidReply
from assay.judges.llm.judge import Reply, Request
from assay.prompts import Directness
from assay.records import Evidence, Span, Verdict
from tests.judges.conftest import Says, ask

QUESTION = "How high is the tower?"
ANSWER = "The tower is old. It is 90 m high and stands in Oslo."
ASKED = Directness(QUESTION, ANSWER)


def read(reply: dict[str, Any], prompt: Directness = ASKED) -> Verdict:
    verdict = prompt.read(reply)
    return verdict


def literal(prompt: Directness) -> Verdict:
    """Direct where the answer says "90 m", with that as quote."""
    at = prompt.answer.find("90 m")
    if at < 0:
        return Verdict(label="indirect", probability=0.1)
    quote = Evidence(passage=0, span=Span(at, at + 4), text="90 m")
    return Verdict(label="direct", probability=0.8, evidence=(quote,))


# ---- asking


def test_question_and_answer_are_fenced_and_the_reason_comes_first() -> None:
    content = ASKED.content()
    assert [(s.title, s.text) for s in content.material] == [("QUESTION", QUESTION), ("ANSWER", ANSWER)]
    assert list(content.schema["properties"]) == ["reason", "label", "quote"]
    assert content.schema["properties"]["label"]["enum"] == ["direct", "indirect"]


# ---- reading


def test_a_direct_answer_has_its_quote_where_it_stands_in_the_answer() -> None:
    verdict = read({"reason": "it says so", "label": "direct", "quote": "90 m high"})
    assert (verdict.label, verdict.reason, verdict.probability) == ("direct", "it says so", None)
    (quote,) = verdict.evidence
    assert quote == Evidence(passage=0, span=Span(24, 33), text="90 m high")
    assert quote.span.of(ANSWER) == quote.text


def test_a_quote_that_is_not_there_is_no_evidence() -> None:
    with pytest.raises(
        InconsistentReply, match="The answer has the label 'direct', and the quote '100 feet tall' is not"
    ):
        read({"reason": "r", "label": "direct", "quote": "100 feet tall"})


def test_an_indirect_answer_has_no_quote_whatever_the_judge_copies() -> None:
    verdict = read({"reason": "r", "label": "indirect", "quote": "The tower is old."})
    assert (verdict.label, verdict.evidence, verdict.unlocated) == ("indirect", (), 0)


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ({"label": " Direct "}, "direct"),
        ({"label": "INDIRECT", "quote": None, "reason": ""}, "indirect"),
        ({"label": "direct", "quote": "", "comment": "and more"}, "direct"),
    ],
)
def test_what_is_beside_the_label_may_be_missing_or_odd(reply: dict[str, Any], label: str) -> None:
    verdict = read(reply)
    assert (verdict.label, verdict.reason, verdict.evidence, verdict.unlocated) == (label, None, (), 0)


def test_the_probability_is_that_of_direct() -> None:
    assert read({"label": "indirect", "probs": {"direct": 0.3, "indirect": 0.7}}).probability == 0.3
    assert read({"label": "direct", "probs": {"direct": 0.9, "indirect": 0.1}}).probability == 0.9


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ({}, "one of direct, indirect, not None"),
        ({"label": "yes"}, "one of direct, indirect, not 'yes'"),
        ({"label": ["direct"]}, "one of direct, indirect"),
        ({"label": "direct", "quote": 3}, "'quote' must be text"),
        ({"label": "direct", "reason": {}}, "'reason' must be text"),
    ],
)
def test_what_does_not_answer_it_is_refused(reply: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidReply, match=says):
        read(reply)


async def test_a_reply_in_prose_with_fences_is_read_and_an_unknown_label_asked_again() -> None:
    def says(request: Request) -> str:
        label = "direct" if request.correction else "partly"
        return f'Well:\n```json\n{{"reason": "r", "label": "{label}", "quote": "90 m high",}}\n```\nThat is all.'

    judge = Says(says)
    (answer,) = await ask(judge, ASKED)
    assert answer.judgement.label == "direct"
    assert [quote.text for quote in answer.judgement.evidence] == ["90 m high"]
    assert len(judge.requests) == 2
    (failed,) = await ask(Says(lambda request: '{"label": "partly"}'), ASKED)
    assert failed.failure is not None
    assert failed.failure.cause is Cause.PARSE


# ---- pieces


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 60), st.integers(0, 60), st.integers(222, 900))
def test_what_one_piece_gives_the_whole_gives_at_its_place(before: int, after: int, room: int) -> None:
    filler = "Nothing happens here at all. "
    # white space at the end that alone is too much is no reason to divide: see the test of that below
    answer = (filler * before + "It is 90 m high. " + filler * after).rstrip()
    for prompt in (Directness(QUESTION, answer), Directness(QUESTION, (filler * (before + after + 1)).rstrip())):
        division = prompt.fit(room)
        assert division is not None
        parts = [part for part in division.parts if isinstance(part, Directness)]
        assert len(parts) == len(division.parts)
        assert all(len(part.question) + len(part.answer) <= room for part in parts)
        verdict = division.join([literal(part) for part in parts])
        if prompt.answer is answer:
            assert (verdict.label, verdict.probability) == ("direct", 0.8)
            assert [quote.span.of(answer) for quote in verdict.evidence] == ["90 m"]
        else:
            assert (verdict.label, verdict.probability) == ("indirect", 0.1)


def test_the_surest_piece_speaks_for_the_whole() -> None:
    division = Directness(QUESTION, "It is high, they say. " * 30).fit(250)
    assert division is not None
    assert len(division.parts) >= 3
    sure = [0.2, 0.4, *[0.3] * (len(division.parts) - 2)]
    indirect = [Verdict(label="indirect", probability=p, reason=f"piece {n}") for n, p in enumerate(sure)]
    assert division.join(indirect) == indirect[1]
    # a label outweighs every probability of the other label
    direct = Verdict(label="direct", reason="by its label")
    assert division.join([*indirect[:-1], direct]) == direct


def test_a_short_answer_is_read_whole_and_one_without_room_not_at_all() -> None:
    whole = ASKED.fit(1000)
    assert whole is not None
    assert whole.parts == (ASKED,)
    assert Directness(QUESTION, "word " * 100).fit(150) is None
    assert ASKED.halve() is None


def test_white_space_around_an_answer_needs_no_pieces() -> None:
    padded = Directness(QUESTION, " " * 900 + ANSWER)
    division = padded.fit(300)
    assert division is not None
    assert division.parts == (padded,)
    assert Directness(QUESTION, " " * 5000).halve() is None


def test_halves_of_a_long_answer_make_one_verdict() -> None:
    answer = "Nothing happens here at all. " * 100 + "It is 90 m high."
    division = Directness(QUESTION, answer).halve()
    assert division is not None
    assert len(division.parts) >= 2
    verdict = division.join([literal(part) for part in division.parts if isinstance(part, Directness)])
    assert [quote.span.of(answer) for quote in verdict.evidence] == ["90 m"]


async def test_a_judge_with_a_small_window_reads_all_of_a_long_answer() -> None:
    """Some 6,000 tokens in a window of 2,000; what counts stands at the very end."""
    answer = "Nothing happens here at all. " * 1000 + "It is 90 m high."

    def says(request: Request) -> Reply:
        met = "90 m" in request.content.material[-1].text
        label, quote = ("direct", "90 m high") if met else ("indirect", "")
        return Reply(json.dumps({"reason": "r", "label": label, "quote": quote}))

    judge = Says(says, window_tokens=2000)
    (found,) = await ask(judge, Directness(QUESTION, answer))
    assert found.failure is None
    assert len(judge.requests) > 3
    assert found.judgement.label == "direct"
    assert [(q.span.end, q.span.of(answer)) for q in found.judgement.evidence] == [(len(answer) - 1, "90 m high")]


# ---- decisions


def test_it_is_one_decision_with_direct_as_the_affirmative_label() -> None:
    (question,) = ASKED.questions()
    assert list(question.labels) == ["direct", "indirect"]
    assert "tower" not in question.instructions  # judged text is in the sections
    assert [section.title for section in ASKED.content().material] == ["QUESTION", "ANSWER"]
    for direct, label in ((0.5, "direct"), (0.49, "indirect")):
        verdict = ASKED.from_decisions({question.name: {"direct": direct, "indirect": 1 - direct}})
        assert (verdict.label, verdict.probability) == (label, direct)
