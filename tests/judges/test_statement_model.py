"""Refusals and talk by the linear model: what an unknown wording is taken for, and what may never be skipped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judges.claim_rules import refuses, sentence_claims, states_something
from assay.judges.claim_rules.statement_model import LONGEST, clauses, ngrams, plain, states_nothing
from assay.text import split_sentences

DEVELOPMENT = Path("integrations/embedded/training/corpus/development/F1.jsonl")


def development() -> Iterator[tuple[str, bool]]:
    """Answers of an author and of domains that the model was not trained on, and whether they state something."""
    for line in DEVELOPMENT.read_text(encoding="utf-8").splitlines():
        for row in json.loads(line)["rows"]:
            if row["kind"] == "refusal" or (row["label"] is not None and row["kind"] != "mixed"):
                yield row["answer"], row["kind"] != "refusal"


def test_refusals_of_another_author_state_nothing_and_statements_do() -> None:
    silent: dict[bool, list[bool]] = {True: [], False: []}
    for answer, states in development():
        silent[states].append(not any(states_something(span.of(answer)) for span in split_sentences(answer, "en")))
    # measured: 55 of 60 refusals, 5 of 1,110 statements, 4 of which say that the texts don't tell something
    assert sum(silent[False]) >= 0.88 * len(silent[False])
    assert sum(silent[True]) <= 0.006 * len(silent[True])


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("No idea what she earned there, sorry.", "en"),
        ("That's one for your bank, I'm afraid.", "en"),
        ("You'd have to ask the landlord about that; I don't know.", "en"),
        ("Da bin ich überfragt.", "de"),
        ("Dazu kann ich leider nichts sagen.", "de"),
        ("No sabría decirle.", "es"),
        ("Je ne saurais pas vous le dire.", "fr"),
    ],
)
def test_a_refusal_in_any_tone_makes_no_claim(text: str, language: str) -> None:
    assert sentence_claims(text, language) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Unknown",  # one word may be the answer
        "nothing",
        "text text text text text text text",  # LlamaIndex's model for tests
        "Tickets are not available.",
        "The clerk could not help him.",
        "Nobody knows who carved the stone.",
        "Visitors have to ask the ranger for the key.",
        "Das Museum hat keine Garderobe.",
        "Los perros no pueden entrar.",
        "Le parking n'est pas gratuit.",
    ],
)
def test_a_fact_with_words_of_a_refusal_is_a_claim(text: str) -> None:
    assert not states_nothing(text)
    assert not refuses(text)


REFUSALS = (
    "No idea what it costs",
    "That's one for your bank",
    "I couldn't tell you that",
    "You'd have to ask the museum",
    "Nothing I have covers it",
    "Your guess is as good as mine",
)
FACTS = ("members get 90 days", "the museum closed in 1988", "it weighs 90 grams", "Anna Lund built the bridge")
JOINTS = (
    *(", so ", " and ", ", but ", "; ", ": ", " - ", " because ", " (", ". ", ", although ", " as ", " plus ", "\n"),
    *(" / ", " → ", " 👉 ", "\ud83d ", " * ", " = ", " | ", " … "),
)


@given(st.sampled_from(REFUSALS), st.sampled_from(JOINTS), st.sampled_from(FACTS), st.booleans())
def test_a_fact_beside_a_refusal_is_judged(refusal: str, joint: str, fact: str, first: bool) -> None:
    assert states_nothing(refusal + ".")
    parts = (fact, refusal) if first else (refusal, fact)
    assert not states_nothing(f"{parts[0]}{joint}{parts[1]}.")


@given(st.lists(st.sampled_from(["blorv", "Kesh", "tumaline", "qarn", "zib"]), min_size=2, max_size=30))
def test_unknown_words_speak_for_a_statement(words: list[str]) -> None:
    assert not states_nothing("The " + " ".join(words) + " carried 40 tons.")


@given(st.text(max_size=80))
def test_any_text_is_read(text: str) -> None:
    said = plain(text)
    assert all(part in said for part in clauses(said))
    assert next(ngrams(said)) == "<"
    states_nothing(text)


def test_a_long_text_is_a_statement() -> None:
    text = "I don't know. " * 60
    assert len(text) > LONGEST
    assert not states_nothing(text)
