"""RAGChecker's numbers on 48 samples and on its own example, and ours; its formulas by tables of verdicts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

import assay
from assay.errors import Cause, JudgeFailure
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.ragchecker.context_utilization import utilized
from assay.metrics.ragchecker.f1 import harmonic
from assay.metrics.ragchecker.tables import chances, expected_found, found, relevant
from assay.metrics.ragchecker.unfaithfulness import expected_unfaithful, unfaithful
from assay.metrics.systems import named, system_entries
from assay.records import Cell, Context, Sample, Score, Verdict
from tests._support.unsure import expects
from tests.metrics.systems.golden import CASES, NEAR, agrees, golden, scored

GOLDEN = golden("ragchecker")
EXAMPLES = golden("ragchecker_examples")
NAMES = sorted(system_entries("ragchecker"))
#: A judge that must not be asked.
SILENT = ScriptedJudge(claims=lambda text: _refuse(), support=lambda claim, passage: _refuse())


def _refuse() -> Any:
    raise AssertionError("a judge was asked")


def of_tables(name: str, tables: dict[str, Any]) -> Score:
    return asyncio.run(named(f"ragchecker:{name}").score(Sample(metadata=tables), SILENT))


def spelled(result: dict[str, Any]) -> dict[str, Any]:
    """The tables of an example: each label is one letter there."""
    word = EXAMPLES["labels"]
    flat = {name: [word[letter] for letter in result[name]] for name in ("answer2response", "response2answer")}
    nested = ("retrieved2response", "retrieved2answer")
    return {**flat, **{name: [[word[letter] for letter in row] for row in result[name]] for name in nested}}


def test_every_metric_of_the_package_is_here() -> None:
    assert GOLDEN["exports"] == NAMES


@pytest.mark.parametrize("metric", NAMES)
def test_every_number_of_ragchecker_is_ours(metric: str) -> None:
    values = GOLDEN["values"][metric]
    assert len(values) >= 40
    for case, expected in values.items():
        agrees(scored(f"ragchecker:{metric}@original", CASES[case]), expected)


@pytest.mark.parametrize("result", EXAMPLES["results"], ids=lambda result: f"example-{result['id']}")
def test_its_own_example_from_the_stored_verdicts(result: dict[str, Any]) -> None:
    assert sorted(result["metrics"]) == NAMES
    for name, expected in result["metrics"].items():
        assert of_tables(name, spelled(result)).value == pytest.approx(expected, abs=NEAR, rel=0), name


def test_the_means_of_its_own_example_are_those_it_prints() -> None:
    for group in EXAMPLES["metrics"].values():
        for name, percent in group.items():
            values = [of_tables(name, spelled(result)).value or 0.0 for result in EXAMPLES["results"]]
            assert round(100 * sum(values) / len(values), 1) == percent, name


E, N, C = "Entailment", "Neutral", "Contradiction"
#: Three claims of the response, two of the reference, two passages; the first passage is relevant, the second not.
TABLES = {
    "answer2response": [E, N, C],
    "response2answer": [E, N],
    "retrieved2response": [[N, N], [E, E], [C, E]],
    "retrieved2answer": [[E, N], [N, C]],
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("precision", 1 / 3),  # the first of three
        ("recall", 1 / 2),
        ("f1", 2 / 5),  # 2 * 1/3 * 1/2 / (1/3 + 1/2) = (1/3) / (5/6)
        ("claim_recall", 1 / 2),
        ("context_precision", 1 / 2),
        ("context_utilization", 1.0),  # of the one claim that was retrieved the response has one
        ("noise_sensitivity_in_relevant", 1 / 3),  # the second: both passages say it, one of them is relevant
        ("noise_sensitivity_in_irrelevant", 1 / 3),  # the third
        ("hallucination", 0.0),  # the two wrong claims stand in passages
        ("self_knowledge", 1 / 3),  # the first is right, and in no passage
        ("faithfulness", 2 / 3),
    ],
)
def test_a_table_worked_by_hand(name: str, value: float) -> None:
    assert of_tables(name, TABLES).value == pytest.approx(value, abs=1e-12)


def test_a_hallucinated_claim_is_wrong_and_in_no_passage() -> None:
    tables = {**TABLES, "retrieved2response": [[N, N], [E, E], [C, N]]}
    assert of_tables("hallucination", tables).value == pytest.approx(1 / 3)
    assert of_tables("self_knowledge", tables).value == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("precision", "recall", "value"),
    [(0.5, 1.0, 2 / 3), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.25, 0.25, 0.25), (0.0, 0.0, 0.0)],
)
def test_f1_is_harmonic(precision: float, recall: float, value: float) -> None:
    assert harmonic(precision, recall) == pytest.approx(value)


def test_utilized_counts_among_what_was_retrieved() -> None:
    assert utilized([True, True, False, True], [True, False, True, False]) == pytest.approx(1 / 3)
    assert utilized([False, False], [True, True]) is None


def test_what_no_passage_entails_is_known_or_made_up() -> None:
    retrieved, correct = [True, False, False, False], [True, True, False, False]
    assert unfaithful(retrieved, correct, knows=True) == 1 / 4
    assert unfaithful(retrieved, correct, knows=False) == 2 / 4


def test_rows_are_claims_and_columns_are_passages() -> None:
    matrix = [[True, False, False], [True, False, True]]
    assert found(matrix) == [True, True]
    assert found([[False, False], [False, True]]) == [False, True]
    assert relevant(matrix) == [True, False, True]


@pytest.mark.parametrize(
    ("name", "case", "cause"),
    [
        ("precision", "refusal", Cause.NO_CLAIMS),
        ("faithfulness", "refusal", Cause.NO_CLAIMS),
        ("hallucination", "nothing-retrieved", Cause.NO_CONTEXT),
        ("noise_sensitivity_in_relevant", "blank-contexts", Cause.NO_CONTEXT),
        ("context_precision", "nothing-retrieved", Cause.NO_CONTEXT),
        ("recall", "no-reference", Cause.MISSING_INPUT),
    ],
)
def test_nothing_measured_is_no_number(name: str, case: str, cause: Cause) -> None:
    score = scored(f"ragchecker:{name}", CASES[case])
    assert score.error is not None
    assert score.error.cause is cause


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"answer2response": [], "response2answer": [E]}, "answer"),
        ({"answer2response": [E], "response2answer": []}, "ref"),
    ],
)
def test_the_text_without_claims_is_named(tables: dict[str, Any], said: str) -> None:
    score = of_tables("f1", tables)
    assert score.error is not None
    assert score.error.message.startswith(f"the {said}")


def test_an_empty_retrieval_recalls_nothing() -> None:
    score = scored("ragchecker:claim_recall", CASES["nothing-retrieved"])
    assert (score.value, score.convention) == (0.0, None)


def test_its_zero_for_nothing_is_marked_as_a_convention() -> None:
    score = scored("ragchecker:hallucination@original", CASES["nothing-retrieved"])
    assert (score.value, score.convention) == (0.0, "nothing was retrieved")


def test_nothing_retrieved_of_the_reference_leaves_nothing_to_utilize() -> None:
    tables = {"retrieved2answer": [[N, N], [C, N]], "response2answer": [E, E]}
    score = of_tables("context_utilization", tables)
    assert score.error is not None
    assert score.error.cause is Cause.NOT_APPLICABLE
    original = asyncio.run(named("ragchecker:context_utilization@original").score(Sample(metadata=tables), SILENT))
    assert original.value == 0.0


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"answer2response": ["Entailed"]}, "the label 'Entailed'"),
        ({"answer2response": [E], "response_claims": [["a", "b", "c"], ["d", "e", "f"]]}, "1 rows for 2 claims"),
        ({"answer2response": [[E]]}, "the label ['Entailment']"),
    ],
)
def test_tables_that_are_none_are_refused(tables: dict[str, Any], said: str) -> None:
    score = of_tables("precision", tables)
    assert score.error is not None
    assert score.error.cause is Cause.MISSING_INPUT
    assert said in score.error.message


def test_rows_of_passages_must_be_alike() -> None:
    score = of_tables("faithfulness", {"retrieved2response": [[E, N], [E]]})
    assert score.error is not None
    assert "as long as the others" in score.error.message


def output(**more: Any) -> dict[str, Any]:
    """A row as RAGChecker writes it."""
    return {
        "query_id": "q-1",
        "query": "How long is the bridge?",
        "gt_answer": "The bridge is 88 metres long. It is green.",
        "response": "It is 88 metres long. It is red. It is old.",
        "retrieved_context": [{"doc_id": "d1", "text": "88 metres."}, {"doc_id": "d2", "text": "Red, old."}],
        "response_claims": [["bridge", "is", "88 metres long"], ["bridge", "is", "red"], ["bridge", "is", "old"]],
        "gt_answer_claims": [["bridge", "is", "88 metres long"], ["bridge", "is", "green"]],
        **TABLES,
        "metrics": {"precision": 0.3333333333333333},
        **more,
    }


def test_its_files_are_read_and_scored_without_a_judge(tmp_path: Any) -> None:
    path = tmp_path / "checking_outputs.json"
    path.write_text(json.dumps({"results": [output()], "metrics": {"overall_metrics": {"precision": 33.3}}}))
    wanted = [f"ragchecker:{name}" for name in NAMES]
    result = assay.evaluate(str(path), wanted, judge=SILENT, store=None)
    (row,) = result
    assert row.sample.id == "q-1"
    assert row.sample.reference == "The bridge is 88 metres long. It is green."
    assert [context.id for context in row.sample.contexts or ()] == ["d1", "d2"]
    assert row.scores["ragchecker:precision"].value == pytest.approx(1 / 3)
    assert not SILENT.asked
    verdicts = row.scores["ragchecker:precision"].verdicts["answer/reference"]
    assert [verdict.claim.text for verdict in verdicts if verdict.claim] == [
        "bridge is 88 metres long", "bridge is red", "bridge is old",
    ]  # fmt: skip
    assert row.scores["ragchecker:precision"].judge == "ragchecker: stored verdicts"


def test_a_file_without_tables_is_scored_by_the_judge() -> None:
    row = {name: value for name, value in output().items() if name not in TABLES}
    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    (found,) = assay.evaluate([row], ["ragchecker:faithfulness"], judge=judge, store=None)
    assert found.scores["ragchecker:faithfulness"].value == 1.0
    assert judge.asked["support"] == 1


def test_two_of_its_metrics_and_ours_ask_the_judge_once() -> None:
    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    sample = Sample(
        question="When?",
        contexts=(Context(text="Opened: 1990."),),
        answer="It opened in 1990.",
        reference="It opened in May 1990.",
    )
    names: Sequence[str] = ["faithfulness", *(f"ragchecker:{name}" for name in NAMES)]
    asyncio.run(assay.aevaluate([sample], list(names), judge=judge, store=None))
    # claims of both texts; each against the contexts, and against the other
    assert dict(judge.asked) == {"claims": 2, "support": 4}


def test_what_a_judge_refuses_is_skipped() -> None:
    judge = ScriptedJudge(support=lambda claim, passage: JudgeFailure(Cause.TIMEOUT, "too slow"))
    score = scored("ragchecker:faithfulness@original", CASES["case-0"], judge)
    assert score.error is not None
    assert score.error.cause is Cause.TIMEOUT


def test_a_row_with_some_of_the_tables_is_scored_by_the_judge() -> None:
    sample = Sample(answer="It is red.", reference="It is red.", metadata={"answer2response": [N]})
    judge = ScriptedJudge(support=lambda claim, passage: "supported")
    assert asyncio.run(named("ragchecker:f1").score(sample, judge)).value == 1.0
    assert of_tables("precision", {"answer2response": [N]}).value == 0.0


def test_stored_rows_without_a_passage_are_no_retrieval() -> None:
    score = of_tables("hallucination", {"answer2response": [E, N], "retrieved2response": [[], []]})
    assert score.error is not None
    assert score.error.cause is Cause.NO_CONTEXT
    assert of_tables("faithfulness", {"retrieved2response": [[E]]}).value == 1.0  # one claim, one passage


def test_what_passages_say_together() -> None:
    tables = {"retrieved2response": [[C, N], [C, E], [N, N]], "response_claims": [["a", "is", "b"], "c", "d"]}
    verdicts = of_tables("faithfulness", tables).verdicts["answer/contexts"]
    assert [one.label for one in verdicts] == ["contradicted", "supported", "not_mentioned"]
    assert [one.claim.span.of(one.claim.text) for one in verdicts if one.claim] == ["a is b", "c", "d"]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("precision", 2 / 3, 0.6),
        ("recall", 1.0, 0.9),
        ("f1", 4 / 5, 2 * 0.6 * 0.9 / 1.5),
        # one passage: what it most probably entails is what it probably entails
        ("faithfulness", 2 / 3, 0.6),
        ("claim_recall", 1.0, 0.9),
        # neither in the passage nor in the reference, which are read alike: 0.1 * 0.1, 0.4 * 0.4, 0.7 * 0.7
        ("hallucination", 1 / 3, (0.01 + 0.16 + 0.49) / 3),
        ("self_knowledge", 0.0, (0.1 * 0.9 + 0.4 * 0.6 + 0.7 * 0.3) / 3),
        # the passage is relevant: wrong by the reference, and in it
        ("noise_sensitivity_in_relevant", 0.0, (0.09 + 0.24 + 0.21) / 3),
    ],
)
async def test_what_probabilities_lead_one_to_expect(name: str, value: float, expected: float) -> None:
    await expects(named(f"ragchecker:{name}"), value, "mean_probability", expected)


def test_what_is_expected_to_be_known_or_made_up() -> None:
    retrieved, correct = [0.9, 0.2], [0.5, 0.25]
    # in no passage with 0.1 and 0.8; correct with 0.5 and 0.25
    known = expected_unfaithful(retrieved, correct, knows=True)
    assert known == {"mean_probability": pytest.approx((0.05 + 0.2) / 2)}
    made_up = expected_unfaithful(retrieved, correct, knows=False)
    assert made_up == {"mean_probability": pytest.approx((0.05 + 0.6) / 2)}
    assert expected_unfaithful(None, correct, knows=True) == expected_unfaithful(retrieved, None, knows=True) == {}


def test_of_several_passages_the_one_that_most_probably_entails_a_claim_stands_for_all() -> None:
    def read(*cells: float | None) -> Verdict:
        return Verdict(label="not_mentioned", cells=tuple(Cell(label="not_mentioned", probability=p) for p in cells))

    assert chances([read(0.2, 0.7), read(0.4, 0.1)]) == [0.7, 0.4]
    assert expected_found([read(0.2, 0.7), read(0.4, 0.1)]) == {"mean_probability": pytest.approx(0.55)}
    for unknown in ([read(0.2, 0.7), read(0.4, None)], [read(0.2), read()], []):
        assert expected_found(unknown) == {}
