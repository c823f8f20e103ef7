"""Rules that make training pairs: what they change, and that they leave alone what they do not apply to."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))
import derive

CLAIM = "In 1887 Gustave Eiffel built 3 towers in Paris."
PASSAGE = "Gustave Eiffel built 3 towers in Paris in 1887. Victor Hugo lived in Lyon until 1885. It rained for 40 days."
SEEDS = st.integers(0, 10_000)
WORDS = st.sampled_from(["Paris", "The", "is", "big", "river"])


def test_numbers_and_names() -> None:
    assert derive.numbers("1,967 of 2.5 and 40, not B12 or 1.2.3") == ["1,967", "2.5", "40"]
    assert derive.names("The tower is by Gustave Eiffel of Dijon. Tourists like it.") == ["Gustave Eiffel", "Dijon"]


@settings(max_examples=100, deadline=None)
@given(SEEDS)
def test_a_number_is_swapped_for_another(seed: int) -> None:
    changed = derive.swap_number(CLAIM, PASSAGE, random.Random(seed))
    assert changed is not None
    before, after = derive.numbers(CLAIM), derive.numbers(changed)
    assert len(after) == 2
    assert sum(a != b for a, b in zip(before, after, strict=True)) == 1  # exactly one of the two, for another number


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(st.from_regex(r"[1-9][0-9]{0,2}(,[0-9]{3}){0,2}(\.[0-9]{1,3})?", fullmatch=True), SEEDS)
def test_a_number_near_another_is_never_the_same(number: str, seed: int) -> None:
    changed = derive.swap_number(f"It cost {number} euros.", "", random.Random(seed))
    assert changed is not None
    assert float(changed.split()[2].replace(",", "")) != float(number.replace(",", ""))


@settings(max_examples=100, deadline=None)
@given(SEEDS)
def test_a_name_is_swapped_for_one_that_the_claim_lacks(seed: int) -> None:
    changed = derive.swap_name(CLAIM, PASSAGE, ["Ada Lovelace", "Turin"], random.Random(seed))
    assert changed is not None
    assert changed != CLAIM
    assert ("Gustave Eiffel" in changed) + ("Paris" in changed) == 1
    assert any(name in changed for name in ("Victor Hugo", "Lyon", "Ada Lovelace", "Turin"))


def test_names_that_change_places_change_the_statement() -> None:
    rng = random.Random(1)
    assert derive.exchange_names("In 1990 Spain beat Chile.", rng) == "In 1990 Chile beat Spain."
    assert derive.exchange_names("They say Spain and Chile met.", rng) is None  # the order means nothing
    assert derive.exchange_names("They say Spain won.", rng) is None


@pytest.mark.parametrize(
    ("claim", "negated"),
    [
        ("The tower is open.", "The tower is not open."),
        ("The tower is not open.", "The tower is open."),
        ("He won.", None),
    ],
)
def test_negation_is_added_or_taken_away(claim: str, negated: str | None) -> None:
    assert derive.negate(claim, random.Random(0)) == negated


def test_one_word_turns_a_statement() -> None:
    assert derive.opposite("Shares rose sharply.", random.Random(0)) == "Shares fell sharply."
    assert derive.opposite("After the war it closed.", random.Random(0)) == "Before the war it closed."
    assert derive.opposite("It closed.", random.Random(0)) is None


def test_the_sentence_that_supports_is_left_out() -> None:
    assert derive.without_support(PASSAGE, CLAIM) == "Victor Hugo lived in Lyon until 1885. It rained for 40 days."
    assert derive.without_support("Victor Hugo lived in Lyon. It rained.", CLAIM) is None  # nothing to leave out
    twice = PASSAGE + " Gustave Eiffel built much in 1887. Paris has towers."  # 4 and 2 of the claim's 7 content words
    left = "Victor Hugo lived in Lyon until 1885. It rained for 40 days. Paris has towers."
    assert derive.without_support(twice, CLAIM) == left


@settings(max_examples=50, deadline=None)
@given(SEEDS)
def test_among_others_the_passage_stays_whole(seed: int) -> None:
    found = derive.among(PASSAGE, ["Another passage.", "A third."], random.Random(seed))
    assert sorted(found.split("\n")) == sorted([PASSAGE, "Another passage.", "A third."])


@settings(max_examples=50, deadline=None)
@given(SEEDS)
def test_an_instruction_is_added_and_nothing_lost(seed: int) -> None:
    found = derive.instruct(PASSAGE, random.Random(seed))
    (given_,) = [text for text in derive.INSTRUCTIONS if text in found]
    assert " ".join(found.replace(given_, "").split()) == PASSAGE


@settings(max_examples=50, deadline=None)
@given(SEEDS)
def test_copied_sentences_are_of_the_passage_and_in_its_order(seed: int) -> None:
    text = "Short one. The bridge (built by Romans) crosses the river near the old town. One tower is on its far bank."
    bridge = "The bridge (built by Romans) crosses the river near the old town."
    first, second = derive.copied(text, 3, random.Random(seed))
    assert first in (bridge, "The bridge crosses the river near the old town.")
    assert second == "One tower is on its far bank."
    assert len(derive.copied(text, 1, random.Random(seed))) == 1
    assert derive.copied("Short one.", 2, random.Random(seed)) == []


@given(SEEDS)
def test_a_name_behind_an_apostrophe_is_not_swapped_for_itself(seed: int) -> None:
    assert derive.swap_name("He is d'Aosta.", "Born in Aosta.", [], random.Random(seed)) is None
    assert derive.swap_name("He is d'Aosta.", "Born in Aosta.", ["Ada"], random.Random(seed)) == "He is d'Ada."


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80), st.text(max_size=80), SEEDS)
def test_any_text_is_taken(claim: str, passage: str, seed: int) -> None:
    rng = random.Random(seed)
    for made in (
        derive.swap_number(claim, passage, rng), derive.swap_name(claim, passage, ["Ada"], rng),
        derive.exchange_names(claim, rng), derive.negate(claim, rng), derive.opposite(claim, rng),
    ):  # fmt: skip
        assert made is None or made != claim
    rest = derive.without_support(passage, claim)
    assert rest is None or len(rest.split()) < len(passage.split())


def test_two_statements_become_one_sentence() -> None:
    found = {derive.joined("Paris is big.", "The river is long.", random.Random(seed)) for seed in range(60)}
    assert "Paris is big, and the river is long." in found
    assert "The river is long; Paris is big." in found  # a name keeps its capital
    assert len(found) == 2 * 4  # two orders, four ways to join


@settings(max_examples=100, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=6), st.lists(WORDS, min_size=1, max_size=6), SEEDS)
def test_joining_loses_no_word(first: list[str], second: list[str], seed: int) -> None:
    said = derive.joined(" ".join(first) + ".", " ".join(second) + ".", random.Random(seed)).lower()
    found = sorted(said.replace(".", "").replace(",", "").replace(";", "").split())
    want = [word.lower() for word in first + second]
    assert found in [sorted([*want, *more]) for more in ([], ["and"], ["while"])]
