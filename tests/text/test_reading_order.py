"""Lines of a page come in the order in which people read them."""

from __future__ import annotations

import io
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.text.ocr import TextLine
from assay.text.reading_order import in_reading_order

LEFT, RIGHT, WHOLE = (0.08, 0.46), (0.54, 0.92), (0.1, 0.9)


def line(text: str, across: tuple[float, float], row: float) -> TextLine:
    return TextLine(text, (across[0], row, across[1], row + 0.02), 1.0)


def rows(*names: str, across: tuple[float, float], top: float = 0.2) -> list[TextLine]:
    return [line(f"{name} of a running text", across, top + 0.03 * number) for number, name in enumerate(names)]


def order(lines: list[TextLine]) -> list[str]:
    """As the models give them, from the top down, put in order: the first word of each."""
    across_columns = sorted(lines, key=lambda one: (one.box[1], one.box[0]))
    return [one.text.split()[0] for one in in_reading_order(across_columns)]


def test_two_columns_are_read_one_after_the_other() -> None:
    page = [*rows("a", "b", "c", "d", across=LEFT), *rows("e", "f", "g", across=RIGHT)]
    assert order(page) == list("abcdefg")


def test_a_heading_over_both_stands_where_it_is() -> None:
    page = [
        line("title over both columns", WHOLE, 0.1),
        *rows("a", "b", "c", across=LEFT),
        *rows("d", "e", "f", across=RIGHT),
        line("heading over both columns", WHOLE, 0.4),
        *rows("g", "h", across=LEFT, top=0.5),
        *rows("i", "j", across=RIGHT, top=0.5),
    ]
    assert order(page) == ["title", *"abcdef", "heading", *"ghij"]


def test_three_and_four_columns() -> None:
    for count in (3, 4):
        wide = 0.9 / count
        names = [[f"{column}.{row}" for row in range(5)] for column in range(count)]
        page = [
            one
            for column in range(count)
            for one in rows(*names[column], across=(0.05 + column * wide, 0.02 + (column + 1) * wide))
        ]
        assert order(page) == [name for column in names for name in column]


def test_a_table_stays_row_by_row() -> None:
    table = [
        line(text, across, 0.1 + 0.05 * row)
        for row in range(6)
        for text, across in ((f"{row}a of the running costs", LEFT), (f"{row}b", (0.8, 0.85)))
    ]
    assert order(table) == [f"{row}{cell}" for row in range(6) for cell in "ab"]


def test_one_column_and_short_pages_stay_as_they_are() -> None:
    page = rows(*"abcdefgh", across=WHOLE)
    assert order(page) == list("abcdefgh")
    few = [*rows("a", "c", across=LEFT), *rows("b", "d", across=RIGHT)]
    assert order(few) == list("abcd")
    assert in_reading_order([]) == []


SHARES = st.floats(0, 1)


@given(st.lists(st.tuples(SHARES, SHARES, SHARES, SHARES, st.text(max_size=30)), max_size=60))
def test_no_line_is_lost(drawn: list[tuple[float, float, float, float, str]]) -> None:
    lines = [TextLine(text, (min(a, c), min(b, d), max(a, c), max(b, d)), 1.0) for a, b, c, d, text in drawn]
    assert sorted(in_reading_order(lines), key=repr) == sorted(lines, key=repr)


@pytest.mark.long
def test_many_lines_take_time_in_proportion() -> None:
    def seconds(count: int) -> float:
        page = [line("a line of running text", LEFT if n % 2 else RIGHT, n / count) for n in range(count)]
        began = time.thread_time()
        in_reading_order(page)
        return time.thread_time() - began

    small = min(seconds(2_000) for _ in range(3))
    assert min(seconds(16_000) for _ in range(3)) < 8 * small * 4


@pytest.mark.long
def test_a_page_in_two_columns_is_read_by_columns() -> None:
    """Drawn, and read by the real models."""
    pytest.importorskip("rapidocr")
    from PIL import Image, ImageDraw, ImageFont

    from assay.records.images import Image as PassageImage
    from assay.text.ocr import read

    left = ["The bridge was opened in 1931,", "after four years of work. It", "is 88 metres long, and carries"]
    right = ["two lanes. A second bridge was", "built in 1964, further down the", "river, and closed again in 1990."]
    image = Image.new("RGB", (1400, 300), "white")
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(36)
    for across, texts in ((40, left), (760, right)):
        for row, text in enumerate(texts):
            pen.text((across, 60 + 60 * row), text, fill="black", font=font)
    data = io.BytesIO()
    image.save(data, "PNG")
    page = read(PassageImage(digest="two columns", kind="image/png", data=data.getvalue()))
    words = " ".join(page.text.split())
    assert "carries two lanes" in words
    assert "further down the river" in words
