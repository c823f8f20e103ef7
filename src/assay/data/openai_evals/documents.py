"""JSON as people save it from an API, from a file or a folder: each value with the place where it stands.

One object a line, one list, pages of a list one after the other, rows of a table: whatever a script or `curl >>` left.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from assay.data.files import from_path, numbered_rows
from assay.data.safe_open import DAMAGED, first_lines, whole_of
from assay.data.sources import UnreadableRow
from assay.errors import InputError

_LINES = (".jsonl", ".ndjson")
_TABLES = (".csv", ".tsv", ".parquet")
#: Kinds of files that a folder is searched for; all but .parquet also with .gz.
KINDS = (".json", *_LINES, *_TABLES)


def files_of(path: str | Path) -> tuple[Path, ...]:
    """The file, or those in the folder and the folders in it, by name. Raises InputError where there are none."""
    given = Path(path)
    try:
        given = given.expanduser()
        if not given.is_dir():
            from_path(given) if _kind(given) in _TABLES or not given.is_file() else None  # raises what is wrong
            if _kind(given) is None:
                raise InputError(f"{given.name!r}: unknown kind of file; expected a folder, or {', '.join(KINDS)}")
            return (given,)
        found = sorted(one for one in given.rglob("*") if _kind(one) is not None and one.is_file())
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{str(path)!r} cannot be opened: {error}") from None
    found = [one for one in found if not any(part.startswith(".") for part in one.relative_to(given).parts)]
    if not found:
        raise InputError(f"{str(given)!r} is a folder without a file to read; expected {', '.join(KINDS)} in it")
    return tuple(found)


def documents(path: Path, root: Path) -> Iterator[tuple[str, object]]:
    """The values in one file, each after its place (`'items.jsonl', line 7`); Bad for what cannot be read.

    Places name the file as it is to be found from the folder `root`. A .json file, and one in which a value spans
    lines, is held in memory.
    """
    name, kind = repr(str(path.relative_to(root))), _kind(path)
    try:
        if kind in _TABLES:
            for number, row in enumerate(from_path(path).open(), 1):
                yield (name, row) if isinstance(row, UnreadableRow) else (f"{name}, row {number}", row)
        elif _by_line(path):
            for number, row in numbered_rows(path):
                yield (name, row) if isinstance(row, UnreadableRow) else (f"{name}, line {number}", row)
        else:
            yield from _whole(path, name)
    except InputError as error:
        yield name, UnreadableRow(str(error).removeprefix(f"{path.name!r}: ").removeprefix(f"{path.name!r} "))


def _kind(path: Path) -> str | None:
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    kind = suffixes[-2] if len(suffixes) == 2 and suffixes[-1] == ".gz" else suffixes[-1] if suffixes else None
    return kind if kind in KINDS and (suffixes[-1] != ".gz" or kind != ".parquet") else None


def _by_line(path: Path) -> bool:
    """Whether each line is a value of its own: not where the first is no more than the begin of one."""
    first = first_lines(path, 2)
    if not first or not first[0].startswith(b"{"):
        return not first and _kind(path) in _LINES
    try:
        json.loads(first[0])
    except (ValueError, RecursionError):
        # a broken first line among lines of JSON; else the first line of an object that spans many
        return _kind(path) in _LINES and first[0] != b"{" and (len(first) < 2 or first[1].startswith(b"{"))
    return _kind(path) in _LINES or len(first) == 2


def _whole(path: Path, name: str) -> Iterator[tuple[str, object]]:
    """The values in a file, one after the other; mostly there is one."""
    try:
        text = whole_of(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("is not UTF-8; save it as UTF-8") from None
    except DAMAGED as error:
        raise InputError(f"cannot be read: {error}") from None
    decoder = json.JSONDecoder()
    at, line = _after_blanks(text, 0), 1
    begin = at
    while at < len(text):
        line += text.count("\n", begin, at)
        begin = at
        place = name if at == 0 else f"{name}, line {line}"
        try:
            value, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
            told = "; the file ends before it does" if cut else ""
            yield f"{name}, line {error.lineno}", UnreadableRow(f"is no JSON: {error.msg.removesuffix(' at')}{told}")
            return
        except (ValueError, RecursionError) as error:
            yield place, UnreadableRow(f"cannot be read as JSON: {error}")
            return
        yield place, value
        at = _after_blanks(text, at)
    if not text.strip():
        yield name, UnreadableRow("is empty")


def _after_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at
