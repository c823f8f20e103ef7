"""Quantities in figures and words: which are equal, and what a claim is read as."""

from __future__ import annotations

from itertools import pairwise

import pytest
from assay_embedded.quantities import Quantity, quantities, restated
from hypothesis import given
from hypothesis import strategies as st

EQUAL = [
    ("60 minutes", "one hour"), ("90 minutes", "an hour and a half"), ("45 min", "three quarters of an hour"),
    ("a fortnight", "14 days"), ("24 months", "two years"), ("1½ hours", "90 minutes"),
    ("18 months", "one and a half years"),
    ("2.5 km", "2,500 metres"), ("six feet", "1.83 m"), ("half a litre", "500 ml"), ("1 kg", "1,000 grams"),
    ("half past five in the evening", "17:30"), ("2 pm", "14:00"), ("noon", "12:00"),
    ("5.30 pm", "17:30"), ("5 pm", "17:0"), ("a quarter to six", "5:45"),
    ("ten past eight", "20:10"), ("2:30 p.m.", "14:30"),
    ("twice a year", "every six months"), ("weekly", "once a week"),
    ("€5 a month", "60 euros a year"), ("1.2 million euros", "€1,200,000"), ("150 cents", "1.50 euros"),
    ("one in four", "25%"), ("2 out of three", "two thirds"), ("20 percent", "one fifth of the"),
    ("1 GB", "1000 MB"), ("2 kW", "2,000 watts"), ("a dozen days", "12 days"),
]  # fmt: skip
OTHER = [
    ("60 minutes", "two hours"), ("5 pm", "5:00"), ("5 kg", "5 km"), ("noon", "midnight"), ("half past five", "17:00"),
    ("once a year", "every six months"), ("10 euros", "10 dollars"), ("one in five", "25%"), ("€5 a month", "€5"),
    ("100 days", "101 days"), ("99%", "99.5%"), ("1,000 m", "1.01 km"), ("60 minutes", "61 minutes"),
    ("1000 euros", "1005 euros"),
    ("12 months", "366 weeks"), ("23 months", "two years"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_quantities(one: str, other: str) -> None:
    assert _only(one).equals(_only(other))
    assert _only(other).equals(_only(one))
    assert restated(f"It is {one} there.", f"It says {other} here.")[0].startswith(f"It is {_only(other).text}")


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_other_quantities(one: str, other: str) -> None:
    assert not _only(one).equals(_only(other))


@pytest.mark.parametrize("text", ["", "May 2024", "room 12", "version 1.2.3", "a second opinion",
                                  "in the second half",
                                  "It is a must.", "10.0.0.1", "chapter 3 pages", "release 4.50", "2.0",
                                  "the 1990s", "a 5G network", "5M users"])  # fmt: skip
def test_no_quantities(text: str) -> None:
    assert quantities(text) == []


def test_what_stands_in_the_passage_stays() -> None:
    assert restated("It lasts 60 minutes.", "60 minutes, so one hour.") == ("It lasts 60 minutes.", [], [])


def test_a_quantity_without_an_equal_is_odd() -> None:
    claim, equal, odd = restated("It costs 12 euros.", "The fee is 9 euros.")
    assert (claim, equal, [one.text for one in odd]) == ("It costs 12 euros.", [], ["12 euros"])


def test_sums_differences_and_multiples_are_not_odd() -> None:
    passage = "Basic costs 9 euros, Pro costs 29 euros. A family has 4 tickets."
    for said in ("20 euros", "38 euros", "36 euros"):  # 29 - 9, 29 + 9, 4 x 9
        assert restated(f"It is {said}.", passage)[2] == []


def _only(text: str) -> Quantity:
    (found,) = quantities(text)
    return found


@given(st.text(alphabet="0123456789.,:/-½€$% ahlfnourqtepsdmkgyi", max_size=80))
def test_spans_are_of_the_text_and_do_not_overlap(text: str) -> None:
    found = quantities(text)
    assert all(text[one.start : one.end] == one.text for one in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


@given(st.integers(1, 500), st.sampled_from([("hours", "minutes", 60), ("km", "metres", 1000), ("kg", "grams", 1000),
                                             ("days", "hours", 24), ("euros", "cents", 100)]))  # fmt: skip
def test_conversions(count: int, units: tuple[str, str, int]) -> None:
    large, small, factor = units
    assert _only(f"{count} {large}").equals(_only(f"{count * factor} {small}"))
    assert not _only(f"{count} {large}").equals(_only(f"{count * factor * 2} {small}"))


@pytest.mark.parametrize("text", ["every 0 days", "1 in 0", "5 km per ſecond", "every mınute", "0 times a day",
                                  "9" * 500 + " km",
                                  "a " * 5000, "½" * 5000, "\ud800 5 km", "5 \u212am",
                                  "ten s", "a s", "s"])  # fmt: skip
def test_hostile_texts_are_read(text: str) -> None:
    quantities(text)
    restated(text, "5 km every day, 3 euros a month")
    restated("5 km every day, 3 euros a month", text)
