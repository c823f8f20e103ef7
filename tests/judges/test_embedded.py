"""The embedded judge: what counts as a claim, what it answers, what it refuses, and with what evidence."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from assay_embedded.sentences import sentences
from hypothesis import given
from hypothesis import strategies as st

from assay import EmbeddedJudge, JudgeFailure, MissingExtra, evaluate
from assay.data.demo import answers
from assay.errors import Cause
from assay.judges.cache import JudgementCache
from assay.judges.claim_rules import sentence_claims
from assay.judges.pairwise_support import evidence_of
from assay.metrics import METRICS
from assay.prompts import (
    BackQuestions,
    Claims,
    Criterion,
    Directness,
    Distance,
    Entities,
    KeyQuestions,
    Rating,
    Similarity,
    Support,
    SupportCells,
    Usefulness,
)
from assay.records import Claim, Context, Sample, Span


@pytest.fixture(scope="module")
def judge() -> EmbeddedJudge:
    return EmbeddedJudge()


def claims(*texts: str) -> tuple[Claim, ...]:
    return tuple(Claim(text=text, span=Span(0, len(text))) for text in texts)


async def test_support_names_what_is_missing_and_shows_the_closest_sentence(judge):
    passages = ("Bread is made of flour.", "The first Super Bowl was played on January 15, 1967. It was cold.")
    good, bad = claims("The first Super Bowl was played on January 15, 1967.", "Denver won it 31 to 20 in Chicago.")
    supported, missing = await judge.find(Support((good, bad), passages))
    assert supported.label == "supported"
    assert supported.probability > 0.5
    assert supported.cells == ()  # each would be a reading of its own
    (quote,) = supported.evidence
    assert quote.text == "The first Super Bowl was played on January 15, 1967."
    assert quote.span.of(passages[quote.passage]) == quote.text
    assert missing.label == "not_mentioned"
    assert missing.reason == "none of its words are in the passages"
    assert supported.unsupported == ()
    assert [part.of(bad.text) for part in missing.unsupported] == ["Denver won it 31 to 20 in Chicago"]


async def test_what_each_passage_alone_says_is_read_where_it_is_asked_for(judge):
    passages = ("Bread is made of flour.", "The first Super Bowl was played on January 15, 1967. It was cold.")
    both = claims("The first Super Bowl was played on January 15, 1967.", "Bread is made of flour.")
    found = await judge.find(SupportCells(both, passages))
    assert [[cell.label for cell in verdict.cells] for verdict in found] == [
        ["not_mentioned", "supported"],
        ["supported", "not_mentioned"],
    ]
    for k, passage in enumerate(passages):  # as if there were no other
        alone = await judge.find(Support(both, (passage,)))
        assert [(cell,) for cell in (verdict.cells[k] for verdict in found)] == [verdict.cells for verdict in alone]


@pytest.mark.long
async def test_every_supported_claim_keeps_the_place_of_its_evidence(judge):
    rows = answers()
    prompts = [Support(sentence_claims(row["answer"]), tuple(row["contexts"])) for row in rows]
    several = [Support(sentence_claims(row["answer"]), tuple(row["contexts"] + rows[0]["contexts"])) for row in rows]
    supported = 0
    for prompt in (*prompts, *several):
        for verdict in await judge.find(prompt):
            assert (verdict.label == "supported") == (verdict.probability >= 0.5)
            for quote in verdict.evidence:
                assert quote.span.of(prompt.passages[quote.passage]) == quote.text
            if verdict.label == "supported":
                supported += 1
                assert len(verdict.evidence) == 1
    assert supported > 20


@given(st.lists(st.text("ab. \n", max_size=12), min_size=1, max_size=4), st.data())
def test_a_sentence_of_joined_passages_is_found_in_its_own(passages, data):
    joined = "\n".join(passages)
    spans = list(sentences(joined))
    if not spans:
        return
    start, end = data.draw(st.sampled_from(spans))
    found = evidence_of((start, end), passages, None)
    assert found.text == joined[start:end] == found.span.of(passages[found.passage])
    assert sum(len(one) + 1 for one in passages[: found.passage]) + found.span.start == start


async def test_what_one_passage_says_does_not_change_with_whether_cells_are_wanted(judge):
    sample = Sample(
        question="When was it?",
        answer="It was on May 3, 2011, in Rome. It rained all day.",
        reference="It was in May.",
        contexts=(Context(text="It was on May 3, 2011."), Context(text="The feast was held in Rome.")),
    )
    alone = await METRICS["faithfulness"]().score(sample, JudgementCache(judge))
    shared = JudgementCache(judge)
    noise = await METRICS["noise_sensitivity_relevant"]().score(sample, shared)
    both = await METRICS["faithfulness"]().score(sample, shared)
    assert both == alone
    assert all(not verdict.cells for verdict in both.verdicts["answer/contexts"])
    assert all(len(verdict.cells) == 2 for verdict in noise.verdicts["answer/contexts"])
    bare = [replace(verdict, cells=()) for verdict in noise.verdicts["answer/contexts"]]
    assert tuple(bare) == both.verdicts["answer/contexts"]


async def test_usefulness_and_similarity(judge):
    passages = ("Berlin has a population of 3.5 million.", "The cake needs two eggs.")
    useful, useless = await judge.find(Usefulness("How many people live in Berlin?", passages))
    assert (useful.label, useless.label) == ("useful", "not_useful")
    same, near, far = await judge.find(
        Similarity("A man is eating food.", ("A man is eating food.", "Someone has a meal.", "The sky is blue."))
    )
    assert same == pytest.approx(1.0, abs=1e-6)
    assert 1.0 > near > far


async def test_distance_by_coordinates(judge):
    texts = ("A man is eating food.", "Someone has a meal.", "The sky is blue.")
    same, near, far = await judge.find(Distance(texts[0], texts, "manhattan"))
    assert same == pytest.approx(0.0, abs=1e-4)
    assert 0 < near < far


BRIDGE = "When did the bridge open?"


async def test_directness_tells_an_answer_from_an_evasion_and_does_not_care_for_truth(judge):
    met, evaded, beside = await asyncio.gather(
        judge.find(Directness(BRIDGE, "The bridge opened to traffic in 1889.")),
        judge.find(Directness(BRIDGE, "That is a matter for the authorities, who will tell the public in due time.")),
        judge.find(Directness(BRIDGE, "The cake needs two eggs and half a pound of flour.")),
    )
    assert [verdict.label for verdict in (met, evaded, beside)] == ["direct", "indirect", "indirect"]
    for verdict in (met, evaded, beside):
        assert 0 <= verdict.probability <= 1
        assert (verdict.label == "direct") == (verdict.probability >= 0.5)


@pytest.mark.parametrize(
    "answer",
    [
        "I don't know.",
        "No information.",
        "The documents do not mention it.",
        "Sure! I can help you with that? Let me know!",
        "I'm sorry. I do not have enough information to answer.",
        " ",
    ],
)
async def test_an_answer_that_states_nothing_is_not_direct(judge, answer):
    verdict = await judge.find(Directness(BRIDGE, answer))
    assert (verdict.label, verdict.probability, verdict.reason) == ("indirect", 0.0, "it states nothing")


@pytest.mark.parametrize("answer", ["Yes.", "Bacon.", "Certainly!", "In 1889.", "No, it isn't.", "- 42 -", "Why?"])
async def test_an_answer_too_short_to_tell_is_refused_and_costs_the_others_nothing(judge, answer):
    short, told = await judge.answer([Directness(BRIDGE, answer), Directness(BRIDGE, "It was opened in May 1889.")])
    assert short.judgement is None
    assert short.failure.cause is Cause.JUDGE_CANNOT
    assert "so short an answer" in short.failure.message
    assert "judge='openai:MODEL'" in short.failure.message
    assert told.failure is None
    assert judge.cannot(Directness) is None


async def test_directness_is_read_in_one_batch(judge, monkeypatch):
    asked = []
    real = type(judge.models).directness
    monkeypatch.setattr(type(judge.models), "directness", lambda self, pairs: asked.append(pairs) or real(self, pairs))
    answers = ["The bridge opened in 1889.", "Cats sleep most of the day.", "I don't know.", "Yes."]
    found = await judge.answer([Directness(BRIDGE, answer) for answer in [*answers, answers[0]]])
    assert asked == [[(BRIDGE, answers[0]), (BRIDGE, answers[1])]]  # each pair once, and no others
    assert found[0].judgement == found[4].judgement
    await judge.answer([Directness(BRIDGE, "I don't know.")])
    assert len(asked) == 1  # nothing to read, nothing read


def test_answer_directness_leaves_short_answers_skipped(tmp_path):
    rows = [{"question": BRIDGE, "answer": answer} for answer in ("The bridge opened in 1889.", "1889.", "Who knows?")]
    result = evaluate([*rows, {"question": BRIDGE, "answer": "I don't know."}], "answer_directness", store=tmp_path)
    summary = result.metrics["answer_directness"]
    # scored: the first, and two refusals, which answer nothing (0.0); "1889." is too short to tell
    assert (summary.scored, summary.causes) == (3, {Cause.JUDGE_CANNOT: 1})


async def test_what_needs_a_language_model_is_refused_with_the_way_out(judge):
    for prompt in (BackQuestions, Entities, Criterion, Rating, KeyQuestions):
        refusal = judge.cannot(prompt)
        assert refusal is not None
        assert refusal.cause == Cause.JUDGE_CANNOT
        assert "judge='openai:MODEL'" in refusal.message
    with pytest.raises(JudgeFailure, match="cannot answer entities"):
        await judge.find(Entities(("Paris.",)))
    # in one batch with others, it costs the others nothing
    desk = JudgementCache(judge)
    found = await asyncio.gather(desk.find(Claims("Paris is big, they say.")), desk.find(Entities(("Paris.",))),
                                 return_exceptions=True)  # fmt: skip
    assert len(found[0]) == 1
    assert isinstance(found[1], JudgeFailure)


def test_other_languages_are_skipped_unless_the_user_insists(tmp_path):
    row = {"question": "Co?", "contexts": ["Rzym jest stary."], "answer": "Rzym jest stary.", "language": "pl"}
    result = evaluate([row], "faithfulness", store=tmp_path)
    assert result.metrics["faithfulness"].causes == {Cause.LANGUAGE: 1}
    assert "any_language=True" in result.errors[0].message
    insisted = evaluate([row], "faithfulness", EmbeddedJudge(any_language=True), store=tmp_path)
    assert insisted.metrics["faithfulness"].scored == 1


async def test_a_verdict_does_not_depend_on_what_else_is_asked(judge):
    row = answers()[0]
    prompt = Support(sentence_claims(row["answer"]), tuple(row["contexts"]), row["question"])
    alone = await JudgementCache(judge).find(prompt)
    desk = JudgementCache(judge)
    others = [Support(sentence_claims(r["answer"]), tuple(r["contexts"])) for r in answers()[1:6]]
    together = (await asyncio.gather(*(desk.find(i) for i in (*others, prompt))))[-1]
    assert together == alone


def test_no_passages_support_nothing(tmp_path):
    row = {"question": "What?", "contexts": [], "answer": "Rome is old, they say."}
    assert evaluate([row], "faithfulness", store=tmp_path).metrics["faithfulness"].causes == {Cause.NO_CONTEXT: 1}


def test_damaged_files_are_said_in_plain_words(monkeypatch):
    import assay_embedded

    def broken(threads: int | None = None) -> None:
        raise assay_embedded.FileCorrupt("support.onnx.gz", "its SHA-256 is not the one in the manifest")

    monkeypatch.setattr(assay_embedded, "load", broken)
    with pytest.raises(MissingExtra, match=r"support\.onnx\.gz.*reinstall"):
        _ = EmbeddedJudge().fingerprint


def test_the_card_states_measured_agreement_and_languages(judge):
    assert list(judge.card["languages"]) == ["en"]
    assert 0.5 < judge.card["support"]["agreement"]["support"]["auroc"] < 1
