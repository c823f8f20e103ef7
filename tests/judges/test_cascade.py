"""A cascade: what is in doubt goes to the second judge, verdict by verdict, and everything keeps its place."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.base import BaseJudge
from assay.judges.cache import JudgementCache
from assay.judges.cascade.judge import CascadeJudge
from assay.judges.protocol import Answer
from assay.judges.scripted_judge import ScriptedJudge
from assay.prompts import (
    BackQuestions,
    Claims,
    Criterion,
    Directness,
    JudgePrompt,
    Rating,
    Similarity,
    Support,
    Usefulness,
)
from assay.records import Cell, Claim, Evidence, Span, Usage, Verdict
from assay.store.store import Store
from tests.judges.conftest import ask, claims


class Sure(BaseJudge):
    """Gives each claim or passage the probability that a mapping has for its text; English only."""

    detects_contradiction = False
    budgeted = True

    def __init__(self, sure: Mapping[str, float | None], name: str = "sure", usage: Usage | None = None) -> None:
        self.sure, self.name, self.usage = sure, name, usage or Usage()
        self.failure: JudgeFailure | None = None
        self.asked: list[JudgePrompt[Any]] = []

    @property
    def fingerprint(self) -> str:
        return self.name

    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure | None:
        known = issubclass(prompt, (Support, Usefulness, Criterion)) and language == "en"
        return None if known else JudgeFailure(Cause.JUDGE_CANNOT, f"{self.name} cannot")

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        self.asked += prompts
        if self.failure is not None:
            return [Answer(failure=self.failure, usage=self.usage)] * len(prompts)
        return [Answer(judgement=self._judgement(prompt), usage=self.usage) for prompt in prompts]

    def _judgement(self, prompt: JudgePrompt[Any]) -> Any:
        if isinstance(prompt, Support):
            return tuple(self._support(claim, prompt.passages) for claim in prompt.claims)
        if isinstance(prompt, Usefulness):
            return tuple(self._useful(n, text) for n, text in enumerate(prompt.passages))
        if isinstance(prompt, Criterion):
            probability = self.sure[prompt.question]
            return Verdict(
                label="yes" if (probability or 0) >= 0.5 else "no", probability=probability, reason=self.name
            )
        raise TypeError(prompt)

    def _support(self, claim: Claim, passages: tuple[str, ...]) -> Verdict:
        probability = self.sure[claim.text]
        label = "supported" if (probability or 0) >= 0.5 else "not_mentioned"
        cells = tuple(Cell(label=label, probability=probability) for _ in passages)  # type: ignore[arg-type]
        return Verdict(label=label, probability=probability, claim=claim, cells=cells, reason=self.name)

    def _useful(self, n: int, text: str) -> Verdict:
        probability = self.sure[text]
        label = "useful" if (probability or 0) >= 0.5 else "not_useful"
        quote = (Evidence(passage=n, span=Span(0, len(text)), text=text),)
        return Verdict(label=label, probability=probability, passage=n, evidence=quote, reason=self.name)


def pair(sure: Mapping[str, float | None], second: Mapping[str, float | None] | None = None) -> tuple[Sure, Sure]:
    """Two judges: the second says the opposite, where nothing else is given."""
    opposite = {text: 0.0 if (p or 0) >= 0.5 else 1.0 for text, p in sure.items()}
    return Sure(sure, "cheap"), Sure(opposite if second is None else second, "dear", Usage(calls=1, prompt_tokens=10))


TEXTS = st.lists(st.text("abcdef", min_size=1, max_size=4), min_size=1, max_size=8, unique=True)


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[str, float | None], tuple[float, float]]:
    texts = draw(TEXTS)
    sure = {text: draw(st.floats(0, 1) | st.none()) for text in texts}
    low, high = sorted([draw(st.floats(0, 1)), draw(st.floats(0, 1))])
    return sure, (low, high)


def both_kinds(sure: Mapping[str, float | None]) -> list[JudgePrompt[Any]]:
    return [Support(claims(*sure), ("p1", "p2"), "q?"), Usefulness("q?", tuple(sure))]


@given(cases())
@settings(max_examples=60, deadline=None)
def test_each_verdict_is_in_its_place_and_by_the_judge_that_the_band_says(
    case: tuple[dict[str, float | None], tuple[float, float]],
) -> None:
    sure, (low, high) = case
    first, then = pair(sure)
    support, useful = asyncio.run(_answers(CascadeJudge(first, then, band=(low, high)), both_kinds(sure)))
    assert [verdict.claim.text for verdict in support.judgement] == list(sure)
    assert [verdict.passage for verdict in useful.judgement] == list(range(len(sure)))
    assert [verdict.evidence[0].passage for verdict in useful.judgement] == list(range(len(sure)))
    assert [verdict.evidence[0].text for verdict in useful.judgement] == list(sure)
    for judgement in (support.judgement, useful.judgement):
        for verdict, probability in zip(judgement, sure.values(), strict=True):
            doubtful = low < high and (probability is None or low <= probability < high or probability == high == 1.0)
            assert verdict.reason == ("dear" if doubtful else "cheap")


@given(cases())
@settings(max_examples=40, deadline=None)
def test_the_widest_band_gives_the_second_judges_judgements_and_the_empty_one_the_firsts(
    case: tuple[dict[str, float | None], tuple[float, float]],
) -> None:
    sure, _ = case
    for band, whose in (((0, 1), 1), ((0.3, 0.3), 0)):
        judges = pair(sure)
        found = asyncio.run(_answers(CascadeJudge(*judges, band=band), both_kinds(sure)))
        alone = asyncio.run(_answers(pair(sure)[whose], both_kinds(sure)))
        assert [answer.judgement for answer in found] == [answer.judgement for answer in alone]
        if whose == 1:  # whole prompts, the same as anybody would ask
            assert judges[1].asked == both_kinds(sure)
        else:
            assert judges[1].asked == []


@given(cases(), cases())
@settings(max_examples=40, deadline=None)
def test_a_wider_band_never_asks_for_less(
    one: tuple[dict[str, float | None], tuple[float, float]], two: tuple[dict[str, float | None], tuple[float, float]]
) -> None:
    sure, narrow = one
    wide = (min(narrow[0], two[1][0]), max(narrow[1], two[1][1]))
    asked = []
    for band in (narrow, wide):
        judge = CascadeJudge(*pair(sure), band=band)
        asyncio.run(_answers(judge, both_kinds(sure)))
        asked.append(sum(judge.report().escalated.values()))
    assert asked[0] <= asked[1]


async def _answers(judge: BaseJudge, prompts: list[JudgePrompt[Any]]) -> Sequence[Answer]:
    return await judge.answer(prompts)


class Company(Sure):
    """Supports a claim only where others stand beside it: what it says of a part is not what it says of all."""

    def _judgement(self, prompt: JudgePrompt[Any]) -> Any:
        if not isinstance(prompt, Support):
            return super()._judgement(prompt)
        label = "supported" if len(prompt.claims) > 2 else "not_mentioned"
        return tuple(replace(v, label=label, reason=self.name) for v in super()._judgement(prompt))


@given(cases())
@settings(max_examples=40, deadline=None)
def test_a_second_judge_that_reads_each_claim_by_itself_says_of_a_part_what_it_said_of_all(
    case: tuple[dict[str, float | None], tuple[float, float]],
) -> None:
    """Then a verdict in doubt is the very one that a calibration compared, whatever the others in its prompt."""
    sure, band = case
    first, then = pair(sure)
    found = asyncio.run(_answers(CascadeJudge(first, then, band=band), both_kinds(sure)))
    of_all = asyncio.run(_answers(then, both_kinds(sure)))
    for ours, theirs in zip(found, of_all, strict=True):
        for one, other in zip(ours.judgement, theirs.judgement, strict=True):
            if one.reason == "dear":
                assert one == other


async def test_a_second_judge_that_reads_claims_in_company_is_taken_at_its_word_about_the_part() -> None:
    """What it said of all four is not known to a cascade: the bound of a plan does not hold with such a judge."""
    first, _ = pair(SURE)
    then = Company(SURE, "dear")
    (of_all,) = await ask(then, SUPPORT)
    assert [verdict.label for verdict in of_all.judgement] == ["supported"] * 4
    (answer,) = await ask(CascadeJudge(first, then, band=(0.1, 0.9)), SUPPORT)
    assert [(v.reason, v.label) for v in answer.judgement] == [
        ("cheap", "supported"),
        ("dear", "not_mentioned"),
        ("cheap", "not_mentioned"),
        ("dear", "not_mentioned"),
    ]
    (answer,) = await ask(CascadeJudge(first, then, band=(0, 1)), SUPPORT)
    assert answer.judgement == of_all.judgement  # asked about all, it says what it said of all


SURE = {"a": 0.95, "b": 0.5, "c": 0.02, "d": None}
SUPPORT = Support(claims(*SURE), ("p",), "q?")


async def test_only_what_is_in_doubt_is_asked_and_counted() -> None:
    first, then = pair(SURE)
    judge = CascadeJudge(first, then, band=(0.1, 0.9))
    (answer,) = await ask(judge, SUPPORT)
    (asked,) = then.asked
    assert isinstance(asked, Support)
    assert [claim.text for claim in asked.claims] == ["b", "d"]
    assert (asked.passages, asked.question) == (("p",), "q?")
    assert answer.usage == Usage(calls=1, prompt_tokens=10)
    report = judge.report()
    assert (report.decided, report.escalated) == ({"support": 2}, {"support": 2})
    assert report.share_escalated == 0.5
    assert (report.calls, report.calls_alone, report.calls_saved) == (1, 1, 0)
    assert report.then_usage.prompt_tokens == 10
    await ask(judge, Support(claims("a", "c"), ("p",)))
    report = judge.report()
    assert report.calls_saved == 1
    assert report.text() == "cascade: 2 of 6 verdicts (33%) went to the second judge; 1 of 2 calls saved"


async def test_what_the_first_cannot_answer_is_the_seconds() -> None:
    first, _ = pair({"a": 0.5})
    then = ScriptedJudge(
        support=lambda claim, passage: "supported",
        back_questions=lambda text: ["What?"],
        rating=lambda question: 2,
        similarity=lambda text, other: 0.25,
    )
    judge = CascadeJudge(first, then, band=(0.4, 0.4))
    german = Support(claims("a"), ("p",), language="de")
    rating = Rating("how?", ((1, "low"), (2, "high")), (("A", "x"),))
    answers = await ask(judge, german, rating, BackQuestions("x"), Claims("x."), Similarity("x", ("y",)))
    assert [answer.failure for answer in answers] == [None] * 5
    assert then.asked == {"support": 1, "rating": 1, "back_questions": 1, "claims": 1, "similarity": 1}
    assert first.asked == []
    assert judge.report().passed_on == dict.fromkeys(then.asked, 1)
    assert judge.cannot(Support, "de") is None
    assert judge.cannot(Similarity, "de") is None


async def test_claims_are_the_firsts_where_it_makes_them() -> None:
    first = ScriptedJudge(claims=lambda text: ["first"], support=lambda claim, passage: "supported")
    then = ScriptedJudge(claims=lambda text: ["second"], support=lambda claim, passage: "not_mentioned", name="then")
    judge = CascadeJudge(first, then, band={"support": (0, 1)})
    (answer,) = await ask(judge, Claims("first second."))
    assert answer.judgement[0].text == "first"
    assert judge.report().calls_saved == 1


async def test_a_kind_without_a_band_is_the_seconds() -> None:
    first, then = pair({"a": 0.99})
    judge = CascadeJudge(first, then, band={"support": (0.4, 0.6)})
    support, useful = await ask(judge, Support(claims("a"), ("p",)), Usefulness("q?", ("a",)))
    assert support.judgement[0].reason == "cheap"
    assert useful.judgement[0].reason == "dear"


DIRECT = Directness("When did it open?", "In 1889.")


@pytest.mark.parametrize("band", [(0, 1), {"support": (0.4, 0.6)}])
async def test_directness_has_no_band_and_is_the_firsts_where_it_can(band: Any) -> None:
    first = ScriptedJudge(directness=lambda question, answer: True, name="first")
    then = ScriptedJudge(directness=lambda question, answer: False, name="then")
    judge = CascadeJudge(first, then, band=band)
    (answer,) = await ask(judge, DIRECT)
    assert answer.judgement.label == "direct"
    assert (then.asked, judge.report().calls_saved) == ({}, 1)
    # a first judge that cannot do it at all
    (answer,) = await ask(CascadeJudge(ScriptedJudge(), then, band=band), DIRECT)
    assert answer.judgement.label == "indirect"


def test_directness_can_be_had_where_either_judge_can() -> None:
    able, unable = ScriptedJudge(directness={}), ScriptedJudge(name="unable")
    assert CascadeJudge(able, unable, band=(0, 1)).cannot(Directness) is None
    assert CascadeJudge(unable, able, band=(0, 1)).cannot(Directness) is None
    assert CascadeJudge(unable, unable, band=(0, 1)).cannot(Directness) is not None


async def test_an_answer_that_the_first_cannot_tell_is_the_seconds_and_no_other() -> None:
    cannot = JudgeFailure(Cause.JUDGE_CANNOT, "too short to tell")
    first = ScriptedJudge(directness=lambda question, answer: cannot if answer == DIRECT.answer else True, name="first")
    then = ScriptedJudge(directness=lambda question, answer: False, name="then")
    judge = CascadeJudge(first, then, band=(0, 1))
    short, long = await ask(judge, DIRECT, Directness("When did it open?", "It opened in May 1889."))
    assert (short.judgement.label, long.judgement.label) == ("indirect", "direct")
    assert (then.asked, judge.report().passed_on) == ({"directness": 1}, {"directness": 1})
    # where the second cannot either, the first says why
    (answer,) = await ask(CascadeJudge(first, ScriptedJudge(name="unable"), band=(0, 1)), DIRECT)
    assert answer.failure is not None
    assert answer.failure.message == "too short to tell"


async def test_short_answers_pass_the_embedded_judge_by() -> None:
    then = ScriptedJudge(directness=lambda question, answer: True, name="then")
    judge = CascadeJudge("embedded", then, band=(0, 1))
    short, refusal = await ask(judge, DIRECT, Directness("When did it open?", "I don't know."))
    assert (short.judgement.label, refusal.judgement.label) == ("direct", "indirect")
    assert then.asked == {"directness": 1}


# ---- failures


async def test_a_failure_of_the_second_is_a_failure_and_never_a_guess() -> None:
    first, then = pair(SURE)
    then.failure = JudgeFailure(Cause.CONNECTION, "gone")
    judge = CascadeJudge(first, then, band=(0.1, 0.9))
    failed, sure = await ask(judge, SUPPORT, Support(claims("a", "c"), ("p",)))
    assert failed.failure is not None
    assert failed.failure.cause is Cause.CONNECTION
    assert [verdict.reason for verdict in sure.judgement] == ["cheap", "cheap"]


async def test_a_guess_that_was_asked_for_is_counted_and_not_stored(tmp_path: Any) -> None:
    first, then = pair(SURE)
    judge = CascadeJudge(first, then, band=(0.1, 0.9), on_failure="first")
    store = Store(tmp_path)
    then.failure = JudgeFailure(Cause.CONNECTION, "gone")
    found = await JudgementCache(judge, store).find(SUPPORT)
    assert [verdict.reason for verdict in found] == ["cheap"] * 4
    assert judge.report().kept == {"support": 2}
    then.failure = None
    found = await JudgementCache(judge, store).find(SUPPORT)
    assert [verdict.reason for verdict in found] == ["cheap", "dear", "cheap", "dear"]
    assert CascadeJudge(first, then, band=(0.1, 0.9)).fingerprint == judge.fingerprint  # what is stored is the same


async def test_a_first_judge_that_fails_or_misbehaves_is_replaced_by_the_second() -> None:
    first, then = pair({"a": 0.99})
    first.failure = JudgeFailure(Cause.CONNECTION, "gone")
    judge = CascadeJudge(first, then, band=(0.4, 0.6))
    (answer,) = await ask(judge, Support(claims("a"), ("p",)))
    assert answer.judgement[0].reason == "dear"
    first.failure = None
    first._judgement = lambda prompt: ()  # type: ignore[method-assign]
    (answer,) = await ask(judge, Support(claims("a"), ("p",)))
    assert answer.judgement[0].reason == "dear"
    assert judge.report().passed_on == {"support": 2}


async def test_both_failing_says_what_went_wrong() -> None:
    first, then = pair({"a": 0.99})
    first.failure = JudgeFailure(Cause.CONNECTION, "the first is gone")
    then.failure = JudgeFailure(Cause.JUDGE_CANNOT, "the second cannot")
    (answer,) = await ask(CascadeJudge(first, then, band=(0.4, 0.6)), Support(claims("a"), ("p",)))
    assert answer.failure is not None
    assert answer.failure.message == "the first is gone"


async def test_a_second_judge_that_raises_is_a_failure_of_what_it_was_asked() -> None:
    first, then = pair(SURE)

    async def broken(prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        raise RuntimeError("oops")

    then.answer = broken  # type: ignore[method-assign]
    answer, sure = await ask(CascadeJudge(first, then, band=(0.1, 0.9)), SUPPORT, Support(claims("a"), ("p",)))
    assert answer.failure is not None
    assert answer.failure.cause is Cause.BUG
    assert "oops" in answer.failure.message
    assert sure.failure is None


async def test_cancelling_reaches_the_second_judge() -> None:
    first, then = pair(SURE)
    asked, cancelled = asyncio.Event(), asyncio.Event()

    async def waits(prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return []

    then.answer = waits  # type: ignore[method-assign]
    task = asyncio.create_task(JudgementCache(CascadeJudge(first, then, band=(0.1, 0.9))).find(SUPPORT))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(cancelled.wait(), 10)


async def test_equal_prompts_are_answered_once() -> None:
    first, then = pair(SURE)
    desk = JudgementCache(CascadeJudge(first, then, band=(0.1, 0.9)))
    one, two = await asyncio.gather(desk.find(SUPPORT), desk.find(SUPPORT))
    three = await desk.find(SUPPORT)
    assert one == two == three
    assert (len(first.asked), len(then.asked)) == (1, 1)
    assert desk.usage.calls == 1


# ---- what it is


def test_contradictions_are_told_where_nothing_unsupported_is_left_to_the_first() -> None:
    first, then = pair({"a": 0.5})
    then.detects_contradiction = True  # type: ignore[misc]
    assert not CascadeJudge(first, then, band=(0.1, 0.9)).detects_contradiction
    assert CascadeJudge(first, then, band=(0, 0.9)).detects_contradiction
    assert not CascadeJudge(first, then, band=(0, 0)).detects_contradiction
    assert CascadeJudge(first, then, band={"usefulness": (0.1, 0.2)}).detects_contradiction  # support is the second's
    then.detects_contradiction = False  # type: ignore[misc]
    assert not CascadeJudge(first, then, band=(0, 1)).detects_contradiction


def test_fingerprints_tell_apart_judges_and_bands() -> None:
    first, then = pair({"a": 0.5})
    found = {
        CascadeJudge(first, then, band=(0.1, 0.9)).fingerprint,
        CascadeJudge(first, then, band=(0.1, 0.8)).fingerprint,
        CascadeJudge(first, then, band={"support": (0.1, 0.9)}).fingerprint,
        CascadeJudge(then, first, band=(0.1, 0.9)).fingerprint,
        CascadeJudge(first, Sure({}, "other"), band=(0.1, 0.9)).fingerprint,
    }
    assert len(found) == 5
    assert CascadeJudge(first, then, band=(0.1, 0.9)).fingerprint in found


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "either band"),
        ({"band": (0.9, 0.1)}, "low <= high"),
        ({"band": (-1, 0.1)}, "0 <= low"),
        ({"band": (0.1, 0.2, 0.3)}, "expected \\(low, high\\)"),
        ({"band": (0.1, float("nan"))}, "low <= high"),
        ({"band": {"claims": (0, 1)}}, "claims"),
        ({"band": (0, 1), "on_failure": "guess"}, "on_failure"),
        ({"band": (0, 1), "plan": "x.json"}, "either band"),
        ({"plan": "nowhere.json"}, "'nowhere.json' cannot be read"),
    ],
)
def test_arguments_that_cannot_work_are_named(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        CascadeJudge(*pair({"a": 0.5}), **arguments)


def test_a_second_judge_must_be_named() -> None:
    with pytest.raises(InputError, match="then=\\.\\.\\. is missing"):
        CascadeJudge(Sure({}), band=(0, 1))
