"""The worked examples of the documents that the project starts from, with their arithmetic."""

from __future__ import annotations

import math

import pytest

from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics import (
    AnswerCorrectness,
    AnswerRelevancy,
    ContextEntityRecall,
    ContextPrecision,
    ContextRecall,
    ContextRelevance,
    ContextUtilization,
    Faithfulness,
    NoiseSensitivity,
    SummarizationScore,
)
from assay.metrics._composite import harmonic_mean
from assay.records import Context, Sample


def contexts(*texts: str) -> tuple[Context, ...]:
    return tuple(Context(text=text) for text in texts)


async def test_faithfulness_of_the_low_answer_is_a_half() -> None:
    """Statement 1: yes. Statement 2: no. 1 / 2."""
    context = "Albert Einstein (born 14 March 1879) was a German-born theoretical physicist."
    claims = ["Einstein was born in Germany.", "Einstein was born on 20th March 1879."]
    sample = Sample(
        question="Where and when was Einstein born?",
        contexts=contexts(context),
        answer="Einstein was born in Germany on 20th March 1879.",
    )
    judge = ScriptedJudge(
        claims=lambda _: claims,
        support={(claims[0], context): "German-born", (claims[1], context): "contradicted"},
    )
    assert (await Faithfulness().score(sample, judge)).value == 0.5


LOW_RECALL = (
    "France, in Western Europe, encompasses medieval cities, alpine villages and Mediterranean beaches. The country is "
    "also renowned for its wines and sophisticated cuisine. Lascaux's ancient cave drawings, Lyon's Roman theater and "
    "the vast Palace of Versailles attest to its rich history."
)
HIGH_RECALL = (
    "France, in Western Europe, encompasses medieval cities, alpine villages and Mediterranean beaches. Paris, its "
    "capital, is famed for its fashion houses, classical art museums including the Louvre and monuments like the "
    "Eiffel Tower."
)


@pytest.mark.parametrize(("context", "expected"), [(LOW_RECALL, 1 / 2), (HIGH_RECALL, 2 / 2)])
async def test_context_recall_of_france(context: str, expected: float) -> None:
    """Low: statement 1 yes, statement 2 no, 1 / 2 = 0.5. High: both."""
    claims = ["France is in Western Europe.", "Its capital is Paris."]
    sample = Sample(
        question="Where is France and what is it's capital?",
        contexts=contexts(context),
        reference="France is in Western Europe and its capital is Paris.",
    )
    judge = ScriptedJudge(
        claims=lambda _: claims,
        support={
            (claims[0], LOW_RECALL): "France, in Western Europe",
            (claims[0], HIGH_RECALL): "France, in Western Europe",
            (claims[1], HIGH_RECALL): "Paris, its capital",
        },
    )
    assert (await ContextRecall().score(sample, judge)).value == expected


@pytest.mark.parametrize(
    ("reference", "passages", "expected"),
    [
        (
            "The first superbowl was held on January 15, 1967",
            (
                "The First AFL–NFL World Championship Game was an American football game played on January 15, 1967, "
                "at the Los Angeles Memorial Coliseum in Los Angeles,",
            ),
            1.0,
        ),
        (
            "The New England Patriots have won the Super Bowl a record six times",
            ("The Green Bay Packers...Green Bay, Wisconsin.", "The Packers compete...Football Conference"),
            0.0,
        ),
    ],
)
async def test_context_recall_of_the_super_bowl(reference: str, passages: tuple[str, ...], expected: float) -> None:
    """One claim each: 1 / 1 where the passage gives the date, 0 / 1 where the passages are about the Packers."""
    judge = ScriptedJudge(
        support=lambda claim, passage: "January 15, 1967" if "1967" in passage and "1967" in claim else "not_mentioned"
    )
    score = await ContextRecall().score(Sample(contexts=contexts(*passages), reference=reference), judge)
    assert score.value == expected


@pytest.mark.parametrize("metric", [ContextPrecision(), ContextUtilization()])
async def test_second_of_two_passages_useful_is_a_half(metric: ContextPrecision | ContextUtilization) -> None:
    """Precision@1 = 0/1 = 0, precision@2 = 1/2 = 0.5; (0 + 0.5) / 1 = 0.5."""
    sample = Sample(
        question="Where is France and what is its capital?",
        contexts=contexts(LOW_RECALL, HIGH_RECALL),
        answer="France is in Western Europe and its capital is Paris.",
        reference="France is in Western Europe and its capital is Paris.",
    )
    judge = ScriptedJudge(usefulness={(sample.question, HIGH_RECALL): True})
    assert (await metric.score(sample, judge)).value == 0.5


async def test_answer_relevancy_is_the_mean_cosine_of_three_questions() -> None:
    """(0.9 + 0.8 + 0.7) / 3 = 0.8."""
    cosines = {
        "In which part of Europe is France located?": 0.9,
        "What is the geographical location of France within Europe?": 0.8,
        "Can you identify the region of Europe where France is situated?": 0.7,
    }
    judge = ScriptedJudge(back_questions=lambda _: list(cosines), similarity=lambda _, other: cosines[other])
    sample = Sample(question="Where is France?", answer="France is in western Europe.")
    score = await AnswerRelevancy().score(sample, judge)
    assert score.value == pytest.approx(0.8)
    assert score.texts["back_questions"] == tuple(cosines)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (["Taj Mahal", "Agra", "Shah Jahan", "Mumtaz Mahal", "India"], 4 / 6),
        (["Taj Mahal", "UNESCO", "India"], 1 / 6),
    ],
)
async def test_context_entity_recall_of_the_taj_mahal(found: list[str], expected: float) -> None:
    """GE has 6 entities; CE1 shares Taj Mahal, Agra, Shah Jahan, Mumtaz Mahal with it, CE2 only Taj Mahal."""
    wanted = ["Taj Mahal", "Yamuna", "Agra", "1631", "Shah Jahan", "Mumtaz Mahal"]
    sample = Sample(contexts=contexts(", ".join(found)), reference=", ".join(wanted))
    judge = ScriptedJudge(entities={", ".join(found): found, ", ".join(wanted): wanted})
    score = await ContextEntityRecall().score(sample, judge)
    assert score.value == pytest.approx(expected)
    assert set(score.texts["shared"]) == set(found) & set(wanted)


LIC = (
    "The Life Insurance Corporation of India (LIC) was established in 1956 following the nationalization of the "
    "insurance industry in India.",
    "LIC is the largest insurance company in India, with a vast network of policyholders and a significant role in the "
    "financial sector.",
    "As the largest institutional investor in India, LIC manages a substantial funds, contributing to the financial "
    "stability of the country.",
)


async def test_noise_sensitivity_of_the_insurance_answer_is_a_third() -> None:
    """Three claims, one of them (financial stability) not in the ground truth but in a relevant passage: 1 / 3."""
    said = ["LIC is the largest.", "LIC is known for its investments.", "LIC contributes to financial stability."]
    right = ["LIC is largest.", "LIC was established in 1956.", "LIC manages large investments."]
    sample = Sample(
        question="What is the Life Insurance Corporation of India (LIC) known for?",
        contexts=contexts(*LIC),
        answer="The Life Insurance Corporation of India (LIC) is the largest insurance company in India, known for its "
        "vast portfolio of investments. LIC contributs to the financial stability of the country.",
        reference="The Life Insurance Corporation of India (LIC) is the largest insurance company in India, "
        "established in 1956 through the nationalization of the insurance industry. It is known for managing a large "
        "portfolio of investments.",
    )
    judge = ScriptedJudge(
        claims={sample.answer: said, sample.reference: right},
        support={
            (said[0], sample.reference): "supported",
            (said[1], sample.reference): "supported",
            (said[0], LIC[1]): "LIC is the largest insurance company in India",
            (said[1], LIC[2]): "manages a substantial funds",
            (said[2], LIC[2]): "contributing to the financial stability of the country",
            (right[0], LIC[1]): "LIC is the largest insurance company in India",
            (right[1], LIC[0]): "established in 1956",
            (right[2], LIC[2]): "manages a substantial funds",
        },
    )
    assert (await NoiseSensitivity().score(sample, judge)).value == pytest.approx(1 / 3)
    assert (await NoiseSensitivity(mode="irrelevant").score(sample, judge)).value == 0.0


async def test_answer_correctness_of_the_low_answer() -> None:
    """TP: 1879. FP: Spain. FN: Germany. F1 = 1 / (1 + 0.5 * (1 + 1)) = 0.5; 0.75 * 0.5 + 0.25 * 0.8 = 0.575."""
    said = ["Einstein was born in 1879.", "Einstein was born in Spain."]
    right = ["Einstein was born in 1879.", "Einstein was born in Germany."]
    sample = Sample(answer="In Spain in 1879.", reference="In 1879 in Germany.")
    judge = ScriptedJudge(
        claims={sample.answer: said, sample.reference: right},
        support={
            (said[0], sample.reference): "1879",
            (said[1], sample.reference): "contradicted",
            (right[0], sample.answer): "1879",
            (right[1], sample.answer): "contradicted",
        },
        similarity=lambda *_: 0.8,
    )
    score = await AnswerCorrectness().score(sample, judge)
    assert score.parts == {"tp": 1, "fp": 1, "fn": 1, "factual": 0.5, "similarity": 0.8}
    assert score.value == pytest.approx(0.575)


SUMMARY = (
    "A company is launching a fitness tracking app that helps users set exercise goals, log meals, and track water "
    "intake, with personalized workout suggestions and motivational reminders."
)
TEXT = (
    "A company is launching a new product, a smartphone app designed to help users track their fitness goals. The app "
    "allows users to set daily exercise targets, log their meals, and track their water intake. It also provides "
    "personalized workout recommendations and sends motivational reminders throughout the day."
)


@pytest.mark.parametrize("coeff", [0.0, 0.25, 0.5, 1.0])
async def test_summarization_score_weighs_as_documented(coeff: float) -> None:
    """QA score 4/5; conciseness = 1 - min(183, 310) / (310 + 1e-10); QA * coeff + conciseness * (1 - coeff)."""
    questions = [f"Question {n}?" for n in range(5)]
    judge = ScriptedJudge(key_questions=lambda _: questions, criterion=lambda question, _: "4" not in question)
    score = await SummarizationScore(coeff=coeff).score(Sample(contexts=contexts(TEXT), answer=SUMMARY), judge)
    assert (len(SUMMARY), len(TEXT)) == (183, 310)
    concise = 1 - min(183, 310) / (310 + 1e-10)
    assert score.value == pytest.approx(4 / 5 * coeff + concise * (1 - coeff), abs=1e-9)


async def test_summary_without_length_penalty_is_the_qa_score() -> None:
    judge = ScriptedJudge(key_questions=lambda _: ["A?", "B?"], criterion=lambda question, _: question == "A?")
    metric = SummarizationScore(length_penalty=False)
    assert (await metric.score(Sample(contexts=contexts(TEXT), answer=TEXT), judge)).value == 1 / 2


async def test_context_relevance_counts_sentences() -> None:
    """|S| / sentences: of the text's three sentences one is useful; it cannot exceed 1, as the first version could."""
    sample = Sample(question="What can users log?", contexts=contexts(TEXT))
    judge = ScriptedJudge(usefulness=lambda _, sentence: "log their meals" in sentence)
    score = await ContextRelevance().score(sample, judge)
    assert score.value == pytest.approx(1 / 3)
    assert score.verdicts["question/sentences"][1].label == "useful"


def test_harmonic_mean_is_0_where_the_simple_average_is_a_half() -> None:
    """Faithfulness 1, relevancy 0."""
    assert harmonic_mean([1.0, 0.0]) == 0.0


def test_harmonic_mean_of_the_quick_start() -> None:
    """3 / (1/0.817 + 1/0.892 + 1/0.874) = 0.860, the ragas_score printed there."""
    assert math.isclose(harmonic_mean([0.817, 0.892, 0.874]), 0.860, abs_tol=5e-4)
