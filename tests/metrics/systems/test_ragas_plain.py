"""ragas' metrics that ask little or nothing: its own numbers on 48 samples, and their formulas by hand."""

from __future__ import annotations

import asyncio
import csv
from dataclasses import replace
from typing import Any

import pytest

from assay.errors import Cause, InputError
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.ragas import context_texts, data_compy_score, quoted_spans, tool_calls, topic_adherence
from assay.metrics.ragas.text_pairs import NonLLMStringSimilarity, RougeScore
from assay.metrics.systems import named
from assay.metrics.systems.base import SystemMetric
from assay.records import Context, Message, Sample, Score, ToolCall
from tests.metrics.systems.golden import agrees, golden

import ragas_cases  # isort: skip

GOLDEN = golden("ragas_plain")["values"]
CASES = {case.id: case for case in ragas_cases.cases()}
SILENT = ScriptedJudge()


def variant(name: str) -> SystemMetric:
    """The metric that a golden name such as "rouge_score rouge_type=rouge1 mode=recall" stands for."""
    first, *parameters = name.split()
    values = {
        key: {"True": True, "False": False}.get(value, value)
        for key, _, value in (p.partition("=") for p in parameters)
    }
    return replace(named(f"ragas:{first}@original"), **values)  # type: ignore[arg-type]


def sample_of(case: ragas_cases.More, name: str) -> Sample:
    answer = case.table if name.startswith("data_") else case.quoting if name.startswith("quoted") else case.answer
    reference = case.reference_table if name.startswith("data_") else case.reference
    by_id = name.startswith("id_")
    found = case.ids if by_id else case.contexts
    wanted = case.reference_ids if by_id else case.reference_contexts
    called = tuple(ToolCall(name=tool, arguments=given) for tool, given in case.called)
    return Sample(
        question=case.question,
        answer=answer,
        reference=reference,
        contexts=tuple(Context(text="" if by_id else one, id=one if by_id else None) for one in found),
        reference_contexts=tuple(Context(text="" if by_id else one, id=one if by_id else None) for one in wanted),
        messages=(
            Message(role="user", content=case.question),
            Message(role="assistant", content="I shall see.", tool_calls=called),
        ),
        metadata={
            "reference_topics": list(case.scope),
            "reference_tool_calls": [{"name": tool, "args": given} for tool, given in case.wanted],
        },
    )


def judge_of(case: ragas_cases.More) -> ScriptedJudge:
    answered, inside = (
        dict(zip(case.topics, case.answered, strict=True)),
        dict(zip(case.topics, case.inside, strict=True)),
    )

    def sorted_as(what: str, topic: str, texts: object) -> str:
        if what == "treatment":
            return "answered" if answered[topic] else "refused"
        return "in_scope" if inside[topic] else "out_of_scope"

    return ScriptedJudge(
        criterion=lambda question, vote: case.verdict,
        extraction=lambda what, texts: case.topics,
        classification=sorted_as,
    )


@pytest.mark.parametrize("name", sorted(GOLDEN))
def test_every_number_of_ragas_is_ours(name: str) -> None:
    assert len(GOLDEN[name]) >= 40
    for identity, expected in GOLDEN[name].items():
        case = CASES[identity]
        agrees(asyncio.run(variant(name).score(sample_of(case, name), judge_of(case))), expected)


def score(name: str, sample: Sample, judge: ScriptedJudge = SILENT) -> Score:
    return asyncio.run(named(f"ragas:{name}").score(sample, judge))


def pair(answer: str | None, reference: str | None) -> Sample:
    return Sample(answer=answer, reference=reference)


def test_bleu_reads_the_whole_answer_and_the_original_its_first_sentence() -> None:
    sample = pair("a b c d. Nothing like it at all", "a b c d. e f g h")
    assert score("bleu_score@original", sample).value == pytest.approx(1.0)
    whole = score("bleu_score", sample).value
    assert whole is not None
    assert whole < 0.5


@pytest.mark.parametrize(
    ("name", "answer", "reference", "expected"),
    [
        ("rouge_score", "the cat", "the cat sat down", 2 * 1 * 0.5 / 1.5),
        ("chrf_score", "abc", "abc", 1.0),
        ("exact_match", "a", "a", 1.0),
        ("exact_match", "a", "A", 0.0),
        ("string_presence", "It is Paris.", "Paris", 1.0),
        ("string_presence", "Paris", "It is Paris.", 0.0),
        ("non_llm_string_similarity", "kitten", "sitting", 1 - 3 / 7),
    ],
)
def test_texts_by_hand(name: str, answer: str, reference: str, expected: float) -> None:
    assert score(name, pair(answer, reference)).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["bleu_score", "rouge_score", "exact_match", "string_presence", "chrf_score"])
def test_an_empty_answer_is_skipped_and_the_original_compares_it(name: str) -> None:
    found = score(name, pair("", "a"))
    assert found.error is not None
    assert found.error.cause == Cause.NO_CLAIMS
    there = score(f"{name}@original", pair("", "a"))
    assert there.value == 0
    assert there.convention
    missing = score(f"{name}@original", pair(None, "a"))
    assert missing.error is not None
    assert missing.error.cause == Cause.MISSING_INPUT


def test_variants_have_labels_of_their_own_and_unknown_ones_are_named() -> None:
    labels = {RougeScore(kind, mode).label for kind in ("rouge1", "rougeL") for mode in ("fmeasure", "recall")}
    assert len(labels) == 4
    with pytest.raises(InputError, match="distance_measure"):
        NonLLMStringSimilarity("cosine")  # type: ignore[arg-type]


def test_precision_of_likeness_counts_at_the_threshold_and_recall_above_it() -> None:
    half = Sample(contexts=(Context(text="abxx"),), reference_contexts=(Context(text="abyy"),))  # 2 of 4 differ: 0.5
    assert score("non_llm_context_precision_with_reference", half).value == 1
    assert score("non_llm_context_recall", half).value == 0


def test_average_precision_there_is_never_quite_one() -> None:
    # ranks 1 and 3 of 3: (1 + 2/3) / (2 + 1e-10)
    assert context_texts.average_precision_there([True, False, True]) == pytest.approx(
        (1 + 2 / 3) / (2 + 1e-10), abs=1e-15
    )
    assert context_texts.average_precision_there([True]) == 1 / (1 + 1e-10)
    assert context_texts.average_precision_there([]) == 0


def passages(*ids: str | None) -> tuple[Context, ...]:
    return tuple(Context(text="", id=one) for one in ids)


def test_ids_count_once() -> None:
    sample = Sample(contexts=passages("a", "a", "b", "c"), reference_contexts=passages("a", "d"))
    assert score("id_based_context_precision", sample).value == pytest.approx(1 / 3)  # a of a, b, c
    assert score("id_based_context_recall", sample).value == 1 / 2  # a of a, d


@pytest.mark.parametrize(
    ("name", "found", "wanted", "cause", "there"),
    [
        ("id_based_context_precision", (), ("a",), Cause.NO_CONTEXT, None),
        ("id_based_context_precision", ("a",), (), Cause.NOT_APPLICABLE, 0.0),
        ("id_based_context_precision", (None,), ("a",), Cause.MISSING_INPUT, None),
        ("id_based_context_recall", (), ("a",), Cause.NO_CONTEXT, 0.0),
        ("id_based_context_recall", ("a",), (), Cause.NOT_APPLICABLE, None),
        ("non_llm_context_recall", (), ("a",), Cause.NO_CONTEXT, None),
        ("non_llm_context_precision_with_reference", (), ("a",), Cause.NO_CONTEXT, 0.0),
        ("non_llm_context_precision_with_reference", ("a",), (), Cause.MISSING_INPUT, None),
    ],
)
def test_nothing_to_compare(name: str, found: Any, wanted: Any, cause: Cause, there: float | None) -> None:
    sample = Sample(contexts=passages(*found), reference_contexts=passages(*wanted))
    here = score(name, sample)
    assert here.error is not None
    assert here.error.cause == cause
    assert score(f"{name}@original", sample).value == there


def test_quotations_by_hand() -> None:
    text = "He said \"the red house\", “very big garden” and 'two words'."
    assert quoted_spans.quotations(text, 3, apostrophes=True) == ["the red house", "very big garden"]
    found = Sample(
        answer=text, contexts=(Context(text="The  RED house"), Context(text="very big"), Context(text="garden"))
    )
    assert score("quoted_spans_alignment", found).value == 1 / 2  # the second would span two contexts
    assert score("quoted_spans_alignment@original", found).value == 2 / 2


def test_apostrophes_quote_nothing_and_no_quotation_is_no_number() -> None:
    sample = Sample(answer="It's a long way and don't ask", contexts=(Context(text="x"),))
    here = score("quoted_spans_alignment", sample)
    assert here.error is not None
    assert here.error.cause == Cause.NOT_APPLICABLE
    assert score("quoted_spans_alignment@original", sample).value == 0  # "s a long way and don" is not there


@pytest.mark.parametrize("profile", ["", "@original"])
def test_texts_too_long_to_be_compared_have_no_number(profile: str) -> None:
    found = score(f"non_llm_string_similarity{profile}", Sample(answer="a" * 400_000, reference="b" * 400_000))
    assert found.error is not None
    assert found.error.cause is Cause.TOO_LONG


def tables(response: str, reference: str) -> tuple[data_compy_score.Table, data_compy_score.Table]:
    a, b = data_compy_score.read_table(response), data_compy_score.read_table(reference)
    assert a is not None
    assert b is not None
    return a, b


def test_lines_may_end_as_they_like() -> None:
    for end in ("\r", "\n", "\r\n"):
        a, b = tables(f"id,n{end}1,x{end}", "id,n\n1,x\n")
        assert a == b


@pytest.mark.parametrize("limit", [131_072, 2**31 - 1])  # Python's default, and what reading a CSV file leaves behind
def test_a_quotation_mark_that_is_never_closed_is_no_table_whatever_the_process_allows(limit: int) -> None:
    before = csv.field_size_limit(limit)
    try:
        assert data_compy_score.read_table("a,b\n" + '"' + "x" * 200_000) is None
    finally:
        csv.field_size_limit(before)


def test_tables_by_hand() -> None:
    a, b = tables("ID,n\n1,x\n2.0,\n3,y\n4,z\n", "id,n\n1,x\n2,NA\n3,q\n")
    assert data_compy_score.matching_rows(a, b) == 2  # 2.0 is 2 and nothing is nothing; y is not q
    assert data_compy_score.matching_columns(a, b) == 1
    sample = pair("id,n\n1,x\n2,y\n3,y\n4,z\n", "id,n\n1,x\n2,q\n")
    assert score("data_compy_score", sample).value == pytest.approx(2 * 0.25 * 0.5 / 0.75)  # 1 of 4, 1 of 2


@pytest.mark.parametrize("name", ragas_cases.dated())
def test_dates_are_compared_as_they_are_written(name: str) -> None:
    """The original reads no dates either, so that two forms of one day differ."""
    expected = golden("ragas_plain")["dates"][name]
    table, reference = ragas_cases.dated()[name]
    found = score("data_compy_score@original", pair(table, reference)).value
    assert found == expected


def test_tables_without_a_common_column_match_nowhere_but_there() -> None:
    sample = pair("a\n1\n2\n", "b\n1\n2\n")
    assert score("data_compy_score", sample).value == 0
    assert score("data_compy_score@original", sample).value == 1
    empty = score("data_compy_score", pair("a\n", "a\n1\n"))
    assert empty.error is not None
    assert empty.error.cause == Cause.NOT_APPLICABLE


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


@pytest.mark.parametrize(
    ("said", "wanted", "strict", "documented", "there"),
    [
        ([call("a", x=1, y=2)], [call("a", x=1, y=3)], True, 1 / 2, 1 / 2),
        ([call("a", x="1", z=9)], [call("a", x=1)], True, 1.0, 1.0),  # equal as text; what is over is free
        ([call("a")], [call("a")], True, 1.0, 1.0),
        ([call("a", x=1)], [call("a")], True, 0.0, 0.0),
        ([call("b"), call("a")], [call("a"), call("b")], True, 0.0, 0.0),
        ([call("b"), call("a")], [call("a"), call("b")], False, 1.0, 1.0),
        ([call("a")], [call("a"), call("b")], True, 1 / 2, 0.0),  # half of the reference, in order
        ([call("b")], [call("a"), call("b")], True, 0.0, 0.0),
        ([call("b")], [call("a"), call("b")], False, 1 / 2, 0.0),
        ([call("a"), call("c")], [call("a"), call("b")], False, 0.0, 0.0),
        ([], [call("a")], True, 0.0, 0.0),
    ],
)
def test_accuracy_of_tool_calls(said: Any, wanted: Any, strict: bool, documented: float, there: float) -> None:
    assert tool_calls.accuracy(said, wanted, strict_order=strict, whole=False) == documented
    assert tool_calls.accuracy(said, wanted, strict_order=strict, whole=True) == there


def test_f1_of_tool_calls() -> None:
    said = [call("a", x=[1]), call("a", x=[1]), call("b")]
    assert tool_calls.f1(said, [call("a", x=[1]), call("c"), call("d")]) == 2 * 1 / (2 + 3)  # a twice is once


@pytest.mark.parametrize(("name", "there"), [("tool_call_accuracy", 1.0), ("tool_call_f1", 0.0)])
def test_no_tools_anywhere(name: str, there: float) -> None:
    sample = Sample(messages=(Message(role="user", content="Hi"),), metadata={"reference_tool_calls": []})
    here = score(name, sample)
    assert here.error is not None
    assert here.error.cause == Cause.NOT_APPLICABLE
    original = score(f"{name}@original", sample)
    assert (original.value, bool(original.convention)) == (there, True)


@pytest.mark.parametrize("listed", [None, [{"args": {}}], "search"])
def test_reference_calls_that_cannot_be_read(listed: Any) -> None:
    sample = Sample(messages=(Message(role="user", content="Hi"),), metadata={"reference_tool_calls": listed})
    found = score("tool_call_f1", sample)
    assert found.error is not None
    assert found.error.cause == Cause.MISSING_INPUT
    assert "reference_tool_calls" in found.error.message


@pytest.mark.parametrize(
    ("mode", "tp", "fp", "fn", "expected"),
    [
        ("precision", 2, 1, 3, 2 / 3),
        ("recall", 2, 1, 3, 2 / 5),
        ("f1", 2, 1, 3, 2 * 2 / (2 * 2 + 1 + 3)),
        ("precision", 0, 0, 1, None),
        ("recall", 0, 1, 0, None),
        ("f1", 0, 0, 0, None),
        ("f1", 0, 1, 0, 0.0),
    ],
)
def test_topic_adherence_by_hand(mode: Any, tp: int, fp: int, fn: int, expected: float | None) -> None:
    found = topic_adherence.value_of(mode, tp, fp, fn)
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-12))


def test_topics_are_counted_by_treatment_and_scope() -> None:
    # answered inside, answered outside, refused inside, refused outside
    assert topic_adherence.counts([True, True, False, False], [True, False, True, False]) == (1, 1, 1)
