"""Objects and lists, told in lines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from assay_embedded.records.lines import (
    COLUMNS,
    LISTED,
    NUMBER,
    WHOLE,
    RecordPart,
    Said,
    as_line,
    extremes,
    grouped,
    with_days_joined,
    words_in,
)
from assay_embedded.records.literals import Node, unescaped
from assay_embedded.records.spoken import spoken, words_of
from assay_embedded.sentences import sentences

_PROSE = 20  # words; a longer value is read as sentences
_NAMED = ("name", "title", "label", "key", "property", "attribute", "field", "question")
_VALUED = ("value", "values", "text", "answer", "content")
_LABELS = ("name", "title", "date", "dt_txt", "time", "datetime", "day", "year", "category")


def object_pieces(text: str, node: Node, path: tuple[str, ...], label: str = "") -> Iterator[RecordPart]:
    """An object or list as pieces: first what is said of itself, then what is inside.

    `path`: the keys that lead to it; `label`: what it is called, as an item of a list.
    """
    if node.kind == "list":
        yield from _summed(node, path)
        yield from grouped([_said("", item.start, item) for item in node.items if _flat(item)], path)
        for item in node.items:
            if item.kind == "scalar" and not _flat(item):
                yield from _prose(text, item)
            elif not _flat(item):
                yield from object_pieces(text, item, path, _label(item))
        return
    if (pair := _pair(node)) is not None:
        yield RecordPart(node.start, node.end, as_line(path, [pair]))
        return
    if path and (whole := _whole(node)):
        yield from grouped(with_days_joined(whole), path, WHOLE)
        return
    inside = (*path, label) if label else path
    for flat, run in groupby(node.fields, key=lambda field: _flat(field[2])):
        if flat:
            said = [_said(words_of(key), start, value) for key, start, value in run]
            yield from grouped(with_days_joined(said), path)
            continue
        for key, _, value in run:
            yield from (
                _prose(text, value) if value.kind == "scalar" else object_pieces(text, value, (*inside, words_of(key)))
            )


def _whole(node: Node) -> list[Said]:
    """All that an object says, with the objects in it, where that is short; else nothing."""
    leaves = list(_leaves_of(node, ""))
    if not all(_flat(value) for _, _, value in leaves):
        return []
    said = [_said(key, start, value) for key, start, value in leaves]
    return said if sum(map(words_in, said)) <= WHOLE else []


def _said(key: str, start: int, value: Node) -> Said:
    return start, value.end, key, _spoken(value)


def _leaves_of(node: Node, before: str) -> Iterator[tuple[str, int, Node]]:
    """The values of an object, and of the objects in it with all their keys; a list of one object counts as that."""
    for key, start, value in node.fields:
        name = f"{before} {words_of(key)}".strip()
        inner = value.items[0] if len(value.items) == 1 else value
        if inner.kind == "object":
            yield from _leaves_of(inner, name)
        else:
            yield name, start, value


def _label(item: Node) -> str:
    """What an item of a list is called."""
    named = {key: value.text for key, _, value in item.fields if _short(value) and value.text}
    return next((spoken(named[name]) for name in _LABELS if name in named), "")


def _short(node: Node) -> bool:
    return node.kind == "scalar" and len(node.text.split()) <= _PROSE


def _flat(node: Node) -> bool:
    """A short scalar, or a list of such."""
    if node.kind == "list":
        return all(_short(item) for item in node.items) and sum(len(i.text.split()) for i in node.items) <= 3 * _PROSE
    return _short(node)


def _spoken(node: Node) -> str:
    if node.kind == "list":
        return ", ".join(spoken(item.text) for item in node.items) or "none"
    return spoken(node.text)


def _pair(node: Node) -> tuple[str, str] | None:
    """An object that is itself a key and its value: {"name": "Battery", "value": "6000 mAh"}."""
    if len(node.fields) != 2:
        return None
    (first, _, key), (second, _, value) = node.fields
    if first.lower() in _NAMED and second.lower() in _VALUED and _short(key) and _flat(value):
        return spoken(key.text), _spoken(value)
    return None


def _prose(text: str, node: Node) -> Iterator[RecordPart]:
    """A long value in quotes, as sentences."""
    first = node.start + 1
    inside = text[first : node.end - 1]
    for start, end in sentences(inside.replace("\\n", "  ")):
        yield RecordPart(first + start, first + end, " ".join(unescaped(inside[start:end]).split()))


def _summed(node: Node, path: tuple[str, ...]) -> Iterator[RecordPart]:
    """How many a list has, and of its numbers the lowest and highest, with where they are."""
    objects = [item for item in node.items if item.kind == "object"]
    if len(objects) < LISTED:
        return
    columns: dict[str, list[tuple[float, str, str]]] = {}
    for item in objects:
        label = _label(item)
        for name, _, value in _leaves_of(item, ""):
            if name not in _LABELS and not name.endswith("id") and NUMBER.fullmatch(value.text):
                columns.setdefault(name, []).append((float(value.text), value.text, label))
    before = ", ".join((*path[-1:], f"{len(objects)} entries"))
    for name, values in list(columns.items())[:COLUMNS]:
        if len(values) >= LISTED:
            yield RecordPart(node.start, node.end, f"{before}, {name}: {extremes(values)}")
