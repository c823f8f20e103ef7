"""Features are counts that a reader can check."""

from __future__ import annotations

import time

import pytest
from assay_embedded.features import FEATURES, Passage, words
from assay_embedded.sentences import sentences
from hypothesis import given
from hypothesis import strategies as st

WORLD_CUP = "Spain won the 2010 World Cup. The final was played in Johannesburg on 11 July 2010.\nDr. Smith did not go."


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


def value(passage: str, claim: str, name: str) -> float:
    return Passage(passage).compare(claim).values[list(FEATURES).index(name)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Smith met J. Doe at 5 p.m. on Monday.", ["Dr. Smith met J. Doe at 5 p.m. on Monday."]),
        ('He said "No." Then he left.', ['He said "No."', "Then he left."]),
        ("It is in no. 5 of Main St. Anne's.", ["It is in no. 5 of Main St. Anne's."]),
        ("a heading\nand a line", ["a heading", "and a line"]),
        ("version 2.5 is out. it works.", ["version 2.5 is out. it works."]),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert split(text) == expected


def test_a_long_list_is_read_in_pieces_and_nothing_is_lost() -> None:
    text = " ".join(f"w{i}" for i in range(200))
    pieces = split(text)
    assert [len(piece.split()) for piece in pieces] == [60, 60, 60, 20]
    assert " ".join(pieces) == text


def test_words_fold_case_accents_and_possessives() -> None:
    assert words("Émile's CAFÉ cost 1,967.50") == ["emile", "cafe", "cost", "1,967.50"]


def test_missing_number_and_name_are_told_where_they_are() -> None:
    claim = "In 1967 the World Cup was won by France."
    found = Passage(WORLD_CUP).compare(claim)
    assert [claim[start:end] for start, end in found.missing] == ["1967", "France"]
    assert WORLD_CUP[slice(*found.sentence)] == "Spain won the 2010 World Cup."


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        ("It cost 1,967 euros.", "It cost 1967 euros."),
        ("It cost five euros.", "It cost 5 euros."),
        ("It cost 2.50 euros.", "It cost 2.5 euros."),
        ("He lives in paris.", "He lives in Paris."),
        ("The Spanish team won.", "Scientists found that the team won."),
        ("The plan is Maria's.", "It is the plan of Maria."),
    ],
)
def test_other_spellings_are_not_missing(passage: str, claim: str) -> None:
    found = dict(zip(FEATURES, Passage(passage).compare(claim).values, strict=True))
    assert (found["numbers_missing"], found["names_missing"]) == (0, 0)


@pytest.mark.parametrize(
    ("claim", "missing"),
    [
        ("Spain won the 2010 World Cup.", []),
        ("Germany won it in 1967.", ["Germany", "1967"]),
        ("Spain won, in front of a cheering crowd of 90,000 people.", ["front of a cheering crowd of 90,000 people"]),
        ("", []),
        ("Zebras graze.", ["Zebras graze"]),
    ],
)
def test_runs_of_words_that_the_passage_lacks_are_told(claim: str, missing: list[str]) -> None:
    found = Passage(WORLD_CUP).compare(claim)
    assert [claim[start:end] for start, end in found.missing] == missing


@given(st.text(max_size=80), st.text(max_size=80))
def test_what_is_missing_are_pieces_of_the_claim_in_order(claim: str, passage: str) -> None:
    ends = [end for part in Passage(passage).compare(claim).missing for end in part]
    assert ends == sorted(set(ends))
    assert all(0 <= end <= len(claim) for end in ends)
    assert Passage(claim).compare(claim).missing == ()


@pytest.mark.parametrize(
    ("claim", "name", "expected"),
    [
        ("Spain won the 2010 World Cup.", "verbatim", 1.0),
        ("Spain won the 2010 World Cup.", "words_shared", 1.0),
        ("Germany won the 2010 World Cup.", "words_shared", 4 / 5),  # won, 2010, world, cup of five
        ("Germany won the 2010 World Cup.", "names_missing_share", 1 / 3),  # Germany of Germany, World, Cup
        ("Spain did not win.", "negation", 1.0),
        ("The 2010 World Cup was in Johannesburg.", "numbers_missing", 0.0),
        ("Seven of 19 players, 3 coaches and 8 cooks.", "numbers_missing", 3.0),  # four, counted up to three
    ],
)
def test_values(claim: str, name: str, expected: float) -> None:
    assert value(WORLD_CUP, claim, name) == pytest.approx(expected)


def test_around_takes_the_best_sentences_with_their_neighbours() -> None:
    passage = Passage("One. Two. Alpha beta. Four. Five. Six. Seven. Gamma.")
    assert passage.around("alpha beta gamma") == "Two. Alpha beta. Four. Seven. Gamma."
    assert passage.around("delta") == ""
    assert Passage("One. Alpha.").around("alpha") == "One. Alpha."


@pytest.mark.parametrize(("passage", "claim"), [("", ""), ("", "A claim."), ("A passage.", ""), ("…", "?!")])
def test_nothing_shared(passage: str, claim: str) -> None:
    found = Passage(passage).compare(claim)
    assert len(found.values) == len(FEATURES)
    assert found.sentence == (0, 0)
    assert found.overlap == 0


@pytest.mark.long
@pytest.mark.parametrize("unit", ["a", ".", "'", "a'", "1.", "A. ", "\n", "word ", "É", "no. A", '"', "5"])
def test_time_is_linear(unit: str) -> None:
    long = unit * (300_000 // len(unit))
    start = time.process_time()
    Passage(long).compare("A claim with 5 words.")
    Passage("A claim with 5 words.").compare(long)
    assert time.process_time() - start < 5  # a square would take minutes
