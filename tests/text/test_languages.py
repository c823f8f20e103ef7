"""Which language a text is in: certain or not said; see tests/text/language_sentences.py for the texts."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.languages import CHARS, code_of, is_code, language_of, language_of_all
from tests.text.language_sentences import ENGLISH, SENTENCES, rows, spaced


def test_the_texts_are_what_they_say() -> None:
    assert len(SENTENCES) >= 20
    for sentences in SENTENCES.values():
        made = rows(sentences)
        assert len(made) == 28  # 8 * 7 / 2
        assert all(len(text.split()) >= 15 for text in made if spaced(text))


def test_rows_of_fifteen_words_are_told_from_english() -> None:
    found = {code: [language_of(text) for text in rows(sentences)] for code, sentences in SENTENCES.items()}
    told = sum(one not in (None, "en") for ones in found.values() for one in ones)
    assert told / sum(map(len, found.values())) >= 0.98
    right = sum(one == code for code, ones in found.items() for one in ones)
    assert right / sum(map(len, found.values())) >= 0.95  # LLM judges are told which one it is


def test_plain_english_loads_no_model() -> None:
    asked = f"""
import sys
from assay.text.languages import language_of
assert language_of({" ".join(ENGLISH[:3])!r}) == "en"
assert language_of("How long may I keep the book that I have borrowed?") == "en"
assert "py3langid" not in sys.modules
language_of({" ".join(SENTENCES["de"][:3])!r})
assert "py3langid" in sys.modules
"""
    subprocess.run([sys.executable, "-c", asked], check=True)


@pytest.mark.parametrize("code", SENTENCES)
def test_no_part_of_another_language_is_english(code: str) -> None:
    """Of single function words languages share too many: "Was will er so in der Nacht", "I går var der for at"."""
    words = " ".join(SENTENCES[code]).split()
    parts = [" ".join(words[n : n + size]) for size in (8, 10, 14, 19, 25) for n in range(len(words) - size + 1)]
    assert [part for part in parts if language_of(part) == "en"] == []


@pytest.mark.parametrize(
    "text",
    [
        "Was will er so in der Nacht an der Tür noch?",
        "As portas abrem a partir das nove do dia seguinte",
        "I går var der en ulykke for at bilen kørte over",
        "Hij was in de tuin of we had een idee",
        "No me atrevo a decirte, nunca los he tratado.",
        "The Beatles waren in London so beliebt wie niemand",
        "Simon and Garfunkel cantaban en Nueva York, or so",
    ],
)
def test_words_that_look_english_do_not_make_a_text_english(text: str) -> None:
    assert language_of(text) != "en"


def test_english_is_english() -> None:
    assert {language_of(text) for text in rows(ENGLISH)} == {"en"}
    assert {language_of(text) for text in ENGLISH} <= {"en", None}


DOUBTFUL = {
    "empty": "",
    "blank": " \n\t ",
    "a name": "Paris.",
    "few names": "Eyjafjallajökull, Tadej Pogačar, São Paulo, Besançon",
    "names": "Søren Kierkegaard, Jürgen Habermas, François Mitterrand, José Ortega y Gasset, Béla Bartók",
    "a short sentence": "Der Turm steht in Paris.",
    "numbers": "12 345 67 89.5 2020 3.14 kg km/h 55 % 100 EUR 2024-05-01 10:30",
    "emoji": "👍 😀 🎉 🚀 ❤️ 🔥 ✨ 🙏 💯 👀",
    "bytes in letters": "aGVsbG8gd29ybGQgdGhpcyBpcyBhIHRlc3Q= aGVsbG8gd29ybGQ= c29tZSBkYXRh a b c d e f",
    "species": "Escherichia coli, Staphylococcus aureus, Pseudomonas aeruginosa, Klebsiella pneumoniae",
    "a table": "| City | Country | Pop |\n|---|---|---|\n| Paris | France | 2.1 |\n| Berlin | Deutschland | 3.6 |",
    "json": '{"name": "Paris", "population": 2102650, "mayor": "Anne Hidalgo", "quarters": [1, 2], "land": "France"}',
    "half and half": f"{ENGLISH[0]} {ENGLISH[4]} {SENTENCES['de'][0]} {SENTENCES['de'][4]}",
}  # fmt: skip

ENGLISH_ALL_THE_SAME = {
    "python": "```python\ndef f(x):\n    for i in range(10):\n        if not x[i]: continue\n    return sum(x)\n```",
    "sql": "SELECT a.id, b.name, COUNT(*) FROM users a LEFT JOIN orders b ON a.id = b.user_id WHERE a.age > 30",
    "addresses": "https://www.example.com/ https://docs.python.org/3/ https://de.wikipedia.org/wiki/Berlin",
    "a quotation": "The phrase 'Liberté, égalité, fraternité' is the national motto of France and means what it says.",
    "capitals": "THE LIBRARY OPENS EVERY DAY AT NINE IN THE MORNING",
    "names in a sentence": "Tell me what Baltasar Corrada del Río and Regina Martínez Pérez had in common.",
}  # fmt: skip


@pytest.mark.parametrize("name", DOUBTFUL)
def test_what_is_no_text_of_a_language_is_doubtful(name: str) -> None:
    assert language_of(DOUBTFUL[name]) in (None, "en")


@pytest.mark.parametrize("name", ENGLISH_ALL_THE_SAME)
def test_code_and_quotations_do_not_turn_english_into_something_else(name: str) -> None:
    assert language_of(ENGLISH_ALL_THE_SAME[name]) in (None, "en")


@pytest.mark.parametrize(
    "text",
    ["Да, она открыта утром.", "Ναι, είναι ανοιχτά.", "열 시에 문을 엽니다 감사합니다.", "図書館は九時に開館します。"],
)
def test_another_alphabet_needs_fewer_words(text: str) -> None:
    assert language_of(text) not in (None, "en")


def test_the_end_of_a_text_counts_too() -> None:
    english, german = " ".join(ENGLISH * 5), " ".join(SENTENCES["de"] * 5)
    assert language_of(english + german) is None
    assert language_of(german + english) is None
    assert language_of(german) == "de"


def test_passages_are_looked_at_together() -> None:
    french = SENTENCES["fr"]
    assert language_of_all([ENGLISH[0] * 100, *french]) == "fr"  # 1 of 9, however long
    assert language_of_all([*ENGLISH, french[0]]) == "en"
    assert language_of_all([]) is None


def test_half_an_emoji_and_other_debris_do_no_harm() -> None:
    assert language_of("\ud83d " + " ".join(SENTENCES["de"])) == "de"
    assert language_of("\x00" * 5000) is None


@given(st.text(max_size=400))
def test_any_text_has_an_answer_and_always_the_same(text: str) -> None:
    found = language_of(text)
    assert found is None or is_code(found)
    assert language_of(text) == found
    if len(text) < 8:
        assert found is None


def test_a_long_text_takes_no_longer_than_a_page() -> None:
    def seconds(text: str) -> float:
        best = 1e9
        for number in range(5):
            begun = time.perf_counter()
            language_of(f"{number} {text}")
            best = min(best, time.perf_counter() - begun)
        return best

    page = " ".join(SENTENCES["fr"])[:CHARS]
    language_of(page)  # loads the model
    assert seconds(page * 2000) < 20 * seconds(page * 2) + 0.01  # 1.2 million characters


def test_the_model_is_loaded_when_it_is_needed_and_not_before() -> None:
    code = (
        "import sys, assay.text.languages as it; it.language_of('Paris.');"
        "assert 'py3langid' not in sys.modules; import assay.metrics; assert 'py3langid' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize(
    ("said", "code"), [("en", "en"), ("en-GB", "en"), ("EN_us", "en"), (" English ", "en"), ("pt-BR", "pt"), ("x", "x")]
)
def test_codes(said: str, code: str) -> None:
    assert code_of(said) == code


@pytest.mark.parametrize("value", ["", "e", "german", "e1", "de\n", "én"])
def test_what_a_column_holds_is_no_code(value: str) -> None:
    assert not is_code(value)
