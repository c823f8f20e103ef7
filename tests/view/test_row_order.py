"""Pages by key: all rows once and in order, whatever ties there are, forwards and backwards."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.view.cache import SizedCache
from assay.view.row_order import RowKey, RowOrder
from assay.view.row_query import field_value, read_value
from assay.view.sparkline import sparkline

VALUES = st.sampled_from([0.0, 0.25, 0.5, 1.0, np.inf, -3.5])


@st.composite
def orders(draw: st.DrawFn) -> RowOrder:
    values = draw(st.lists(VALUES, max_size=30))
    numbers = sorted(draw(st.sets(st.integers(1, 99), min_size=len(values), max_size=len(values))))
    mask = draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    return RowOrder(np.array(numbers, dtype=np.int64), np.array(mask, dtype=bool), np.array(values, dtype=np.float64))


@given(orders(), st.integers(1, 7))
def test_pages_have_every_row_once_in_order(order: RowOrder, size: int):
    expected = sorted((value, number) for value, number, listed in zip(order.values, order.numbers, order.mask,
                                                                      strict=True) if listed)  # fmt: skip
    forwards: list[RowKey] = []
    while page := order.after(RowKey.parse(str(forwards[-1]), "after") if forwards else None, size):
        forwards += page
    assert forwards == expected
    backwards: list[RowKey] = []
    while backwards != forwards:
        backwards = order.before(backwards[0] if backwards else RowKey(np.inf, 100), size) + backwards
    assert backwards == expected
    assert order.before(forwards[0], size) == [] if forwards else True


def test_a_key_is_read_as_it_is_written_and_nothing_else_is():
    assert RowKey.parse(str(RowKey(0.1, 7)), "after") == (0.1, 7)
    for text in ("", ",", "1", "nan,1", "1,x", "1,-2", "x,1"):
        with pytest.raises(InputError, match="after"):
            RowKey.parse(text, "after")


def test_a_cache_keeps_what_was_used_last_within_its_budget():
    cache, made = SizedCache(100), list[str]()

    def get(key: str, size: int = 40) -> str:
        return cache.get(key, lambda: made.append(key) or key, lambda _: size)

    for key in ("a", "b", "a", "c"):  # c: 120 bytes, so b goes, which was used longest ago
        get(key)
    get("a")
    assert made == ["a", "b", "c"]
    get("b")
    assert made == ["a", "b", "c", "b"]
    get("whole", 1000)
    get("whole", 1000)
    assert made[-1] == "whole"
    assert made.count("whole") == 1

    def fail() -> str:
        raise ValueError("it cannot be made")

    with pytest.raises(ValueError, match="cannot be made"):
        cache.get("d", fail, len)
    assert cache.get("d", lambda: "made", len) == "made"


def test_a_sparkline_has_a_point_for_each_value():
    # of three values 0, 0.5, 1 the middle one stands in the middle: 32 / 2
    assert 'points="3.0,29.0 80.0,16.0 157.0,3.0"' in sparkline([0.0, 0.5, 1.0])
    assert sparkline([0.3]) == ""
    assert "16.0" in sparkline([0.3, 0.3])


@given(st.text(max_size=40) | st.sampled_from(["percent:", "percent:%20", "%41", "a\r\nb", "\x00", "\u202e"]))
def test_a_value_survives_a_form(text: str):
    carried = field_value(text)
    assert carried.isprintable()  # what a browser would change, or nobody sees, is not in it
    assert read_value(carried) == text
