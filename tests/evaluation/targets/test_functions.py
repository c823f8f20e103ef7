"""`assay.run` with functions: what comes back, what goes wrong, and what that costs the other rows."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay import Sample
from assay.evaluation.targets import TargetRuns
from assay.evaluation.targets.base import TargetFailure
from assay.evaluation.targets.functions import source_version
from assay.evaluation.targets.outputs import answer_of, joined

NEVER = threading.Event()


def length(answer: str) -> float:
    """Share of ten characters that an answer has."""
    return min(1.0, len(answer) / 10)


def ask(target: Any, questions: list[str], **options: Any) -> TargetRuns:
    rows = [{"question": question, "reference": "secret"} for question in questions]
    return assay.run(target, rows, [length], **{"store": None, "progress": False, "call_timeout": 30.0} | options)


def samples(runs: TargetRuns) -> list[Sample]:
    return [scored.sample for _, scored in runs.result.all_rows()]


def plain(question: str) -> str:
    return f"to {question}"


async def later(question: str) -> str:
    await asyncio.sleep(0)
    return f"to {question}"


def parts(question: str) -> Iterator[str]:
    yield "to "
    yield question


async def later_parts(question: str) -> AsyncIterator[str]:
    yield "to "
    yield question


def a_dict(question: str) -> dict[str, Any]:
    return {"output": f"to {question}", "documents": ["passage"], "usage": {"prompt_tokens": 3, "completion_tokens": 2},
            "cost": 0.5, "reference": "made up"}  # fmt: skip


def a_sample(question: str) -> Sample:
    return Sample(answer=f"to {question}", reference="made up")


def recorded(question: str) -> str:
    assay.record_context(["passage"])
    return f"to {question}"


@pytest.mark.parametrize("target", [plain, later, parts, later_parts, a_dict, a_sample, recorded])
def test_answers_of_every_kind_of_function_are_scored(target: Any) -> None:
    runs = ask(target, ["a", "b"])
    assert [sample.answer for sample in samples(runs)] == ["to a", "to b"]
    assert {sample.reference for sample in samples(runs)} == {"secret"}  # the data's, never the target's
    assert runs.result.metrics["length"].mean == 0.4  # "to a" has 4 characters
    if target in (a_dict, recorded):
        assert all(sample.passages == ("passage",) for sample in samples(runs))


def test_what_calls_took_stands_beside_the_scores() -> None:
    runs = ask(a_dict, ["a", "b"])
    run = runs.runs[0]
    assert (run.input_tokens, run.output_tokens, run.cost) == (6, 4, 1.0)  # of two calls
    assert 0 <= (run.seconds or 0) <= (run.seconds_p95 or -1)
    assert all(sample.metadata["target_cost"] == 0.5 for sample in samples(runs))
    assert ask(plain, ["a"]).runs[0].cost is None  # unknown is not 0


def hostile(question: str) -> Any:
    match question:
        case "raises":
            raise KeyError("gone")
        case "exits":
            sys.exit(0)
        case "interrupts":
            raise KeyboardInterrupt
        case "hangs":
            NEVER.wait(30)
        case "nothing":
            return None
        case "number":
            return 3
        case "no answer":
            return {"text of it": "x"}
        case "bad contexts":
            return {"answer": "x", "contexts": [object()]}
        case "lying":
            return Lying()
        case "empty generator":
            return (part for part in ())
        case "too long":
            return "x" * 10_000_001
    return "to " + question


class Lying:
    @property
    def response(self) -> str:
        raise SystemExit("from a property")


HOSTILE = {
    "raises": "it raised KeyError: 'gone'", "exits": "it raised SystemExit: 0", "interrupts": "KeyboardInterrupt",
    "hangs": "no answer within 0.5 s", "nothing": "it returned NoneType", "number": "it returned int",
    "no answer": "without an answer ('text of it')", "bad contexts": "cannot be read", "lying": "SystemExit",
    "empty generator": "yielded nothing", "too long": "10,000,001 characters",
}  # fmt: skip


def test_a_hostile_answer_is_a_cause_of_its_row_alone() -> None:
    questions = ["first", *HOSTILE, "last"]
    runs = ask(hostile, questions, call_timeout=0.5)
    found = {error.number: error for error in runs.result.errors}
    assert {str(error.cause) for error in found.values()} == {"target"}
    for number, (name, message) in enumerate(HOSTILE.items(), 2):
        assert message in str(found[number].message), name
    assert [sample.answer for sample in samples(runs)][:: len(questions) - 1] == ["to first", "to last"]
    assert [sample.question for sample in samples(runs)] == questions  # kept, also without an answer


async def blocking(question: str) -> str:
    if question == "blocks":
        NEVER.wait(30)
    if question == "exits":
        sys.exit(1)
    await asyncio.sleep(0)
    return "to " + question


def test_a_coroutine_that_blocks_the_event_loop_costs_no_other_row() -> None:
    runs = ask(blocking, ["a", "blocks", "b", "exits", "c"], call_timeout=0.5)
    assert [sample.answer for sample in samples(runs)] == ["to a", None, "to b", None, "to c"]


def test_questions_are_no_longer_asked_after_many_without_an_answer() -> None:
    calls: list[str] = []

    def down(question: str) -> str:
        calls.append(question)
        raise ConnectionError("down")

    runs = ask(down, [f"q{n}" for n in range(50)], stop_after=5, concurrency=1)
    assert len(calls) == 5
    assert runs.runs[0].answered == 0
    assert "no answer to 5 questions in a row" in " ".join(runs.notes)


def test_the_target_sees_no_reference() -> None:
    seen: list[Sample] = []

    def target(sample: Sample) -> str:
        seen.append(sample)
        return "x"

    ask(target, ["a"])
    assert (seen[0].question, seen[0].reference, seen[0].reference_contexts) == ("a", None, None)


def test_attempts_are_made_until_there_is_an_answer() -> None:
    calls: list[str] = []

    def flaky(question: str) -> str:
        calls.append(question)
        if len(calls) < 2:
            raise OSError("once")
        return "fine"

    assert ask(flaky, ["a"], attempts=2).runs[0].answered == 1
    assert len(calls) == 2


def test_answers_of_a_known_version_are_reused_and_others_are_not(tmp_path: Path) -> None:
    calls: list[str] = []

    def target(question: str) -> str:
        calls.append(question)
        return "x"

    assert source_version(target) is None  # the list that it closes over is no source
    for version, expected in (("1", 2), ("1", 2), ("2", 4), (None, 6), (None, 8)):
        runs = ask(target, ["a", "b"], store=tmp_path, target_version=version)
        assert len(calls) == expected, version
        assert bool(runs.notes) is (version is None)
    assert ask(target, ["a", "c"], store=tmp_path, target_version="1").runs[0].cached == 1


def test_a_function_has_the_version_of_its_modules_source() -> None:
    assert source_version(plain) is not None
    assert source_version(plain) != source_version(later)
    assert source_version(partial(plain, x=1)) != source_version(partial(plain, x=2))
    assert source_version(print) is None
    assert source_version(partial(plain, x=object())) is None


def varied(question: str, model: str = "m", words: int = 1) -> str:
    return f"{model} " * words + question


def test_each_combination_of_values_is_a_run() -> None:
    runs = ask(varied, ["a", "b", "c"], vary={"model": ["x", "longer"], "words": [1, 3]}, run="v", store=None)
    assert [result.run for result in runs.results] == [
        "v.model=x.words=1", "v.model=x.words=3", "v.model=longer.words=1", "v.model=longer.words=3",
    ]  # fmt: skip
    # "x a", "x x x a", "longer a", and ten or more: 0.3, 0.7, 0.8, 1
    assert [result.metrics["length"].mean for result in runs.results] == pytest.approx([0.3, 0.7, 0.8, 1.0])
    ranks = assay.compare_runs(runs.results, each=True).ranks["length"]
    assert [rank.rank for rank in ranks] == [4, 3, 2, 1]


def test_repeats_tell_variance_between_answers_from_that_between_questions() -> None:
    calls: dict[str, int] = {}

    def target(question: str) -> str:
        calls[question] = calls.get(question, 0) + 1
        return "x" * (int(question) + calls[question] % 2)

    runs = ask(target, ["1", "7"], repeats=2, concurrency=1)
    (found,) = runs.runs[0].repeats
    # scores 0.2, 0.1 and 0.8, 0.7: each pair has variance 0.005; the means 0.15 and 0.75 have variance 0.18, of which
    # 0.005 / 2 is the repeats'
    assert found.within == pytest.approx(0.005)
    assert found.between == pytest.approx(0.1775)
    assert found.share == pytest.approx(0.005 / 0.1825)
    assert (found.questions, found.scores) == (2, 4)
    first, second, third, _ = (sample.metadata["question_id"] for sample in samples(runs))
    assert first == second != third


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        (3, {}, "target: expected a function"),
        (lambda: "x", {}, "takes no question"),
        ("ftp://x/y", {}, "expected an address"),
        (plain, {"repeats": 0}, "repeats"),
        (plain, {"call_timeout": float("nan")}, "call_timeout"),
        (plain, {"vary": {"model": ["a"]}}, "no parameter 'model'"),
        (plain, {"vary": {"question": ["a"]}}, "no parameter 'question'"),
        (varied, {"vary": {"model": "ab"}}, "expected a list"),
        (varied, {"vary": {"model": ["a", "a"]}}, "the same"),
        (varied, {"vary": {"model": range(2000)}}, "combinations"),
        (plain, {"target_version": ""}, "target_version"),
    ],
)
def test_a_wrong_call_names_its_argument(target: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(assay.InputError, match=message):
        ask(target, ["a"], **options)


def test_a_name_that_is_taken_and_unknown_metrics_are_refused_before_the_target_is_called(tmp_path: Path) -> None:
    calls: list[str] = []

    def target(question: str) -> str:
        calls.append(question)
        return "x"

    ask(target, ["a"], store=tmp_path, run="one")
    calls.clear()
    with pytest.raises(assay.InputError, match="'one' is taken"):
        ask(target, ["a"], store=tmp_path, run="one")
    with pytest.raises(assay.InputError, match="nonsense"):
        assay.run(target, [{"question": "a"}], ["nonsense"], store=tmp_path)
    with pytest.raises(assay.InputError, match="needs reference"):
        assay.run(target, [{"question": "a"}], ["context_recall"], store=tmp_path)
    with pytest.raises(assay.InputError, match="no questions"):
        assay.run(target, [{"answer": "a"}], [length], store=tmp_path)
    assert not calls


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["answer", "contexts", "output", "usage", "cost", "messages", "x"]), inner, max_size=4),
)  # fmt: skip


@given(VALUES)
def test_any_value_is_an_answer_or_a_failure(value: object) -> None:
    try:
        found = answer_of(value)
    except TargetFailure:
        return
    assert isinstance(found.text, str)
    assert type(found).from_dict(found.to_dict()) == found


@given(st.lists(st.text(max_size=4), min_size=2, max_size=5))
def test_pieces_of_a_generator_are_joined(texts: list[str]) -> None:
    assert joined(list(texts)) == "".join(texts)
    assert joined([{"answer": text} for text in texts]) == {"answer": "".join(texts)}
    assert joined([*texts, {"contexts": ["p"]}]) == {"answer": "".join(texts), "contexts": ["p"]}
