"""Windows: pieces that fit a judge and lose nothing."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import InputError
from assay.records import Span
from assay.text import windows

TEXT = "It is tall. It is old. Is it red? No."


def pieces(text: str, max_chars: int) -> list[str]:
    return [span.of(text) for span in windows(text, max_chars)]


@pytest.mark.parametrize("text", ["", "  \n "])
def test_blank_text_has_no_windows(text: str) -> None:
    assert windows(text, 10) == ()


def test_short_text_is_one_window_without_outer_space() -> None:
    assert windows(f"  {TEXT}\n", len(TEXT)) == (Span(2, 2 + len(TEXT)),)


def test_cuts_at_sentence_ends() -> None:
    # 11 + 1 + 10 = 22 characters in the first two sentences, 10 + 1 + 3 = 14 in the others
    assert pieces(TEXT, 22) == ["It is tall. It is old.", "Is it red? No."]
    assert pieces(TEXT, 21) == ["It is tall.", "It is old. Is it red?", "No."]


def test_long_sentence_is_cut_at_spaces() -> None:
    assert pieces("one two three four five. Six.", 9) == ["one two", "three", "four", "five.", "Six."]


def test_word_longer_than_a_window_is_cut_anywhere() -> None:
    assert pieces("abcdefghij kl", 4) == ["abcd", "efgh", "ij", "kl"]


@pytest.mark.parametrize("max_chars", [0, -1])
def test_impossible_size_is_refused(max_chars: int) -> None:
    with pytest.raises(InputError, match="max_chars"):
        windows(TEXT, max_chars)


@settings(deadline=None, max_examples=300)
@given(
    st.lists(
        st.one_of(st.text(max_size=8), st.sampled_from(["It is so. ", "word ", "\n\n", "。", "   "])), max_size=60
    ).map("".join),
    st.integers(1, 60),
)
def test_any_text_is_covered_by_fitting_windows(text: str, max_chars: int) -> None:
    at = 0
    for span in windows(text, max_chars):
        assert at <= span.start < span.end <= span.start + max_chars
        assert not text[at : span.start].strip()
        assert span.of(text) == span.of(text).strip()
        at = span.end
    assert not text[at:].strip()


@pytest.mark.long
@pytest.mark.parametrize("unit", ["x", "word ", "It is so. ", "今天"])
def test_time_grows_with_the_length_only(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit)) + str(size)  # each its own: the latest are kept
        start = time.thread_time()
        windows(text, 500)
        return time.thread_time() - start

    seconds(1000)
    assert min(seconds(80_000 + i) for i in range(3)) < 25 * (min(seconds(8_000 + i) for i in range(3)) + 0.001)
