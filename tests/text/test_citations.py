"""Citations: which passages a text names, in which of its pieces, and what only looks like one."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.records import Span
from assay.text import split_sentences
from assay.text.citations import WIDEST_RANGE, citations, cited_in, marks


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("It is red [2].", (2,)),
        ("It is red [1, 3].", (1, 3)),
        ("It is red [1-3].", (1, 2, 3)),
        ("It is red [1–3, 7].", (1, 2, 3, 7)),
        ("It is red [1][3].", (1, 3)),
        ("It is red [1], [3].", (1, 3)),
        ("It is red [^2].", (2,)),
        ("It is red 【1】.", (1,)),
        ("It is red 【3†the 2nd report】.", (3,)),
        ("It is red.¹²", (12,)),
        ("It is red (Passage 2).", (2,)),
        ("It is red ( passage #2 ).", (2,)),
        ("It is red (passages 1, 2 and 3).", (1, 2, 3)),
        ("It is red (Passage 1 and Passage 3).", (1, 3)),
        ("It is red (see Document 4).", (4,)),
        ("It is red [source 2].", (2,)),
        ("It is red (as stated in source 2).", (2,)),
        ("According to passage 2, it is red.", (2,)),
        ("Passages 1 to 3 say that it is red.", (1, 2, 3)),
    ],
)
def test_numbers_of_a_citation(text, numbers):
    (found,) = citations(text)
    assert found.numbers == numbers


@pytest.mark.parametrize(
    "text",
    [
        "It was built in [1889].",
        "The value lies in [0, 1].",
        f"There are [1-{2 + WIDEST_RANGE}] of them.",
        "The scale goes down [5-3].",
        "(1) first, (2) second",
        "The report documents 12 cases.",
        "Result 5 is best.",
        "Article 5 applies.",
        "10² and 5 m²",
        "a[i]",
        "",
    ],
)
def test_what_cites_nothing(text):
    assert citations(text) == ()


def test_marks_are_what_a_sentence_does_not_need():
    text = "According to passage 2, it is red [3]."
    assert [mark.span.of(text) for mark in marks(text)] == ["[3]"]


@pytest.mark.parametrize(
    ("first", "second", "numbers"),
    [
        ("It is red [1].", " It is long [2].", [(1,), (2,)]),
        ("It is red.", " [1] It is long. [2]", [(1,), (2,)]),
        ("It is red.[1]", " It is long.[2, 3]", [(1,), (2, 3)]),
        ("It is red [1] and steel [2, 1].", " It is long.", [(1, 2), ()]),
        ("It is red.", " [1] says that it is long.", [(), (1,)]),
        ("It is red.", "\n[1] It is long.", [(), (1,)]),
    ],
)
def test_a_mark_behind_the_full_stop_speaks_of_the_sentence_before_it(first, second, numbers):
    whole = len(first + second)
    assert cited_in(first + second, [Span(0, len(first)), Span(len(first), whole)]) == numbers


@given(st.lists(st.sampled_from(["[1]", "[2, 3]", "(Passage 4)", "It is red", ". ", " ", "\n", "¹", "passage 2", "a"])))
def test_every_citation_belongs_to_a_sentence_at_most_once(parts):
    text = "".join(parts)
    found = citations(text)
    assert all(text[c.span.start : c.span.end] and c.numbers for c in found)
    assert all(a.span.end <= b.span.start for a, b in itertools.pairwise(found))
    by_sentence = cited_in(text, split_sentences(text))
    assert {n for numbers in by_sentence for n in numbers} <= {n for c in found for n in c.numbers}
    assert all(len(set(numbers)) == len(numbers) for numbers in by_sentence)
