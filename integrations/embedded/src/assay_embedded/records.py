"""Records inside a passage, told as lines that can be read: JSON, Python literals, tables, lines of `key: value`.

The reader was made for sentences. `pieces` cuts a passage into what is read of it one by one: sentences as they stand,
and of records one short line for what stands together, with keys as words, clock times and dates as people say them,
"yes" and "no" for booleans, and the lowest and highest of what is listed. Every piece knows where in the passage it
stands. Nothing is guessed: what is not clearly a record stays as it is.

Time is linear in the length of the text. The words are English, as the judge is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from assay_embedded.sentences import sentences

_DEEPEST = 40  # levels of a record; what is nested deeper is no record
_TOGETHER = 18  # words of one line, about
_WHOLE = 45  # words of an item of a list that is one line, about
_PROSE = 20  # words; a longer value is read as sentences
_LISTED = 3  # items from which on the lowest and highest are told
_COLUMNS = 12  # of which they are told at most

_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:
        (?P<mark>[{}\[\]:,])
      | "(?P<double>[^"\\]*(?:\\.[^"\\]*)*)"
      | '(?P<single>[^'\\]*(?:\\.[^'\\]*)*)'
      | (?P<bare>-?\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?|true|false|null|True|False|None|NaN|nan)
    )""",
    re.VERBOSE | re.DOTALL,
)
_OPENS = re.compile(r"\{(?=\s{0,200}[\"'])|\[(?=\s{0,200}\{)")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_\s]+")
_SPOKEN = {
    "true": "yes", "True": "yes", "false": "no", "False": "no",
    "null": "not given", "None": "not given", "NaN": "not given", "nan": "not given",
}  # fmt: skip
_TIME = r"([01]?\d|2[0-4]):([0-5]?\d)(?::[0-5]\d(?:\.\d{1,9})?)?"
_HOURS = re.compile(rf"{_TIME}\s?[-–]\s?{_TIME}")
_CLOCK = re.compile(_TIME)
_DATE = re.compile(rf"(\d{{4}})-(\d\d)-(\d\d)(?:[T ]{_TIME}(?:Z|[+-]\d\d:?\d\d)?)?")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_OLD_STRING = re.compile(r"u?'([^']*)'")  # of Python 2, inside a string
_KEY_LINE = re.compile(r"(?:[-*•#]\s)?[^\s:|{}\[\]][^:|{}\[\]\n]{0,60}:\s\S")
_RULER = re.compile(r"[\s|:+=-]+")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_NAMED = ("name", "title", "label", "key", "property", "attribute", "field", "question")
_VALUED = ("value", "values", "text", "answer", "content")
_LABELS = ("name", "title", "date", "dt_txt", "time", "datetime", "day", "year", "category")


@dataclass(frozen=True, slots=True)
class Piece:
    """What is read at once: `text`, for what stands at [start, end) of the passage."""

    start: int
    end: int
    text: str

    @property
    def span(self) -> tuple[int, int]:
        return self.start, self.end


@dataclass(frozen=True, slots=True)
class _Node:
    """A value of a record and where it stands, its marks included."""

    start: int
    end: int
    fields: tuple[tuple[str, int, _Node], ...] = ()  # of an object: key, where the key starts, value
    items: tuple[_Node, ...] = ()
    text: str = ""  # of a scalar
    kind: str = "scalar"  # or object, list
    cut: bool = False  # an object or list that breaks off: what follows is no part of it


_Said = tuple[int, int, str, str]  # where key and value stand, and how they are read


class _NoRecord(Exception):
    def __init__(self, at: int) -> None:
        self.at = at


def pieces(text: str) -> Iterator[Piece]:
    """All of a passage, piece by piece, in its order; no piece for white space alone."""
    done = 0
    for node in _records(text):
        yield from _lines(text, done, node.start)
        yield from _told(text, node, ())
        done = node.end
    yield from _lines(text, done, len(text))


# --- objects and lists ---


def _records(text: str) -> Iterator[_Node]:
    """The outermost objects of at least one key, and lists of them; of what breaks off, as chunks do, what there is."""
    at = 0
    while (opening := _OPENS.search(text, at)) is not None:
        node, at = _value(text, opening.start(), 0)
        if _leaves(node) >= (_LISTED if node.cut else 1):
            yield node
        else:
            at = max(at, opening.end())


def _leaves(node: _Node) -> int:
    """Keys of an object, and of the objects in a list."""
    return len(node.fields) + sum(_leaves(inner) for _, _, inner in node.fields) + sum(map(_leaves, node.items))


def _next(text: str, at: int) -> re.Match[str]:
    token = _TOKEN.match(text, at)
    if token is None:
        raise _NoRecord(at)
    return token


def _value(text: str, at: int, depth: int) -> tuple[_Node, int]:
    """The value that begins here, and how far was read, which is more than its end where it breaks off.

    Raises _NoRecord where none begins.
    """
    token = _next(text, at)
    start = token.start(token.lastgroup or 0)
    if token["mark"] is None:
        return _scalar(token, start), token.end()
    if token["mark"] not in "{[" or depth >= _DEEPEST:
        raise _NoRecord(token.end())
    closing = "}" if token["mark"] == "{" else "]"
    fields: list[tuple[str, int, _Node]] = []
    items: list[_Node] = []
    end = at = token.end()
    cut = False
    try:
        while not cut and (token := _next(text, at))["mark"] != closing:
            if fields or items:
                if token["mark"] != ",":
                    raise _NoRecord(token.end())
                at = token.end()
                if _next(text, at)["mark"] == closing:
                    continue
            key, key_start = "", 0
            if closing == "}":
                key, key_start, at = _key(text, at)
            inner, at = _value(text, at, depth + 1)
            if closing == "}":
                fields.append((key, key_start, inner))
            else:
                items.append(inner)
            end, cut = inner.end, inner.cut
        if not cut:
            end = at = token.end()
    except _NoRecord as no:
        cut, at = True, no.at
    kind = "object" if closing == "}" else "list"
    return _Node(start, end, tuple(fields), tuple(items), kind=kind, cut=cut), at


def _scalar(token: re.Match[str], start: int) -> _Node:
    quoted = token["bare"] is None
    said = _unescaped(token[token.lastgroup or 0]) if quoted else token["bare"]
    return _Node(start - quoted, token.end(), text=said if quoted else _SPOKEN.get(said, said))


def _key(text: str, at: int) -> tuple[str, int, int]:
    """A key, where it starts, and where its colon ends."""
    token = _next(text, at)
    if token["mark"] is not None:
        raise _NoRecord(token.end())
    key = _scalar(token, token.start(token.lastgroup or 0))
    colon = _next(text, key.end)
    if colon["mark"] != ":":
        raise _NoRecord(colon.end())
    return key.text, key.start, colon.end()


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    plain = {"n": "\n", "t": " ", "r": "", "b": "", "f": " "}
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else plain.get(m[2], m[2]), text)


def _told(text: str, node: _Node, path: tuple[str, ...], label: str = "") -> Iterator[Piece]:
    """An object or list as pieces: first what is said of itself, then what is inside.

    `path`: the keys that lead to it; `label`: what it is called, as an item of a list.
    """
    if node.kind == "list":
        yield from _summed(node, path)
        yield from _grouped([_said("", item.start, item) for item in node.items if _flat(item)], path)
        for item in node.items:
            if item.kind == "scalar" and not _flat(item):
                yield from _prose(text, item)
            elif not _flat(item):
                yield from _told(text, item, path, _label(item))
        return
    if (pair := _pair(node)) is not None:
        yield Piece(node.start, node.end, _line(path, [pair]))
        return
    if path and (whole := _whole(node)):
        yield from _grouped(_days(whole), path, _WHOLE)
        return
    inside = (*path, label) if label else path
    for flat, run in groupby(node.fields, key=lambda field: _flat(field[2])):
        if flat:
            yield from _grouped(_days([_said(_words(key), start, value) for key, start, value in run]), path)
            continue
        for key, _, value in run:
            yield from _prose(text, value) if value.kind == "scalar" else _told(text, value, (*inside, _words(key)))


def _whole(node: _Node) -> list[_Said]:
    """All that an object says, with the objects in it, where that is short; else nothing."""
    leaves = list(_leaves_of(node, ""))
    if not all(_flat(value) for _, _, value in leaves):
        return []
    said = [_said(key, start, value) for key, start, value in leaves]
    return said if sum(map(_size, said)) <= _WHOLE else []


def _said(key: str, start: int, value: _Node) -> _Said:
    return start, value.end, key, _spoken(value)


def _leaves_of(node: _Node, before: str) -> Iterator[tuple[str, int, _Node]]:
    """The values of an object, and of the objects in it with all their keys; a list of one object counts as that."""
    for key, start, value in node.fields:
        name = f"{before} {_words(key)}".strip()
        inner = value.items[0] if len(value.items) == 1 else value
        if inner.kind == "object":
            yield from _leaves_of(inner, name)
        else:
            yield name, start, value


def _size(one: _Said) -> int:
    return len(one[2].split()) + len(one[3].split())


def _label(item: _Node) -> str:
    """What an item of a list is called."""
    named = {key: value.text for key, _, value in item.fields if _short(value) and value.text}
    return next((spoken(named[name]) for name in _LABELS if name in named), "")


def _short(node: _Node) -> bool:
    return node.kind == "scalar" and len(node.text.split()) <= _PROSE


def _flat(node: _Node) -> bool:
    """A short scalar, or a list of such."""
    if node.kind == "list":
        return all(_short(item) for item in node.items) and sum(len(i.text.split()) for i in node.items) <= 3 * _PROSE
    return _short(node)


def _spoken(node: _Node) -> str:
    if node.kind == "list":
        return ", ".join(spoken(item.text) for item in node.items) or "none"
    return spoken(node.text)


def _pair(node: _Node) -> tuple[str, str] | None:
    """An object that is itself a key and its value: {"name": "Battery", "value": "6000 mAh"}."""
    if len(node.fields) != 2:
        return None
    (first, _, key), (second, _, value) = node.fields
    if first.lower() in _NAMED and second.lower() in _VALUED and _short(key) and _flat(value):
        return spoken(key.text), _spoken(value)
    return None


def _prose(text: str, node: _Node) -> Iterator[Piece]:
    """A long value in quotes, as sentences."""
    first = node.start + 1
    inside = text[first : node.end - 1]
    for start, end in sentences(inside.replace("\\n", "  ")):
        yield Piece(first + start, first + end, " ".join(_unescaped(inside[start:end]).split()))


def _days(said: Sequence[_Said]) -> list[_Said]:
    """Neighbouring days with one value become "monday to thursday"."""
    out: list[_Said] = []
    for (is_day, value), run in groupby(said, key=lambda one: (_is_day(one[2]), one[3])):
        same = list(run)
        if is_day and len(same) > 1:
            out.append((same[0][0], same[-1][1], f"{same[0][2]} to {same[-1][2].split()[-1]}", value))
        else:
            out += same
    return out


def _is_day(key: str) -> bool:
    return key.lower().endswith(_DAYS)


def _grouped(said: Sequence[_Said], path: tuple[str, ...], most: int = _TOGETHER) -> Iterator[Piece]:
    """Keys and values in lines of about `most` words."""
    group: list[_Said] = []
    size = 0
    for one in said:
        if group and size + _size(one) > most:
            yield _piece(group, path)
            group, size = [], 0
        group.append(one)
        size += _size(one)
    if group:
        yield _piece(group, path)


def _piece(group: Sequence[_Said], path: tuple[str, ...]) -> Piece:
    return Piece(group[0][0], group[-1][1], _line(path, [(key, value) for _, _, key, value in group]))


def _line(path: Sequence[str], pairs: Sequence[tuple[str, str]]) -> str:
    before = ", ".join(path[-2:])
    return (f"{before}: " if before else "") + "; ".join(f"{key}: {value}" if key else value for key, value in pairs)


# --- the lowest and highest of what is listed ---


def _summed(node: _Node, path: tuple[str, ...]) -> Iterator[Piece]:
    """How many a list has, and of its numbers the lowest and highest, with where they are."""
    objects = [item for item in node.items if item.kind == "object"]
    if len(objects) < _LISTED:
        return
    columns: dict[str, list[tuple[float, str, str]]] = {}
    for item in objects:
        label = _label(item)
        for name, _, value in _leaves_of(item, ""):
            if name not in _LABELS and not name.endswith("id") and _NUMBER.fullmatch(value.text):
                columns.setdefault(name, []).append((float(value.text), value.text, label))
    before = ", ".join((*path[-1:], f"{len(objects)} entries"))
    for name, values in list(columns.items())[:_COLUMNS]:
        if len(values) >= _LISTED:
            yield Piece(node.start, node.end, f"{before}, {name}: {_extremes(values)}")


def _extremes(values: Sequence[tuple[float, str, str]]) -> str:
    low, high = min(values, key=lambda one: one[0]), max(values, key=lambda one: one[0])
    told = (("lowest", low), ("highest", high))
    return ", ".join(f"{name} {value}" + f" ({label})" * bool(label) for name, (_, value, label) in told)


# --- tables and lines of key and value ---


def _lines(text: str, start: int, end: int) -> Iterator[Piece]:
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


def _sentences(text: str, start: int, end: int) -> Iterator[Piece]:
    for a, b in sentences(text[start:end]):
        yield Piece(start + a, start + b, text[start + a : start + b])


def _is_key_line(text: str, lines: Sequence[tuple[int, int]], i: int) -> bool:
    """One of two neighbours at least that are a key and a value each; a lone one may be any sentence."""
    return _keyed(text, lines[i]) and any(0 <= j < len(lines) and _keyed(text, lines[j]) for j in (i - 1, i + 1))


def _keyed(text: str, line: tuple[int, int]) -> bool:
    start, end = line
    found = _KEY_LINE.match(text, start, end)
    return found is not None and end - start <= 400 and len(text[start : found.end() - 2].split()) <= 6


def _key_line(text: str, start: int, end: int) -> Piece:
    line = text[start:end]
    left, right = start + len(line) - len(line.lstrip()), start + len(line.rstrip())
    key, value = text[left:right].split(":", 1)
    return Piece(left, right, f"{key.lstrip('-*•# ')}: {spoken(value.strip())}")


def _table(text: str, lines: Sequence[tuple[int, int]], i: int) -> tuple[str, int]:
    """What divides the cells of a table that begins with the i-th line, and how many lines it has; 0 for none.

    A table has a heading, and rows of as many cells: two of them, or with commas three, each with a number.
    """
    for mark in ("|", "\t", ","):
        heading = _cells(text, lines[i], mark)
        if len(heading) < 2 or not all(heading[1:]) or any(len(cell.split()) > 8 for cell in heading):
            continue
        if mark != "|" and any(map(_NUMBER.fullmatch, heading)):
            continue
        count = 1
        while i + count < len(lines):
            cells = _cells(text, lines[i + count], mark)
            if len(cells) != len(heading) or (mark == "," and not any(map(_NUMBER.fullmatch, cells))):
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


def _rows(text: str, lines: Sequence[tuple[int, int]], mark: str) -> Iterator[Piece]:
    """The lowest and highest of each column, then each row with the headings."""
    heading = [_words(cell) for cell in _cells(text, lines[0], mark)]
    rows = [(line, _cells(text, line, mark)) for line in lines[1:] if not _RULER.fullmatch(text[line[0] : line[1]])]
    if not rows:
        return
    before = f"{len(rows)} rows, {heading[0]} from {spoken(rows[0][1][0])} to {spoken(rows[-1][1][0])}"
    for column, name in list(enumerate(heading))[1:_COLUMNS]:
        values = [(float(c[column]), c[column], spoken(c[0])) for _, c in rows if _NUMBER.fullmatch(c[column])]
        if len(values) >= _LISTED:
            yield Piece(lines[0][0], _end(text, lines[-1]), f"{before}, {name}: {_extremes(values)}")
    for line, cells in rows:
        said = [(*line, name, spoken(cell)) for name, cell in zip(heading, cells, strict=True) if cell]
        for piece in _grouped(said, (), _WHOLE):
            again = "" if piece.text.startswith(_line((), [said[0][2:]])) else f"{said[0][3]}, "
            yield Piece(line[0], _end(text, line), again + piece.text)


def _end(text: str, line: tuple[int, int]) -> int:
    """Where a line ends, without the white space there."""
    return line[0] + len(text[line[0] : line[1]].rstrip())


# --- how values are said ---


def _words(key: str) -> str:
    """A key as words: homeTeam and home_team are "home team"."""
    key = key.strip().replace("WiFi", "Wifi")
    parts = [part for part in _HUMP.split(key) if part]
    return " ".join(
        part if (part.isupper() and len(part) > 1) or " " in key.strip() else part.lower() for part in parts
    )


def spoken(value: str) -> str:
    """A value as people say it: 17:0-21:0 is "5 PM to 9 PM (17:00 to 21:00)", true is "yes", 2024-01-03 a day."""
    value = " ".join(value.split())
    old = _OLD_STRING.fullmatch(value)
    value = old[1] if old else value
    if (found := _HOURS.fullmatch(value)) is not None:
        a, b, c, d = found.groups()
        return f"{_clock(a, b)} to {_clock(c, d)} ({int(a)}:{int(b):02} to {int(c)}:{int(d):02})"
    if (found := _CLOCK.fullmatch(value)) is not None:
        return f"{_clock(*found.groups())} ({int(found[1])}:{int(found[2]):02})"
    if (found := _DATE.fullmatch(value)) is not None:
        return _day(found) or value
    return _SPOKEN.get(value, value)


def _clock(hour: str, minute: str) -> str:
    number, minutes = int(hour) % 24, int(minute)
    half = "AM" if number < 12 else "PM"
    return f"{(number - 1) % 12 + 1}{f':{minutes:02}' if minutes else ''} {half}"


def _day(found: re.Match[str]) -> str | None:
    year, month, day, hour, minute = found.groups()
    try:
        name = _DAYS[date(int(year), int(month), int(day)).weekday()].capitalize()
    except ValueError:
        return None
    at = f", {_clock(hour, minute)} ({int(hour)}:{int(minute):02})" if hour is not None else ""
    return f"{name}, {int(day)} {_MONTHS[int(month) - 1]} {int(year)}{at}"
