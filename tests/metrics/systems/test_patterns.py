"""Patterns that come with the data give what Python's `re` gives, and never hold the run up."""

from __future__ import annotations

import asyncio
import contextlib
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
from assay.metrics.systems.patterns import (
    LONGEST,
    check_pattern,
    compiles_quickly,
    is_quick,
    is_quick_anywhere,
    matches,
)
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
    made = re.compile(pattern)
    assert asyncio.run(matches(pattern, text, "fullmatch")) is whole is (made.fullmatch(text) is not None)
    assert asyncio.run(matches(pattern, text, "match")) is beginning is (made.match(text) is not None)


def test_flags_are_kept() -> None:
    assert not is_quick("A+ B+")
    assert asyncio.run(matches("A+ B+", "aa bb", flags=re.IGNORECASE))
    assert asyncio.run(matches("A[B]", "ab", flags=re.IGNORECASE))
    assert not asyncio.run(matches("A[B]", "ab"))


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
        assert time.thread_time() - began < 10.0  # of a pattern that is tried in all ways it would be years


def test_an_endless_match_is_given_up_and_others_go_on() -> None:
    async def both() -> tuple[float, JudgeFailure]:
        began = time.perf_counter()
        task = asyncio.ensure_future(matches(ENDLESS, TEXT, limit=0.2))
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
    monkeypatch.setattr(patterns, "LIMIT", 0.2)
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
        asyncio.run(matches("a+b+", "ab"))
    assert failed.value.cause is Cause.MISSING_EXTRA


def test_five_seconds_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    def over(*given: Any, timeout: float, **named: Any) -> Any:
        raise subprocess.TimeoutExpired("python", timeout)

    monkeypatch.setattr(subprocess, "run", over)
    for work in (matches("a+b+", "ab"), json_schema_errors([1], {"uniqueItems": True})):
        with pytest.raises(JudgeFailure, match="took more than 5 s"):
            asyncio.run(work)


def test_where_no_process_can_run_the_row_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with pytest.raises(JudgeFailure, match="needs a process of Python") as failed:
        asyncio.run(matches("a+b+", "ab"))
    assert failed.value.cause is Cause.MISSING_EXTRA


# ---- compiling

SETS = "(?i)" + "[\\u0100-\\uffff]" * 600  # 6 s
#: Patterns that take seconds to compile, with no choice in them; and those that ignore case by a flag.
SLOW = [SETS, SETS.replace("(?i)", "(?is)"), "(?i:" + SETS[4:] + ")", "(?i)" + "[^\\u0100-\\uffff]" * 600]


@pytest.mark.short_cases(2)
@pytest.mark.parametrize("pattern", SLOW)
@pytest.mark.parametrize("name", ["langchain:regex_match", "deepeval:pattern_match"])
def test_compiling_is_given_up_too_and_the_loop_goes_on(
    pattern: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patterns, "LIMIT", 0.3)
    sample = Sample(question="q", answer="a", reference=pattern, metadata={"pattern": pattern})
    longest = 0.0

    async def measured() -> Any:
        nonlocal longest
        task = asyncio.ensure_future(named(name).score(sample, AnyJudge()))
        while not task.done():
            began = time.perf_counter()
            await asyncio.sleep(0.001)
            longest = max(longest, time.perf_counter() - began)
        return task.result()

    score = asyncio.run(measured())
    assert score.error is not None
    assert score.error.cause is Cause.TIMEOUT
    assert longest < 2.0  # compiling takes 6 s


def test_a_pattern_of_a_configuration_is_compiled_in_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "LIMIT", 0.3)
    with pytest.raises(InputError, match=r"deepeval:pattern_match: pattern .* took more than 0.3 s"):
        PatternMatch("[\\u0100-\\uffff]" * 600, ignore_case=True)
    with pytest.raises(InputError, match=r"is no regular expression: unterminated"):
        PatternMatch("(?i)[a-z", ignore_case=True)


@pytest.mark.parametrize("pattern", ["a" * (LONGEST + 1), "[" * 200_000, SETS * 3])
def test_a_pattern_has_a_length(pattern: str) -> None:
    said = f"has {len(pattern):,} characters; a regular expression may have 10,000"
    with pytest.raises(InputError, match=said):
        asyncio.run(matches(pattern, "a"))
    with pytest.raises(InputError, match=said):
        check_pattern(pattern, 0, "it")
    score = asyncio.run(named("langchain:regex_match").score(Sample(answer="a", reference=pattern), AnyJudge()))
    assert score.error is not None
    assert (score.error.cause, said in score.error.message) == (Cause.MISSING_INPUT, True)


def test_a_schema_with_such_a_pattern_is_not_checked_here() -> None:
    assert is_quick_anywhere("^[a-z]")
    assert not is_quick_anywhere("(?i)" + "[\\u0100-\\uffff]" * 50)


@given(st.text("ab[]^-\\\\w\u0100\uffff(?i:)", max_size=60), st.sampled_from([0, re.IGNORECASE]))
@settings(max_examples=300)
def test_what_is_compiled_here_takes_no_time(pattern: str, flags: int) -> None:
    """Repeated up to the length that is compiled here."""
    long = (pattern * 1000)[:1000]
    if compiles_quickly(long, flags):
        began = time.thread_time()
        with contextlib.suppress(InputError):
            check_pattern(long, flags, "it")
        assert time.thread_time() - began < 10.0  # of a pattern that is tried in all ways it would be years
