"""Sentences divided into statements: what the tags of words mean."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))
from division import (
    BORROWING,
    INSIDE,
    LABELS,
    OUTSIDE,
    OWN,
    SHARED,
    Statement,
    first_tokens,
    place_and_date,
    statements,
)

SENTENCE = "The pool opens at nine and costs five euros"


def offsets(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


def test_shared_words_belong_to_each_that_borrows_them() -> None:
    tags = [SHARED, SHARED, BORROWING, INSIDE, INSIDE, OUTSIDE, BORROWING, INSIDE, INSIDE]
    first, second = statements(SENTENCE, offsets(SENTENCE), tags)
    assert first.text(SENTENCE) == "The pool opens at nine"
    assert second.text(SENTENCE) == "The pool costs five euros"
    assert SENTENCE[slice(*second.own)] == "costs five euros"


def test_what_comes_before_the_shared_words_borrows_the_next() -> None:
    text = "Opened in 1902, the bath has two pools"
    tags = [BORROWING, INSIDE, INSIDE, OUTSIDE, SHARED, SHARED, BORROWING, INSIDE, INSIDE]
    assert [one.text(text) for one in statements(text, offsets(text), tags)] == [
        "Opened in 1902 the bath",
        "the bath has two pools",
    ]


def test_a_clause_in_the_middle_is_left_out_of_the_other() -> None:
    text = "The museum, which opened in 1990, is closed"
    tags = [SHARED, SHARED, OUTSIDE, OUTSIDE, BORROWING, INSIDE, INSIDE, OUTSIDE, BORROWING, INSIDE]
    assert [one.text(text) for one in statements(text, offsets(text), tags)] == [
        "The museum opened in 1990",
        "The museum is closed",
    ]


def test_the_rest_of_a_word_goes_with_its_beginning() -> None:
    assert first_tokens("un##s", [(0, 2), (2, 4), (4, 5)]) == [0, 1, 2]
    assert first_tokens("uncommon, yes", [(0, 2), (2, 8), (8, 9), (10, 13)]) == [0, 2, 3]


@given(st.text(alphabet="ab c,.", max_size=30), st.data())
def test_any_tags_give_statements_of_the_text(text: str, data: st.DataObject) -> None:
    places = offsets(text)
    tags = data.draw(st.lists(st.sampled_from(range(len(LABELS))), min_size=len(places), max_size=len(places)))
    found = statements(text, places, tags)
    assert all(0 <= start < end <= len(text) for one in found for start, end in one.places)
    assert all(one.places[0][0] <= one.own[0] < one.own[1] <= one.places[-1][1] or len(one.places) > 1 for one in found)
    starts = [one.own[0] for one in found]
    assert starts == sorted(set(starts))
    begins = sum(tags[n] in (OWN, BORROWING) for n in first_tokens(text, places))
    assert begins <= len(found) <= begins + 1


def test_a_place_and_a_date_are_two_statements() -> None:
    text = "Einstein was born in Germany on 20th March 1879."
    whole = Statement(((0, len(text) - 1),), (0, len(text) - 1))
    first, second = place_and_date(text, whole)
    assert (first.text(text), second.text(text)) == (
        "Einstein was born in Germany",
        "Einstein was born on 20th March 1879",
    )
    other = "The fee rose in March 2020."
    assert len(place_and_date(other, Statement(((0, len(other)),), (0, len(other))))) == 1
