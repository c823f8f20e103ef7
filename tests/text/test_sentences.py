"""Sentences: what splits, what does not, and that pysbd's defects do not reach the user."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.records import Span
from assay.text import sentences as splitter
from assay.text import split_sentences
from assay.text.guards import RESERVED

PROSE = (
    "The Eiffel Tower, built by G. Eiffel and Co. in 1889, is 330 m tall. It is in Paris (see Fig. 3). "
    'Was it Dr. Smith who said so? "Yes." She nodded. '
)
NASTY = [
    *re.split(" ", ". .. ... .... ? ! ?! !!! … 。 ！ ？ ؟ । [ ] ( ) [1 [12, 3] 111 289852000000260698 - -- –"),
    *re.split(" ", "\" ' “ ” « » „ 「 」 < <a href='x </ & &ᓴ& a. b) (a) ii) 1. 2) e.g. et al. U.S. Mr. No."),
    *re.split(" ", "Inc. I Word word É ß ไทย 中 Y!J e(g. e[g | - # \\ \x00 \ue000 \ud800"),
    *["\n", "\n\n", "\r\n", "\t", " ", "  ", "\u00a0", "\u2028", "\u200b", "\x1c", " . . . "],
    *RESERVED,
]
LANGUAGES = ["en", "de", "fr", "sk", "kk", "zh", "ja", "ar", "th", "sv", "fi", "xx", ""]


def sentences_anew(text: str, language: str) -> tuple[Span, ...]:
    """Without what is kept from the time before."""
    return splitter._split_all(text, language)


def sentences(text: str, language: str = "en") -> list[str]:
    return [span.of(text) for span in split_sentences(text, language)]


def assert_lossless(text: str, spans: tuple[Span, ...]) -> None:
    at = 0
    for span in spans:
        assert at <= span.start < span.end <= len(text)
        assert span.of(text) == span.of(text).strip()
        assert not text[at : span.start].strip()
        at = span.end
    assert not text[at:].strip()


# What splits


@pytest.mark.parametrize("text", ["", " ", "\n\n\t ", "\u00a0\u2028"])
def test_blank_text_has_no_sentences(text: str) -> None:
    assert split_sentences(text) == ()


def test_offsets_point_into_the_text() -> None:
    text = "  It is tall.  Is it?\n"
    assert split_sentences(text) == (Span(2, 13), Span(15, 21))


def test_abbreviations_initials_numbers_and_addresses_do_not_split() -> None:
    text = "Dr. J. Smith paid 3.50 at no. 5, e.g. for tea. Mail a.b@c.de or see https://x.org/a?b=C.D today. Done."
    assert sentences(text) == [
        "Dr. J. Smith paid 3.50 at no. 5, e.g. for tea.",
        "Mail a.b@c.de or see https://x.org/a?b=C.D today.",
        "Done.",
    ]


def test_quoted_question_stays_in_its_sentence() -> None:
    assert sentences('He asked "Is it big?" and left. She nodded.') == [
        'He asked "Is it big?" and left.',
        "She nodded.",
    ]


def test_et_al_is_not_split_from_its_reference() -> None:
    assert sentences("As Smith et al. [2004] showed, it holds. See et al. (2005).") == [
        "As Smith et al. [2004] showed, it holds.",
        "See et al. (2005).",
    ]


def test_references_after_the_full_stop_stay_with_their_sentence() -> None:
    text = "Growth was seen.[12, 13] Later it fell.[3][4-6] The al.[12] found more."
    assert sentences(text) == ["Growth was seen.[12, 13]", "Later it fell.[3][4-6]", "The al.[12] found more."]


def test_closing_marks_stay_with_their_sentence() -> None:
    assert sentences("**Bold sentence.** Next one. *It.* (Or not.) Yes.") == [
        "**Bold sentence.**", "Next one.", "*It.*", "(Or not.)", "Yes.",
    ]  # fmt: skip


def test_repeated_marks_survive() -> None:
    assert sentences("Really?? It is!!! OK... Then it ended... and so on.") == [
        "Really??", "It is!!!", "OK...", "Then it ended... and so on.",
    ]  # fmt: skip


# Line breaks


def test_list_items_headings_and_rows_are_sentences() -> None:
    text = "# A. 1. Steps\nDo this:\n1. Open the door. Then wait.\n2. Close it\n- a thing\n  - another\n• third\n"
    text += "| 1. x | b. y |"
    assert sentences(text) == [
        "# A. 1. Steps", "Do this:", "1. Open the door.", "Then wait.", "2. Close it", "- a thing", "- another",
        "• third", "| 1. x | b. y |",
    ]  # fmt: skip


def test_blank_line_ends_a_sentence_without_full_stop() -> None:
    assert sentences("A title\n\nsome words\r\n\r\nmore words") == ["A title", "some words", "more words"]


def test_short_lines_without_marks_are_sentences() -> None:
    assert sentences("Introduction\nThis chapter explains the whole thing.\nApples\nPears\nPlums") == [
        "Introduction", "This chapter explains the whole thing.", "Apples", "Pears", "Plums",
    ]  # fmt: skip


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\n   "])
def test_wrapped_prose_is_not_split_at_the_wrap(newline: str) -> None:
    lines = [
        "The tower that was built in 1889 for the fair of the city of",
        "Paris is 330 m tall, and it is",
        "old. Yes.",
    ]
    text = newline.join(lines)
    assert sentences(text) == [text[: text.index(" Yes")], "Yes."]


# Languages


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("de", ["Der Turm wurde am 3. Oktober 1889 gebaut.", "Er ist z. B. sehr hoch.", "„Ist das so?“ fragte er."]),
        ("fr", ["M. Dupont habite à Paris.", "C'est p. ex. vrai !", "Non ?"]),
        ("es", ["El Sr. López vive allí.", "¿Es verdad?", "¡Claro!"]),
        ("it", ["La torre è alta 330 metri.", "È vero?"]),
        ("ru", ["Она находится в г. Париже.", "Правда?"]),
        ("zh", ["今天天气很好。", "我们去公园吧！", "你来吗？"]),
        ("ja", ["今日は天気がいい。", "「行こう。」と言った。", "そうだ！"]),
        ("ar", ["ما اسمك؟", "اسمي أحمد، وأنا من مصر.", "أعيش في القاهرة."]),
        ("fa", ["این یک جمله است: کوتاه.", "آیا درست است؟"]),
        ("ur", ["یہ ایک جملہ ہے۔", "یہ دوسرا ہے۔"]),
        ("hi", ["यह एक वाक्य है।", "यह दूसरा है।", "क्या तुम आओगे?"]),
        ("am", ["እንዴት ነህ፧", "ደህና ነኝ።"]),
        ("my", ["သူ၏ စာအုပ် ဖြစ်သည်။", "ကောင်းသည်။"]),
        ("hy", ["Ես ապրում եմ Երևանում։", "Իսկ դու։"]),
        ("el", ["Η Αθήνα είναι π.χ. μεγάλη.", "Πού είναι;", "Στην Ελλάδα."]),
        # those that pysbd answers with ValueError
        ("ko", ["에펠탑은 파리에 있다.", "높이는 330m이다.", "정말입니까?"]),
        ("pt", ["O Dr. Silva mora lá.", "A torre tem 330 m.", "Fica longe?"]),
        ("sv", ["Tornet ritades bl.a. av G. Eiffel.", "Är det sant?"]),
        ("tr", ["Kule 3. Ekim 1889'da yapıldı.", "Doğru mu?"]),
        ("vi", ["TS. Nguyễn sống ở đó.", "Tháp cao 330 m.", "Đúng không?"]),
        ("id", ["Menara itu tinggi.", "Lihat hlm. 5 untuk rincian.", "Benar?"]),
        ("th", ["ประเทศไทยเป็นประเทศในเอเชีย", "กรุงเทพเป็นเมืองหลวงของไทย"]),
        ("uk", ["Вежа стоїть у Парижі.", "Див. розділ 3.", "Справді?"]),
        ("cs", ["Věž byla postavena 3. října 1889.", "Viz např. Prahu.", "Opravdu?"]),
        ("fi", ["Torni rakennettiin 3. toukokuuta 1889.", "Onko näin?"]),
        ("he", ["האם זה נכון?", "כן.", "זה נכון."]),
        ("xx", ["Something in no known language.", "Yes."]),
    ],
)
def test_sentences_of_many_languages(language: str, expected: list[str]) -> None:
    text = ("" if language in {"zh", "ja"} else " ").join(expected)
    assert sentences(text, language) == expected


def test_region_and_case_of_the_code_are_ignored() -> None:
    text = "Er wohnt z. B. hier. Ja."
    assert (
        sentences(text, "de-AT") == sentences(text, "DE_ch") == sentences(text, "de") == ["Er wohnt z. B. hier.", "Ja."]
    )


def test_foreign_marks_count_in_every_language() -> None:
    assert sentences("He wrote यह एक वाक्य है। यह दूसरा है। Then he left. ما اسمك؟ Yes.") == [
        "He wrote यह एक वाक्य है।", "यह दूसरा है।", "Then he left.", "ما اسمك؟", "Yes.",
    ]  # fmt: skip


# What pysbd loses, hangs on or gets wrong (notes in guards.py)


@pytest.mark.parametrize("symbol", list(RESERVED))
def test_reserved_symbols_are_text_like_any_other(symbol: str) -> None:
    expected = [f"A {symbol} here.", f"So{symbol}it is.", f"It ends in {symbol}.", f"&{symbol}& End."]
    assert sentences(" ".join(expected)) == expected


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        "..[111 111 111 111 111 111 111 111 111 111]",
        "......[289852000000260698,289852000000260744",
        "It grew.[" + "1" * 500,
        "It grew.[" + "111, " * 500 + "] Then it fell.",
        "It grew.[" + "111 - " * 30 + "] then it fell.",
        "See etc.[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15",
        "<div " + "a='b' " * 200 + "Unfinished. And more.",
        "<a " + "href " * 500 + "<b>x. Y.",
        "a) b) " * 400 + "Yes. No.",
        "1. 2. 3. " * 400 + "Yes.",
        "!" * 5000 + "x. Y.",
        "." * 5000 + " 12. Y.",
        "( \" ' " * 2000 + "Yes. No.",
        "e(g. " * 400 + "Yes. No.",  # makes an invalid expression of an unescaped abbreviation
    ],
)
def test_texts_that_pysbd_hangs_or_breaks_on(text: str) -> None:
    for language in ("en", "de", "sk", "zh", "xx"):
        assert_lossless(text, split_sentences(text, language))


def seconds(text: str, language: str) -> float:
    """The best of three, in CPU time of this thread: other processes share the machine."""
    times = []
    for _ in range(3):
        start = time.thread_time()
        sentences_anew(text, language)
        times.append(time.thread_time() - start)
    return min(times)


@pytest.mark.long
@pytest.mark.parametrize(
    ("unit", "language"),
    [
        (PROSE, "en"),
        (PROSE.replace(". ", ".\n"), "en"),
        ("word ", "en"),
        ("今天天气很好。", "zh"),
        (PROSE, "pt"),
        ("Mr. ", "en"),
    ],
)
def test_time_grows_with_the_length_only(unit: str, language: str) -> None:
    split_sentences(unit * 10, language)  # imports and compiles
    short, long = (seconds(unit * (size // len(unit)), language) for size in (8_000, 80_000))
    assert long < 25 * (short + 0.001)  # linear: 10; quadratic: 100


def test_sentence_longer_than_a_window_stays_whole() -> None:
    long = "The list names " + ", ".join(f"item {i}" for i in range(1000)) + "."
    assert sentences(f"It is short. {long} The end.") == ["It is short.", long, "The end."]
    assert sentences("x" * 5000 + ". Yes.") == ["x" * 5000 + ".", "Yes."]
    assert sentences("." * 5000) == ["." * 5000]


def test_windows_do_not_cut_sentences() -> None:
    expected = [f"Sentence number {i} is about {'very ' * (i % 40)}plain things." for i in range(300)]
    assert sentences(" ".join(expected)) == expected


def test_threads_do_not_disturb_each_other() -> None:
    texts = [(PROSE.replace("Paris", f"City{i}") + f"Number {i} ends. " * (i % 5), LANGUAGES[i % 6]) for i in range(60)]
    alone = [split_sentences(*args) for args in texts]
    with ThreadPoolExecutor(16) as pool:
        together = list(pool.map(lambda args: split_sentences(*args), texts * 10))
    assert together == alone * 10


def test_importing_does_not_import_pysbd() -> None:
    code = "import sys, assay.text; sys.exit('pysbd' in sys.modules)"
    assert subprocess.run([sys.executable, "-W", "error", "-c", code], check=False).returncode == 0


def test_works_where_warnings_are_errors() -> None:
    code = "from assay.text import split_sentences as s; assert len(s('It is. So Mr. X is.')) == 2"
    assert subprocess.run([sys.executable, "-B", "-W", "error", "-c", code], check=False).returncode == 0


# Properties


@settings(deadline=None, max_examples=300)
@given(st.text(max_size=300), st.sampled_from(LANGUAGES))
def test_any_text_is_covered(text: str, language: str) -> None:
    assert_lossless(text, split_sentences(text, language))


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(NASTY), max_size=80).map("".join), st.sampled_from(LANGUAGES))
def test_nasty_text_is_covered(text: str, language: str) -> None:
    assert_lossless(text, split_sentences(text, language))


@settings(deadline=None, max_examples=25)
@given(st.lists(st.sampled_from([*NASTY, PROSE, "Plain words in a row. "]), min_size=100, max_size=400).map(" ".join))
def test_nasty_text_of_many_windows_is_covered(text: str) -> None:
    assert_lossless(text, split_sentences(text))


@settings(deadline=None, max_examples=100)
@given(
    st.lists(
        st.sampled_from(["It is tall.", "Is it?", "Yes!", "Dr. X left at 5 p.m. yesterday.", "See Fig. 3."]), min_size=1
    )
)
def test_plain_sentences_come_back_as_they_went_in(parts: list[str]) -> None:
    assert sentences(" ".join(parts)) == parts
