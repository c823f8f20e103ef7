"""Where each key of a TOML file stands: tomllib tells what a file says, and not where."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping

Path = tuple[str, ...]

#: A text in quotes, a comment, the end of a line, what nests, and whatever else stands between them. Each character is
#: looked at once, also where a text does not end.
_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+(?:"{3,5})?'
    r"|'''(?:[^']|'(?!''))*+(?:'{3,5})?"
    r'|"(?:[^"\\\n]|\\.)*+"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+|\n|[\[\]{}]|="
    r"|[^\"'#\n\[\]{}=]++"
    r"|.",
    re.DOTALL,
)
#: Dots in a key: the time that tomllib takes grows with the square of its parts.
DOTS = 60


def lines_of(text: str) -> Mapping[Path, int]:
    """The line, from 1, of each header and each key of a TOML text that tomllib reads, the first where it has several.

    Tables in an array have their number, from 0, in the path: ("alerts", "0", "name") of the first [[alerts]]. Keys
    inside of inline tables are not looked for: they stand where their table does.
    """
    found: dict[Path, int] = {}
    arrays: dict[Path, int] = {}
    header: Path = ()
    line, begun, buffer, place, depth, is_array = 1, 1, "", "start", 0, False
    for piece in _TOKEN.findall(text):
        comment = piece.startswith("#")
        if place == "start" and piece.strip() and not comment:
            place, buffer, begun = ("header", "", line) if piece == "[" else ("key", piece, line)
            is_array = False
        elif place == "header" and piece == "[":
            is_array = True
        elif place == "header" and piece == "]":
            header, place = _in_arrays(_path(buffer), arrays), "after"
            found.setdefault(header, begun)
            if is_array:
                arrays[header] = arrays.get(header, -1) + 1
                header = (*header, str(arrays[header]))
                found[header] = begun
        elif place == "header":
            buffer += piece
        elif place == "key" and piece == "=":
            found.setdefault((*header, *_path(buffer)), begun)
            place, depth = "value", 0
        elif place == "key":
            buffer += piece
        elif place == "value" and piece in ("[", "{", "]", "}"):
            depth += 1 if piece in ("[", "{") else -1
        elif piece == "\n" and (place == "after" or (place == "value" and depth <= 0)):
            place = "start"
        line += piece.count("\n")
    return found


def line_of(path: Path, lines: Mapping[Path, int]) -> int | None:
    """The line of a key or table; else of the nearest that holds it, or of the first key in it. None: nowhere."""
    for end in range(len(path), 0, -1):
        if path[:end] in lines:
            return lines[path[:end]]
        inside = [line for known, line in lines.items() if known[:end] == path[:end]]
        if inside:
            return min(inside)
    return None


def _in_arrays(path: Path, arrays: Mapping[Path, int]) -> Path:
    """The path of a header, with the numbers of the tables in arrays that it belongs to: the last of each."""
    made: Path = ()
    for key in path:
        made = (*made, str(arrays[made]), key) if made in arrays else (*made, key)
    return made


def _path(written: str) -> Path:
    """The parts of a dotted key; empty for what is none."""
    if written.count(".") > DOTS:
        return ()
    try:
        found: object = tomllib.loads(f"{written} = 0")
    except (ValueError, RecursionError):
        return ()
    path = []
    while isinstance(found, dict) and found:
        key, found = next(iter(found.items()))
        path.append(str(key))
    return tuple(path)
