"""What is between objects: tables, lines of key and value, and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay_embedded.records.lines import COLUMNS, LISTED, NUMBER, WHOLE, RecordPart, as_line, extremes, grouped
from assay_embedded.records.spoken import spoken, words_of
from assay_embedded.sentences import sentences

_KEY_LINE = re.compile(r"(?:[-*•#]\s)?[^\s:|{}\[\]][^:|{}\[\]\n]{0,60}:\s\S")
_RULER = re.compile(r"[\s|:+=-]+")


def pieces_between(text: str, start: int, end: int) -> Iterator[RecordPart]:
    """What is between records: tables and lines of key and value, and sentences."""
    lines = [(at, at + len(line)) for at, line in _cut(text, start, end)]
    i = plain = 0
    while i < len(lines):
        mark, rows = _table(text, lines, i)
        if rows or _is_key_line(text, lines, i):
            if plain < i:
                yield from _sentences(text, lines[plain][0], lines[i][0])
            if rows:
                yield from _rows(text, lines[i : i + rows], mark)
            else:
                yield _key_line(text, *lines[i])
            i += max(rows, 1)
            plain = i
        else:
            i += 1
    if plain < len(lines):
        yield from _sentences(text, lines[plain][0], end)


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    at = start
    for line in text[start:end].splitlines(keepends=True):
        yield at, line
        at += len(line)


def _sentences(text: str, start: int, end: int) -> Iterator[RecordPart]:
    for a, b in sentences(text[start:end]):
        yield RecordPart(start + a, start + b, text[start + a : start + b])


def _is_key_line(text: str, lines: Sequence[tuple[int, int]], i: int) -> bool:
    """One of two neighbours at least that are a key and a value each; a lone one may be any sentence."""
    return _keyed(text, lines[i]) and any(0 <= j < len(lines) and _keyed(text, lines[j]) for j in (i - 1, i + 1))


def _keyed(text: str, line: tuple[int, int]) -> bool:
    start, end = line
    found = _KEY_LINE.match(text, start, end)
    return found is not None and end - start <= 400 and len(text[start : found.end() - 2].split()) <= 6


def _key_line(text: str, start: int, end: int) -> RecordPart:
    line = text[start:end]
    left, right = start + len(line) - len(line.lstrip()), start + len(line.rstrip())
    key, value = text[left:right].split(":", 1)
    return RecordPart(left, right, f"{key.lstrip('-*•# ')}: {spoken(value.strip())}")


def _table(text: str, lines: Sequence[tuple[int, int]], i: int) -> tuple[str, int]:
    """What divides the cells of a table that begins with the i-th line, and how many lines it has; 0 for none.

    A table has a heading, and rows of as many cells: two of them, or with commas three, each with a number.
    """
    for mark in ("|", "\t", ","):
        heading = _cells(text, lines[i], mark)
        if len(heading) < 2 or not all(heading[1:]) or any(len(cell.split()) > 8 for cell in heading):
            continue
        if mark != "|" and any(map(NUMBER.fullmatch, heading)):
            continue
        count = 1
        while i + count < len(lines):
            cells = _cells(text, lines[i + count], mark)
            if len(cells) != len(heading) or (mark == "," and not any(map(NUMBER.fullmatch, cells))):
                break
            count += 1
        if count > (3 if mark == "," else 2):
            return mark, count
    return "", 0


def _cells(text: str, line: tuple[int, int], mark: str) -> list[str]:
    cells = text[line[0] : line[1]].strip(" \r\n" if mark == "\t" else None)
    if mark == "|":
        cells = cells.removeprefix("|").removesuffix("|")
    return [cell.strip(" \"'*") for cell in cells.split(mark)]


def _rows(text: str, lines: Sequence[tuple[int, int]], mark: str) -> Iterator[RecordPart]:
    """The lowest and highest of each column, then each row with the headings."""
    heading = [words_of(cell) for cell in _cells(text, lines[0], mark)]
    rows = [(line, _cells(text, line, mark)) for line in lines[1:] if not _RULER.fullmatch(text[line[0] : line[1]])]
    if not rows:
        return
    before = f"{len(rows)} rows, {heading[0]} from {spoken(rows[0][1][0])} to {spoken(rows[-1][1][0])}"
    for column, name in list(enumerate(heading))[1:COLUMNS]:
        values = [(float(c[column]), c[column], spoken(c[0])) for _, c in rows if NUMBER.fullmatch(c[column])]
        if len(values) >= LISTED:
            yield RecordPart(lines[0][0], _end(text, lines[-1]), f"{before}, {name}: {extremes(values)}")
    for line, cells in rows:
        said = [(*line, name, spoken(cell)) for name, cell in zip(heading, cells, strict=True) if cell]
        for piece in grouped(said, (), WHOLE):
            again = "" if piece.text.startswith(as_line((), [said[0][2:]])) else f"{said[0][3]}, "
            yield RecordPart(line[0], _end(text, line), again + piece.text)


def _end(text: str, line: tuple[int, int]) -> int:
    """Where a line ends, without the white space there."""
    return line[0] + len(text[line[0] : line[1]].rstrip())
