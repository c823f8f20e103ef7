"""Results as short tables: limits of the text, escaped HTML, DataFrames, and the sequence of results."""

from __future__ import annotations

import json
import pickle
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from assay._util.tabular import ResultRows, Tabular
from assay.errors import MissingExtra

HOSTILE = "<script>alert(1)</script>[red]\x1b[31m\u202eend\ud800\x00|`$"
LONG = "x" * 1_000_000


@dataclass(frozen=True, slots=True)
class Item(Tabular):
    """An item with a value, which may be missing."""

    _noun = "entry"

    name: str
    value: float | None = None
    count: int | None = None
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Whole(Tabular):
    """A result with items."""

    _item_type = Item

    items: tuple[Item, ...] = ()
    notes: tuple[str, ...] = ()
    extra: dict[str, int] = field(default_factory=dict)

    def _items(self) -> tuple[Item, ...]:
        return self.items


def check_text(text: str) -> None:
    lines = text.splitlines()
    assert 1 <= len(lines) <= 20
    assert max(map(cell_len, lines)) <= 160
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]", text)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs


def check_html(html: str) -> Tags:
    found = Tags()
    found.feed(html)
    assert set(found.tags) <= {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    assert set(found.attributes) <= {("style", "text-align:left"), ("style", "white-space:nowrap")}
    assert found.tags.count("tr") <= 31
    html.encode()  # no half characters
    return found


@pytest.mark.parametrize("text", [HOSTILE, LONG, HOSTILE * 20_000, "", "\n" * 500, "語" * 5000, "e" + "\u0301" * 9000])
def test_any_text_is_short_and_harmless(text: str) -> None:
    item = Item(text, 0.5, parts=(text,) * 3)
    for thing in (item, Whole((item,) * 50, notes=(text,) * 40), ResultRows([item] * 3), ResultRows([text])):
        check_text(repr(thing))
        check_html(thing._repr_html_())


@given(st.lists(st.tuples(st.text(), st.floats() | st.integers() | st.none() | st.text()), max_size=40))
def test_any_values_keep_the_limits(pairs: list[tuple[str, object]]) -> None:
    rows = ResultRows([dict([pair]) for pair in pairs])
    check_text(repr(rows))
    check_html(rows._repr_html_())


def test_many_rows_are_counted() -> None:
    """12 rows are shown in text and 30 in HTML: 100,000 - 12 = 99,988 and 100,000 - 30 = 99,970 are not."""
    rows = ResultRows(Item(f"n{n}") for n in range(100_000))
    assert repr(rows).splitlines()[0] == "100,000 entries"
    assert repr(rows).splitlines()[-1] == "… 99,988 more"
    assert "<p>… 99,970 more</p>" in rows._repr_html_()


def test_columns_without_room_are_counted() -> None:
    rows = ResultRows([{f"column {n} of many": f"text {n} of some length" for n in range(60)}])
    check_text(repr(rows))
    assert re.search(r"… \d+ more columns", repr(rows))
    assert "… 46 more columns" in rows._repr_html_()  # 60 - 14


def test_the_text_of_a_table() -> None:
    whole = Whole((Item("first", 0.25, 1, ("a", "b")), Item("second", None, 20)), notes=("One is missing.",))
    assert repr(whole).splitlines() == [
        "Whole",
        "name    value  count  parts",
        "first   0.250      1  a; b",
        "second      –     20  –",
        "One is missing.",
    ]
    assert repr(Item("first", 1e-9)).splitlines() == ["Item", "name   first", "value  1e-09", "count  –", "parts  –"]
    assert repr(ResultRows([], Item)) == "no entries"


def test_a_table_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    item = Item("word " * 100)
    for columns, most in ((30, 60), (80, 80), (400, 140)):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert max(map(len, repr(item).splitlines())) == most


def test_frames_have_a_line_for_each_item() -> None:
    frame = Whole((Item("a", 0.25, 1, ("x", "y")), Item("b", None, None), Item("c", 0.75, 3))).to_pandas()
    assert list(frame.columns) == ["name", "value", "count", "parts"]
    assert frame["value"].mean() == 0.5  # (0.25 + 0.75) / 2: a missing value is none
    assert frame["count"].sum() == 4
    assert str(frame["count"].dtype) == "Int64"
    assert list(frame["parts"]) == ["x; y", "", ""]
    assert list(Item("a", 0.25).to_pandas()["value"]) == [0.25]
    assert list(ResultRows([], Item).to_pandas().columns) == list(Whole().to_pandas().columns) == list(frame.columns)


def test_frames_need_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    for thing in (Item("a"), Whole(), ResultRows([Item("a")])):
        with pytest.raises(MissingExtra, match="pandas"):
            thing.to_pandas()


def test_rows_are_a_sequence() -> None:
    items = [Item("a"), Item("b"), Item("c")]
    rows = ResultRows(items)
    assert isinstance(rows, Sequence)
    assert rows == items
    assert items == rows
    assert rows == tuple(items)
    assert tuple(items) == rows
    assert rows != items[:2]
    assert (len(rows), rows[0], rows[-1], [*rows]) == (3, items[0], items[2], items)
    assert type(rows[:2]) is ResultRows
    assert rows[:2] == items[:2]
    assert rows + items == [*items, *items]
    assert [*items[:1], *rows] == items[:1] + rows
    assert items[1] in rows
    assert not ResultRows([])
    assert {rows: 1}[ResultRows(items)] == 1
    assert sorted(rows, key=lambda one: one.name) == items
    first, *others = rows
    assert (first, others) == (items[0], items[1:])


def test_rows_travel_and_convert() -> None:
    rows = ResultRows([Item("a", 0.5)])
    again = pickle.loads(pickle.dumps(rows))
    assert (again, type(again)) == (rows, ResultRows)
    assert repr(again) == repr(rows)
    plain = asdict(Whole(rows))
    assert json.loads(json.dumps(plain))["items"] == [{"name": "a", "value": 0.5, "count": None, "parts": []}]
    assert json.loads(json.dumps(ResultRows([1, 2]))) == [1, 2]


def test_a_dataclass_writes_no_repr_of_its_own() -> None:
    assert Item.__repr__ is Tabular.__repr__
    assert Whole.__repr__ is Tabular.__repr__
