"""Mending JSON as models write it: a token-by-token rewrite into strict JSON that knows what is inside a string."""

from __future__ import annotations

import json
import re

_TOKEN = re.compile(
    r"""
      (?P<space>\s+)
    | (?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<string>"(?:[^"\\]|\\.)*")
    | (?P<single>'(?:[^'\\]|\\.)*')
    | (?P<smart>[\u201c\u201d\u201e][^\u201c\u201d\u201e]*[\u201c\u201d])
    | (?P<number>[-+]?\d[\d.eE+-]*)
    | (?P<word>[-+]?[^\W\d]\w*)
    | (?P<mark>[{}\[\]:,])
    """,
    re.VERBOSE | re.DOTALL,
)
_WORDS = {
    **{"true": "true", "false": "false", "null": "null"},
    **{"True": "true", "False": "false", "None": "null"},
    **dict.fromkeys(("NaN", "nan", "Infinity", "-Infinity", "+Infinity", "inf", "-inf", "undefined"), "null"),
}
_CLOSES = {"}": "{", "]": "["}


class Broken(ValueError):
    """This is not an object that can be mended; `at` is where that showed."""

    def __init__(self, message: str, at: int):
        super().__init__(message)
        self.at = at


def tidy(text: str, start: int) -> tuple[str, int]:
    """The object that begins with the brace at `start`, as strict JSON, and where it ends.

    Mends trailing commas, comments, single and typographic quotes, bare keys, Python's True, False and None; NaN and
    the like become null. Whether the result is JSON is left to the JSON parser. Raises Broken when the object does
    not end, or holds what is no token of JSON. Takes linear time.
    """
    out: list[str] = []
    open_: list[str] = []
    at = start
    while True:
        match = _TOKEN.match(text, at)
        if match is None:
            raise Broken(*_why(text, at))
        kind, piece = match.lastgroup, match[0]
        if kind == "smart":
            piece = json.dumps(piece[1:-1], ensure_ascii=False)
        elif kind == "single":
            piece = _from_single(piece)
        elif kind == "word":
            piece = _word(text, match)
        elif kind == "mark":
            if piece in "}]":
                if not open_ or open_.pop() != _CLOSES[piece]:
                    raise Broken("The brackets of the JSON object do not match.", at)
                if out[-1] == ",":
                    out.pop()
            elif piece in "{[":
                open_.append(piece)
        at = match.end()
        if kind not in ("space", "comment"):
            out.append(piece)
            if not open_:
                return "".join(out), at


def _why(text: str, at: int) -> tuple[str, int]:
    if at >= len(text) or text[at] in "\"'\u201c\u201d\u201e/":  # a string or comment that does not end
        return "The JSON object does not end.", len(text)
    return f"The JSON object is broken at {text[at : at + 20]!r}.", at


def _from_single(token: str) -> str:
    # \' has no meaning in JSON, and a double quote needs a backslash there
    body = re.sub(
        r"\\(.)|(\")", lambda m: "'" if m[1] == "'" else '\\"' if m[2] else m[0], token[1:-1], flags=re.DOTALL
    )
    return f'"{body}"'


def _word(text: str, match: re.Match[str]) -> str:
    """A literal, or a bare key: a word with a colon after it."""
    follows = re.compile(r"\s*:").match(text, match.end())
    if follows is not None:
        return f'"{match[0]}"'
    if match[0] in _WORDS:
        return _WORDS[match[0]]
    raise Broken(f"The JSON object is broken at {match[0][:20]!r}.", match.start())
