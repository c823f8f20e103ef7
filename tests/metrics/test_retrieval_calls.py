"""Retrieval calls of an agent: new evidence, repeated queries, stopping too early or too late."""

from __future__ import annotations

from typing import Any

import pytest

from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics import _retrieval_calls as retrieval_calls
from assay.metrics._retrieval_calls import RetrievalCalls, duplicates, new_claims, query_of, share_new, stopping
from assay.records import Cell, Message, Sample, ToolCall, Verdict
from tests._support import linear

A, B, C = "It opened in 1990.", "It is red.", "It is tall."
JUDGE = ScriptedJudge(
    claims=lambda text: [one for one in (A, B, C) if one in text],
    support=lambda claim, passage: "supported" if claim in passage else "not_mentioned",
)


def call(output: str | None, name: str = "search", **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments, output=output)


def way(*called: ToolCall, **more: Any) -> Sample:
    messages = (Message(role="user", content="What of it?"), Message(role="assistant", tool_calls=called))
    return Sample(**{"question": "What of it?", "reference": f"{A} {B}", "messages": messages, **more})


def row(*supported: bool) -> Verdict:
    cells = tuple(Cell(label="supported" if one else "not_mentioned") for one in supported)
    return Verdict(label="supported" if any(supported) else "not_mentioned", cells=cells)


@pytest.mark.parametrize(
    ("rows", "new", "value", "stopped"),
    [
        ([row(True, True, False), row(False, False, True)], [1, 0, 1], 2 / 3, {"sufficed_at": 3, "calls_after": 0}),
        ([row(True, True, True), row(True, False, False)], [2, 0, 0], 1 / 3, {"sufficed_at": 1, "calls_after": 2}),
        ([row(False, False, False)], [0, 0, 0], 0.0, {}),
    ],
)
def test_formulas(rows: list[Verdict], new: list[int], value: float, stopped: dict[str, float]) -> None:
    assert new_claims(rows, 3) == new
    assert share_new(new) == pytest.approx(value)
    assert stopping(new) == stopped


@pytest.mark.parametrize(
    ("queries", "expected"),
    [
        (["Who built it?", "who built IT"], 1),  # signs and capitals do not count
        (["a b c d", "a b c d e"], 1),  # 4 of 5 words: just alike
        (["a b c", "a b c d"], 0),  # 3 of 4
        (["a", "b", "a", "a"], 2),
        (["a b c d e", "a b c x y"], 0),  # 3 of 7 words
        ([], 0),
    ],
)
def test_duplicate_queries(queries: list[str], expected: int) -> None:
    assert duplicates(queries) == expected


def test_queries_are_compared_with_the_latest_that_differ_and_equal_words_are_found_in_all() -> None:
    between = [f"x{n} y{n}" for n in range(500)]
    # "a b c d e" stands more than 500 before: what is nearly so, 4 of 5 words, is not found; the same words are
    assert duplicates(["a b c d e", *between, "a b c d"]) == 0
    assert duplicates(["a b c d e", *between[1:], "a b c d"]) == 1
    assert duplicates(["a b c d e", *between, "e d c b a"]) == 1


@pytest.mark.parametrize("query", ["w", "w{n}", "w{n} a b c d e f g", "a " * 50 + "w{n}"])
def test_an_agent_that_asks_for_ever_is_counted_in_linear_time(query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval_calls, "MOST", 100)

    def count(text: str) -> int:
        return duplicates([query.format(n=n) for n in range(len(text))])

    assert linear.fault(count, "x" * 200, "x" * 2000) is None


def test_a_query_is_what_the_arguments_say() -> None:
    assert query_of(call("x", q="bridge", filter={"year": 1990, "tags": ["red"]}, a=None)) == "1990 red bridge"


async def test_calls_are_scored_alone_and_together() -> None:
    sample = way(call(A, q="year"), call("Nothing.", q="the year"), call(f"{A} {B}", q="colour"), call(A, q="year"))
    score = await RetrievalCalls().score(sample, JUDGE)
    assert score.value == 2 / 4  # the first brings 1990, the third red
    assert dict(score.parts) == {
        "calls": 4, "relevant_calls": 3, "duplicate_queries": 1, "claims": 2, "claims_missing": 0,
        "new_claims_1": 1, "new_claims_2": 0, "new_claims_3": 1, "new_claims_4": 0, "sufficed_at": 3, "calls_after": 1,
    }  # fmt: skip


async def test_without_a_reference_the_answer_counts_and_what_is_missing_is_said() -> None:
    score = await RetrievalCalls().score(way(call(A, q="year"), reference=None, answer=f"{A} {C}"), JUDGE)
    assert score.value == 1.0
    assert (score.parts["claims"], score.parts["claims_missing"]) == (2, 1)  # nobody found that it is tall
    assert "answer/calls" in score.verdicts


async def test_only_the_tools_that_retrieve() -> None:
    sample = way(call(A), call("sent", "send"), call(None))
    assert (await RetrievalCalls(tools=("search",)).score(sample, JUDGE)).value == 1.0
    assert (await RetrievalCalls().score(sample, JUDGE)).value == 1 / 2


@pytest.mark.parametrize(
    ("sample", "cause"),
    [
        (way(), "missing_input"),
        (way(call(None)), "missing_input"),
        (way(call(A), reference=None, answer=" "), "missing_input"),
        (way(call(A), reference="Hm."), "no_claims"),
    ],
)
async def test_what_cannot_be_measured(sample: Sample, cause: str) -> None:
    score = await RetrievalCalls().score(sample, JUDGE)
    assert score.error is not None
    assert score.error.cause == cause
