"""Patterns that come with the data give what Python's `re` gives, and never hold the run up."""

from __future__ import annotations

import asyncio
import re
import subprocess
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import evaluate
from assay.errors import Cause, InputError, JudgeFailure
from assay.metrics.deepeval.matching import PatternMatch
from assay.metrics.systems import named, patterns
from assay.metrics.systems.patterns import compiled, is_quick, matches
from assay.metrics.systems.schemas import json_schema_errors
from assay.records import Sample
from tests.metrics.systems.any_judge import AnyJudge

#: Python's `re` would need some 2 ** 40 steps for it.
ENDLESS, TEXT = "(a+)+$", "a" * 40 + "b"


@pytest.mark.parametrize(
    ("pattern", "text", "whole", "beginning"),
    [
        (r"\d+", "42", True, True),
        (r"\d+", "42 days", False, True),
        (r"\d+\.\d+", "3.14", True, True),  # two choices: in a process of its own
        (r"(yes|no)?!", "no!", True, True),
        (r"(yes|no)?!", "maybe", False, False),
        (r"\w+ \w+", "देवनागरी लिपि", False, False),  # as `re`: its vowel signs are no letters
        (r"[^\ud83d]+.+", "\ud83d half an emoji", False, False),
    ],
)
def test_what_re_gives(pattern: str, text: str, whole: bool, beginning: bool) -> None:
    made = compiled(pattern, 0, "the pattern")
    assert asyncio.run(matches(made, text, "fullmatch")) is whole is (made.fullmatch(text) is not None)
    assert asyncio.run(matches(made, text, "match")) is beginning is (made.match(text) is not None)


def test_flags_are_kept() -> None:
    made = compiled("A+ B+", re.IGNORECASE, "the pattern")
    assert not is_quick(made.pattern)
    assert asyncio.run(matches(made, "aa bb"))


@pytest.mark.parametrize(
    ("pattern", "quick"),
    [
        ("abc", True),
        ("a*b", True),
        ("a|b", True),
        ("a*b*", False),
        ("(a|b)+", False),
        ("a{2,}", True),
        (r"(.)\1", False),
    ],
)
def test_one_choice_is_matched_here(pattern: str, quick: bool) -> None:
    assert is_quick(pattern) is quick


@given(st.text("a*+?|()b", max_size=12), st.integers(1, 3))
@settings(max_examples=200)
def test_what_is_matched_here_is_quick(pattern: str, times: int) -> None:
    try:
        made = re.compile(pattern)
    except re.error:
        return
    if is_quick(pattern):
        began = time.thread_time()
        made.match("a" * 50_000 + "c")
        assert time.thread_time() - began < 1.0


def test_an_endless_match_is_given_up_and_others_go_on() -> None:
    async def both() -> tuple[float, JudgeFailure]:
        began = time.perf_counter()
        task = asyncio.ensure_future(matches(compiled(ENDLESS, 0, "it"), TEXT, limit=0.2))
        await asyncio.sleep(0)  # it has begun
        waited = time.perf_counter() - began
        with pytest.raises(JudgeFailure) as failed:
            await task
        return waited, failed.value

    waited, failure = asyncio.run(both())
    assert waited < 0.2  # the loop was free meanwhile
    assert failure.cause is Cause.TIMEOUT
    assert "0.2 s" in failure.message


def test_rows_with_such_patterns_have_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns.matches, "__defaults__", ("match", 0.2))
    rows = [{"answer": TEXT, "reference": ENDLESS}, {"answer": "42 b", "reference": r"\d+ [a-c]+"}]
    result = evaluate(rows, "langchain:regex_match", store=None)
    first, second = (row.scores["langchain:regex_match"] for row in result)
    assert first.error is not None
    assert first.error.cause is Cause.TIMEOUT
    assert second.value == 1.0
    sample = Sample(question="q", answer=TEXT, metadata={"pattern": ENDLESS})
    score = asyncio.run(named("deepeval:pattern_match").score(sample, AnyJudge()))
    assert score.error is not None
    assert score.error.cause is Cause.TIMEOUT


@pytest.mark.parametrize("wrong", ["([", "(?P<a>b)(?P<a>c)", "a{99999999999999999999}", "(" * 200 + ")" * 199])
def test_no_pattern_is_said_to_be_none(wrong: str) -> None:
    with pytest.raises(InputError, match=r"deepeval:pattern_match: pattern .* is no regular expression"):
        PatternMatch(wrong)


def test_a_process_that_breaks_off_is_no_match_and_no_mismatch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "_CHILD", "raise SystemExit(3)")
    with pytest.raises(JudgeFailure, match="did not run") as failed:
        asyncio.run(matches(compiled("a+b+", 0, "it"), "ab"))
    assert failed.value.cause is Cause.MISSING_EXTRA


def test_five_seconds_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    def over(*given: Any, timeout: float, **named: Any) -> Any:
        raise subprocess.TimeoutExpired("python", timeout)

    monkeypatch.setattr(subprocess, "run", over)
    for work in (matches(compiled("a+b+", 0, "it"), "ab"), json_schema_errors([1], {"uniqueItems": True})):
        with pytest.raises(JudgeFailure, match="took more than 5 s"):
            asyncio.run(work)


def test_where_no_process_can_run_the_row_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with pytest.raises(JudgeFailure, match="needs a process of Python") as failed:
        asyncio.run(matches(compiled("a+b+", 0, "it"), "ab"))
    assert failed.value.cause is Cause.MISSING_EXTRA
