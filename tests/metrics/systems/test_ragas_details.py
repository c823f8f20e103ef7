"""Details of ragas' formulas that one number of many samples does not show: each by hand."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.ragas.context_relevancy import ContextRelevancy
from assay.metrics.ragas.context_texts import NonLLMContextRecall
from assay.metrics.ragas.criteria import SimpleCriteria
from assay.metrics.ragas.custom import NumericMetric, RankingMetric
from assay.metrics.ragas.data_compy_score import matching_rows, read_table
from assay.metrics.systems.conversation import transcript
from assay.prompts import Rating
from assay.records import Context, Message, Sample, ToolCall
from tests.metrics.systems.ragas_sample import FULL, close, original, score


def rows(response: str, reference: str) -> int:
    a, b = read_table(response), read_table(reference)
    assert a is not None
    assert b is not None
    return matching_rows(a, b)


def test_a_table_has_a_header_and_no_row_longer_than_it() -> None:
    assert read_table("") is None
    assert read_table("a\n1,2\n3\n") is None  # one row of two is too long
    short = read_table("a,b\n1\n2,3\n")
    assert short is not None
    assert short.columns == {"a": [1, 2], "b": [None, 3.0]}
    twice = read_table("a,a,a\n1,2,3\n")
    assert twice is not None
    assert list(twice.columns) == ["a", "a.1", "a.2"]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["true", "NA"], [True, None]),
        (["true", "x"], ["true", "x"]),
        (["5", "NA"], [5.0, None]),
        (["5", "6"], [5, 6]),
    ],
)
def test_a_column_is_of_one_kind(cells: list[str], expected: list[Any]) -> None:
    table = read_table("k,c\n" + "".join(f"{number},{cell}\n" for number, cell in enumerate(cells)))
    assert table is not None
    assert [repr(cell) for cell in table.columns["c"]] == [repr(cell) for cell in expected]


def test_whole_numbers_meet_texts_as_they_are_written() -> None:
    texts, numbers = "k,n\n1,1\n2,x\n3,NA\n", "k,n\n1,1\n2,2\n3,3\n"
    assert rows(texts, numbers) == rows(numbers, texts) == 1  # "1" is 1; x is not 2, and nothing is not 3
    assert rows("n\n1\n2\n", "n\n1\nx\ny\n") == 0  # the shorter column has gaps: 1 is written 1.0
    assert rows("n\n1\nx\ny\n", "n\n1\n2\n") == 0
    assert rows("n\nTrue\nFalse\n", "n\nTrue\nx\ny\n") == 1  # truth has no decimals


def test_tables_without_a_common_column_and_without_rows_in_the_original() -> None:
    sample = Sample(answer="a\n1\n2\n", reference="b\n1\n2\n3\n")
    found = score("ragas:data_compy_score@original", sample)
    assert found.value == close(0.8)  # 2 rows of 2, 2 of 3: 2 * 1 * 2/3 / (5/3)
    empty = score("ragas:data_compy_score@original", Sample(answer="a\n", reference="a\n1\n"))
    assert (empty.value, empty.parts["precision"], empty.parts["recall"]) == (0.0, 0.0, 0.0)


def test_agreement_of_three_extractions_is_a_mean_over_three_pairs() -> None:
    extracted = iter((["It is in Rome."], ["It is old."], ["Nothing else."]))
    found = score(ContextRelevancy(3), extraction=lambda what, texts: next(extracted), similarity=lambda a, b: 0.6)
    assert found.parts["agreement"] == close(0.6)  # (0.6 + 0.6 + 0.6) / 3
    assert found.value == close(0.2)  # 0.6 * (1/3 + 1/3 + 1/3) / 3
    assert set(found.texts) == {"extraction_1", "extraction_2", "extraction_3"}


@pytest.mark.parametrize(("second", "agreement"), [([], 1.0), (["It is old."], 0.0)])
def test_an_extraction_of_nothing_agrees_with_another_alone(second: list[str], agreement: float) -> None:
    extracted = iter(([], second))
    found = score(ContextRelevancy(), extraction=lambda what, texts: next(extracted), similarity=lambda a, b: 0.6)
    assert found.parts["agreement"] == agreement


def test_one_blank_context_leaves_the_others_to_be_compared() -> None:
    sample = Sample(contexts=(Context(text=" "), Context(text="abcd")), reference_contexts=(Context(text="abcd"),))
    found = score("ragas:non_llm_context_recall", sample)
    assert (found.value, found.convention) == (1.0, None)
    assert score("ragas:non_llm_context_recall@original", sample).convention is None
    assert NonLLMContextRecall().label == "ragas:non_llm_context_recall"
    assert NonLLMContextRecall(0.6).label != NonLLMContextRecall().label


def test_ids_in_both_are_counted_once() -> None:
    def passages(*ids: str) -> tuple[Context, ...]:
        return tuple(Context(text="", id=one) for one in ids)

    sample = Sample(contexts=passages("a", "b", "c"), reference_contexts=passages("b", "d"))
    precision, recall = (score(f"ragas:id_based_context_{part}", sample) for part in ("precision", "recall"))
    assert (precision.value, precision.parts) == (1 / 3, {"hits": 1, "retrieved": 3})
    assert (recall.value, recall.parts) == (1 / 2, {"hits": 1, "reference": 2})
    nameless = score(
        "ragas:id_based_context_recall", Sample(contexts=passages("a"), reference_contexts=(Context(text="x"),))
    )
    assert nameless.error is not None
    assert "reference_contexts: passage 1 has no id" in nameless.error.message


def test_a_conversation_as_text() -> None:
    call = ToolCall(name="find", arguments={"where": "Köln", "n": 1})
    messages = (
        Message(role="user", content="Hi"),
        Message(role="assistant", content="", tool_calls=(call,)),
        Message(role="assistant", content=""),
    )
    assert transcript(messages) == 'USER: Hi\nCALLS find({"n": 1, "where": "Köln"})'


def test_the_levels_of_a_criterion_go_from_the_lowest_to_the_highest() -> None:
    levels: list[tuple[int, ...]] = []

    class Keeping(ScriptedJudge):
        async def answer(self, prompts):  # type: ignore[no-untyped-def]
            levels.extend(tuple(n for n, _ in one.levels) for one in prompts if isinstance(one, Rating))
            return await super().answer(prompts)

    asyncio.run(SimpleCriteria(definition="Good?", low=1, high=3).score(FULL, Keeping(rating=lambda question: 2)))
    assert levels == [(1, 2, 3)]


def test_a_scale_of_two_numbers_and_a_ranking_of_two_contexts() -> None:
    assert NumericMetric("depth", "{response}?", range(2)).numbers() == (0, 1)
    ranks = {"It is in Rome. It is old.": "rank_1", "Nothing else.": "rank_2"}
    found = score(RankingMetric("order", "By {question}."), classification=lambda what, item, texts: ranks[item])
    assert found.value == 1.0


def test_what_words_alone_decide_is_said_beside_the_number() -> None:
    found = score(original(_groundedness()), FULL, rating=lambda question: 0)
    assert (found.value, found.parts) == (1.0, {"by_words": 1.0})


def _groundedness() -> Any:
    from assay.metrics.ragas.double_judge import NvResponseGroundedness

    return NvResponseGroundedness()
