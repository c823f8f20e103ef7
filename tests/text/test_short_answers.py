"""Answers of a few words: what counts as one, and where a text gives it, in which spellings."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.text.short_answers import aliases, stated


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("1967", ("1967",)),
        ("England | Scotland|Wales | England", ("England", "Scotland", "Wales")),
        ("the U.S.", ("the U.S.",)),
        ("J. R. R. Tolkien", ("J. R. R. Tolkien",)),
        ("St. Louis", ("St. Louis",)),
        ("It was in 1967.", ()),
        ("It was. It is.", ()),
        ("Fact 1 a. Fact 2 b", ()),
        ("Paris.", ()),
        ("one two three four five six seven", ()),
        ("Paris\nLondon", ()),
        ("Who?", ()),
        ("| ", ()),
        ("---", ()),
        ("", ()),
        ("东京。", ()),
        ("东京", ("东京",)),
        ("a" * 101, ()),
    ],
)
def test_what_is_an_answer_of_a_few_words(reference: str, expected: tuple[str, ...]) -> None:
    assert aliases(reference) == expected


@pytest.mark.parametrize(
    ("text", "alias", "found"),
    [
        ("It was in Paris, France.", "paris", "Paris"),
        ("The Beatles split up.", "Beatles", "Beatles"),
        ("She met Beyonce Knowles there.", "Beyoncé", "Beyonce"),
        ("They have three dogs.", "3", "three"),
        ("About 1,200.50 km.", "1200.5", "1,200.50"),
        ("On 4th July 1776 it was signed.", "July 4, 1776", "4th July 1776"),
        ("It can be treated with eyeglasses.", "Eye glasses", "eyeglasses"),
        ("A New-York paper.", "New York", "New-York"),
        ("Joey is a granddaughter.", "daughter", None),
        ("It was 1967 or so.", "196", None),
        ("It was 19 67.", "1967", None),
        ("He is from New Jersey, not York.", "New York", None),
        ("首都は东京です。", "东京", "首都は东京です"),
        ("", "Paris", None),
        ("Paris", "the", None),
    ],
)
def test_where_it_is_given(text: str, alias: str, found: str | None) -> None:
    span = stated(text, alias)
    assert (None if span is None else span.of(text)) == found


WORDS = st.lists(
    st.sampled_from(["Paris", "of", "seven", "1967", "é", "Straße", "X-1", "東京"]), min_size=1, max_size=5
)


@settings(max_examples=300, deadline=None)
@given(WORDS, WORDS, WORDS)
def test_what_stands_there_is_found(before: list[str], alias: list[str], after: list[str]) -> None:
    text = " ".join((*before, *alias, *after))
    span = stated(text, " ".join(alias))
    assert span is not None
    assert stated(span.of(text), " ".join(alias)) is not None


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60), st.text(max_size=20))
def test_any_text_and_alias(text: str, alias: str) -> None:
    span = stated(text, alias)
    assert span is None or 0 <= span.start < span.end <= len(text)
    assert all(aliases(reference) == (reference,) for reference in aliases(alias))


@pytest.mark.parametrize("unit", ["a ", "a", "1,", "東", "ab ", "a-", "é"])
def test_time_is_linear(unit: str) -> None:
    spent = []
    for size in (50_000, 200_000):
        start = time.process_time()
        stated(unit * (size // len(unit)), unit.strip() * 8 + "x")
        stated(unit * (size // len(unit)), " ".join([unit] * 5))
        spent.append(time.process_time() - start)
    assert spent[1] < 10 * spent[0] + 0.5  # four times as much text: a square takes sixteen times as long
