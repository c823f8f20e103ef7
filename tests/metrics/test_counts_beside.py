"""What stands beside a number: counts of what was found, what decided, and the labels of a question that was asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from assay.judges.protocol import Answer
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics import CitationAccuracy, NuggetRecall, metric
from assay.metrics._grounded import Grounded, least_supported
from assay.metrics._retrieval_calls import RetrievalCalls
from assay.metrics.shared_prompts import answer_against_conversation, not_judged
from assay.prompts import JudgePrompt, Question, Support
from assay.records import Claim, Context, Message, Sample, Span, ToolCall, Turn, Verdict

RED, OLD, TALL, LONG = "The bridge is red.", "It is old.", "It is tall.", "It is long."


def says(claim: str, passage: str) -> str:
    return "supported" if claim in passage else "not_mentioned"


JUDGE = ScriptedJudge(
    claims=lambda text: [one for one in (RED, OLD, TALL, LONG) if one in text],
    support=says,
    rules={"support_cells": says},
)


def passages(*texts: str) -> tuple[Context, ...]:
    return tuple(Context(text=text) for text in texts)


async def test_citations_of_no_passage_are_counted() -> None:
    """Of [1], [7] and [8] the last two name nothing; with one of them alone, one."""
    judge = ScriptedJudge(claims=lambda text: [RED], support=says)
    sample = Sample(answer="The bridge is red. [1][7][8]", contexts=passages(RED))
    score = await CitationAccuracy().score(sample, judge)
    assert dict(score.parts) == {"citations": 3, "not_there": 2}
    assert score.value == pytest.approx(1 / 3)


def verdict(label: Any, probability: float | None = None) -> Verdict:
    return Verdict(label=label, probability=probability, claim=Claim(text=f"{label} {probability}", span=Span(0, 1)))


def test_what_is_least_supported_goes_by_probability_and_without_one_by_label() -> None:
    sure, less, doubt = verdict("supported", 0.9), verdict("supported", 0.6), verdict("supported", 0.55)
    assert least_supported([sure, less, doubt]) == [doubt, less]
    yes, no = verdict("supported"), verdict("not_mentioned")
    assert least_supported([yes, no, yes]) == [no, yes]
    # 1 and 0 for labels: between them lies what has a probability
    assert least_supported([yes, less, no]) == [no, less]


class Even(ScriptedJudge):
    """Supports each claim with one probability."""

    def __init__(self, probability: float) -> None:
        super().__init__(claims=lambda text: [text], support=lambda claim, passage: "supported")
        self.probability = probability

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        answers = await super().answer(prompts)
        return [
            replace(one, judgement=tuple(replace(v, probability=self.probability) for v in one.judgement))
            if isinstance(asked, Support)
            else one
            for asked, one in zip(prompts, answers, strict=True)
        ]


@pytest.mark.parametrize(("probability", "grounded"), [(0.5, 1.0), (0.55, 1.0), (0.49, 0.0)])
async def test_grounded_is_a_verdict_from_even_odds_on(probability: float, grounded: float) -> None:
    """One claim: its probability is the answer's, and at 0.5 the log-odds are 0."""
    score = await Grounded().score(Sample(answer=RED, contexts=passages("p")), Even(probability))
    assert score.value == pytest.approx(probability)
    assert score.parts["grounded"] == grounded
    assert score.texts["decided_by"] == (RED,)


async def test_each_retrieval_call_is_counted_by_what_it_brings() -> None:
    """Four claims, four calls: the second brings two of them, the fourth repeats one; nobody finds the other two."""
    calls = tuple(
        ToolCall(name="search", arguments={"q": query}, output=output)
        for query, output in (("colour", "Bread."), ("age", f"{RED} {OLD}"), ("age?", "Rain."), ("height", OLD))
    )
    messages = (Message(role="user", content="What?"), Message(role="assistant", tool_calls=calls))
    sample = Sample(question="What?", reference=f"{RED} {OLD} {TALL} {LONG} And so on.", messages=messages)
    score = await RetrievalCalls().score(sample, JUDGE)
    assert dict(score.parts) == {
        "calls": 4, "relevant_calls": 2, "duplicate_queries": 1, "claims": 4, "claims_missing": 2,
        "new_claims_1": 0, "new_claims_2": 2, "new_claims_3": 0, "new_claims_4": 0, "sufficed_at": 2, "calls_after": 2,
    }  # fmt: skip
    assert score.value == 1 / 4
    assert score.texts == {"calls": ("Bread.", f"{RED} {OLD}", "Rain.", OLD), "not_judged": ("And so on.",)}


async def test_nuggets_are_counted_by_what_they_are_and_whether_they_are_there() -> None:
    """Of three vital ones two are there, of four okay ones three: (2 + 3 * 0.5) / (3 + 4 * 0.5) = 3.5 / 5."""
    vital, okay = ("A.", "B.", "X."), ("C.", "D.", "E.", "Y.")
    nuggets = [*vital, *({"text": one, "importance": "okay"} for one in okay)]
    sample = Sample(answer="A. B. C. D. E.", reference="Something else.", metadata={"nuggets": nuggets})
    score = await NuggetRecall().score(sample, JUDGE)
    assert dict(score.parts) == {"vital": 3, "okay": 4, "vital_found": 2, "okay_found": 3}
    assert score.value == pytest.approx(3.5 / 5)
    assert score.texts == {}  # the reference was not read, so nothing of it was left out
    judge = ScriptedJudge(claims=lambda text: [RED], support=says, classification=lambda *given: "vital")
    read = await NuggetRecall().score(Sample(answer=RED, reference=f"{RED} And so on."), judge)
    assert read.texts == {"not_judged": ("And so on.",)}


# ---- labels of a function's own questions

TONES = {"formal": "as in a letter", "casual": "as among friends"}
AGES = {"old": "of long ago", "formal": "of a form"}


@pytest.mark.parametrize(
    ("tone", "age", "returned", "value"),
    [
        # a verdict of the judge: the first label of its own question is the affirmative one
        ("formal", "old", lambda tone, age: tone, 1.0),
        ("casual", "old", lambda tone, age: tone, 0.0),
        ("formal", "old", lambda tone, age: age, 1.0),
        ("formal", "formal", lambda tone, age: age, 0.0),
        # one made anew: that of the first question that has its label
        ("formal", "old", lambda tone, age: Verdict(label="old"), 1.0),
        ("formal", "old", lambda tone, age: Verdict(label="casual"), 0.0),
        ("formal", "formal", lambda tone, age: Verdict(label="formal", reason="of a form"), 1.0),
    ],
)
async def test_a_verdict_counts_by_the_labels_of_its_own_question(
    tone: str, age: str, returned: Any, value: float
) -> None:
    @metric
    async def style(answer: str, judge: Any) -> Verdict:
        first = await judge.find(Question("What tone?", {"ANSWER": answer}, labels=TONES))
        second = await judge.find(Question("What age?", {"ANSWER": answer}, labels=AGES))
        found: Verdict = returned(first, second)
        return found

    judge = ScriptedJudge(question={"What tone?": tone, "What age?": age})
    assert (await style.score(Sample(answer="Dear Sir"), judge)).value == value


def test_a_callable_without_names_is_a_metric_that_says_so() -> None:
    """A partial has no `__name__` and no `__qualname__`: what it lacks is left out, its `__doc__` is taken over."""
    made = metric(name="long_enough")(partial(lambda answer, least: len(answer) >= least, least=3))
    assert not hasattr(made, "__name__")
    assert made.__doc__ == partial.__doc__
    assert repr(made) == "metric(long_enough)"


# ---- readings that metrics share


def turn(*texts: str) -> Turn:
    return Turn(question="Before?", answer="So.", contexts=passages(*texts))


@pytest.mark.parametrize(
    ("now", "before", "earlier_turns"),
    [
        (("Bread.",), (f"So: {RED}", f"So: {OLD}"), 2.0),
        (("Bread.", RED), (f"So: {RED}", f"So: {OLD}"), 1.0),  # one of two passages of this turn says that it is red
        ((RED, OLD), (f"So: {RED}", f"So: {OLD}"), 0.0),
        (("Bread.",), ("Rain.",), 0.0),  # nothing is supported, so nothing is by an earlier turn
        (("Bread.",), ("Rain.", OLD), 1.0),
        ((), (RED,), 1.0),
    ],
)
async def test_claims_that_only_earlier_turns_support(
    now: tuple[str, ...], before: tuple[str, ...], earlier_turns: float
) -> None:
    sample = Sample(answer=f"{RED} {OLD} And so on.", contexts=passages(*now), history=(turn(*before),))
    reading = await answer_against_conversation(sample, JUDGE)
    assert reading.evidence["parts"] == {"earlier_turns": earlier_turns}
    assert reading.evidence["texts"] == {"conversation": (*now, *before), "not_judged": ("And so on.",)}
    assert [v.label for v in reading.verdicts] == [
        "supported" if any(claim in text for text in (*now, *before)) else "not_mentioned" for claim in (RED, OLD)
    ]


@pytest.mark.parametrize(("length", "spoken_of"), [(199, True), (200, True), (201, False)])
def test_a_lead_in_at_the_end_of_a_line_is_looked_for_in_200_characters(length: int, spoken_of: bool) -> None:
    lead = "members get"
    line = "x" * (length - len(lead) - 1) + f" {lead}:"
    claim = Claim(text=f"{lead}: 30 days", span=Span(len(line) + 1, len(line) + 9))
    left = not_judged(f"{line}\n30 days.", [claim])
    assert left == (() if spoken_of else (line,))


def test_a_long_line_that_is_a_lead_in_as_a_whole_is_spoken_of() -> None:
    line = "members " + "x" * 300
    text = f"{line}:\n30 days."
    days = Span(len(line) + 2, len(text))
    assert not_judged(text, [Claim(text=f"{line}: 30 days", span=days)]) == ()
    assert not_judged(text, [Claim(text="members get: 30 days", span=days)]) == (f"{line}:",)
