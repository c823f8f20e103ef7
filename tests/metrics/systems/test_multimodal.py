"""Metrics with pictures: the numbers of ragas, LlamaIndex and DeepEval, the formulas, and what has no value."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from assay.errors import Cause, InputError
from assay.judges.base import BaseJudge
from assay.judges.llm.openai import OpenAIJudge
from assay.judges.protocol import Answer, Judge
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.multimodal.faithfulness import Faithfulness, share_not_contradicted
from assay.metrics.multimodal.image_ratings import ImageCoherence, ImageHelpfulness, ImageReference, mean_of_tenths
from assay.metrics.multimodal.relevance import share_relevant
from assay.metrics.multimodal.retrieval import hit_rate, mrr, precision, recall
from assay.metrics.multimodal.whole import FAITHFUL, yes
from assay.metrics.systems import named, system_entries
from assay.prompts import Claims, Classification, Criterion, JudgePrompt, Support, Usefulness, UsefulSentences
from assay.prompts.rating import Rating, RatingResult
from assay.records import Claim, Context, Sample, Score, Span, Verdict
from assay.records.images import data_uri
from assay.text import ocr
from tests._support.servers import sight
from tests._support.servers.openai_server import OpenAIServer
from tests.metrics.systems.golden import agrees, golden

import album  # isort: skip  # beside the drivers, where `golden` looks

SHOTS = {shot.id: shot for shot in album.shots()}
RAGAS, LLAMAINDEX, DEEPEVAL = (golden(f"multimodal_{name}")["values"] for name in ("ragas", "llamaindex", "deepeval"))
DEEPEVAL_RAG = golden("multimodal_deepeval_rag")["values"]
RATINGS = {"image_coherence": ImageCoherence, "image_helpfulness": ImageHelpfulness, "image_reference": ImageReference}


class AlbumJudge(BaseJudge):
    """Says what the album says, of the pictures that it is shown."""

    durable = False
    sees = True

    def __init__(self, shot: album.Shot, what: str) -> None:
        self.shot, self.what = shot, what
        self.asked: list[JudgePrompt[Any]] = []

    @property
    def fingerprint(self) -> str:
        return "album"

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        self.asked += prompts
        return [Answer(judgement=self._judgement(prompt)) for prompt in prompts]

    def _judgement(self, prompt: JudgePrompt[Any]) -> Any:
        shown = [album.digest(picture.data) for _, picture in prompt.images]
        if isinstance(prompt, Criterion):
            says = album.faithful if prompt.question == FAITHFUL else album.relevant
            return Verdict(label="yes" if says(self.shot, shown) else "no")
        assert isinstance(prompt, Rating)
        texts = dict(prompt.material)
        around = texts.get("TEXT BEFORE", ""), texts.get("TEXT AFTER", "")
        return RatingResult(level=album.level(self.what, shown[0], *around))


def sample_of(shot: album.Shot, answer: str, question: str | None = None) -> Sample:
    contexts = [
        Context(text="", image=album.uri(one)) if isinstance(one, bytes) else Context(text=one) for one in shot.contexts
    ]
    return Sample(id=shot.id, question=question or shot.question, contexts=tuple(contexts), answer=answer)


def scored(metric: Any, sample: Sample, judge: Judge) -> Score:
    return asyncio.run(metric.score(sample, judge))


def markdown(pieces: Sequence[str | bytes]) -> str:
    return "".join(f"![]({album.uri(one)})" if isinstance(one, bytes) else one for one in pieces)


@pytest.mark.parametrize("metric", ["ragas_faithfulness", "ragas_relevance"])
def test_every_number_of_ragas_is_ours(metric: str) -> None:
    assert len(RAGAS[metric]) >= 40
    for case, expected in RAGAS[metric].items():
        shot = SHOTS[case]
        judge = AlbumJudge(shot, metric)
        agrees(scored(named(f"multimodal:{metric}@original"), sample_of(shot, shot.answer), judge), expected)


@pytest.mark.parametrize("metric", ["llamaindex_faithfulness", "llamaindex_relevancy"])
def test_every_number_of_llamaindex_is_ours(metric: str) -> None:
    assert len(LLAMAINDEX[metric]) >= 40
    for case, expected in LLAMAINDEX[metric].items():
        shot = SHOTS[case]
        judge = AlbumJudge(shot, metric)
        agrees(scored(named(f"multimodal:{metric}@original"), sample_of(shot, shot.answer), judge), expected)


@pytest.mark.parametrize("metric", ["image_hit_rate", "image_mrr", "image_precision", "image_recall"])
def test_every_number_of_llamaindex_on_retrieved_pictures_is_ours(metric: str) -> None:
    by_digest = {
        album.digest(data): data
        for shot in SHOTS.values()
        for data in (*shot.contexts, *(album.png(shot.id, "expected", str(k)) for k in range(3)))
        if isinstance(data, bytes)
    }
    for case, expected in LLAMAINDEX[metric].items():
        shot = SHOTS[case]
        wanted = tuple(Context(text="", image=album.uri(by_digest[one])) for one in album.expected(shot))
        sample = replace(sample_of(shot, shot.answer), reference_contexts=wanted)
        agrees(scored(named(f"multimodal:{metric}@original"), sample, ScriptedJudge()), expected)


@pytest.mark.parametrize("metric", sorted(RATINGS))
@pytest.mark.parametrize("size", [None, 12])
def test_every_rating_of_deepeval_is_ours(metric: str, size: int | None) -> None:
    values = DEEPEVAL[metric if size is None else f"{metric} {size}"]
    assert len(values) >= 40
    for case, expected in values.items():
        shot = SHOTS[case]
        judge = AlbumJudge(shot, metric)
        sample = sample_of(shot, markdown(shot.pieces))
        agrees(scored(RATINGS[metric](max_context_size=size, profile="original"), sample, judge), expected)


class TruthJudge(AlbumJudge):
    """Says what the album says of claims, sentences, passages and statements."""

    def _judgement(self, prompt: JudgePrompt[Any]) -> Any:
        shot = self.shot
        shown = [album.digest(picture.data) for _, picture in prompt.images]
        if isinstance(prompt, Claims):
            said = shot.known if prompt.text == " ".join(shot.known) else shot.said
            return tuple(Claim(text=one, span=Span(0, len(one))) for one in said)
        if isinstance(prompt, Support):
            assert shown[: len(shot.shown)] == shot.shown  # the question has one of its own
            labels = {"yes": "supported", "no": "contradicted", "borderline": "not_mentioned"}
            recall = self.what == "contextual_recall"
            found = [
                ("supported" if album.recalled(shot, one.text) else "not_mentioned")
                if recall
                else labels[album.faithfulness(shot, one.text)]
                for one in prompt.claims
            ]
            return tuple(Verdict(label=label, claim=one) for label, one in zip(found, prompt.claims, strict=True))
        if isinstance(prompt, Usefulness):
            images = dict(prompt.images)
            names = [
                album.digest(images[title].data) if (title := f"PASSAGE P{n}") in images else text
                for n, text in enumerate(prompt.passages, 1)
            ]
            assert names == album.names(shot)
            return tuple(Verdict(label=_useful(shot, one), passage=n) for n, one in enumerate(names))
        if isinstance(prompt, UsefulSentences):
            return tuple(Verdict(label=_useful(shot, one.text), passage=n) for n, one in enumerate(prompt.sentences))
        if isinstance(prompt, Classification):
            labels = {"yes": "relevant", "no": "irrelevant", "borderline": "borderline"}
            return tuple(Verdict(label=labels[album.relevance(shot, one)]) for one in prompt.given)
        assert isinstance(prompt, Criterion)
        return Verdict(label=album.fits(shot, shown[-1]))


def _useful(shot: album.Shot, name: str) -> str:
    return "useful" if album.useful(shot, name) else "not_useful"


@pytest.mark.short_cases(2)
@pytest.mark.parametrize("metric", sorted(DEEPEVAL_RAG))
def test_every_rag_number_of_deepeval_with_pictures_is_ours(metric: str) -> None:
    assert len(DEEPEVAL_RAG[metric]) >= 40
    for case, expected in DEEPEVAL_RAG[metric].items():
        shot = SHOTS[case]
        question = shot.question + markdown([album.png(case, "asked")])
        sample = replace(sample_of(shot, markdown(shot.pieces), question), reference=" ".join(shot.known))
        agrees(scored(named(f"multimodal:{metric}@original"), sample, TruthJudge(shot, metric)), expected)


# ---- formulas


def test_formulas() -> None:
    labels = ("supported", "not_mentioned", "contradicted", "supported")
    assert share_not_contradicted([Verdict(label=one) for one in labels]) == 0.75  # 3 / 4
    assert share_relevant(["relevant", "borderline", "irrelevant", "irrelevant"]) == 0.5  # (1 + 1) / 4
    assert mean_of_tenths([0, 7, 10]) == pytest.approx(17 / 30)  # (0 + 0.7 + 1) / 3
    assert (yes("yes"), yes("no")) == (1.0, 0.0)
    found, wanted = ["x", "a", "a", "b"], {"a", "b", "c", "d"}
    assert hit_rate(found, wanted) == 1.0
    assert hit_rate(["x"], wanted) == 0.0
    assert mrr(found, wanted) == 0.5  # the first is at rank 2
    assert mrr(["x"], wanted) == 0.0
    assert precision(found, wanted) == pytest.approx(2 / 3)  # a and b of x, a and b
    assert recall(found, wanted) == 0.5  # a and b of four


# ---- claims over texts and pictures, by a server that looks at what it gets

BRIDGE, TOWER = sight.drawn("The bridge opened in 1931."), sight.drawn("The tower was sold in 1974.")
SAMPLE = Sample(
    question="When did the bridge open?",
    contexts=(
        Context(text="The river is long and wide."),
        Context(text="", image=data_uri(BRIDGE), id="scan"),
        Context(text="A photograph.", image=data_uri(TOWER)),
    ),
    answer="The bridge opened in 1931. The tower was sold in 1974. The school has two floors.",
    reference="The bridge opened in 1931. The castle burned down.",
)


def asked(metric: str | Any, sample: Sample = SAMPLE, **how: Any) -> tuple[Score, OpenAIServer]:
    with OpenAIServer(**{"sees": True, **how}) as server:
        judge = OpenAIJudge("fake", base_url=server.base_url, max_attempts=1)
        one = named(f"multimodal:{metric}") if isinstance(metric, str) else metric

        async def run() -> Score:
            try:
                return await one.score(sample, judge)
            finally:
                await judge.release()

        return asyncio.run(run()), server


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("faithfulness", 2 / 3),  # the school is nowhere
        ("contextual_recall", 0.5),  # the castle is nowhere
        ("contextual_precision", 0.5),  # (1 / 2) / 1: only the picture of the bridge, at rank 2
        ("contextual_relevancy", 1 / 3),  # that picture, of one sentence and two pictures
    ],
)
def test_texts_and_pictures_are_judged_together(metric: str, value: float) -> None:
    score, server = asked(metric)
    assert score.value == pytest.approx(value), str(score)
    digests = {album.digest(BRIDGE), album.digest(TOWER)}
    seen = {digest for call in server.chats for digest in call.pictures}
    assert seen == digests


def test_what_a_picture_supports_is_in_the_matrix_and_the_passages_are_named() -> None:
    score, _ = asked("faithfulness")
    first, second, third = score.verdicts["answer/contexts"]
    assert [[cell.label for cell in one.cells].index("supported") for one in (first, second)] == [1, 2]
    assert third.label == "not_mentioned"
    assert score.texts["contexts"] == ("The river is long and wide.", "[picture]", "A photograph.")
    assert first.unlocated == second.unlocated == 0


def test_contradictions_count_where_the_formula_says_so() -> None:
    sample = replace(SAMPLE, answer="The bridge opened in 1932. The school has two floors.")
    assert asked("faithfulness", sample)[0].value == 0.0
    assert asked("deepeval_faithfulness", sample)[0].value == 0.5  # one of two is contradicted
    empty = replace(SAMPLE, answer="I do not know.")
    assert asked("deepeval_faithfulness@original", empty)[0].convention is not None
    assert asked("deepeval_faithfulness", empty)[0].error is not None


def test_statements_count_by_the_question() -> None:
    """The server calls relevant what has no word but those of the question."""
    score, server = asked("relevance", replace(SAMPLE, answer="The bridge did open. The school has two floors."))
    assert score.value == 0.5
    assert [verdict.label for verdict in score.verdicts["answer/question"]] == ["relevant", "irrelevant"]
    assert not any(call.pictures for call in server.chats)


def test_a_question_may_have_a_picture_and_an_answer_several() -> None:
    question = f"When did this open? ![]({data_uri(BRIDGE)})"
    answer = f"The bridge opened in 1931. ![the bridge]({data_uri(BRIDGE)}) ![]({data_uri(TOWER)})"
    score, server = asked("relevance", replace(SAMPLE, question=question, answer=answer))
    assert score.value is not None, str(score)
    assert score.parts == {"statements": 1.0, "pictures": 2.0}
    by_kind = {call.kind: [*call.pictures] for call in server.chats}
    assert by_kind["classification"] == [album.digest(BRIDGE)]
    criteria = [call.pictures for call in server.chats if call.kind == "criterion"]
    assert sorted(criteria) == sorted([[album.digest(BRIDGE)] * 2, [album.digest(BRIDGE), album.digest(TOWER)]])
    assert all(";base64," not in part for call in server.chats for part in texts_of(call.body))
    twice = replace(SAMPLE, question=question + question)
    score, _ = asked("relevance", twice)
    assert score.error is not None
    assert score.error.cause is Cause.NOT_APPLICABLE


def texts_of(body: dict[str, Any]) -> list[str]:
    contents = [message["content"] for message in body["messages"]]
    parts = [[{"type": "text", "text": one}] if isinstance(one, str) else one for one in contents]
    return [part["text"] for some in parts for part in some if part["type"] == "text"]


def test_the_claims_of_an_answer_with_pictures_keep_their_places() -> None:
    answer = f"The bridge opened in 1931. ![the bridge]({data_uri(BRIDGE)}) The tower was sold in 1974."
    score, server = asked("faithfulness", replace(SAMPLE, answer=answer))
    assert score.value == 1.0
    spans = [verdict.claim.span.of(answer) for verdict in score.verdicts["answer/contexts"] if verdict.claim]
    assert [span.strip() for span in spans] == ["The bridge opened in 1931.", "The tower was sold in 1974."]
    assert all(";base64," not in part for call in server.chats for part in texts_of(call.body))


def test_the_bytes_of_a_picture_are_no_language() -> None:
    """Base64 in the texts must not decide in which language they are read."""
    seen = []

    class Listening(ScriptedJudge):
        async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
            seen.extend(prompts)
            return await super().answer(prompts)

    german = "Die Brücke wurde im Jahr 1931 eröffnet und verbindet seitdem die beiden Ufer des Flusses."
    sample = Sample(answer=f"{german} ![]({data_uri(sight.drawn('noise ' * 4000))})")
    score = scored(named("multimodal:image_coherence"), sample, Listening(rating=lambda question: 5, sees=True))
    assert score.value == 0.5
    assert [prompt.language for prompt in seen] == ["de"]


# ---- what has no value, and why


def cause_of(score: Score) -> Cause | None:
    return score.error and score.error.cause


@pytest.mark.parametrize(
    ("image", "said"),
    [
        ("none.png", "the picture of passage 2 (scan): there is no file 'none.png'"),
        ("data:image/png;base64,AAAA", "the picture of passage 2 (scan): it is no PNG, JPEG, GIF or WebP image"),
        ("https://example.org/a.png", "which is handed to no model unless that is allowed (urls=True)"),
    ],
)
def test_a_picture_that_cannot_be_shown_names_its_passage(image: str, said: str) -> None:
    first, bad, last = SAMPLE.contexts or ()
    score, server = asked("faithfulness", replace(SAMPLE, contexts=(first, replace(bad, image=image), last)))
    assert cause_of(score) is Cause.MISSING_INPUT
    assert said in str(score)
    assert server.calls == []


def test_a_url_is_sent_where_it_is_allowed() -> None:
    sample = replace(SAMPLE, contexts=(Context(text="", image="https://example.org/a.png"),))
    score, server = asked(Faithfulness(urls=True), sample)
    assert score.value == 0.0
    assert sight.images_of(server.chats[-1].body) == ["https://example.org/a.png"]


def test_an_endpoint_that_refuses_pictures_gives_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.metrics.multimodal.base.available", lambda: False)
    score, _ = asked("faithfulness", sees=False)
    assert cause_of(score) is Cause.NEEDS_VISION
    assert cause_of(asked(Faithfulness(reading="vision"), sees=False)[0]) is Cause.NEEDS_VISION


def test_without_the_extra_a_judge_that_does_not_see_gives_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.text.ocr.find_spec", lambda name: None)
    ocr._reader.cache_clear()  # it may have read the picture before
    score = scored(named("multimodal:faithfulness"), SAMPLE, ScriptedJudge(support=lambda claim, passage: "supported"))
    assert cause_of(score) is Cause.NEEDS_VISION
    assert "passage 2 (scan) has a picture: name a judge that sees, or let its text be read:" in str(score)
    assert "ocr" in str(score)


@pytest.mark.parametrize(
    ("metric", "change", "cause"),
    [
        ("faithfulness", {"contexts": ()}, Cause.NO_CONTEXT),
        ("faithfulness", {"contexts": None}, Cause.MISSING_INPUT),
        ("contextual_relevancy", {"contexts": (Context(text=" "),)}, Cause.NO_CONTEXT),
        ("ragas_faithfulness", {"contexts": ()}, Cause.NO_CONTEXT),
        ("ragas_faithfulness@original", {"contexts": ()}, Cause.NO_CONTEXT),
        ("llamaindex_relevancy", {"contexts": (Context(text=" "),)}, Cause.NO_CONTEXT),
        ("image_coherence", {}, Cause.NOT_APPLICABLE),
        ("image_coherence@original", {}, Cause.NOT_APPLICABLE),
        ("image_recall", {"reference_contexts": ()}, Cause.NOT_APPLICABLE),
        ("image_mrr", {"reference_contexts": (Context(text="", image="a.png"),), "contexts": ()}, Cause.NO_CONTEXT),
    ],
)
def test_nothing_to_measure_is_no_number(metric: str, change: dict[str, Any], cause: Cause) -> None:
    score, server = asked(metric, replace(SAMPLE, **change))
    assert cause_of(score) is cause
    assert score.value is None
    assert server.calls == []


def test_llamaindex_asks_without_contexts_and_we_do_not() -> None:
    sample = replace(SAMPLE, contexts=())
    assert asked("llamaindex_faithfulness@original", sample)[0].value is not None
    assert cause_of(asked("llamaindex_faithfulness", sample)[0]) is Cause.NO_CONTEXT


def test_pictures_are_the_same_by_id_where_all_have_one() -> None:
    found = (Context(text="", image="gone.png", id="a"), Context(text="", image="gone.png", id="b"))
    sample = Sample(contexts=found, reference_contexts=(Context(text="", image="else.png", id="b"),))
    assert asked("image_mrr", sample)[0].value == 0.5
    assert cause_of(asked("image_mrr", replace(sample, contexts=(replace(found[0], id=None),)))[0]) is (
        Cause.MISSING_INPUT
    )


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Faithfulness(reading="eyes"), "reading: expected one of 'auto', 'vision', 'ocr', 'both', not 'eyes'"),  # type: ignore[arg-type]
        (
            lambda: ImageCoherence(max_context_size=-1),
            "max_context_size: expected a whole number of at least 0, not -1",
        ),
    ],
)
def test_wrong_parameters_are_named(make: Any, said: str) -> None:
    with pytest.raises(InputError, match=r"^(Faithfulness|ImageCoherence): ") as raised:
        make()
    assert said in str(raised.value)


def test_every_entry_says_what_it_is() -> None:
    for name, entry in system_entries("multimodal").items():
        metric = entry.make()
        assert metric.name == f"multimodal:{name}"
        assert metric.reads_images
        assert entry.source
        assert entry.compared
        assert entry.steps.aggregate
    assert math.isclose(sum(entry.family == "faithfulness" for entry in system_entries("multimodal").values()), 4)


def test_pictures_of_one_address_are_one_picture_and_are_not_fetched() -> None:
    one, other = (Context(text="", image=f"https://pictures.invalid/{name}.png") for name in "ab")
    sample = Sample(contexts=(other, one), reference_contexts=(one,))
    found = asyncio.run(named("multimodal:image_mrr").score(sample, ScriptedJudge()))
    assert (found.value, found.parts) == (0.5, {"retrieved": 2.0, "expected": 1.0})
