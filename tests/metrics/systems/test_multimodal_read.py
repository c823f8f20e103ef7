"""Pictures whose text is read in the place of a judge that sees, by a reader that finds the same on each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from assay.errors import Cause, JudgeFailure, MissingExtra
from assay.judges.protocol import Answer
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.multimodal import image_ratings
from assay.metrics.multimodal.base import View, with_places
from assay.metrics.multimodal.faithfulness import Faithfulness
from assay.metrics.systems import named
from assay.prompts import JudgePrompt
from assay.records import Context, Sample, Score, Turn, Usage, Verdict
from assay.text.ocr import Page, TextLine
from tests.metrics.systems.rich import BLUE, RED

READ = "88 metres long"
SAMPLE = Sample(
    question="How long is it?",
    answer="It is 88 metres long.",
    contexts=(Context(text="Bread."), Context(text="On it:", image=RED), Context(text="", image=RED)),
)


@pytest.fixture(autouse=True)
def reader(monkeypatch: pytest.MonkeyPatch) -> None:
    async def page_of(picture: object) -> Page:
        return Page((TextLine(READ, (0.0, 0.0, 140.0, 10.0), 1.0),))  # 14 letters, 10 wide each

    monkeypatch.setattr("assay.metrics.multimodal.base.page_of", page_of)
    monkeypatch.setattr("assay.metrics.multimodal.base.available", lambda: True)


def quoting(quote: str, passage: int) -> ScriptedJudge:
    """A judge that finds its claim in one passage, by this quote."""
    texts = ("Bread.", f"On it:\n{READ}", READ)
    return ScriptedJudge(support=lambda claim, text: quote if text == texts[passage] else "not_mentioned")


@pytest.mark.parametrize(
    ("quote", "passage", "box"),
    [
        ("88 metres", 1, (0.0, 0.0, 90.0, 10.0)),  # nine letters, behind "On it:" and the end of its line
        ("metres", 2, (30.0, 0.0, 90.0, 10.0)),  # the fourth to the ninth letter, where there is no other text
        ("it:\n88", 1, (0.0, 0.0, 20.0, 10.0)),  # of what stands on the picture two letters
        ("On it", 1, None),  # not on the picture
        ("Bread", 0, None),  # there is no picture
    ],
)
def test_a_quote_says_where_it_stands_on_the_picture(quote: str, passage: int, box: Any) -> None:
    found = asyncio.run(Faithfulness(reading="ocr").score(SAMPLE, quoting(quote, passage)))
    assert found.value == 1.0
    ((evidence,),) = (verdict.evidence for verdict in found.verdicts["answer/contexts"])
    assert (evidence.passage, evidence.text, evidence.box) == (passage, quote, box)
    assert found.texts["contexts"] == ("Bread.", f"On it:\n{READ}", READ)


class Blind(ScriptedJudge):
    """Thinks that it sees, and refuses what has a picture."""

    sees = True

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        refused = Answer(failure=JudgeFailure(Cause.NEEDS_VISION, "no images here"), usage=Usage(calls=1))
        answers = await super().answer(prompts)
        return [refused if one.images else answer for one, answer in zip(prompts, answers, strict=True)]


def test_pictures_are_read_where_the_endpoint_turns_out_to_take_none() -> None:
    rules: dict[str, Any] = {"support": lambda claim, text: "supported" if "metres" in text else "not_mentioned"}
    found = asyncio.run(Faithfulness().score(SAMPLE, Blind(sees=True, **rules)))
    assert found.value == 1.0
    seen = asyncio.run(Faithfulness(reading="vision").score(SAMPLE, Blind(sees=True, **rules)))
    assert seen.error is not None
    assert seen.error.cause is Cause.NEEDS_VISION
    assert found.usage.calls == 3  # the claims, support by pictures, and support by their texts


def test_a_question_with_a_picture_is_read_with_it() -> None:
    asked: list[str | None] = []

    class Keeping(ScriptedJudge):
        async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
            asked.extend(getattr(one, "question", None) for one in prompts)
            return await super().answer(prompts)

    sample = replace(SAMPLE, question=f"How long?\n\n![the bridge]({RED})")
    asyncio.run(Faithfulness(reading="ocr").score(sample, Keeping(support=lambda claim, text: "supported")))
    assert asked
    assert all(one is not None and one.endswith(f"\n{READ}") for one in asked)


def test_levels_of_a_rating_of_pictures() -> None:
    assert [(level, said) for level, said in image_ratings.LEVELS if not said.startswith("between")] == [
        (0, "not at all"), (3, "hardly"), (5, "in part"), (8, "well"), (10, "fully"),
    ]  # fmt: skip
    assert [level for level, _ in image_ratings.LEVELS] == list(range(11))
    assert image_ratings.mean_of_tenths([8, 5]) == pytest.approx(0.65)  # (0.8 + 0.5) / 2


@pytest.mark.parametrize("name", ["faithfulness", "deepeval_faithfulness"])
def test_passages_of_earlier_turns_are_no_evidence(name: str) -> None:
    earlier = Turn(question="q", answer="a", contexts=(Context(text="It is 88 metres long."),))
    sample = replace(SAMPLE, contexts=(), history=(earlier,))
    found = asyncio.run(named(f"multimodal:{name}").score(sample, ScriptedJudge(support={})))
    assert found.error is not None
    assert found.error.cause is Cause.NO_CONTEXT


# ---- a judge that sees, and the text of its pictures beside them


class Looking(ScriptedJudge):
    """Sees, and keeps what it was shown with which texts."""

    sees = True

    def __init__(self, **rules: Any) -> None:
        super().__init__(sees=True, **rules)
        self.shown: list[tuple[tuple[str, ...], tuple[str, ...]]] = []

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        for one in prompts:
            if one.images:
                self.shown.append((tuple(title for title, _ in one.images), one.passages))  # type: ignore[attr-defined]
        return await super().answer(prompts)


@pytest.mark.parametrize(
    ("quote", "passage", "box"),
    [
        ("88 metres", 1, (0.0, 0.0, 90.0, 10.0)),  # nine letters of the picture's 14
        ("metres", 2, (30.0, 0.0, 90.0, 10.0)),
        ("On it", 1, None),  # of the caption
    ],
)
def test_what_a_judge_that_sees_quotes_of_the_text_on_a_picture_has_a_box(quote: str, passage: int, box: Any) -> None:
    texts = ("Bread.", f"On it:\n{READ}", READ)
    judge = Looking(support=lambda claim, text: quote if text == texts[passage] else "not_mentioned")
    found = asyncio.run(Faithfulness(reading="both").score(SAMPLE, judge))
    assert found.value == 1.0
    assert judge.shown == [(("PASSAGE P2", "PASSAGE P3"), texts)]  # the pictures, and what was read on them
    ((evidence,),) = (verdict.evidence for verdict in found.verdicts["answer/contexts"])
    assert (evidence.passage, evidence.text, evidence.box) == (passage, quote, box)
    assert found.texts["contexts"] == texts


def test_a_picture_without_text_is_shown_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(picture: object) -> Page:
        return Page(())

    monkeypatch.setattr("assay.metrics.multimodal.base.page_of", nothing)
    judge = Looking(support=lambda claim, text: "supported" if text == "[picture]" else "not_mentioned")
    found = asyncio.run(Faithfulness(reading="both").score(SAMPLE, judge))
    assert found.value == 1.0
    assert found.texts["contexts"] == ("Bread.", "On it:", "[picture]")
    read = asyncio.run(Faithfulness(reading="ocr").score(SAMPLE, judge))
    assert read.error is not None
    assert read.error.cause is Cause.NEEDS_VISION


def test_both_needs_a_judge_that_sees_and_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    blind = asyncio.run(Faithfulness(reading="both").score(SAMPLE, Blind(sees=True, support={})))
    assert blind.error is not None
    assert blind.error.cause is Cause.NEEDS_VISION

    async def missing(picture: object) -> Page:
        raise MissingExtra("the text on pictures is read by the extra ocr")

    monkeypatch.setattr("assay.metrics.multimodal.base.page_of", missing)
    for reading, cause in (("both", Cause.MISSING_EXTRA), ("ocr", Cause.NEEDS_VISION)):
        metric = Faithfulness(reading=reading)  # type: ignore[arg-type]
        found = asyncio.run(metric.score(SAMPLE, Looking(support={})))
        assert found.error is not None
        assert found.error.cause is cause
        assert found.error.message.startswith("passage 2 has a picture")


# ---- what stands beside a number


def test_pictures_are_the_same_by_their_bytes_where_one_has_no_id() -> None:
    """The first of two is the expected picture under another name: rank 1."""
    found = (Context(text="", image=RED), Context(text="", image=BLUE, id="b"))
    sample = Sample(contexts=found, reference_contexts=(Context(text="", image=RED, id="b"),))
    assert asyncio.run(named("multimodal:image_mrr").score(sample, ScriptedJudge())).value == 1.0
    named_all = replace(sample, contexts=(replace(found[0], id="a"), found[1]))
    assert asyncio.run(named("multimodal:image_mrr").score(named_all, ScriptedJudge())).value == 1 / 2


@pytest.mark.parametrize(("place", "said"), [("contexts", "retrieved"), ("reference_contexts", "expected")])
def test_a_picture_that_is_not_there_is_named_by_its_place(place: str, said: str) -> None:
    red, gone = Context(text="", image=RED), Context(text="", image="gone.png")
    sample = replace(Sample(contexts=(red, red), reference_contexts=(red, red)), **{place: (red, gone)})
    found = asyncio.run(named("multimodal:image_mrr").score(sample, ScriptedJudge()))
    assert found.error is not None
    assert found.error.message.startswith(f"the picture of {said} picture 2: ")


def test_pictures_come_after_the_sentences_in_their_order() -> None:
    judge = Looking(usefulness=lambda question, text: text != "[picture]")
    sample = replace(
        SAMPLE, contexts=(Context(text="Bread."), Context(text="", image=RED), Context(text="", image=RED))
    )
    found = asyncio.run(named("multimodal:contextual_relevancy").score(sample, judge))
    places = [(verdict.passage, verdict.label) for verdict in found.verdicts["question/sentences"]]
    assert places == [(0, "useful"), (1, "not_useful"), (2, "not_useful")]
    assert found.value == pytest.approx(1 / 3)


def test_deepevals_faithfulness_needs_a_judge_that_tells_contradictions() -> None:
    class Never(ScriptedJudge):
        detects_contradiction = False

    reason = named("multimodal:deepeval_faithfulness").cannot(Never(support={}))
    assert reason is not None
    assert "tells contradictions from gaps" in reason.message
    assert named("multimodal:faithfulness").cannot(Never(support={})) is None


def test_pictures_of_an_answer_are_named_by_their_text_or_the_beginning_of_their_address() -> None:
    judge = ScriptedJudge(rating=lambda question: 5, sees=True)
    sample = replace(SAMPLE, answer=f"Look: ![the bridge]({RED}) and ![]({RED}).")
    found = asyncio.run(image_ratings.ImageCoherence().score(sample, judge))
    assert found.value == 0.5
    assert found.texts["pictures"] == ("the bridge", RED[:80])


def test_passages_are_told_as_they_were_read_where_one_reading_is_of_them() -> None:
    view = View(replace(SAMPLE, contexts=(Context(text="as read"),)), {}, {0: (Page(()), 0)})
    one = Verdict(label="supported")
    both = Score(metric="m", value=1.0, verdicts={"answer/contexts": (one,), "question/sentences": (one,)})
    assert with_places(both, view).texts == {"contexts": ("as read",)}
    neither = replace(both, verdicts={"question/sentences": (one,)})
    assert with_places(neither, view).texts == {}
