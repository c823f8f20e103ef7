"""The formulas of ragas by tables with the arithmetic shown, their parameters, and what is unscored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

import assay
from assay.errors import Cause, InputError, JudgeFailure
from assay.inquiries import BackQuestions, Claims, Criterion, Listing, Support
from assay.judges.scripted import ScriptedJudge
from assay.records import Context, Sample, Score, Turn
from assay.systems import entries, named
from assay.systems.base import SystemMetric
from assay.systems.ragas.answer_correctness import AnswerCorrectness
from assay.systems.ragas.aspect_critique import AspectCritique, even
from assay.systems.ragas.context_entity_recall import exact_recall
from assay.systems.ragas.context_precision import guarded_average_precision
from assay.systems.ragas.context_relevancy import ContextRelevancy, by_full_stops, jaccard, nearness, relevancy
from assay.systems.ragas.criteria import AspectCritic, SimpleCriteria, most_frequent, odd
from assay.systems.ragas.double_judge import AnswerAccuracy, mean_rating
from assay.systems.ragas.factual_correctness import FactualCorrectness, f_score, hundredths, share
from assay.systems.ragas.faithfulness_hhem import share_rounded
from assay.systems.ragas.noise_sensitivity import NoiseSensitivity
from assay.systems.ragas.ragas_score import RagasScore
from assay.systems.ragas.response_relevancy import AnswerRelevancy, ResponseRelevancy
from assay.systems.ragas.response_relevancy import relevancy as answer_relevancy
from assay.systems.ragas.rubrics import DomainSpecificRubrics, levels_of
from assay.systems.ragas.semantic_similarity import SemanticSimilarity, reached
from assay.systems.ragas.summarization_score import SummarizationScore, conciseness, weighted

FULL = Sample(
    question="Where is it?",
    contexts=(Context(text="It is in Rome. It is old."), Context(text="Nothing else.")),
    answer="It is in Rome.",
    reference="It is in Rome. It is old.",
)


def score(metric: SystemMetric | str, sample: Sample = FULL, **rules: Any) -> Score:
    made = named(metric) if isinstance(metric, str) else metric
    return asyncio.run(made.score(sample, ScriptedJudge(**rules)))


def original(metric: SystemMetric) -> SystemMetric:
    return replace(metric, profile="original")


def close(value: float) -> Any:
    return pytest.approx(value, abs=1e-15, rel=0)


# ---- pure formulas


@pytest.mark.parametrize(
    ("useful", "expected"),
    [
        ([True, False, True], (1 + 2 / 3) / (2 + 1e-10)),  # precision 1/1 at 1, 2/3 at 3; two are useful
        ([False, True], (1 / 2) / (1 + 1e-10)),
        ([True], 1 / (1 + 1e-10)),
        ([False, False], 0.0),  # 0 / 1e-10
        ([], 0.0),
    ],
)
def test_guarded_average_precision(useful: list[bool], expected: float) -> None:
    assert guarded_average_precision(useful) == close(expected)
    assert guarded_average_precision([True]) < 1


@pytest.mark.parametrize(
    ("similar", "flags", "every", "some"),
    [
        ([0.9, 0.6, 0.3], [False, False, False], 0.6, 0.6),  # 1.8 / 3
        ([0.9, 0.6, 0.3], [False, True, False], 0.6, 0.0),  # one flag of three
        ([0.9, 0.6, 0.3], [True, True, True], 0.0, 0.0),
        ([-0.5], [False], -0.5, -0.5),
    ],
)
def test_answer_relevancy(similar: list[float], flags: list[bool], every: float, some: float) -> None:
    assert answer_relevancy(similar, flags, "all") == close(every)
    assert answer_relevancy(similar, flags, "any") == close(some)


@pytest.mark.parametrize(
    ("probabilities", "expected"),
    [
        ([0.9, 0.4, 0.51], 2 / 3),  # 1, 0, 1
        ([0.5], 0.0),  # halves go to the even number
        ([0.0, 1.0], 0.5),
    ],
)
def test_rounded_probabilities(probabilities: list[float], expected: float) -> None:
    assert share_rounded(probabilities) == close(expected)


def test_entities_are_compared_letter_by_letter() -> None:
    assert exact_recall(["Rome", "the Tiber", "1931"], ["Rome", "The Tiber", "1931"]) == close(2 / 3)
    assert exact_recall(["Rome"], ["Rome"], 1e-8) == close(1 / (1 + 1e-8))
    assert exact_recall([], ["Rome"], 1e-8) == 0.0


@pytest.mark.parametrize(
    ("tp", "fp", "fn", "beta", "expected"),
    [
        (2, 1, 2, 1.0, 4 / 7),  # P = 2/3, R = 2/4; 2 * (1/3) / (7/6)
        (2, 1, 2, 2.0, 10 / 19),  # 5 * (1/3) / (4 * 2/3 + 1/2) = (5/3) / (19/6)
        (3, 0, 0, 0.5, 1.0),
        (0, 2, 3, 1.0, 0.0),
        (0, 0, 1, 1.0, 0.0),  # nothing said, something missing
        (0, 0, 0, 1.0, None),
    ],
)
def test_f_score(tp: int, fp: int, fn: int, beta: float, expected: float | None) -> None:
    found = f_score(tp, fp, fn, beta)
    assert found is None if expected is None else found == close(expected)


def test_shares_and_their_rounding() -> None:
    assert share(1, 2) == close(1 / 3)
    assert share(1, 1, 1.0) == close(1 / 3)  # 1 / (1 + 1 + 1)
    assert share(0, 0) is None
    assert share(0, 0, 1e-8) == 0.0
    assert hundredths(2 / 3) == 0.67
    assert hundredths(0.125) == 0.12  # 12.5 is rounded to the even 12
    assert hundredths(0.375) == 0.38


def test_two_ratings() -> None:
    assert mean_rating([4, 2], 4) == 0.75  # (4/4 + 2/4) / 2
    assert mean_rating([1], 2) == 0.5
    assert mean_rating([0, 0], 2) == 0.0


def test_summaries() -> None:
    assert conciseness("abc", "abcdefghij") == close(0.7)  # 1 - 3/10
    assert conciseness("abcdef", "abc") == 0.0  # longer than the text: 1 - 3/3
    assert conciseness("abc", "abc", 1.0) == 0.25  # 1 - 3/4
    assert weighted(0.8, 0.4, 0.25) == close(0.7)  # 0.8 * 0.75 + 0.4 * 0.25


def test_a_threshold_is_reached_where_it_is_met() -> None:
    assert (reached(0.7, 0.7), reached(0.69, 0.7)) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is old. It is in Rome.", ("It is old", "It is in Rome")),
        ("It is old.\nIt is in Rome.", ("It is old.\nIt is in Rome",)),  # a line break parts nothing
        ("  No stop ", ("No stop",)),
        ("", ("",)),
    ],
)
def test_sentences_as_ragas_0_0_11_parts_them(text: str, expected: tuple[str, ...]) -> None:
    assert by_full_stops(text) == expected


def test_agreement_and_relevancy() -> None:
    assert jaccard(["a", "b"], ["b", "c"]) == close(1 / 3)
    assert jaccard([], []) == 1.0
    assert nearness([[0.2, 0.8], [0.4, 0.1], [-0.5, -0.1]]) == close(0.4)  # (0.8 + 0.4 + 0) / 3
    assert relevancy(0.5, [2, 1], 4) == close(0.1875)  # 0.5 * (2/4 + 1/4) / 2


def test_numbers_of_votes() -> None:
    assert [odd(n) for n in (1, 2, 3)] == [1, 3, 3]
    assert [even(n) for n in (1, 2, 3)] == [2, 2, 4]
    assert most_frequent(["no", "yes", "yes"]) == "yes"
    assert most_frequent(["no", "yes"]) == "no"  # a tie goes to the first


def test_levels_of_a_rubric() -> None:
    assert levels_of({"score2_description": "good", "1": "bad"}) == ((1, "bad"), (2, "good"))
    wrong: list[Mapping[Any, Any]] = [
        {"best": "x", "1": "y"},
        {"1": "x"},
        {"1": "x", "score1": "y"},
        {"1": 2, "2": "y"},
    ]
    for rubric in wrong:
        with pytest.raises(InputError, match="rubrics"):
            levels_of(rubric)


# ---- what a profile changes


def test_answer_correctness_of_a_refusal_is_1_by_convention_in_the_original_alone() -> None:
    rules: dict[str, Any] = {
        "claims": {FULL.answer: [], FULL.reference: ["It is in Rome."]},
        "support": {},
        "similarity": lambda a, b: 0.2,
    }
    ours = score("ragas:answer_correctness", **rules)
    theirs = score("ragas:answer_correctness@original", **rules)
    assert ours.value == close(0.05)  # 0.75 * 0 + 0.25 * 0.2
    assert theirs.value == close(0.8)  # 0.75 * 1 + 0.25 * 0.2
    assert theirs.convention == "the factual part is 1 where a text makes no claim"
    nothing = score("ragas:answer_correctness", claims=lambda text: [], support={}, similarity=lambda a, b: 0.2)
    assert nothing.unscored is not None
    assert nothing.unscored.cause is Cause.NO_CLAIMS


def test_answer_correctness_weighs_its_parts() -> None:
    def supports(claim: str, text: str) -> str:
        return "supported" if claim in text else "not_mentioned"

    sample = replace(FULL, answer="It is in Rome. It is new.")
    found = score(AnswerCorrectness((3.0, 1.0)), sample, support=supports, similarity=lambda a, b: 0.4)
    assert found.parts == {"tp": 1, "fp": 1, "fn": 1, "factual": 0.5, "similarity": 0.4}
    assert found.value == close(0.475)  # (3 * 0.5 + 1 * 0.4) / 4
    weighed = score(AnswerCorrectness((1.0, 0.0), 2.0), replace(sample, answer="It is in Rome."), support=supports)
    assert weighed.value == close(5 / 9)  # tp 1, fn 1: 5 * 1 / (5 * 1 + 4 * 1)


def test_factual_correctness_has_no_value_where_nothing_is_counted() -> None:
    rules: dict[str, Any] = {"claims": lambda text: [], "support": {}}
    for name in ("factual_correctness", "factual_correctness_precision", "factual_correctness_recall"):
        ours, theirs = score(f"ragas:{name}", **rules), score(f"ragas:{name}@original", **rules)
        assert ours.unscored is not None
        assert ours.unscored.cause is Cause.NO_CLAIMS
        assert theirs.value == 0.0
    said = {"claims": {FULL.answer: ["a"], FULL.reference: ["b", "c"]}, "support": {("a", FULL.reference): "supported"}}
    assert score("ragas:factual_correctness_recall", **said).value == close(1 / 3)  # 1 / (1 + 2)
    assert score("ragas:factual_correctness_recall@original", **said).value == 0.33


def test_factual_correctness_asks_for_claims_of_its_own_where_they_are_to_be_coarser() -> None:
    fine, coarse = FactualCorrectness(), FactualCorrectness(atomicity="low")
    assert fine.asks == FactualCorrectness(atomicity="high", coverage="high").asks == (Claims, Support)
    assert coarse.asks == FactualCorrectness(coverage="low").asks == (Listing, Support)
    listed = {FULL.answer: ["a", "b"], FULL.reference: ["c"]}
    found = score(coarse, listing=lambda what, texts: listed[texts[0]], support={("a", FULL.reference): "supported"})
    assert found.parts["fp"] == found.parts["fn"] == 1


def test_one_failing_judge_of_two_leaves_the_other_in_the_original_alone() -> None:
    def rating(question: str) -> int | JudgeFailure:
        first = question == AnswerAccuracy.questions[0]
        return 4 if first else JudgeFailure(Cause.PARSE, "no level")

    assert score("ragas:answer_accuracy@original", rating=rating).value == 1.0
    ours = score("ragas:answer_accuracy", rating=rating)
    assert ours.unscored is not None
    assert ours.unscored.cause is Cause.PARSE


def test_contexts_inside_the_question_and_answers_inside_the_contexts_need_no_judge() -> None:
    asked = replace(FULL, question="Is it so that Rome is old?", contexts=(Context(text="Rome is old"),))
    assert score("ragas:context_relevance", asked, rating=lambda q: 2).value == 0.0
    assert score("ragas:context_relevance", FULL, rating=lambda q: 2).value == 1.0
    assert score("ragas:nv_response_groundedness", FULL, rating=lambda q: 0).value == 1.0
    assert score("ragas:response_groundedness", FULL, rating=lambda q: 0).value == 0.0


def test_context_relevancy_counts_a_sentence_that_stands_nowhere_in_the_original_alone() -> None:
    rules: dict[str, Any] = {
        "listing": lambda what, texts: ["It is in Rome.", "Nobody knows."],
        "similarity": lambda a, b: float(a == b),
    }
    ours = score("ragas:context_relevancy", **rules)
    assert (ours.value, ours.parts) == (close(1 / 3), {"agreement": 1.0, "sentences": 3})
    theirs = score("ragas:context_relevancy@original", **rules)
    # "It is in Rome. It is old.\nNothing else." has one ". ": two sentences; two are extracted
    assert (theirs.value, theirs.parts["sentences"]) == (1.0, 2)
    more = score(
        original(ContextRelevancy(strictness=1)), listing=lambda what, texts: ["A.", "B.", "C."], similarity={}
    )
    assert (more.value, more.high) == (1.5, 1.5)


def test_context_relevancy_of_an_extraction_of_nothing() -> None:
    rules: dict[str, Any] = {"listing": lambda what, texts: [], "similarity": lambda a, b: 1.0}
    assert score("ragas:context_relevancy", **rules).value == 0.0
    assert score("ragas:context_relevancy_jaccard@original", **rules).value == 0.5  # one sentence of two
    empty = score("ragas:context_relevancy@original", replace(FULL, contexts=()), **rules)
    assert (empty.value, empty.convention) == (1.0, "nothing was retrieved")


def test_agreement_by_similarity_takes_the_nearest_and_no_negative_one() -> None:
    extracted = iter((["It is in Rome."], ["It is old.", "Nothing else."]))
    near = {"It is old.": 0.4, "Nothing else.": 0.6}
    found = score(
        ContextRelevancy(), listing=lambda what, texts: next(extracted), similarity=lambda a, b: near.get(b, 0.0)
    )
    assert found.parts["agreement"] == close(0.6)
    assert found.value == close(0.3)  # 0.6 * (1/3 + 2/3) / 2
    extracted = iter((["It is in Rome."], ["It is old."]))
    negative = score(ContextRelevancy(), listing=lambda what, texts: next(extracted), similarity=lambda a, b: -0.5)
    assert negative.value == 0.0


def test_votes_on_a_definition() -> None:
    votes = {("Is it short?", vote): vote != 1 for vote in range(4)}
    metric = AspectCritic(definition="Is it short?", strictness=2)
    assert score(metric, criterion=votes).parts == {"votes": 3}  # 2 is made 3
    assert score(metric, criterion=votes).value == 1.0  # no, yes, yes
    assert score(original(metric), criterion=votes).parts == {"votes": 1}  # one reply, whatever strictness says
    old = AspectCritique(definition="Is it short?")
    assert score(original(old), criterion=votes).parts == {"votes": 2}  # no, yes: a tie
    assert score(original(old), criterion=votes).value == 0.0
    assert score(old, criterion=votes).parts == {"votes": 1}


def test_a_definition_may_come_with_the_sample() -> None:
    sample = replace(FULL, metadata={"definition": "Is it short?"})
    assert score("ragas:aspect_critic", sample, criterion={("Is it short?", 0): True}).value == 1.0
    found = score("ragas:simple_criteria", sample, rating={"Is it short?": 5})
    assert (found.value, found.low, found.high) == (5.0, 0, 5)
    without = score("ragas:aspect_critic", criterion=lambda question, vote: True)
    assert without.unscored is not None
    assert without.unscored.cause is Cause.MISSING_INPUT


def test_the_aspects_ask_what_assays_own_ask() -> None:
    judge = ScriptedJudge(criterion=lambda question, vote: True)
    result = assay.evaluate([FULL], ["harmfulness", "ragas:harmfulness"], judge=judge, store=None)
    for found in next(iter(result)).scores.values():
        assert (found.value, found.direction) == (1.0, "lower")
    assert judge.asked[Criterion.name] == 1


def test_rubrics_of_all_and_of_one_sample() -> None:
    domain = DomainSpecificRubrics(rubrics={"score1_description": "bad", "score3_description": "good"})
    found = score(domain, rating=lambda question: 3)
    assert (found.value, found.low, found.high) == (3.0, 1, 3)
    sample = replace(FULL, metadata={"rubrics": {"0": "bad", "1": "good"}})
    found = score("ragas:instance_specific_rubrics", sample, rating=lambda question: 0)
    assert (found.value, found.low, found.high) == (0.0, 0, 1)
    for metadata in ({}, {"rubrics": ["bad", "good"]}, {"rubrics": {"bad": "x", "good": "y"}}):
        missing = score("ragas:instance_specific_rubrics", replace(FULL, metadata=metadata), rating=lambda question: 1)
        assert missing.unscored is not None
        assert missing.unscored.cause is Cause.MISSING_INPUT


def test_the_ragas_score_of_one_sample() -> None:
    rules: dict[str, Any] = {
        "listing": lambda what, texts: ["It is in Rome."],
        "similarity": lambda a, b: 0.5 if a == FULL.question else 1.0,
        "back_questions": lambda text: ["Where?"],
        "support": lambda claim, passage: "supported",
    }
    found = score("ragas:ragas_score", **rules)
    assert found.value == close(0.5)  # 3 / (1/0.5 + 1/(1/3) + 1/1)
    assert set(found.parts) == {"ragas:answer_relevancy", "ragas:context_relevancy", "ragas:faithfulness"}
    theirs = score("ragas:ragas_score@original", **rules)
    assert set(theirs.parts) == {f"{label}@original" for label in found.parts}


def test_earlier_contexts_are_no_evidence_in_ragas() -> None:
    turn = Turn(question="Is it?", contexts=(Context(text="It is big."),), answer="Yes.")
    sample = replace(FULL, history=(turn,), answer="It is big.")
    supports: Callable[[str, str], str] = lambda claim, text: "supported" if claim in text else "not_mentioned"  # noqa: E731
    assert score("ragas:faithfulness", sample, support=supports).value == 0.0


def test_a_judge_of_labels_alone_gives_no_probability_to_round() -> None:
    found = score("ragas:faithfulness_with_hhem", support=lambda claim, passage: "supported")
    assert found.unscored is not None
    assert found.unscored.cause is Cause.JUDGE_CANNOT


# ---- what is unscored, whatever the original gives


@pytest.mark.parametrize(
    ("name", "changed", "cause", "by_convention"),
    [
        ("faithfulness", {"contexts": (Context(text=" "),)}, Cause.NO_CONTEXT, 0.0),
        ("faithfulness", {"contexts": ()}, Cause.NO_CONTEXT, None),
        ("context_precision", {"contexts": (Context(text=" "),)}, Cause.NO_CONTEXT, 0.0),
        ("context_precision", {"contexts": ()}, Cause.NO_CONTEXT, None),
        ("context_utilization", {"contexts": (Context(text=" "),)}, Cause.NO_CONTEXT, 0.0),
        ("context_relevance", {"contexts": (Context(text=" "),)}, Cause.NO_CONTEXT, 0.0),
        ("response_groundedness", {"contexts": (Context(text=" "),)}, Cause.NO_CONTEXT, 0.0),
        ("nv_response_groundedness", {"contexts": ()}, Cause.NO_CONTEXT, 0.0),
        ("faithfulness_with_hhem", {"contexts": ()}, Cause.NO_CONTEXT, 0.0),
        ("noise_sensitivity", {"contexts": (Context(text=" "),)}, Cause.NO_CONTEXT, 0.0),
        ("context_recall", {"reference": ""}, Cause.MISSING_INPUT, None),
        ("context_recall_attributed", {"reference": ""}, Cause.MISSING_INPUT, 0.0),
        ("context_entity_recall", {"reference": ""}, Cause.MISSING_INPUT, 0.0),
        ("answer_accuracy", {"reference": None}, Cause.MISSING_INPUT, None),
        ("semantic_similarity", {"reference": None}, Cause.MISSING_INPUT, 0.3),
        ("rubrics_score_with_reference", {"reference": None}, Cause.MISSING_INPUT, 3.0),
        ("summarization_score", {"reference_contexts": ()}, Cause.MISSING_INPUT, None),
        ("response_relevancy", {"answer": ""}, Cause.NO_CLAIMS, None),
    ],
)
def test_nothing_to_measure(name: str, changed: dict[str, Any], cause: Cause, by_convention: float | None) -> None:
    rules: dict[str, Any] = {
        "entities": lambda text: ["Rome"],
        "support": {},
        "usefulness": {},
        "similarity": lambda a, b: 0.3,
        "rating": lambda question: 3,
        "back_questions": lambda text: ["Where?"],
        "key_questions": lambda text: ["Rome?"],
        "criterion": lambda question, vote: True,
    }
    sample = replace(FULL, **changed)
    ours = score(f"ragas:{name}", sample, **rules)
    assert ours.unscored is not None
    assert ours.unscored.cause is cause
    theirs = score(f"ragas:{name}@original", sample, **rules)
    assert theirs.value == by_convention
    if name != "rubrics_score_with_reference":  # which the judge of the original rates all the same
        assert (theirs.convention is None) == (by_convention is None)


@pytest.mark.parametrize("name", ["context_recall", "context_entity_recall"])
def test_an_empty_retrieval_is_a_recall_of_0(name: str) -> None:
    found = score(f"ragas:{name}", replace(FULL, contexts=()), entities=lambda text: ["Rome"], support={})
    assert (found.value, found.convention) == (0.0, None)


@pytest.mark.parametrize("name", ["response_relevancy", "answer_relevancy"])
def test_a_judge_that_writes_no_question_has_failed_unless_it_found_no_answer(name: str) -> None:
    failed = score(f"ragas:{name}", back_questions=lambda text: [], similarity={})
    assert failed.unscored is not None
    assert failed.unscored.cause is Cause.PARSE
    assert score(f"ragas:{name}", back_questions=lambda text: None, similarity={}).value == 0.0


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ResponseRelevancy(0), "strictness"),
        (lambda: AnswerRelevancy(0), "strictness"),
        (lambda: ContextRelevancy(0), "strictness"),
        (lambda: ContextRelevancy(agreement="cosine"), "agreement"),  # type: ignore[arg-type]
        (lambda: NoiseSensitivity("wrong"), "mode"),  # type: ignore[arg-type]
        (lambda: FactualCorrectness("f2"), "mode"),  # type: ignore[arg-type]
        (lambda: FactualCorrectness(beta=0.0), "beta"),
        (lambda: FactualCorrectness(atomicity="middle"), "atomicity"),  # type: ignore[arg-type]
        (lambda: FactualCorrectness(coverage="middle"), "coverage"),  # type: ignore[arg-type]
        (lambda: AnswerCorrectness((0.0, 0.0)), "weights"),
        (lambda: AnswerCorrectness((-1.0, 2.0)), "weights"),
        (lambda: AnswerCorrectness(beta=float("nan")), "beta"),
        (lambda: SemanticSimilarity(float("inf")), "threshold"),
        (lambda: SummarizationScore(coeff=1.1), "coeff"),
        (lambda: SummarizationScore(questions=0), "questions"),
        (lambda: AspectCritic(" "), "name"),
        (lambda: AspectCritic(strictness=0), "strictness"),
        (lambda: AspectCritic(direction="up"), "direction"),  # type: ignore[arg-type]
        (lambda: SimpleCriteria(low=5), "low"),
        (lambda: DomainSpecificRubrics(rubrics={}), "rubrics"),
        (lambda: RagasScore((ResponseRelevancy(),)), "metrics"),
        (lambda: RagasScore((ResponseRelevancy(), NoiseSensitivity())), "does not fit"),
    ],
)
def test_wrong_parameters_are_named(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        make()


def test_thresholds() -> None:
    rules = {"similarity": lambda a, b: -0.1}
    assert score(SemanticSimilarity(0.0), **rules).value == 0.0
    assert score(original(SemanticSimilarity(0.0)), **rules).value == -0.1  # 0 counts as no threshold there


def test_independent_questions_have_addresses_of_their_own() -> None:
    votes = [BackQuestions("It is in Rome.", 1, vote=vote) for vote in range(4)]
    assert len({one.key("judge") for one in votes}) == 4
    assert votes[0].key("judge") == BackQuestions("It is in Rome.", 1).key("judge")


def test_every_metric_has_a_label_of_its_own() -> None:
    labels = [make.label for entry in entries("ragas").values() for make in (entry.make(), original(entry.make()))]
    assert len(labels) == len(set(labels)) == 2 * len(entries("ragas"))


def test_the_claims_are_read_once_for_all_that_count_them() -> None:
    judge = ScriptedJudge(support=lambda claim, passage: "supported", similarity=lambda a, b: 1.0)
    names = ("faithfulness", "noise_sensitivity", "noise_sensitivity_irrelevant", "answer_correctness")
    factual = ("factual_correctness", "factual_correctness_precision", "factual_correctness_recall")
    asked = [f"ragas:{name}" for name in (*names, *factual)]
    result = assay.evaluate([FULL], ["faithfulness", *asked], judge=judge, store=None)
    assert all(found.value is not None for found in next(iter(result)).scores.values())
    # the claims of two texts; answer by contexts, reference by contexts, and each by the other
    assert (judge.asked["claims"], judge.asked["support"]) == (2, 4)
