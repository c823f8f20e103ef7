"""Citation accuracy: every citation is read against its passage alone, and a wrong one says which would be right."""

from __future__ import annotations

from typing import Any

import pytest

from assay.errors import Cause
from assay.judges.claim_rules import sentence_claims
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics import CitationAccuracy
from assay.records import Context, Sample, Score
from assay.records.phrases import score_in_words

PASSAGES = ("The bridge is red.", "The bridge was built in 1889.", "The bridge is red and 90 m long.")
SUPPORT = {
    ("The bridge is red.", PASSAGES[0]): PASSAGES[0],
    ("The bridge is red.", PASSAGES[2]): "The bridge is red and 90 m long.",
    ("It was built in 1889.", PASSAGES[1]): PASSAGES[1],
}


async def measured(answer: str, passages: tuple[str, ...] = PASSAGES, **changes: Any) -> tuple[Score, ScriptedJudge]:
    judge = ScriptedJudge(
        support=SUPPORT, claims={answer: [claim.text for claim in sentence_claims(answer)]}, **changes
    )
    sample = Sample(question="What is it?", contexts=tuple(Context(text=text) for text in passages), answer=answer)
    return await CitationAccuracy().score(sample, judge), judge


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ("The bridge is red. [1] It was built in 1889. [2]", 1),
        ("The bridge is red. [1] It was built in 1889. [1]", 1 / 2),
        ("The bridge is red. [1, 3]", 1),
        ("The bridge is red. [1-3]", 2 / 3),  # passage 2 says nothing of it
        ("The bridge is red. [1][1]", 1),  # one citation, said twice
        ("The bridge is red. [7]", 0),
        ("The bridge is red. [1] It was built in 1889.", 1),  # what is not cited does not count
    ],
)
async def test_share_of_citations_that_their_passage_supports(answer, value):
    score, _ = await measured(answer)
    assert score.value == pytest.approx(value)
    assert score.parts["citations"] == len(score.verdicts["answer/citations"])


async def test_a_wrong_citation_names_the_passages_that_would_be_right():
    score, _ = await measured("The bridge is red. [2]")
    (verdict,) = score.verdicts["answer/citations"]
    assert (verdict.label, verdict.passage) == ("not_mentioned", 1)
    assert verdict.reason == "cites passage 2; supported by passage 1 and passage 3"
    score, _ = await measured("It was built in 1889. [1]", PASSAGES[:1])
    assert score.verdicts["answer/citations"][0].reason == "cites passage 1; supported by no other"


async def test_a_citation_of_no_passage_is_wrong_and_named():
    score, _ = await measured("It was built in 1889. [4]")
    (verdict,) = score.verdicts["answer/citations"]
    assert score.value == 0
    assert score.parts == {"citations": 1, "not_there": 1}
    assert verdict.reason == "cites passage 4, and there are only 3; supported by passage 2"
    assert verdict.passage is None


async def test_quotes_say_where_they_stand_among_all_passages():
    score, _ = await measured("It was built in 1889. [2]")
    (verdict,) = score.verdicts["answer/citations"]
    (quote,) = verdict.evidence
    assert quote.span.of(PASSAGES[quote.passage]) == quote.text == PASSAGES[1]
    assert "passage 2, characters 0–29" in score_in_words(score, Sample(contexts=(Context(text="x"),)))


async def test_only_the_passages_that_are_cited_are_read_while_all_is_right():
    answer = "The bridge is red. [1] It was built in 1889. [2]"
    _, judge = await measured(answer)
    assert judge.asked == {"claims": 1, "support": 2}
    _, judge = await measured(answer.replace("[2]", "[1]"))
    assert judge.asked == {
        "claims": 1,
        "support": 1 + 2,
    }  # both claims against passage 1, the wrong one against 2 and 3


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        ("The bridge is red.", Cause.NOT_APPLICABLE),
        ("I don't know.", Cause.NO_CLAIMS),
        ("The passages do not mention it [1].", Cause.NO_CLAIMS),
        (" ", Cause.NO_CLAIMS),
    ],
)
async def test_an_answer_that_cites_nothing_has_no_score(answer, cause):
    score, _ = await measured(answer)
    assert score.error.cause is cause
