"""Answers of a few words are read with the question that they answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import EmbeddedJudge
from assay.judges.pairwise_support import claim_texts, unsupported_in
from assay.prompts import Support
from assay.records import Claim, Span

TEXT = "The tower was closed in 1889, two years after it was built. It was built in 1887 by a company from Lyon."
ASKED = "When was the tower built?"


def claim(text: str) -> Claim:
    return Claim(text=text, span=Span(0, len(text)))


@pytest.mark.parametrize(
    ("said", "question", "text", "read"),
    [
        ("1887", ASKED, TEXT, ("When was the tower built? 1887",)),
        ("Gustave Eiffel | Eiffel", "Who built it?", TEXT, ("Who built it? Gustave Eiffel", "Who built it? Eiffel")),
        ("1887", None, TEXT, ("1887",)),
        ("1887", "the tower", TEXT, ("1887",)),  # nothing is asked
        ("1887", ASKED, "1887", ("1887",)),  # a reference of a few words knows nothing of the question
        ("It was built in 1887", ASKED, TEXT, ("It was built in 1887",)),
        ("Who built it? Eiffel", "Who built it?", TEXT, ("Who built it? Eiffel",)),  # it comes with the question
        ("It was built in 1887.", ASKED, TEXT, ("It was built in 1887.",)),
        ("Members get: 30 days", "What do members get?", TEXT, ("Members get: 30 days",)),
        ("1887", "Why? " * 100, TEXT, ("1887",)),
    ],
)
def test_what_is_read_of_a_claim(said: str, question: str | None, text: str, read: tuple[str, ...]) -> None:
    assert claim_texts(said, question, text) == read


def test_parts_of_what_was_read_are_parts_of_the_claim_where_that_is_spelled_as_it_is() -> None:
    """The question has 4 characters and a space: 5 of "Who? the Eiffel" are before the claim."""
    assert unsupported_in("the Eiffel", "the Eiffel", [(4, 10)]) == (Span(4, 10),)
    assert unsupported_in("the Eiffel", "Who? the Eiffel", [(0, 3), (9, 15)]) == (Span(4, 10),)
    assert unsupported_in("Gustave | Eiffel", "Who? Gustave", [(5, 12)]) == ()


@given(st.text(max_size=60), st.none() | st.text(max_size=60), st.text(max_size=60))
def test_something_is_always_read(said: str, question: str | None, text: str) -> None:
    found = claim_texts(said, question, text)
    assert found
    assert found == (said,) or all(one.startswith((question or "").strip()) for one in found)


async def test_an_answer_to_another_question_is_less_supported() -> None:
    """1889 stands in the passage too. Alone both numbers are supported alike; with the question the right one more."""
    judge = EmbeddedJudge()
    right, wrong = claim("1887"), claim("1889")
    asked, alone = (
        answer.judgement for answer in await judge.answer([Support((right, wrong), (TEXT,), q) for q in (ASKED, None)])
    )
    assert asked[0].label == "supported"
    assert asked[0].probability - asked[1].probability > alone[0].probability - alone[1].probability + 0.05


async def test_the_claim_stays_as_it_was_said() -> None:
    (answer,) = await EmbeddedJudge().answer([Support((claim("1887"),), (TEXT,), ASKED)])
    (verdict,) = answer.judgement
    assert verdict.claim == claim("1887")
    assert "1887" in verdict.evidence[0].text
    assert verdict.evidence[0].span.of(TEXT) == verdict.evidence[0].text


async def test_the_best_spelling_counts() -> None:
    judge = EmbeddedJudge()
    several, first, second = (
        claim(text) for text in ("a firm from Lyon | Norman Foster", "a firm from Lyon", "Norman Foster")
    )
    (answer,) = await judge.answer([Support((several, first, second), (TEXT,), "Who built the tower?")])
    found = [verdict.probability for verdict in answer.judgement]
    assert found[0] == max(found[1:])
