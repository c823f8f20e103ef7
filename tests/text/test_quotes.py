"""Quotes: found where the passage says them, however the judge typed them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.records import Span
from assay.text import locate, locate_parts
from assay.text.quotes import normalise

PASSAGE = (
    "The “Iron Lady” – Gustave Eiffel’s tower –\nopened in 1889… It is 330\u00a0m tall,\n  and it stands in the "
    "Stra\u00dfe of Cafe\u0301s; the co\u00adop\u200beration of many \ufb01rms built it. 東京タワーより低い。"
)


def found(quote: str, passage: str = PASSAGE) -> str | None:
    span = locate(quote, passage)
    return None if span is None else span.of(passage)


def test_exact_quote_is_found_first() -> None:
    assert locate("tall", "Tall, tall") == Span(6, 10)  # not the first one, which differs in case
    assert found("opened in 1889…") == "opened in 1889…"


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("it is 330 M TALL", "It is 330\u00a0m tall"),
        ("tall, and it stands", "tall,\n  and it stands"),
        ('The "Iron Lady" - Gustave Eiffel\'s tower', "The “Iron Lady” – Gustave Eiffel’s tower"),
        ("'Iron Lady' -- Gustave", "Iron Lady” – Gustave"),  # the marks around a quote are the judge's own
        ("opened in 1889... It is", "opened in 1889… It is"),
        ('"It is 330 m tall"', "It is 330\u00a0m tall"),
        ("“...opened in 1889...”", "opened in 1889"),
        ("[...] opened in 1889 [...]", "opened in 1889"),
        ("STRASSE of CAF\u00c9S", "Stra\u00dfe of Cafe\u0301s"),
        ("the cooperation of many firms", "the co\u00adop\u200beration of many \ufb01rms"),
        ("“東京タワー”", "東京タワー"),
    ],
)
def test_typing_differences_are_ignored(quote: str, expected: str) -> None:
    assert found(quote) == expected


@pytest.mark.parametrize("quote", ["", "  ", "\n", "It is 331 m tall", "stands on the", "...", '""'])
def test_what_is_not_said_is_not_found(quote: str) -> None:
    assert locate(quote, PASSAGE) is None


def test_short_quotes_need_an_exact_match() -> None:
    assert found("m") == "m"
    assert found('"IT"') is None
    assert found('"and"') == "and"


def test_no_match_begins_or_ends_within_a_character() -> None:
    assert locate("XMAS", "the\u00dfmas xmas") == Span(8, 12)
    assert locate("SMAS", "\u00dfmas") is None  # sharp s is "ss"; half of it is no place
    assert locate("CAFE", "a cafe\u0301") is None


def test_empty_passage_says_nothing() -> None:
    assert locate("a quote", "") is None
    assert locate_parts("a quote ... of two", "") == ()


def test_parts_of_an_elided_quote_are_found_in_order() -> None:
    passage = "The tower opened in 1889, after years of work, and is 330 m tall."
    for middle in ("...", " … ", " [...] ", " (…) "):
        spans = locate_parts(f'"the tower opened{middle}is 330 m tall"', passage)
        assert [span.of(passage) for span in spans] == ["The tower opened", "is 330 m tall"]


def test_whole_quote_is_one_part() -> None:
    assert locate_parts("a ... b", "say a ... b") == (Span(4, 11),)
    assert locate_parts("...opened in 1889...", PASSAGE) == (locate("opened in 1889", PASSAGE),)


@pytest.mark.parametrize(
    "quote", ["", "is 330 m ... opened in", "opened in ... is 331 m", "opened ... opened", "i ... a", "... ..."]
)
def test_parts_missing_or_out_of_order_are_no_evidence(quote: str) -> None:
    assert locate_parts(quote, "The tower opened in 1889 and is 330 m tall.") == ()


PIECES = st.lists(
    st.one_of(
        st.text(max_size=6),
        st.sampled_from(["Word", " it ", "’", '"', "—", "…", "...", "\u200b", "\n", "ß", "e\u0301", "ﬁ"]),
    ),
    max_size=30,
).map("".join)


@pytest.mark.long
@settings(deadline=None, max_examples=300)
@given(PIECES, PIECES, PIECES)
def test_a_piece_of_the_passage_is_found(before: str, quote: str, after: str) -> None:
    passage = before + quote + after
    span = locate(quote, passage)
    assert (span is None) == (not quote.strip())
    if span is not None:
        assert span.of(passage) == quote


@pytest.mark.long
@settings(deadline=None, max_examples=300)
@given(
    PIECES,
    PIECES,
    PIECES,
    st.sampled_from([str.upper, str.lower, normalise, lambda s: f" '{s.replace(' ', chr(10))}…”"]),
)
def test_what_is_found_normalises_to_the_quote(before: str, middle: str, after: str, change: object) -> None:
    assert callable(change)
    quote, passage = change(middle), before + middle + after
    span = locate(quote, passage)
    if span is not None and span.of(passage) != quote:
        assert normalise(span.of(passage)) == normalise(quote)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.sampled_from(["Tower", "paris", "1889", "“so”", "it’s", "–", "éa"]), min_size=3, max_size=30))
def test_changed_typing_is_always_found(words: list[str]) -> None:
    passage = "Before it. " + " ".join(words) + " After it."
    quote = "\n\n".join(words).upper().replace("“", '"').replace("”", '"').replace("’", "'").replace("–", "—")
    if sum(map(str.isalnum, quote)) >= 3:
        span = locate(f"«{quote}»", passage)
        assert span is not None
        assert normalise(span.of(passage)) == normalise(quote)


@pytest.mark.long
@pytest.mark.parametrize("unit", ["a plain word ", "ß", "é ", "'", "...", "aaaaaaaaaaaaaaaa"])
def test_time_grows_with_the_length_only(unit: str) -> None:
    def seconds(size: int) -> float:
        passage = unit * (size // len(unit)) + str(size)  # each its own: the latest are kept
        quote = unit.upper() * (1000 // len(unit)) + "not there"
        start = time.thread_time()
        locate(quote, passage)
        return time.thread_time() - start

    seconds(1000)
    assert min(seconds(200_000 + i) for i in range(3)) < 25 * (min(seconds(20_000 + i) for i in range(3)) + 0.001)
