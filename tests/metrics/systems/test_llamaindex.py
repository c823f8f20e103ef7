"""LlamaIndex' numbers on 48 samples and 46 rankings, and ours; its formulas by tables."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Any

import pytest

from assay.errors import Cause, InputError
from assay.judges.protocol import Answer
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.base import Metric
from assay.metrics.llamaindex import answer_relevancy, context_relevancy, faithfulness, guideline, relevancy
from assay.metrics.llamaindex.correctness import Correctness
from assay.metrics.llamaindex.guideline import Guideline
from assay.metrics.llamaindex.pairwise import Pairwise, settled, settled_as_there
from assay.metrics.llamaindex.retrieval.average_precision import average_precision
from assay.metrics.llamaindex.retrieval.hit_rate import granular_hit_rate, hit_rate
from assay.metrics.llamaindex.retrieval.mrr import MRR, reciprocal_ranks
from assay.metrics.llamaindex.retrieval.ndcg import NDCG, GradedNDCG, discounted, gain, ndcg
from assay.metrics.llamaindex.retrieval.precision import Precision, precision
from assay.metrics.llamaindex.retrieval.recall import recall
from assay.metrics.llamaindex.retrieval.reranking import RerankRelevancy
from assay.metrics.llamaindex.semantic_similarity import SemanticSimilarity, similarity
from assay.metrics.systems import named
from assay.prompts import Question
from assay.prompts.base import JudgePrompt
from assay.records import Context, Sample, Score, Usage, Verdict
from tests.metrics.systems.golden import CASES, agrees, golden, judge_of, sample_of, worlds

from tests.differential import answers  # isort: skip  # needs `worlds`, which golden puts on the path

GOLDEN = golden("llamaindex")["values"]
RANKINGS = {ranking.id: ranking for ranking in answers.rankings()}
BY_ID = ("hit_rate", "hit_rate_granular", "mrr", "mrr_granular", "precision", "recall", "ap", "ndcg")
BY_JUDGE = (
    *("faithfulness", "relevancy", "answer_relevancy", "context_relevancy", "correctness", "guideline"),
    *("semantic_similarity", "semantic_similarity_dot_product", "semantic_similarity_euclidean"),
)


def judge_for(case: worlds.Case) -> ScriptedJudge:
    told = answers.told(case)
    asked = {
        faithfulness.ASKED: told["faithfulness"],
        relevancy.ASKED: told["relevancy"],
        guideline.ASKED: told["guideline"],
        **dict(zip(answer_relevancy.ASKED, (told["subject"], told["focus"]), strict=True)),
    }
    levels = {context_relevancy.SUBJECT: told["subject_level"], context_relevancy.ANSWERING: told["answering_level"]}
    return judge_of(
        case,
        criterion=lambda question, vote: asked[question],
        rating=lambda question: levels.get(question, told["level"]),
    )


def given(metric: Metric | str, sample: Sample, judge: Any = None) -> Score:
    chosen = named(metric) if isinstance(metric, str) else metric
    return asyncio.run(chosen.score(sample, judge or ScriptedJudge()))


@pytest.mark.parametrize("metric", BY_JUDGE)
def test_every_number_of_its_evaluators_is_ours(metric: str) -> None:
    assert len(GOLDEN[metric]) >= 40
    for case, expected in GOLDEN[metric].items():
        agrees(given(f"llamaindex:{metric}@original", sample_of(CASES[case]), judge_for(CASES[case])), expected)


@pytest.mark.parametrize("metric", ["correctness", *(name for name in BY_JUDGE if name.startswith("semantic"))])
def test_what_passes_there_passes_here(metric: str) -> None:
    for case, expected in GOLDEN[f"{metric} passing"].items():
        score = given(f"llamaindex:{metric}", sample_of(CASES[case]), judge_for(CASES[case]))
        assert score.parts["passing"] == expected


def ranked(ranking: answers.Ranking) -> Sample:
    return Sample(
        contexts=tuple(Context(text="", id=one) for one in ranking.retrieved),
        reference_contexts=tuple(Context(text="", id=one) for one in ranking.expected),
    )


@pytest.mark.parametrize("metric", BY_ID)
def test_every_number_of_its_retrieval_metrics_is_ours(metric: str) -> None:
    assert len(GOLDEN[metric]) >= 40
    for case, expected in GOLDEN[metric].items():
        agrees(given(f"llamaindex:{metric}@original", ranked(RANKINGS[case])), expected)


def test_the_gain_mode_of_the_original_changes_nothing() -> None:
    assert GOLDEN["ndcg exponential"] == GOLDEN["ndcg"]


class Comparing(ScriptedJudge):
    """Votes as the world does, by the order in which the two answers stand."""

    def __init__(self, case: worlds.Case) -> None:
        super().__init__(question=lambda question: "tie")
        self.case = case

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> list[Answer]:
        told = answers.told(self.case)
        made = []
        for prompt in prompts:
            assert isinstance(prompt, Question)
            texts = dict(prompt.material)
            vote = told["vote" if texts["FIRST ANSWER"] == self.case.answer else "flipped_vote"]
            made.append(Answer(judgement=Verdict(label=vote), usage=Usage(calls=1)))
        return made


@pytest.mark.parametrize("consensus", [True, False])
def test_every_comparison_is_ours(consensus: bool) -> None:
    values = GOLDEN["pairwise" if consensus else "pairwise without consensus"]
    assert len(values) >= 40
    for name, expected in values.items():
        case = CASES[name]
        sample = sample_of(case, metadata={"second_response": case.reference})
        metric = Pairwise(consensus=consensus, profile="original")
        agrees(given(metric, sample, Comparing(case)), expected)


@pytest.mark.parametrize(
    ("original", "flipped", "value", "there"),
    [
        (1.0, 0.0, 1.0, 1.0),  # both orders for the answer
        (0.0, 1.0, 0.0, 0.0),  # both for the other
        (1.0, 1.0, 0.5, 0.5),  # whichever stood first
        (0.0, 0.0, 0.5, 0.5),
        (0.5, 0.5, 0.5, 0.5),
        (1.0, 0.5, 1.0, 1.0),
        (0.0, 0.5, 0.0, 0.0),
        (0.5, 0.0, 1.0, 0.0),  # one vote for the answer, and the original's number is that of the flipped reading
        (0.5, 1.0, 0.0, 1.0),
    ],
)
def test_two_votes_are_settled(original: float, flipped: float, value: float, there: float) -> None:
    assert settled(original, flipped) == value
    assert settled_as_there(original, flipped) == there


def test_a_comparison_needs_a_second_answer() -> None:
    score = given(
        "llamaindex:pairwise", Sample(question="Q?", answer="A."), ScriptedJudge(question=lambda question: "tie")
    )
    assert score.error is not None
    assert "second_response" in score.error.message


def test_points_by_the_points_there_are() -> None:
    yes, no = Verdict(label="yes"), Verdict(label="no")
    assert [answer_relevancy.points_share(one) for one in ((yes, yes), (yes, no), (no, no))] == [1.0, 0.5, 0.0]
    # (2 + 1) / 4
    assert context_relevancy.points_share(2, 1) == 0.75
    assert context_relevancy.points_share(2, 2) == 1.0


@pytest.mark.parametrize(("level", "passes"), [(3, 0.0), (4, 1.0), (5, 1.0)])
def test_correctness_passes_from_four_on(level: int, passes: float) -> None:
    score = given("llamaindex:correctness", Sample(question="Q?", answer="A."), ScriptedJudge(rating=lambda q: level))
    assert (score.value, score.low, score.high) == (level, 1.0, 5.0)
    assert score.parts["passing"] == passes


def test_similarities_of_vectors_of_length_one() -> None:
    # a = (1, 0), b = (0.6, 0.8): a b = 0.6, |a - b| = |(0.4, -0.8)| = sqrt(0.16 + 0.64)
    assert similarity(0.6, "cosine") == similarity(0.6, "dot_product") == 0.6
    assert similarity(0.6, "euclidean") == pytest.approx(-math.sqrt(0.8))
    assert similarity(-1.0, "euclidean") == -2.0
    assert similarity(1.0, "euclidean") == 0.0


@pytest.mark.parametrize(("cosine", "passes"), [(0.79, 0.0), (0.8, 1.0)])
def test_similarity_passes_from_eight_tenths_on(cosine: float, passes: float) -> None:
    sample = Sample(answer="One.", reference="Two.")
    judge = ScriptedJudge(similarity=lambda text, other: cosine)
    assert given("llamaindex:semantic_similarity", sample, judge).parts["passing"] == passes


@pytest.mark.parametrize(
    ("retrieved", "expected", "values"),
    [
        # hit, granular, 1 / rank, precision, recall, average precision, ndcg
        ("abcd", "bd", (1.0, 1.0, 0.5, 0.5, 1.0, (1 / 2 + 2 / 4) / 2, None)),
        ("abcd", "xb", (1.0, 0.5, 0.5, 0.25, 0.5, 1 / 4, None)),
        ("ab", "x", (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)),
        ("xab", "xy", (1.0, 0.5, 1.0, 1 / 3, 0.5, 0.5, 1 / (1 + 1 / math.log2(3)))),
    ],
)
def test_rankings_worked_by_hand(retrieved: str, expected: str, values: tuple[float | None, ...]) -> None:
    found = (
        hit_rate(retrieved, expected),
        granular_hit_rate(retrieved, expected),
        next(iter(reciprocal_ranks(retrieved, expected)), 0.0),
        precision(retrieved, expected),
        recall(retrieved, expected),
        average_precision(retrieved, expected),
    )
    assert found == pytest.approx(values[:6])
    if values[6] is not None:
        assert ndcg(retrieved, expected) == pytest.approx(values[6])


def test_all_reciprocal_ranks() -> None:
    assert reciprocal_ranks("axbx", "xy") == [1 / 2, 1 / 4]
    score = given("llamaindex:mrr_granular", ranked(answers.Ranking("", tuple("axby"), ("x", "y"))))
    assert score.value == pytest.approx((1 / 2 + 1 / 4) / 2)


def test_ndcg_discounts_by_rank() -> None:
    # relevant at ranks 2 and 3 of three; the best order has them at 1 and 2
    expected = (1 / math.log2(3) + 1 / math.log2(4)) / (1 / math.log2(2) + 1 / math.log2(3))
    assert ndcg("abc", "bc") == pytest.approx(expected)
    assert discounted([3.0, 1.0]) == pytest.approx(3 + 1 / math.log2(3))
    assert (gain(3, "linear"), gain(3, "exponential"), gain(0, "exponential")) == (3, 7, 0)


@pytest.mark.parametrize(("mode", "gains"), [("linear", (1, 3, 2)), ("exponential", (1, 7, 3))])
def test_graded_relevance_is_read_from_the_metadata(mode: Any, gains: tuple[float, float, float]) -> None:
    sample = Sample(
        contexts=tuple(Context(text="", id=one) for one in ("a", "b", "x")),
        metadata={"relevance": {"a": 1, "b": 3, "c": 2}},
    )
    low, high, middle = gains
    ideal = high + middle / math.log2(3) + low / 2
    expected = (low + high / math.log2(3)) / ideal
    assert given(GradedNDCG(mode=mode), sample).value == pytest.approx(expected)
    # of the first alone, against the best first
    assert given(GradedNDCG(mode=mode, k=1), sample).value == pytest.approx(low / high)


@pytest.mark.parametrize(
    ("relevance", "cause"),
    [({"a": -1}, Cause.MISSING_INPUT), ({"a": 0}, Cause.NOT_APPLICABLE), ({"a": "high"}, Cause.MISSING_INPUT)],
)
def test_grades_that_measure_nothing(relevance: dict[str, Any], cause: Cause) -> None:
    sample = Sample(contexts=(Context(text="", id="a"),), metadata={"relevance": relevance})
    score = given("llamaindex:ndcg_graded", sample)
    assert score.error is not None
    assert score.error.cause is cause


def test_the_first_k_alone() -> None:
    sample = ranked(answers.Ranking("", ("a", "x", "y"), ("x", "y", "z")))
    assert given(Precision(k=2), sample).value == 0.5
    assert given(MRR(k=1), sample).value == 0.0
    assert given(Precision(k=2), sample).metric == "llamaindex:precision_at_2"
    # of two ranks the best that can be is two of the three expected
    assert given(NDCG(k=2), sample).value == pytest.approx((1 / math.log2(3)) / (1 + 1 / math.log2(3)))


def test_a_passage_retrieved_twice_takes_no_value_above_one() -> None:
    sample = ranked(RANKINGS["retrieved-twice"])
    for name in BY_ID:
        value = given(f"llamaindex:{name}", sample).value
        assert value is not None
        assert 0 <= value <= 1, name
    assert given("llamaindex:hit_rate_granular@original", sample).value == 2.0


@pytest.mark.parametrize(
    ("retrieved", "expected", "cause"),
    [((), ("p1",), Cause.NO_CONTEXT), (("p1",), (), Cause.MISSING_INPUT), (("p1", None), ("p1",), Cause.MISSING_INPUT)],
)
def test_ids_that_measure_nothing(retrieved: Any, expected: Any, cause: Cause) -> None:
    score = given("llamaindex:mrr", ranked(answers.Ranking("", retrieved, expected)))
    assert score.error is not None
    assert score.error.cause is cause


@pytest.mark.parametrize(("aggregate", "value"), [("max", 1.0), ("median", 0.0), ("mean", 1 / 3)])
def test_relevance_of_passages_is_aggregated(aggregate: Any, value: float) -> None:
    sample = Sample(question="Q?", contexts=tuple(Context(text=text) for text in ("a", "b", "c")))
    judge = ScriptedJudge(usefulness=lambda question, passage: passage == "b")
    assert given(RerankRelevancy(aggregate), sample, judge).value == pytest.approx(value)


@pytest.mark.parametrize("name", ["faithfulness", "relevancy"])
def test_no_contexts_are_no_number(name: str) -> None:
    sample, judge = sample_of(CASES["nothing-retrieved"]), judge_for(CASES["nothing-retrieved"])
    score = given(f"llamaindex:{name}", sample, judge)
    assert score.error is not None
    assert score.error.cause is Cause.NO_CONTEXT
    original = given(f"llamaindex:{name}@original", sample, judge)
    assert (original.value, original.convention) == (0.0, "nothing was retrieved")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Correctness(threshold=0.5), lambda: Guideline(" "), lambda: SemanticSimilarity(math.nan),
        lambda: MRR(k=0), lambda: GradedNDCG(mode="square"), lambda: RerankRelevancy("min"),
    ],
)  # fmt: skip
def test_parameters_that_mean_nothing_are_refused(make: Any) -> None:
    with pytest.raises(InputError):
        make()


def test_what_stands_beside_its_numbers() -> None:
    sample = Sample(question="Where?", answer="In Rome.", reference="In Rome.")
    votes = iter((True, False))
    half = given("llamaindex:answer_relevancy", sample, ScriptedJudge(criterion=lambda q, v: next(votes)))
    assert (half.value, half.parts) == (0.5, {"points": 1.0})  # one of two points
    same = given("llamaindex:semantic_similarity", sample, ScriptedJudge(similarity=lambda a, b: 0.5))
    assert (same.value, same.parts["identical"]) == (1.0, 1.0)


def test_thresholds_reach_from_one_end_of_the_scale_to_the_other() -> None:
    assert [Correctness(threshold).threshold for threshold in (1.0, 5.0)] == [1.0, 5.0]
    for beyond in (0.9, 5.1):
        with pytest.raises(InputError, match="threshold"):
            Correctness(beyond)


@pytest.mark.parametrize(("grade", "expected"), [(3, 1.0), (math.inf, None), (-1, None)])
def test_grades_are_numbers_from_0_and_some_may_be_0(grade: float, expected: float | None) -> None:
    sample = Sample(contexts=(Context(text="", id="a"),), metadata={"relevance": {"a": grade, "b": 0}})
    assert given("llamaindex:ndcg_graded", sample).value == expected  # 3 / log2(2), which is the best order's
