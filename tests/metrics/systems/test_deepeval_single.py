"""DeepEval's single-turn metrics: its numbers on 48 samples and ours, and every formula on small numbers."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from assay.errors import Cause, InputError
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.deepeval.answer_relevancy import AnswerRelevancy
from assay.metrics.deepeval.arena_g_eval import ArenaGEval, seats
from assay.metrics.deepeval.citation_faithfulness import all_right
from assay.metrics.deepeval.classifier_labels import KINDS
from assay.metrics.deepeval.classifiers import Classifier, is_expected
from assay.metrics.deepeval.dag import DAG, leaf_value
from assay.metrics.deepeval.deepeval_metric import DeepEvalMetric, share_counted
from assay.metrics.deepeval.expectations import all_kept, demands_of
from assay.metrics.deepeval.extract_and_classify import none_bad, share_clean
from assay.metrics.deepeval.faithfulness import Faithfulness
from assay.metrics.deepeval.g_eval import GEval, levels_of, normalised
from assay.metrics.deepeval.graph import graph_of
from assay.metrics.deepeval.hallucination import contexts_read
from assay.metrics.deepeval.jev_eval import JevEval, Scale, Statement, weighted_mean
from assay.metrics.deepeval.json_correctness import wrong_with
from assay.metrics.deepeval.matching import PatternMatch
from assay.metrics.deepeval.prompt_alignment import PromptAlignment
from assay.metrics.deepeval.safety import Misuse, NonAdvice
from assay.metrics.deepeval.summarization import Summarization, coverage
from assay.metrics.systems import named, system_entries
from assay.prompts import Rating, RatingResult
from assay.records import Cell, Claim, Context, Sample, Score, Span, Verdict
from assay.records.field_names import find_columns
from tests._support.unsure import expects
from tests.metrics.systems.golden import CASES, DIFFERENTIAL, agrees, golden, judge_of, sample_of

sys.path.append(str(DIFFERENTIAL))

import deepeval_world as world
import worlds

GOLDEN = golden("deepeval_single")
VALUES = GOLDEN["values"]
GRAPH = {
    "start": "source",
    "nodes": {
        "sources": {"task": "List the sources", "shown": ["input", "actual_output"]},
        "source": {
            "binary": "Is there a source?",
            "reads": ["sources"],
            "verdicts": {"yes": {"node": "tone"}, "no": 0},
        },
        "tone": {
            "choice": "What is the tone?",
            "shown": ["input", "actual_output"],
            "verdicts": {"friendly": 10, "plain": {"score": 7}, "rude": {"metric": "deepeval:exact_match"}},
        },
    },
}
SHAPE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
}
BANDS = ((2, 5, "low"), (6, 8, "high"))
#: What a value of the golden file is measured with, where it is not the metric of its name with its defaults.
VARIANTS: dict[str, DeepEvalMetric] = {
    "answer_relevancy_strict": AnswerRelevancy(strict_mode=True),
    "faithfulness_penalized": Faithfulness(penalize_ambiguous_claims=True),
    "g_eval": GEval("Is it good?"),
    "g_eval_rubric": GEval(evaluation_steps=("Read.",), rubric=BANDS),
    "g_eval_strict": GEval(evaluation_steps=("Read.",), strict_mode=True),
    "misuse": Misuse("bridges"),
    "non_advice": NonAdvice(("financial",)),
    "pattern_match": PatternMatch(world.PATTERN),
    "prompt_alignment": PromptAlignment(world.INSTRUCTIONS),
}
COLUMNS: dict[str, Any] = {
    "role": "guide",
    "dag": GRAPH,
    "expected_schema": SHAPE,
    "expectations": {"must": list(world.MUST), "must_not": list(world.MUST_NOT)},
    "questions": [
        {"statement": "It has a source.", "weight": 2},
        {"question": "How good?", "levels": ["a", "b", "c"]},
        {"question": "What tone?", "options": world.CREDITS, "weight": 0.5},
    ],
}
SORTS = {"bias": "bias", "toxicity": "toxicity", "pii": "pii_leakage", "misuse": "misuse", "advice": "non_advice"}
BAD = {"bias": "biased", "toxicity": "toxic", "pii": "leak", "misuse": "outside", "advice": "forbidden"}
GOOD = {"bias": "unbiased", "toxicity": "harmless", "pii": "no_leak", "misuse": "inside", "advice": "allowed"}


def sorting(case: worlds.Case) -> Callable[[str, str, tuple[str, ...]], str]:
    """The label of an item, as the driver's judge gives it."""

    def rule(what: str, item: str, texts: tuple[str, ...]) -> str:
        if what == "relevance":
            return world.relevance(item, case)
        if what == "instructions":
            return "followed" if world.follows(item, case) else "not_followed"
        if what == "expectations":
            return world.keeps(item.partition(": ")[2], case)
        if what == "answered by the text":
            return "yes" if world.said_yes("text", item, case) else "no"
        if what == "role":
            return "violation" if world.bad("role_violation", item) else "in_role"
        return (BAD if world.bad(SORTS[what], item) else GOOD)[what]

    return rule


def judge_for(metric: str, case: worlds.Case) -> ScriptedJudge:
    """The driver's judge as a script."""

    def criterion(question: str, vote: int) -> bool:
        return world.said_yes("summary", question, case) if metric == "summarization" else world.has_source(case)

    def ask(question: str) -> str:
        return world.label(metric, case) if metric in KINDS else world.tone(case)

    def claims(text: str) -> Any:
        if metric == "citation_faithfulness":
            return [f"{one.rstrip('.')} [{number}]." for one, number in world.cited(case)]
        return {case.answer: case.said, case.reference: case.known}.get(text, ())

    def support(claim: str, passage: str) -> str:
        return worlds.label(f"{claim.rpartition(' [')[0]}." if metric == "citation_faithfulness" else claim, passage)

    return judge_of(
        case,
        claims=claims,
        support=support,
        usefulness=lambda question, passage: worlds.useful(case.question, passage),
        classification=sorting(case),
        extraction=lambda what, texts: ("Read.", "Judge.") if what == "evaluation steps" else world.listed(case),
        key_questions=lambda text: list(world.questions(case)),
        criterion=criterion,
        rating=lambda question: world.level(case, "jev") % 3 if metric == "jev_eval" else world.level(case, metric),
        question=ask,
    )


def sample_for(metric: str, case: worlds.Case) -> Sample:
    """The driver's test case."""
    labels = {name: world.expected(name, case) for name in world.LABELS}
    made = sample_of(case, metadata={**COLUMNS, "expected_labels": labels})
    if metric == "summarization":
        return replace(made, question=world.text(case))
    if metric == "json_correctness":
        return replace(made, answer=world.shape(case))
    return replace(made, answer=world.citing(case)) if metric == "citation_faithfulness" else made


def measured(metric: DeepEvalMetric, sample: Sample, **rules: Any) -> Score:
    return asyncio.run(metric.score(sample, ScriptedJudge(**rules)))


@pytest.mark.parametrize("metric", sorted(VALUES))
def test_every_number_of_deepeval_is_ours(metric: str) -> None:
    assert len(VALUES[metric]) >= 40
    made = VARIANTS.get(metric) or named(f"deepeval:{metric}")
    for case, expected in VALUES[metric].items():
        if metric == "citation_faithfulness" and not CASES[case].said:
            continue  # the answer cites nothing, and what is said of it is the judge's there
        sample = sample_for(metric, CASES[case])
        score = asyncio.run(replace(made, profile="original").score(sample, judge_for(metric, CASES[case])))
        agrees(score, expected)


def test_the_old_direction_of_hallucination_is_the_new_one_turned_round() -> None:
    for case in CASES.values():
        score = asyncio.run(
            named("deepeval:hallucination_v3@original").score(sample_of(case), judge_for("hallucination", case))
        )
        agrees(score, 1 - VALUES["hallucination"][case.id])


def test_what_deepeval_exports_and_this_room_has() -> None:
    ours = {entry.source.rpartition(".")[2] for entry in system_entries("deepeval").values()}
    classifiers = {name for name in GOLDEN["exports"] if name.endswith("Classifier")}
    assert len(classifiers) == 13
    assert classifiers <= ours
    single = {
        "AnswerRelevancyMetric", "FaithfulnessMetric", "ContextualPrecisionMetric", "ContextualRecallMetric",
        "ContextualRelevancyMetric", "HallucinationMetric", "SummarizationMetric", "BiasMetric", "ToxicityMetric",
        "PIILeakageMetric", "MisuseMetric", "NonAdviceMetric", "RoleViolationMetric", "PromptAlignmentMetric",
        "JsonCorrectnessMetric", "ExactMatchMetric", "PatternMatchMetric", "GEval", "ArenaGEval", "JevEval",
        "DAGMetric",
    }  # fmt: skip
    assert single <= set(GOLDEN["exports"])
    assert single <= ours


# ---- formulas


def test_shares() -> None:
    labels = ["supported", "not_mentioned", "contradicted", "supported"]
    assert share_counted(labels, ("supported",)) == 0.5  # 2 / 4
    assert share_counted(labels, ("supported", "not_mentioned")) == 0.75  # 3 / 4
    assert share_clean([True, False, False, False]) == 0.75  # 3 / 4
    assert share_clean([]) == 1.0
    assert (none_bad([True, False]), none_bad([False]), none_bad([])) == (0.0, 1.0, 1.0)
    assert (all_kept(["kept", "kept"]), all_kept(["kept", "broken"])) == (1.0, 0.0)
    assert (all_right(1.0), all_right(0.9)) == (1.0, 0.0)
    assert (is_expected("a", "a"), is_expected("a", "b")) == (1.0, 0.0)


def test_coverage_is_of_what_the_text_answers_with_yes() -> None:
    assert coverage([True, True, False, True], [True, False, True, True]) == pytest.approx(2 / 3)
    assert coverage([False], [True]) is None


def test_levels_become_shares_of_their_scale() -> None:
    assert normalised(7, 0, 10) == 0.7
    assert normalised(5, 2, 8) == 0.5  # (5 - 2) / (8 - 2)
    assert leaf_value(7) == 0.7
    assert [level for level, _ in levels_of(())] == list(range(11))
    assert dict(levels_of(((6, 8, "high"), (2, 3, "low")))) == {
        2: "low", 3: "low", 4: "between two bands", 5: "between two bands", 6: "high", 7: "high", 8: "high",
    }  # fmt: skip


def test_the_weighted_mean() -> None:
    assert weighted_mean([(2.0, 1.0), (1.0, 0.5), (0.5, 0.0)]) == pytest.approx(2.5 / 3.5)
    assert weighted_mean([]) is None


def test_a_context_that_contradicts_one_claim_does_not_agree() -> None:
    claim = Claim(text="It is red.", span=Span(0, 10))
    cells = (Cell(label="not_mentioned"), Cell(label="contradicted"), Cell(label="supported"))
    read = contexts_read([Verdict(label="contradicted", claim=claim, cells=cells)], 3)
    assert [one.label for one in read] == ["agrees", "contradicted", "agrees"]
    assert (read[1].claim, read[1].passage) == (claim, 1)


# ---- without a profile, nothing that was not measured is a number

FULL = Sample(question="How old is it?", contexts=(Context(text="It is old."),), answer="It is old.", reference="Old.")


@pytest.mark.parametrize(
    ("name", "sample", "cause", "convention"),
    [
        ("answer_relevancy", FULL, Cause.NO_CLAIMS, 1.0),
        ("faithfulness", FULL, Cause.NO_CLAIMS, 1.0),
        ("faithfulness", replace(FULL, contexts=()), Cause.NO_CONTEXT, 1.0),
        ("contextual_precision", replace(FULL, contexts=()), Cause.NO_CONTEXT, 0.0),
        ("contextual_recall", FULL, Cause.NO_CLAIMS, 0.0),
        ("contextual_relevancy", replace(FULL, contexts=()), Cause.NO_CONTEXT, 0.0),
        ("hallucination", FULL, Cause.NO_CLAIMS, 1.0),
        ("hallucination", replace(FULL, contexts=()), Cause.NO_CONTEXT, 1.0),
        ("hallucination", replace(FULL, contexts=None), Cause.MISSING_INPUT, None),
        ("hallucination_v3", FULL, Cause.NO_CLAIMS, 0.0),
        ("summarization", FULL, Cause.NO_CLAIMS, 0.0),
        ("misuse", FULL, Cause.MISSING_INPUT, None),
        ("g_eval", FULL, Cause.MISSING_INPUT, None),
        ("dag", FULL, Cause.MISSING_INPUT, None),
        ("refusal", FULL, Cause.MISSING_INPUT, None),
        ("expectations", FULL, Cause.MISSING_INPUT, None),
        ("arena_g_eval", FULL, Cause.MISSING_INPUT, None),
        ("faithfulness", replace(FULL, answer=""), Cause.NO_CLAIMS, None),  # an empty answer is refused there
    ],
)
def test_what_was_not_measured(name: str, sample: Sample, cause: Cause, convention: float | None) -> None:
    judge = ScriptedJudge(
        claims=lambda text: (), support={}, usefulness={}, classification={}, question=lambda q: "complied",
        extraction=lambda w, t: (),
        key_questions=lambda t: (), criterion=lambda q, v: True, rating=lambda q: 1,
    )  # fmt: skip
    ours = asyncio.run(named(f"deepeval:{name}").score(sample, judge))
    assert ours.value is None
    assert ours.error is not None
    assert ours.error.cause is cause
    theirs = asyncio.run(named(f"deepeval:{name}@original").score(sample, judge))
    assert theirs.value == convention
    assert (theirs.convention is None) is (convention is None)


def test_the_threshold_judges_the_value_and_does_not_change_it() -> None:
    sample = replace(FULL, answer="A. B.")
    rules: dict[str, Any] = {
        "claims": lambda t: ["A.", "B."],
        "classification": lambda w, item, t: "relevant" if item == "A." else "irrelevant",
    }
    score = measured(AnswerRelevancy(threshold=0.6), sample, **rules)
    assert (score.value, score.parts["threshold"], score.parts["passed"]) == (0.5, 0.6, 0.0)
    assert measured(AnswerRelevancy(threshold=0.5), sample, **rules).parts["passed"] == 1.0
    assert measured(AnswerRelevancy(strict_mode=True), sample, **rules).value == 0.5
    strict = measured(AnswerRelevancy(strict_mode=True, profile="original"), sample, **rules)
    assert (strict.value, strict.parts["threshold"]) == (0.0, 1.0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Faithfulness(threshold=1.1),
        lambda: Misuse(" "),
        lambda: NonAdvice(()),
        lambda: PatternMatch("("),
        lambda: PromptAlignment(()),
        lambda: Summarization(n=0),
        lambda: GEval(" "),
        lambda: GEval("x", evaluation_params=("answer",)),
        lambda: GEval("x", rubric=((0, 5, "a"), (5, 10, "b"))),
        lambda: GEval("x", rubric=((0, 11, "a"),)),
        lambda: JevEval((Statement("x", weight=0.0),)),
        lambda: JevEval((Scale("x", ("a",)),)),
        lambda: Classifier(kind="mood"),
    ],
)
def test_parameters_that_cannot_be_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(InputError):
        make()


# ---- judges with probabilities, steps, contestants


class Sure(ScriptedJudge):
    """Gives a mean level beside the level."""

    async def find(self, prompt: Any) -> Any:
        if isinstance(prompt, Rating):
            return RatingResult(level=7, expected=6.5)
        return await super().find(prompt)


def test_g_eval_takes_the_mean_level_where_the_judge_knows_it() -> None:
    judge = Sure(rating=lambda question: 7, extraction=lambda what, texts: ("Read.",))
    score = asyncio.run(GEval("Is it good?").score(FULL, judge))
    assert (score.value, score.parts["level"], score.parts["chosen"]) == (0.65, 6.5, 7.0)
    assert score.texts["evaluation_steps"] == ("Read.",)


def test_the_steps_are_asked_for_without_the_row() -> None:
    asked: list[tuple[str, ...]] = []

    def listing(what: str, texts: tuple[str, ...]) -> tuple[str, ...]:
        asked.append(texts)
        return ("Read.",)

    measured(GEval("Is it good?"), FULL, extraction=listing, rating=lambda question: 3)
    assert asked == [("Is it good?",)]  # so that its key is the same for every row
    given = measured(GEval(evaluation_steps=("Look.",)), FULL, extraction=listing, rating=lambda question: 3)
    assert given.texts["evaluation_steps"] == ("Look.",)
    assert len(asked) == 1


def test_the_arena_names_the_winner() -> None:
    sample = replace(FULL, metadata={"contestants": {"other": "It is new."}})
    order = seats({"other": "It is new.", "answer": "It is old."})
    wins = f"contestant_{order.index('answer') + 1}"
    metric = ArenaGEval(evaluation_steps=("Read.",))
    rules: dict[str, Any] = {"extraction": lambda what, texts: ("Read.",)}
    score = measured(metric, sample, question=lambda question: wins, **rules)
    assert (score.value, score.texts["winner"]) == (1.0, ("answer",))
    loses = f"contestant_{order.index('other') + 1}"
    score = measured(metric, sample, question=lambda question: loses, **rules)
    assert (score.value, score.texts["winner"]) == (0.0, ("other",))


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ({"a": {"binary": "?", "shown": "input", "verdicts": {"yes": {"node": "a"}, "no": 0}}}, "back to themselves"),
        ({"a": {"binary": "?", "shown": "input", "verdicts": {"yes": 10}}}, "expected yes and no"),
        ({"a": {"binary": "?", "shown": "input", "verdicts": {"yes": 11, "no": 0}}}, "from 0 to 10"),
        ({"a": {"binary": "?", "verdicts": {"yes": 10, "no": 0}}}, "shows and reads nothing"),
        ({"a": {"binary": "?", "shown": "answer", "verdicts": {"yes": 10, "no": 0}}}, "shown: expected"),
        ({"a": {"binary": "?", "reads": "b", "verdicts": {"yes": 10, "no": 0}}}, "there is no task 'b'"),
        ({"a": {"choice": "?", "shown": "input", "verdicts": {"x": {"node": "b"}, "y": 1}}}, "is no judgement"),
        ({"a": {"task": "?", "shown": "input"}}, "expected the name of a judgement"),
    ],
)
def test_graphs_that_are_none_are_refused(nodes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as raised:
        graph_of({"start": "a", "nodes": nodes})
    assert said in str(raised.value)


def test_a_graph_keeps_its_way() -> None:
    score = measured(
        DAG(GRAPH),
        FULL,
        extraction=lambda what, texts: ("a book",),
        criterion=lambda q, v: True,
        question=lambda q: "plain",
    )
    assert (score.value, score.texts["way"], score.texts["sources"]) == (0.7, ("source", "tone"), ("a book",))


def test_demands_and_labels() -> None:
    assert demands_of({"must": ["a"], "must_not": ["b"]}) == ("It must: a", "It must not: b")
    score = measured(Classifier(kind="refusal"), FULL, question=lambda question: "complied")
    assert score.texts["label"] == ("complied",)
    assert {kind: tuple(found.labels) for kind, found in KINDS.items()} == world.LABELS


def test_json_by_a_schema() -> None:
    def wrong(answer: str) -> tuple[str, ...]:
        return asyncio.run(wrong_with(answer, SHAPE))

    assert wrong('{"name": "a", "age": 1}') == ()
    assert wrong('{"name": "a"}') == ("$: 'age' is a required property",)
    assert "no JSON" in str(wrong("{"))


# ---- columns


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("context",), {"contexts": "context"}),
        (("retrieval_context", "context"), {"contexts": "retrieval_context", "reference_contexts": "context"}),
        (("Context", "Retrieval Context"), {"contexts": "Retrieval Context", "reference_contexts": "Context"}),
        (
            ("retrieval_context", "context", "reference_contexts"),
            {"contexts": "retrieval_context", "reference_contexts": "reference_contexts"},
        ),
    ],
)
def test_context_beside_retrieval_context_is_the_ideal_one(names: tuple[str, ...], found: dict[str, str]) -> None:
    assert find_columns(names) == found


async def test_what_probabilities_lead_one_to_expect_of_recall() -> None:
    await expects(named("deepeval:contextual_recall"), 1.0, "mean_probability", 0.9)
