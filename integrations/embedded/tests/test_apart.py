"""Claims that differ from their passage in a mark alone, each with its true twin."""

from __future__ import annotations

import pytest
from assay_embedded import Models
from assay_embedded.differing_marks import mark_differences, only_in_claim
from assay_embedded.unknown_words import code
from hypothesis import given
from hypothesis import strategies as st

# a statement, what stands in it, and what the passage has there instead
SWAPPED = [
    ("The temperature is {}.", "-5 °C", "5 °C"),
    ("The balance is {}.", "-$200", "$200"),
    ("The rule is {}.", "x < 5", "x > 5"),
    ("The rule is {}.", "x <= 5", "x >= 5"),
    ("The result was significant at {}.", "p < 0.05", "p > 0.05"),
    ("The formula is {}.", "a + b", "a - b"),
    ("The formula is {}.", "a = b", "a != b"),
    ("The grade is {}.", "A+", "A-"),
    ("The language is {}.", "C++", "C#"),
    ("The price is {}.", "$500", "€500"),
    ("The price is {}.", "£500", "¥500"),
    ("The price is {}.", "₿500", "₹500"),
    ("The budget is {}.", "$5M", "$5B"),
    ("It was signed on {}.", "2019-03-04", "2019-04-03"),
    ("It was signed on {}.", "03/04/2019", "04/03/2019"),
    ("The server is at {}.", "192.168.0.1", "192.168.1.0"),
    ("The order number is {}.", "550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-41d4-a716-446655440001"),
    ("The IBAN is {}.", "DE89370400440532013000", "DE89370400440532013001"),
    ("The commit that fixed it is {}.", "3c0add4e", "3c0add4f"),
    ("The part is {}.", "XJ900B", "XJ900C"),
    ("Write to {}.", "support@acme.com", "sales@acme.com"),
    ("Set {} to true.", "ENABLE_CACHE", "DISABLE_CACHE"),
    ("He answered with {}.", "😀", "😡"),
    ("The rating is {}.", "★", "☆"),
]
# the same, said otherwise
ALIKE = [
    ("The share is 5%.", "The share is 5 percent."),
    ("The share is 5 percent.", "The share is 5%."),
    ("The price is $500.", "It costs 500 dollars."),
    ("It was 20 degrees.", "The temperature was 20°."),
    ("It cost $5M.", "It cost 5 million dollars."),
    ("It was signed on March 4, 2019.", "It was signed on 2019-03-04."),
    ("It was signed on 2019-03-04.", "It was signed on March 4, 2019."),
    ("✅ The tower is 368 metres high.", "The tower is 368 metres high."),
    ("The tower is 368 metres high 🎉.", "The tower is 368 metres high."),
    ("The tower 🗼 is 368 metres high.", "The tower is 368 metres high."),
]
AROUND = "Some notes on this matter follow. {} That is all that is known."


@pytest.mark.parametrize(("statement", "said", "there"), SWAPPED)
def test_another_mark_is_no_support(models: Models, statement: str, said: str, there: str) -> None:
    claim, other = statement.format(said), statement.format(there)
    wrong, right = models.support([(AROUND.format(other), claim), (AROUND.format(claim), claim)])
    assert wrong.probability < 0.5 < right.probability


@pytest.mark.parametrize(("claim", "passage"), ALIKE)
def test_the_same_in_other_marks_is_support(models: Models, claim: str, passage: str) -> None:
    (reading,) = models.support([(AROUND.format(passage), claim)])
    assert reading.probability > 0.5


@pytest.mark.parametrize(
    ("claim", "passage", "read"),
    [
        ("It costs $5.", "It costs €5.", ("It costs  dollars 5.", "It costs  euros 5.")),
        ("It costs $5.", "It costs $6, or €7.", None),  # the passage has it too: numbers tell
        ("It is 5.", "It is -5.", ("It is 5.", "It is  negative 5.")),  # a sign that the claim lacks
        ("x > 5", "x < 5", ("x  more than  5", "x  less than  5")),
        ("It costs $5M.", "It costs $5B.", ("It costs $5 million .", "It costs $5 billion .")),
        ("Cloud cover is 19%.", "clouds: 19", None),  # a record may leave the unit out
        ("It was on 2024-01-03.", "Dates: 3 January 2024; 2024-13-77",
         ("It was on 3 January 2024.", "Dates: 3 January 2024; 2024-13-77")),
        ("It was on a Wednesday.", "It was on 2024-01-03.",
         ("It was on a Wednesday.", "It was on Wednesday, 3 January 2024.")),
        ("It is in Home.", "Home > Docs > Install", None),  # a path of headings
        ("It is bold.", "<b>5</b> <td>7</td>", None),
        ("It is there.", "A range of 5 - 10, or 5-10 – as said - and A - the first.", None),
        ("See a->b.", "a => b", None),
        ("Windows™ costs 5 ℃", "Windows costs 5 °C", None),  # letters stand for these
        ("Hi 👨‍👩‍👧", "Hi", ("Hi ", "Hi")),
        ("🎉", "Hi", (" party popper ", "Hi")),  # there is nothing else
        ("mailto:support@acme.com", "support@acme.com", None),
        ("config.max_retries", "max_retries", None),
        ("The key is AB12CD.", "The key is AB12CE.",
         (f"The key is ab12cd {code('AB12CD')}.", f"The key is ab12ce {code('AB12CE')}.")),
        ("The key is AB12CD.", "The keys are AB12CE and ab12cd.", None),
        ("A 15-year-old at 3340mAh in the 1990s.", "A 16-year-old at 3341mAh in the 1980s.", None),  # words
    ],
)  # fmt: skip
def test_what_is_told(claim: str, passage: str, read: tuple[str, str] | None) -> None:
    assert mark_differences(claim, passage) == (read or (claim, passage))


def test_in_other_languages_no_english_names_are_told() -> None:
    assert mark_differences("Es kostet 5 $.", "Es kostet 5 €.", english=False) == ("Es kostet 5 $.", "Es kostet 5 €.")


@pytest.mark.parametrize(
    ("claim", "passage", "lacking"),
    [
        ("It costs $500.", "It costs €500.", ["$"]),
        ("Order 550e8400-e29b-0000 is here 🎉.", "Order 550e8400-e29b-0001 is here.", ["550e8400-e29b-0000"]),
        ("It was -5 °C, so x < 5.", "It was 5 °C, so x > 5.", ["-", "<"]),
        ("He said 😀.", "He said 😡.", ["😀"]),
        ("The tower is 5 m high.", "The tower is 5 m high.", []),
    ],
)
def test_what_only_the_claim_has_is_named(models: Models, claim: str, passage: str, lacking: list[str]) -> None:
    assert [claim[start:end] for start, end in only_in_claim(claim, passage)] == lacking
    (reading,) = models.support([(passage, claim)])
    assert [claim[start:end] for start, end in reading.unsupported] == lacking


@given(text=st.text("ab5 <>=-+$€😀☃_@.#°", max_size=40))
def test_a_claim_that_is_its_passage_is_told_as_it_is(text: str) -> None:
    claim, passage = mark_differences(text, text)
    assert claim == passage


@given(text=st.text("ab5 ,.;:()'\"/", max_size=40), other=st.text("ab5 ,.;:()'\"/", max_size=40))
def test_without_marks_nothing_changes(text: str, other: str) -> None:
    assert mark_differences(text, other) == (text, other)
