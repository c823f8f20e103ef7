"""Pairs made by rule from records: their labels follow from what the record says."""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
from assay_embedded.features import Passage

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))
import derive_records

GIVEN = [
    json.dumps({"title": "Banff", "location": "Alberta", "Area": "6,641 km", "Established": "1885"}),
    json.dumps({"title": "Jasper", "location": "West", "Area": "10,878 km", "Operator": "Parks Canada"}),
]


@pytest.fixture
def rng() -> random.Random:
    return random.Random(5)


def test_hours_are_right_or_wrong_as_labelled(rng: random.Random) -> None:
    """A claim that an independent reader of its times finds in the record is true, another is not."""
    seen: Counter[int] = Counter()
    for _ in range(300):
        hours = derive_records.week(rng)
        for claim, label in derive_records.of_hours("It", hours, rng):
            days = [day for day in derive_records.DAYS if day in claim]
            said = [in_minutes(one) for one in re.findall(r"\d{1,2}(?::\d\d)?(?: ?[AaPp]\.?[Mm]\.?)?", claim)]
            a, b, c, d = hours[days[0]]
            assert (said == [60 * a + b, 60 * c + d]) is (label == 0), (claim, hours)
            seen[label] += 1
    assert min(seen[0], seen[1]) > 100


def in_minutes(text: str) -> int:
    found = re.fullmatch(r"(\d{1,2})(?::(\d\d))?(?: ?([AaPp])\.?[Mm]\.?)?", text)
    assert found is not None
    hour, half = int(found[1]), (found[3] or "").lower()
    hour = hour % 12 + (12 if half == "p" else 0) if half else hour
    return 60 * hour + int(found[2] or 0)


def test_what_a_table_says_is_in_it(rng: random.Random) -> None:
    labels: Counter[int] = Counter()
    for _ in range(100):
        for text, claim, label in derive_records.table(rng):
            labels[label] += 1
            numbers = re.findall(
                r"(?<![\d.])\d+(?:\.\d+)?", re.sub(r"\b\w+ \d{1,2},? \d{4}|\d{1,2} \w+ \d{4}", "", claim)
            )
            if label == 0 and "highest" not in claim and "lowest" not in claim and numbers:
                assert numbers[-1] in text or float(numbers[-1]) in map(float, re.findall(r"\d+\.?\d*", text))
    assert min(labels[0], labels[1]) > 100


def test_fields_of_given_records(rng: random.Random) -> None:
    records = [json.loads(text) for text in GIVEN]
    for _ in range(50):
        for text, claim, label in derive_records.of_fields(GIVEN[0], records, rng):
            said = any(value in claim for key, value in records[0].items() if key != "title")
            assert said is (label == 0), (text, claim)


def test_made_pairs_are_balanced_and_are_records(rng: random.Random) -> None:
    made = derive_records.made(600, GIVEN, rng)
    assert len(made) == 600
    kinds = Counter(kind for kind, _ in made)
    assert set(kinds) == {"place", "table", "field"}
    supported = sum(label == 0 for _, (_, _, label) in made)
    assert 0.4 < supported / 600 < 0.6
    told = [Passage(text) for _, (text, _, _) in made if text.startswith("{")]
    assert not any("{" in piece.text for passage in told for piece in passage.pieces)
    assert derive_records.made(50, GIVEN, random.Random(5)) == derive_records.made(50, GIVEN, random.Random(5))
