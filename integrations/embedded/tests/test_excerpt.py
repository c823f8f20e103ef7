"""What of a passage a claim is read against: whole sentences, from anywhere in it, within the budget."""

from __future__ import annotations

import time

import pytest
from assay_embedded.excerpt import excerpt
from assay_embedded.features import Passage
from assay_embedded.sentences import sentences
from hypothesis import given, settings
from hypothesis import strategies as st

FILLER = "The weather was fine that day and the dog slept in the garden. "  # 13 words
WORDS = ("Berlin", "river", "seven", "old", "bridge", "falls", "north", "won", "trade", "paper")
TEXTS = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(lambda words: " ".join(words).capitalize() + "."),
    max_size=25,
).map(" ".join)


def shown(text: str, claim: str, budget: int) -> str:
    passage = Passage(text)
    return passage.read(excerpt(passage, claim, budget))


def test_a_short_passage_is_taken_whole() -> None:
    text = "One river. Two bridges.\nThree towns."
    assert shown(text, "bridges", 6) == "One river. Two bridges. Three towns."
    assert shown("", "bridges", 6) == ""


def test_what_covers_the_claim_is_found_wherever_it_stands() -> None:
    text = FILLER * 400 + "Saransk is the capital of Mordovia. " + FILLER * 400
    found = shown(text, "The capital of Mordovia is Saransk.", 40)
    assert "Saransk is the capital of Mordovia." in found
    assert len(found.split()) == 6 + 13 + 13  # its neighbours on both sides fit; a fourth sentence would be 45 words


def test_words_that_need_two_sentences_get_both() -> None:
    text = "Ada was born in London. " + FILLER * 50 + "Her machine was built in Turin. " + FILLER * 50
    found = shown(text, "Ada's machine was built in Turin, and she was born in London.", 30)
    assert found.startswith("Ada was born in London.")
    assert "Her machine was built in Turin." in found


def test_neighbours_explain_pronouns() -> None:
    text = FILLER * 20 + "Marie Curie worked in Paris. She won two prizes for physics. " + FILLER * 20
    assert "Marie Curie worked in Paris." in shown(text, "Two prizes for physics were won.", 30)


def test_a_passage_that_shares_nothing_gives_its_beginning() -> None:
    text = FILLER * 50
    assert shown(text, "Quarterly revenue doubled.", 30) == (FILLER * 2).strip()


@pytest.mark.parametrize("budget", [1, 5])
def test_one_sentence_is_taken_however_long(budget: int) -> None:
    assert shown(FILLER * 10, "The dog slept.", budget) == FILLER.strip()
    assert shown(FILLER * 10, "Revenue doubled.", budget) == FILLER.strip()


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(TEXTS, st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), st.integers(1, 60))
def test_spans_are_sentences_in_order_within_the_budget(text: str, claim: str, budget: int) -> None:
    passage = Passage(text)
    chosen = excerpt(passage, claim, budget)
    spans = [passage.pieces[i].span for i in chosen]
    every = list(sentences(text))
    assert list(spans) == sorted(set(spans))
    assert set(spans) <= set(every)
    assert bool(spans) == bool(every)
    used = sum(len(text[start:end].split()) for start, end in spans)
    assert used <= budget or len(spans) == 1
    if sum(len(text[start:end].split()) for start, end in every) <= budget:
        assert list(spans) == every
    assert excerpt(passage, claim, budget) == chosen


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), st.integers(10, 60))
def test_a_claim_that_the_passage_has_word_for_word_is_in_the_excerpt(text: str, words: list[str], budget: int) -> None:
    """The sentence that holds every word of the claim gains most: nothing beats it but another such sentence."""
    claim = " ".join(words)
    everything = f"{text} {claim.capitalize()}."
    shown_words = {word.strip(".").lower() for word in shown(everything, claim, budget).split()}
    assert {word.lower() for word in words} <= shown_words


@pytest.mark.long
@pytest.mark.parametrize("unit", ["a. ", "word ", "A claim here. ", "\n1. "])
def test_time_is_linear(unit: str) -> None:
    long = unit * (300_000 // len(unit))
    start = time.process_time()
    excerpt(Passage(long), "A claim with 5 words.", 130)
    excerpt(Passage("A claim with 5 words."), long, 130)
    assert time.process_time() - start < 10  # a square would take minutes


@pytest.mark.parametrize("text", ["[1]" * 20_000, "a" * 100_000, "。" * 50_000, "(" * 100_000])
def test_a_text_without_spaces_is_not_read_whole(text: str) -> None:
    """A piece has 720 characters in words of 50 at most; with 90 words of 12 characters as the budget one is taken."""
    assert 0 < len(shown(text, "The cat is red.", 90)) <= 90 * 12
