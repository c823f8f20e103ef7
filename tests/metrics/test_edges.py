"""Edges of assay's own formulas: the last value that counts and the first that does not, and what stands beside."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from assay.errors import Cause, InputError
from assay.judges.protocol import Answer
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics import (
    AnswerCorrectness,
    AnswerRelevancy,
    AspectCritique,
    Faithfulness,
    Hallucination,
    HarmonicMean,
    NuggetRecall,
    SummarizationScore,
    metric,
)
from assay.metrics._aspect_critique import majority
from assay.metrics.base import Metric
from assay.metrics.shared_prompts import with_cells
from assay.metrics.systems import named
from assay.prompts import Claims, JudgePrompt, Similarity, Support
from assay.records import Cell, Claim, Context, Sample, Score, Span, Turn, Verdict


def score(metric: Metric, sample: Sample, judge: ScriptedJudge) -> Score:
    return asyncio.run(metric.score(sample, judge))


class Unsure(ScriptedJudge):
    """Supports claims with these probabilities, by how they end."""

    def __init__(self, probabilities: Mapping[str, float | None]) -> None:
        super().__init__(support=lambda claim, passage: "supported")
        self.probabilities = probabilities

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        answers = await super().answer(prompts)
        return [replace(one, judgement=tuple(map(self._unsure, one.judgement))) for one in answers]

    def _unsure(self, verdict: Any) -> Any:
        end = next(end for end in self.probabilities if verdict.claim.text.endswith(end))
        return replace(verdict, probability=self.probabilities[end])


# ---- answer correctness


def test_the_likeliest_spelling_counts_from_85_percent_on() -> None:
    """Neither spelling stands in the answer, so the judge reads both."""
    alone = AnswerCorrectness(weights=(1, 0))
    sample = Sample(question="Where from?", answer="From the land of the red dragon.", reference="Wales | Cymru")
    for probabilities, value, spelling in (
        ({"Wales": 0.2, "Cymru": 0.9}, 1.0, "Cymru"),
        ({"Wales": 0.9, "Cymru": 0.2}, 1.0, "Wales"),
        ({"Wales": 0.86, "Cymru": 0.9}, 1.0, "Cymru"),
        ({"Wales": None, "Cymru": 0.05}, 1.0, "Wales"),  # without a probability the label counts
        ({"Wales": 0.1, "Cymru": 0.85}, 1.0, "Cymru"),
        ({"Wales": 0.1, "Cymru": 0.84}, 0.0, "Cymru"),
        ({"Wales": 0.05, "Cymru": 0.0}, 0.0, "Wales"),
    ):
        found = score(alone, sample, Unsure(probabilities))
        (verdict,) = found.verdicts["reference/answer"]
        assert verdict.claim is not None
        assert (found.value, verdict.claim.span.of(sample.reference or "")) == (value, spelling)
        assert set(found.parts) == {"tp", "fp", "fn", "factual"}  # no similarity was asked for


def test_words_that_stand_in_the_answer_are_its_evidence() -> None:
    sample = Sample(question="Where?", answer="It is in Paris.", reference="Paris")
    found = score(AnswerCorrectness(), sample, ScriptedJudge(support={}, similarity=lambda a, b: 0.4))
    ((evidence,),) = (verdict.evidence for verdict in found.verdicts["reference/answer"])
    assert (evidence.passage, evidence.text) == (0, "Paris")
    assert found.value == pytest.approx(0.75 + 0.25 * 0.4)
    assert found.parts["similarity"] == 0.4


def test_who_can_score_the_claims_alone_is_told_how() -> None:
    hint = "use AnswerCorrectness(weights=(1, 0))"

    def said(metric: AnswerCorrectness, **rules: Any) -> str | None:
        reason = metric.cannot(ScriptedJudge(**rules))
        return None if reason is None else reason.message

    reads: dict[str, Any] = {"support": {}}
    assert said(AnswerCorrectness(), **reads, similarity={}) is None
    assert hint in str(said(AnswerCorrectness(), **reads))  # only the similarity is missing
    assert hint not in str(said(AnswerCorrectness()))  # neither
    assert hint not in str(said(AnswerCorrectness(weights=(0, 1)), **reads))  # there the claims do not count
    assert said(AnswerCorrectness(weights=(1, 0)), **reads) is None
    assert AnswerCorrectness(weights=(1, 0)).asks == (Claims, Support)
    assert AnswerCorrectness(weights=(0, 1)).asks == (Similarity,)


@pytest.mark.parametrize("weights", [(0.0, 0.0), (0.0, float("inf"))])
def test_weights_that_weigh_nothing_are_refused(weights: tuple[float, float]) -> None:
    with pytest.raises(InputError, match="weights"):
        AnswerCorrectness(weights=weights)


# ---- parameters and defaults


@pytest.mark.parametrize(
    "make",
    [
        lambda: AnswerRelevancy(questions=1),
        lambda: AspectCritique("a", "Is it?", strictness=1),
        lambda: NuggetRecall(okay=0.0),
        lambda: NuggetRecall(okay=1.0),
        lambda: SummarizationScore(questions=1),
    ],
)
def test_the_last_value_that_is_allowed(make: Any) -> None:
    assert make() == make()


@pytest.mark.parametrize(("votes", "expected"), [(["yes", "no"], 0.0), (["yes", "yes", "no"], 1.0), (["no"], 0.0)])
def test_a_majority_is_more_than_half(votes: list[str], expected: float) -> None:
    assert majority([Verdict(label=label) for label in votes]) == expected


def test_a_metric_without_a_name_is_called_after_its_class() -> None:
    class ShareOfWords(Metric):
        async def measure(self, sample: Sample, judge: Any) -> float:
            return 1.0

    @dataclass(frozen=True)
    class Named(Metric):
        name: str  # type: ignore[misc]

        async def measure(self, sample: Sample, judge: Any) -> float:
            return 1.0

    assert ShareOfWords().label == "share_of_words"
    assert Named("mine").label == "mine"
    assert not hasattr(Named, "name")
    assert not ShareOfWords().needs_contradiction


def test_a_column_that_a_parameter_gives_is_not_needed() -> None:
    @dataclass(frozen=True)
    class Columned(Metric):
        columns = ("topics", "tools")  # type: ignore[misc]
        topics: tuple[str, ...] = ()

        async def measure(self, sample: Sample, judge: Any) -> float:
            return 1.0

    assert Columned().needed_columns == ("topics", "tools")
    assert Columned(topics=("a",)).needed_columns == ("tools",)
    assert named("deepeval:json_correctness").needed_columns == ("expected_schema",)


def test_only_what_counts_contradictions_needs_a_judge_that_tells_them() -> None:
    class Never(ScriptedJudge):
        detects_contradiction = False

    @dataclass(frozen=True)
    class Contradicted(Faithfulness):
        needs_contradiction = True  # type: ignore[assignment]

    judge = Never(support={})
    assert Hallucination().cannot(judge) is None
    reason = Hallucination(kind="contradicted").cannot(judge)
    assert reason is not None
    assert "tells contradictions from gaps" in reason.message
    assert Hallucination(kind="contradicted").cannot(ScriptedJudge(support={})) is None
    assert not HarmonicMean(Faithfulness(), AnswerRelevancy()).needs_contradiction
    mixed = HarmonicMean(AnswerRelevancy(), Contradicted())
    assert mixed.needs_contradiction
    assert mixed.cannot(judge) is not None


def test_a_picture_among_the_passages_is_named_by_its_place() -> None:
    contexts = (Context(text="It is red."), Context(text="", image="page.png"))
    found = score(Faithfulness(), Sample(answer="It is red.", contexts=contexts), ScriptedJudge(support={}))
    assert found.error is not None
    assert found.error.cause is Cause.NEEDS_VISION
    assert found.error.message.startswith("passage 2 has a picture, which faithfulness does not look at")


def test_more_is_better_where_a_metric_does_not_say() -> None:
    def one(answer: str) -> float:
        return 1.0

    made, called = metric(one), metric(name="called")(one)
    for each in (made, called):
        assert (each.direction, each.low, each.high, each.version) == ("higher", 0.0, 1.0, "1")


def test_cells_are_asked_for_the_claims_that_lack_them_alone() -> None:
    read, bare = (Claim(text=text, span=Span(0, 1)) for text in ("a", "b"))
    verdicts = (
        Verdict(label="supported", claim=read, cells=(Cell(label="contradicted"),)),
        Verdict(label="supported", claim=bare),
        Verdict(label="supported"),
    )
    judge = ScriptedJudge(rules={"support_cells": lambda claim, passage: "supported"})
    found = asyncio.run(with_cells(verdicts, ("p",), Sample(), judge))
    assert [[cell.label for cell in one.cells] for one in found] == [["contradicted"], ["supported"], []]


def test_a_parameter_that_is_nearly_a_field_is_told_which() -> None:
    def nearly(anwser: str) -> float:
        return 1.0

    def far(zzz: str) -> float:
        return 1.0

    def known(answer: str, /) -> float:
        return 1.0

    with pytest.raises(InputError, match="did you mean 'answer'"):
        metric(nearly)
    for function in (far, known):
        with pytest.raises(InputError) as raised:
            metric(function)
        assert "did you mean" not in str(raised.value)


def test_a_claim_of_both_turns_is_not_one_of_earlier_turns() -> None:
    """One of two passages of this turn supports it, so it does not count as found in an earlier one."""
    earlier = Turn(question="q", answer="a", contexts=(Context(text="It was red then."),))
    contexts = (Context(text="It is red."), Context(text="Bread."))
    sample = Sample(answer="It is red.", contexts=contexts, history=(earlier,))

    def says(claim: str, passage: str) -> str:
        return "supported" if "red" in passage else "not_mentioned"

    judge = ScriptedJudge(support=says, rules={"support_cells": says})
    assert score(Faithfulness(), sample, judge).parts["earlier_turns"] == 0.0
    assert score(Faithfulness(), replace(sample, contexts=contexts[1:]), judge).parts["earlier_turns"] == 1.0


def test_nuggets_of_a_row_stand_in_no_text() -> None:
    sample = Sample(
        answer="It is red.", metadata={"nuggets": ["It is red.", {"text": "It is old.", "importance": "okay"}]}
    )
    judge = ScriptedJudge(support=lambda claim, text: "supported" if claim == text else "not_mentioned")
    found = score(NuggetRecall(), sample, judge)
    assert found.value == pytest.approx(2 / 3)  # 1 / (1 + 0.5)
    spans = [verdict.claim.span for verdict in found.verdicts["reference/answer"] if verdict.claim]
    assert spans == [Span(0, 0), Span(0, 0)]


def test_three_names_are_told_at_most() -> None:
    with pytest.raises(InputError) as raised:
        named("deepeval:conversational")
    assert str(raised.value).count("'deepeval:conversational_") == 3
