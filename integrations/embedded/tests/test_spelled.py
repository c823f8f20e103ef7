"""What a vocabulary has no tokens for is read all the same, and different words differently."""

from __future__ import annotations

import hashlib

import pytest
from assay_embedded import Models
from assay_embedded.excerpt import excerpt
from assay_embedded.features import Passage
from assay_embedded.files import FILES
from assay_embedded.reader import EXCERPT
from assay_embedded.tokens import Tokens
from assay_embedded.unknown_words import LONGEST, code, spelled
from assay_embedded.windows import windows_of
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

KEYS = [hashlib.sha512(name).hexdigest() for name in (b"a", b"b")]  # 128 characters: the vocabulary takes 100

# two words that a model with this vocabulary took for the same, and what is said with either
ALIKE = [
    ("The symbol on the sign is {}.", "☃", "✈"),
    ("He answered with {}.", "😀", "😡"),
    ("The chord is {}.", "𝄞", "𝄢"),
    ("The price is {}.", "₿500", "₹500"),
    ("The key is {}.", *KEYS),
    ("The download is at {}.", *(f"https://example.com/{key}/file.zip" for key in KEYS)),
    ("The password is {}.", "a" * 120, "b" * 120),
    ("The word for it is {}.", "ⵣⴰⵎⴰⵖ", "ⵜⵉⴼⵉⵏⴰⵖ"),
    ("His name is written {}.", "王偉", "李娜"),
]


@pytest.fixture(scope="module")
def tokens() -> Tokens:
    return Tokens((FILES / "tokenizer.json").read_bytes())


@pytest.fixture(scope="module")
def plain() -> Tokenizer:
    return Tokenizer.from_file(str(FILES / "tokenizer.json"))


@pytest.mark.parametrize(("sentence", "word", "other"), ALIKE)
def test_a_claim_about_one_word_is_not_supported_by_a_text_about_another(
    models: Models, sentence: str, word: str, other: str
) -> None:
    claim = sentence.format(word)
    wrong, right = models.support([(sentence.format(other), claim), (claim, claim)])
    assert wrong.probability < 0.5 < right.probability


@given(text=st.text(st.characters(exclude_categories=()), max_size=60))
def test_nothing_is_unknown(tokens: Tokens, plain: Tokenizer, text: str) -> None:
    assert plain.token_to_id("[UNK]") not in tokens(text + " [UNK]")


@pytest.mark.parametrize("mark", ["[SEP]", "[CLS]", "[PAD]", "[MASK]", "[UNK]"])
def test_no_text_says_where_it_ends(tokens: Tokens, plain: Tokenizer, mark: str) -> None:
    assert plain.token_to_id(mark) in plain.encode(f"a {mark} b", add_special_tokens=False).ids
    assert tokens(f"a {mark} b") == [*tokens("a"), *tokens(code(mark)), *tokens("b")]


@given(text=st.text("abc xyzABC019 .,-", max_size=60).filter(lambda text: not any(mark * 17 in text for mark in ".,-")))
def test_what_is_known_is_read_as_it_is(tokens: Tokens, plain: Tokenizer, text: str) -> None:
    assert tokens(text) == plain.encode(text, add_special_tokens=False).ids


@given(word=st.text(max_size=300), known=st.sets(st.characters(), max_size=10))
def test_what_is_spelled_out_is_short_whatever_the_word(word: str, known: set[str]) -> None:
    assert len(spelled(word, known.__contains__)) <= LONGEST


@given(word=st.text("☃✈😀ⵣⴰ王", min_size=1, max_size=8), other=st.text("☃✈😀ⵣⴰ王", min_size=1, max_size=8))
def test_different_words_are_told_differently(tokens: Tokens, word: str, other: str) -> None:
    assert (tokens(word) == tokens(other)) == (word == other)


def test_a_symbol_goes_by_its_name_and_letters_beside_it_as_they_are() -> None:
    assert spelled("₿500", "0123456789".__contains__) == "bitcoin sign 500"


def test_letters_of_another_script_go_by_one_code_for_the_word() -> None:
    assert spelled("abⵣⴰ", "ab".__contains__) == f"ab {code('ⵣⴰ')}"


def test_a_keycap_is_its_digit_and_a_wide_letter_the_letter() -> None:
    assert spelled("1️⃣Ａ", "1A".__contains__) == "1A"


def test_a_long_word_is_its_beginning_and_a_code() -> None:
    assert spelled("a" * 200, str.isalpha) == "a" * 32 + " " + code("a" * 200)
    assert spelled("a" * 200, str.isalpha) != spelled("a" * 199 + "b", str.isalpha)


@pytest.mark.parametrize("mark", "-.=<*☃")
def test_of_a_sign_that_is_repeated_the_first_sixteen_are_read(tokens: Tokens, plain: Tokenizer, mark: str) -> None:
    assert tokens(mark * 20_000 + " 5") == tokens(mark * 16 + " 5")
    assert tokens(f"a{mark * 15}b") != tokens(f"a{mark * 16}b") == tokens(f"a{mark * 17}b")
    assert tokens("0" * 40) != tokens("0" * 50)  # of digits and letters all


@pytest.mark.parametrize(
    "text", ["-" * 20_000, "-." * 10_000, "[SEP]" * 4_000, "2019-03-04 " * 2_000, "\u202e☃" * 10_000]
)
def test_how_much_is_read_of_a_passage_has_a_bound(tokens: Tokens, text: str) -> None:
    """At most 90 words or 1,080 characters; of a claim all of it, in windows of 126 tokens."""
    passage = Passage(text)
    read = passage.read(excerpt(passage, "The cat is red.", EXCERPT))
    assert len(read) <= 1080
    assert len(list(windows_of(tokens("The cat is red."), tokens(read)))) <= 14


def test_half_an_emoji_is_read_as_a_question_mark(tokens: Tokens) -> None:
    assert tokens("why \ud83d") == tokens("why ?")
