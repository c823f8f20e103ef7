from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import Cause, JudgeFailure
from assay.judges.cache import JudgementCache
from assay.judges.claim_rules import sentence_claims
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics import METRICS
from assay.metrics.shared_prompts import cosines, gather, not_judged, support
from assay.records import Claim, Context, Sample, Span
from assay.text import split_sentences

SAMPLE = Sample(
    question="Where was he born?", contexts=(Context(text="In Ulm."),), answer="Ulm.", reference="He was born in Ulm."
)


class Batches(ScriptedJudge):
    """Keeps the names of what came up together."""

    def __init__(self, **rules: Any) -> None:
        super().__init__(**rules)
        self.batches: list[list[str]] = []

    def groups(self, prompts: Sequence[Any]) -> Sequence[Sequence[Any]]:
        self.batches.append([prompt.name for prompt in prompts])
        return super().groups(prompts)


@pytest.mark.parametrize(
    ("name", "batches"),
    [
        ("answer_correctness", [["claims", "claims", "similarity"], ["support", "support"]]),
        ("noise_sensitivity_relevant", [["claims", "claims"], ["support", "support", "support"]]),
        ("context_entity_recall", [["entities", "entities"]]),
        ("summarization_score", [["key_questions"], ["checklist"]]),
    ],
)
async def test_what_can_be_asked_together_is(name: str, batches: list[list[str]]) -> None:
    judge = Batches(
        support={},
        similarity=lambda *_: 0.5,
        entities=lambda text: ["Ulm"],
        key_questions=lambda text: ["A?", "B?"],
        criterion=lambda *_: True,
    )
    await METRICS[name]().score(SAMPLE, judge)
    assert [sorted(batch) for batch in judge.batches] == batches


async def test_together_raises_the_first_failure_after_all_have_ended() -> None:
    ended = []

    async def work(name: str, turns: int, failure: Exception | None) -> str:
        for _ in range(turns):
            await asyncio.sleep(0)
        ended.append(name)
        if failure is not None:
            raise failure
        return name

    first, second = JudgeFailure(Cause.TIMEOUT, "first"), JudgeFailure(Cause.PARSE, "second")
    with pytest.raises(JudgeFailure, match="first"):
        await gather(work("a", 5, first), work("b", 1, second), work("c", 9, None))
    assert sorted(ended) == ["a", "b", "c"]
    assert await gather(work("a", 2, None), work("b", 1, None)) == ("a", "b")


async def test_together_leaves_nothing_running_when_cancelled() -> None:
    cancelled = []

    async def work(name: str) -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(name)
            raise

    task = asyncio.create_task(gather(work("a"), work("b")))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cancelled == ["a", "b"]


async def test_no_text_supports_nothing_and_nobody_is_asked() -> None:
    judge = ScriptedJudge()
    claim = Claim(text="He was born in Ulm.", span=Span(0, 19))
    assert await support((), ("In Ulm.",), SAMPLE, judge) == ()
    (verdict,) = await support((claim,), (" ", ""), SAMPLE, judge)
    assert (verdict.label, verdict.claim, len(verdict.cells)) == ("not_mentioned", claim, 2)
    assert not judge.asked


@pytest.mark.parametrize(("given", "expected"), [(1.0000002, 1.0), (-1.0000002, -1.0), (0.3, 0.3)])
async def test_cosines_just_outside_the_range_are_rounding(given: float, expected: float) -> None:
    judge = ScriptedJudge(similarity=lambda *_: given)
    assert await cosines("a", ("b",), judge) == (expected,)


@pytest.mark.parametrize("given", [float("nan"), float("inf")])
async def test_cosine_that_is_no_number_is_a_failure(given: float) -> None:
    with pytest.raises(JudgeFailure) as caught:
        await cosines("a", ("b",), ScriptedJudge(similarity=lambda *_: given))
    assert caught.value.cause == Cause.BUG
    assert "no cosine" in caught.value.message


TEXT = "Sure! He was born in Ulm. Would you like more? He died in 1955.\n\n---\n\nMembers get:\n- 30 days\n- a mug"


def claim_on(part: str, text: str = TEXT, said: str | None = None) -> Claim:
    start = text.index(part)
    return Claim(text=said or part, span=Span(start, start + len(part)))


def test_what_no_claim_speaks_of_is_named_in_order() -> None:
    claims = (claim_on("He died in 1955."), claim_on("He was born in Ulm.", said="Einstein was born in Ulm."))
    assert not_judged(TEXT, claims) == ("Sure!", "Would you like more?", "Members get:", "- 30 days", "- a mug")
    assert not_judged(TEXT, ())[0] == "Sure!"
    assert not_judged(" ", ()) == ()
    assert not_judged("*** \n\n ---", ()) == ()  # marks state nothing


def test_a_lead_in_is_judged_with_the_items_that_carry_it() -> None:
    items = (claim_on("- 30 days", said="Members get: 30 days"), claim_on("- a mug", said="Members get: a mug"))
    assert not_judged(TEXT, items) == ("Sure!", "He was born in Ulm.", "Would you like more?", "He died in 1955.")


def test_a_part_of_a_sentence_is_enough_and_a_span_may_run_over_several() -> None:
    assert not_judged("It is red and old. It is long.", (claim_on("It is red", "It is red and old."),)) == (
        "It is long.",
    )
    text = "It is red. It is old. It is long."
    assert not_judged(text, (Claim(text="x", span=Span(3, 13)),)) == ("It is long.",)


@given(
    st.lists(st.sampled_from(["It is red.", "So it is?", "- a mug", "...", "He came.", "## Title"]), max_size=8),
    st.lists(st.tuples(st.integers(0, 70), st.integers(0, 70)), max_size=5),
)
def test_every_sentence_with_a_word_is_either_spoken_of_or_named(lines: list[str], ends: list[tuple[int, int]]) -> None:
    text = "\n".join(lines)
    claims = [Claim(text="x", span=Span(min(pair), max(pair) + 1)) for pair in ends]
    spans = split_sentences(text)
    met = [
        any(claim.span.start < span.end and span.start < claim.span.end for claim in claims)
        or not any(map(str.isalnum, span.of(text)))
        for span in spans
    ]
    assert not_judged(text, claims) == tuple(span.of(text) for span, one in zip(spans, met, strict=True) if not one)


SAID = Sample(
    question="Where was he born?",
    contexts=(Context(text="He was born in Ulm."),),
    answer="Sure! He was born in Ulm.",
    reference="He was born in Ulm. Is that all?",
)
LEFT = {
    "faithfulness": ("Sure!",),
    "hallucination": ("Sure!",),
    "context_recall": ("Is that all?",),
    "answer_correctness": ("Sure!", "Is that all?"),
    "noise_sensitivity_relevant": ("Sure!", "Is that all?"),
}


@pytest.mark.parametrize(("name", "left"), LEFT.items())
async def test_scores_of_claims_name_what_was_not_judged(name: str, left: tuple[str, ...]) -> None:
    def claims(text: str) -> list[str]:
        return [part for part in ("He was born in Ulm.",) if part in text]

    judge = ScriptedJudge(claims=claims, support={}, similarity=lambda *_: 0.5)
    score = await METRICS[name]().score(SAID, judge)
    assert score.value is not None
    assert score.texts["not_judged"] == left


@pytest.mark.parametrize("name", LEFT)
async def test_scores_without_claims_name_all_of_the_text(name: str) -> None:
    judge = ScriptedJudge(claims=lambda text: [], support={}, similarity=lambda *_: 0.5)
    score = await METRICS[name]().score(SAID, judge)
    assert score.error is not None
    assert score.error.cause is Cause.NO_CLAIMS
    answer, reference = ("Sure!", "He was born in Ulm."), ("He was born in Ulm.", "Is that all?")
    wanted = {"faithfulness": answer, "hallucination": answer, "context_recall": reference}
    assert score.texts["not_judged"] == wanted.get(name, (*answer, *reference))


async def test_a_score_that_looked_at_everything_says_nothing_of_it() -> None:
    score = await METRICS["faithfulness"]().score(SAMPLE, ScriptedJudge(claims=lambda text: [text], support={}))
    assert "not_judged" not in score.texts


class Bare(ScriptedJudge):
    """Says nothing of each passage alone, unless it is asked that."""

    async def answer(self, prompts: Sequence[Any]) -> Sequence[Any]:
        answers = await super().answer(prompts)
        return [
            replace(answer, judgement=tuple(replace(verdict, cells=()) for verdict in answer.judgement))
            if prompt.name == "support" and answer.judgement is not None
            else answer
            for prompt, answer in zip(prompts, answers, strict=True)
        ]


NOISY = Sample(
    question="Where was he born?",
    contexts=(Context(text="He was born in Ulm. He was a baker."), Context(text="Paris is in France.")),
    answer="He was born in Ulm. He was a baker. Paris is in France.",
    reference="He was born in Ulm.",
)


@pytest.mark.parametrize("mode", ["relevant", "irrelevant"])
async def test_cells_that_a_judge_left_out_are_asked_for_where_they_count(mode: str) -> None:
    def says(claim: str, passage: str) -> str:
        return "supported" if claim in passage else "not_mentioned"

    whole, bare = ScriptedJudge(support=says), Bare(support=says, rules={"support_cells": says})
    metric = METRICS[f"noise_sensitivity_{mode}"]()
    expected, found = await metric.score(NOISY, whole), await metric.score(NOISY, JudgementCache(bare))
    # of three claims the baker is noise of the relevant passage, Paris of the irrelevant one
    assert expected.value == found.value == pytest.approx(1 / 3)
    for name in ("answer/contexts", "reference/contexts"):
        assert found.verdicts[name] == expected.verdicts[name]
    assert whole.asked["support_cells"] == 0
    assert bare.asked["support_cells"] == 2  # answer/contexts and reference/contexts
    before = Counter(bare.asked)
    await METRICS["faithfulness"]().score(NOISY, JudgementCache(bare))
    assert bare.asked - before == {"claims": 1, "support": 1}


def test_a_lead_in_is_spoken_of_where_its_items_carry_only_what_it_names() -> None:
    answer = "Based on the text, here are some effects of Solvane:\n- nausea\n\nThank you."
    claims = sentence_claims(answer)
    assert [claim.text for claim in claims] == ["some effects of Solvane: nausea"]
    assert not_judged(answer, claims) == ("Thank you.",)
