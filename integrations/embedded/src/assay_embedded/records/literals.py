"""Objects and lists in a text, as JSON writes them or Python prints them, with where everything stands.

One pass, whatever the text: an attempt that fails is gone on from where it failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from assay_embedded.records.spoken import CONSTANTS

_DEEPEST = 40  # levels of a record; what is nested deeper is no record
_FEWEST = 3  # keys of one that breaks off, for it to count as a record

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


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a record and where it stands, its marks included."""

    start: int
    end: int
    fields: tuple[tuple[str, int, Node], ...] = ()  # of an object: key, where the key starts, value
    items: tuple[Node, ...] = ()
    text: str = ""  # of a scalar
    kind: str = "scalar"  # or object, list
    cut: bool = False  # an object or list that breaks off: what follows is no part of it


class _NoRecord(Exception):
    def __init__(self, at: int) -> None:
        self.at = at


def records(text: str) -> Iterator[Node]:
    """The outermost objects of at least one key, and lists of them; of what breaks off, as chunks do, what there is."""
    at = 0
    while (opening := _OPENS.search(text, at)) is not None:
        node, at = _value(text, opening.start(), 0)
        if _leaves(node) >= (_FEWEST if node.cut else 1):
            yield node
        else:
            at = max(at, opening.end())


def _leaves(node: Node) -> int:
    """Keys of an object, and of the objects in a list."""
    return len(node.fields) + sum(_leaves(inner) for _, _, inner in node.fields) + sum(map(_leaves, node.items))


def _next(text: str, at: int) -> re.Match[str]:
    token = _TOKEN.match(text, at)
    if token is None:
        raise _NoRecord(at)
    return token


def _value(text: str, at: int, depth: int) -> tuple[Node, int]:
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
    fields: list[tuple[str, int, Node]] = []
    items: list[Node] = []
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
    return Node(start, end, tuple(fields), tuple(items), kind=kind, cut=cut), at


def _scalar(token: re.Match[str], start: int) -> Node:
    quoted = token["bare"] is None
    said = unescaped(token[token.lastgroup or 0]) if quoted else token["bare"]
    return Node(start - quoted, token.end(), text=said if quoted else CONSTANTS.get(said, said))


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


def unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    plain = {"n": "\n", "t": " ", "r": "", "b": "", "f": " "}
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else plain.get(m[2], m[2]), text)
