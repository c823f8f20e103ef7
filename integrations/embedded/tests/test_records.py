"""Records in passages: what is read of them, where it stands, and that nothing else is taken for one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from assay_embedded import Models, load
from assay_embedded.features import Passage
from assay_embedded.records import pieces
from assay_embedded.records.spoken import spoken
from assay_embedded.sentences import sentences
from hypothesis import given, settings
from hypothesis import strategies as st

from tests._support import linear

PLACE = {
    "name": "Anna's",
    "categories": "Pizza, Restaurants",
    "hours": {"Monday": "11:0-22:0", "Tuesday": "17:0-21:0", "Wednesday": "17:0-21:0", "Friday": "8:30-24:0"},
    "attributes": {"OutdoorSeating": True, "WiFi": "free", "BusinessParking": {"garage": False, "lot": None}},
    "reviews": [{"stars": 4.5, "text": 'Great "pizza".\nWe came on a Friday, and though the place was packed the staff '
                 "were friendly and the wait was not that long at all. Will be back!"}],
}  # fmt: skip


def told(text: str) -> list[str]:
    return [piece.text for piece in pieces(text)]


@pytest.mark.parametrize("write", [json.dumps, str, lambda record: json.dumps(record, indent=2)])
def test_an_object_is_told_in_words(write: Any) -> None:
    lines = told(f"Here is what we know of the place. {write(PLACE)}\nAnd nothing more.")
    assert lines[0] == "Here is what we know of the place."
    assert lines[1] == "name: Anna's; categories: Pizza, Restaurants"
    assert lines[2] == (
        "hours: monday: 11 AM to 10 PM (11:00 to 22:00); tuesday to wednesday: 5 PM to 9 PM (17:00 to 21:00); "
        "friday: 8:30 AM to 12 AM (8:30 to 24:00)"
    )
    assert lines[3] == (
        "attributes: outdoor seating: yes; wifi: free; business parking garage: no; business parking lot: not given"
    )
    assert lines[4] == "reviews: stars: 4.5"
    assert lines[5:] == [
        'Great "pizza".',
        "We came on a Friday, and though the place was packed the staff were friendly and the wait was not that long "
        "at all.",
        "Will be back!",
        "And nothing more.",
    ]


def test_each_line_stands_where_it_says() -> None:
    text = "Note.\n" + json.dumps(PLACE)
    found = {piece.text.split(":")[0]: text[piece.start : piece.end] for piece in pieces(text)}
    assert found["name"] == '"name": "Anna\'s", "categories": "Pizza, Restaurants"'
    assert found["hours"] == json.dumps(PLACE["hours"])[1:-1]
    assert found["Will be back!"] == "Will be back!"


def test_what_is_listed_is_told_with_its_lowest_and_highest() -> None:
    days = [
        {"date": f"2024-01-0{n}", "main": {"temp": temp, "humidity": 40}} for n, temp in ((3, 25.1), (4, 9), (5, 12))
    ]
    lines = told(json.dumps({"list": days}))
    assert (
        lines[0]
        == "list, 3 entries, main temp: lowest 9 (Thursday, 4 January 2024), highest 25.1 (Wednesday, 3 January 2024)"
    )
    assert lines[2] == "list: date: Wednesday, 3 January 2024; main temp: 25.1; main humidity: 40"
    assert len(lines) == 5  # two numbers, three days


def test_keys_and_values_that_are_objects() -> None:
    specs = [{"name": "Battery", "value": "6000 mAh"}, {"name": "SIM", "value": ["Nano", "eSIM"]}]
    lines = told(json.dumps({"details": {"category": "Phone", "specs": specs}}))
    assert lines == ["details: category: Phone", "details, specs: Battery: 6000 mAh", "details, specs: SIM: Nano, eSIM"]


@pytest.mark.parametrize(
    "table",
    [
        "day,sold,left\n2024-03-01,5,2\n2024-03-02,7,1\n2024-03-03,6,0\n",
        "| day | sold | left |\n|-----|-----:|---|\n"
        "| 2024-03-01 | 5 | 2 |\n| 2024-03-02 | 7 | 1 |\n| 2024-03-03 | 6 | 0 |",
        "day\tsold\tleft\n2024-03-01\t5\t2\n2024-03-02\t7\t1\n2024-03-03\t6\t0",
    ],
)
def test_a_table_is_told_row_by_row(table: str) -> None:
    lines = told("Sales of the spring.\n" + table)
    rows = "3 rows, day from Friday, 1 March 2024 to Sunday, 3 March 2024"
    assert lines == [
        "Sales of the spring.",
        f"{rows}, sold: lowest 5 (Friday, 1 March 2024), highest 7 (Saturday, 2 March 2024)",
        f"{rows}, left: lowest 0 (Sunday, 3 March 2024), highest 2 (Friday, 1 March 2024)",
        "day: Friday, 1 March 2024; sold: 5; left: 2",
        "day: Saturday, 2 March 2024; sold: 7; left: 1",
        "day: Sunday, 3 March 2024; sold: 6; left: 0",
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            '{"name": "Anna", "open": true, "hours": {"Monday": "9:0-17:0", "Tue',
            ["name: Anna; open: yes", "hours: monday: 9 AM to 5 PM (9:00 to 17:00)", ', "Tue'],
        ),
        (
            '[{"day": 1, "sold": 5}, {"day": 2, "sold": 7}, {"day": 3\nThe next passage.',
            ["day: 1; sold: 5", "day: 2; sold: 7", "day: 3", "The next passage."],
        ),
        ('{"a": 1, "b": oops}', ['{"a": 1, "b": oops}']),
    ],
)
def test_of_a_record_that_breaks_off_what_there_is(text: str, lines: list[str]) -> None:
    """As chunks of long records do; what is hardly a record stays as it is."""
    assert told(text) == lines


def test_lines_of_key_and_value() -> None:
    text = "Haworth Tompkins\n- country: United Kingdom\n- founded: 1991-04-01\n- open to visitors: false\n"
    assert told(text) == [
        "Haworth Tompkins", "country: United Kingdom", "founded: Monday, 1 April 1991", "open to visitors: no",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "The set {1, 2} is small. {Braces} too, and {\"half\": of one.",
        "Sources say [1] that [2] is so [see {here}].",
        "He said: no.\nAnd then he left, quite early, at 5.",
        "One thing, two things\nthree, four\nfive, six\nseven, eight",
        "He paid 5, 6 and 7.\nShe paid 8, 9 and 10.\nThey paid 1, 2 and 3.\nWe paid 4, 4 and 4.",
        "A | B",
        "",
    ],
)  # fmt: skip
def test_what_is_no_record_stays_as_it_is(text: str) -> None:
    assert [(p.start, p.end, p.text) for p in pieces(text)] == [(a, b, text[a:b]) for a, b in sentences(text)]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("17:0-21:30", "5 PM to 9:30 PM (17:00 to 21:30)"), ("0:05", "12:05 AM (0:05)"), ("12:00:00", "12 PM (12:00)"),
        ("2024-02-29", "Thursday, 29 February 2024"), ("2023-02-29", "2023-02-29"), ("u'free'", "free"),
        ("2024-01-03T18:00:00Z", "Wednesday, 3 January 2024, 6 PM (18:00)"), ("True", "yes"), ("25:00", "25:00"),
        ("3:2", "3:02 AM (3:02)"), ("a  b\nc", "a b c"), ("", ""),
    ],
)  # fmt: skip
def test_values_as_people_say_them(value: str, said: str) -> None:
    assert spoken(value) == said


WORDS = st.text("abcdefgh XYZ\"'\\{}[]:,éß", max_size=12)
VALUES = st.recursive(
    st.one_of(WORDS, st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False, allow_infinity=False)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in leaves(inner)]
    return [leaf for inner in value for leaf in leaves(inner)] if isinstance(value, list) else [value]


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(st.dictionaries(WORDS, VALUES, min_size=1, max_size=4), st.sampled_from([None, 1]), st.booleans())
def test_no_value_of_any_object_is_lost(record: dict[str, Any], indent: int | None, python: bool) -> None:
    text = "Before. " + (str(record) if python else json.dumps(record, indent=indent))
    found = list(pieces(text))
    assert found[0].text == "Before."
    everything = " ".join(piece.text for piece in found)
    for leaf in leaves(record):
        said = spoken(leaf if isinstance(leaf, str) else json.dumps(leaf))
        assert said in everything


@settings(max_examples=300, deadline=None)
@given(st.text("{}[]\"':,|\t\n- ab1.", max_size=80))
def test_every_piece_lies_in_the_text(text: str) -> None:
    for piece in pieces(text):
        assert 0 <= piece.start < piece.end <= len(text)
        assert piece.text.strip()
    Passage(text).compare("a claim of 1 b")


@pytest.mark.long
@pytest.mark.parametrize(
    "unit",
    ['{"', '{"a":', "[{", '"', "{'", "{'a':1,", "|", "a|b\n", "a,1\n", "k: v\n", '{"a":1}', "\\", "[", '{"a\\', "{ ",
     "a\tb\n", '[{"a": 1}, ', "{\"'", "12:0-", "- a: b\nc\n"],
)  # fmt: skip
def test_time_is_linear(unit: str) -> None:
    assert linear.fault(Passage, unit * (16_000 // len(unit)), unit * (160_000 // len(unit))) is None


@pytest.fixture(scope="module")
def models() -> Models:
    return load(1)


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("On Tuesday it is open from 5 PM to 9 PM.", "17:0-21:0"),
        ("It has outdoor seating and free WiFi.", "OutdoorSeating"),
        ("The staff were friendly.", "the staff were friendly"),
    ],
)
def test_the_evidence_is_in_the_record_as_it_stands(models: Models, claim: str, evidence: str) -> None:
    text = json.dumps(PLACE)
    (reading,) = models.support([(text, claim)])
    start, end = reading.sentence
    assert evidence in text[start:end]
    assert not any(char.isdigit() for part in reading.unsupported for char in claim[slice(*part)])
