"""Rows from files: JSON lines, JSON, CSV, TSV (all also gzipped) and Parquet, one row or batch in memory at a time."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from assay._util.byte_limits import TooLargeError, UnpackedSizeError, check_json
from assay._util.csv_rows import plain_text
from assay.data.nested import rows_within
from assay.data.safe_open import (
    DAMAGED,
    TextLines,
    first_lines,
    lines_of,
    open_bytes,
    whole_of,
)
from assay.data.sources import (
    Source,
    UnreadableRow,
    duplicate_names,
    from_mapping,
    from_sequence,
)
from assay.errors import Cause, InputError, MissingExtra
from assay.records.field_names import describe

COUNTED = 64 << 20  # bytes of a file that are read only to know how many rows there are


def from_path(path: Path, kind: str | None = None) -> Source:
    """The source in a file, chosen by its extension, or by `kind`: "jsonl", "csv" and the like.

    Raises InputError for a file that cannot be opened as rows, and for a kind that there is not.
    """
    try:
        path = path.expanduser()
        return _reader_for(path, kind)(path)
    except (OSError, RuntimeError, ValueError) as error:  # no such home, too long a name, no right to look, a NUL
        if isinstance(error, (InputError, MissingExtra)):
            raise
        raise InputError(f"{str(path)!r} cannot be opened: {error}") from None


def _reader_for(path: Path, kind: str | None) -> Callable[[Path], Source]:
    if kind is not None and f".{kind}" not in _READERS:
        raise InputError(f"format: {kind!r} is none of {', '.join(name[1:] for name in _READERS)}")
    if "://" in str(path) or str(path).startswith(("http:/", "https:/", "s3:/", "hf:/")):
        raise InputError(f"{str(path)!r} is an address; download the file and give its path")
    if path.is_dir():
        inside = sorted(item.name for item in path.iterdir() if _reader_of(item) is not None)[:5]
        hint = f"give one file in it, for example {inside[0]!r}" if inside else "give a file"
        raise InputError(f"{str(path)!r} is a folder; {hint}")
    if not path.exists():
        raise InputError(f"there is no file {str(path)!r}{'' if path.is_absolute() else f' in {str(Path.cwd())!r}'}")
    reader = _reader_of(path) if kind is None else _READERS[f".{kind}"]
    if reader is None and path.suffix.lower() in _SHEETS:
        raise InputError(
            f"{path.name!r} is a spreadsheet; save the sheet as CSV UTF-8, or read it with pandas.read_excel and give "
            "the DataFrame"
        )
    if reader is None:
        raise InputError(
            f"{path.name!r}: unknown kind of file {''.join(path.suffixes[-2:]) or '(no extension)'!r}; expected "
            f"{', '.join(_READERS)}, all but .parquet also with .gz; format= says of another name what it holds"
        )
    if path.stat().st_size == 0:
        raise InputError(f"{path.name!r} is empty")
    return reader


def kind_of(path: Path) -> str | None:
    """The kind of file that the name says: ".jsonl", ".csv" and the like; None for names that say nothing."""
    reader = _reader_of(path)
    return next((kind for kind, other in _READERS.items() if other is reader), None)


def _reader_of(path: Path) -> Callable[[Path], Source] | None:
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
    if not suffixes:
        return None
    zipped = suffixes[-1] == ".gz"
    kind = suffixes[-2] if zipped and len(suffixes) == 2 else suffixes[-1]
    return None if zipped and kind == ".parquet" else _READERS.get(kind)


def _json_lines(path: Path) -> Source:
    if any(line == b"[" or line.startswith(b"[{") for line in first_lines(path, 1)):
        raise InputError(f"{path.name!r} holds one JSON list, not an object per line; name it {path.stem}.json")

    def rows() -> Iterator[object]:
        return (row for _, row in numbered_rows(path))

    return Source(what=repr(path.name), open=rows, count=lambda: _row_count(path, rows))


def _row_count(path: Path, rows: Callable[[], Iterator[object]]) -> int | None:
    """The number of rows of a file that is read within a second or so; None for larger ones."""
    size = path.stat().st_size * (10 if path.suffix.lower() == ".gz" else 1)
    return sum(1 for _ in rows()) if size <= COUNTED else None


def numbered_rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any] | UnreadableRow]]:
    """The objects in a file of JSON lines, with the numbers of their lines from 1; Bad in the place of what is none."""
    number = 0
    with open_bytes(path) as file:
        try:
            for number, row in rows_of_lines(lines_of(file)):
                if row is not None:
                    yield number, row
        except DAMAGED as error:
            yield number, _damage(path, error, f"after line {number}")


def rows_of_lines(
    lines: Iterable[bytes | TooLargeError], before: int = 0
) -> Iterator[tuple[int, Mapping[str, Any] | UnreadableRow | None]]:
    """Parse lines of JSON.

    Args:
        lines: The lines. `TooLargeError` stands for a line above the size limit.
        before: Number of lines of the file before these.

    Yields:
        Pairs of line number, from 1, and row. The row is None for a blank line, and an `UnreadableRow` for a line that
        is too long or not a JSON object.
    """
    for number, line in enumerate(lines, before + 1):
        if isinstance(line, TooLargeError):
            yield number, UnreadableRow(f"line {number} is {line}", Cause.TOO_LARGE)
            continue
        line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        yield number, None if line.isspace() else _json_row(line, number)


def _damage(path: Path, error: BaseException, place: str) -> UnreadableRow:
    what = "the gzip file is damaged" if path.suffix.lower() == ".gz" else "the file cannot be read"
    cause = Cause.BAD_ROW
    if isinstance(error, UnpackedSizeError):
        what, cause = "the gzip file is not read further", Cause.TOO_LARGE
    return UnreadableRow(f"{place} {what}, and what follows is lost: {error}", cause)


def _json_row(line: bytes, number: int) -> Mapping[str, Any] | UnreadableRow:
    try:
        text = line.decode().rstrip()
        check_json(text)
        row = json.loads(text)
    except TooLargeError as error:
        return UnreadableRow(f"line {number}: {error}", Cause.TOO_LARGE)
    except UnicodeDecodeError:
        return UnreadableRow(f"line {number} is not UTF-8; save the file as UTF-8")
    except json.JSONDecodeError as error:
        return UnreadableRow(f"line {number} is no JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}")
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, thousands of brackets
        return UnreadableRow(f"line {number} cannot be read as JSON: {error}")
    if not isinstance(row, dict):
        return UnreadableRow(f"line {number}: expected a JSON object, found {describe(row)}")
    return row


def _json(path: Path) -> Source:
    """A list of objects, an object of lists, or JSON lines under the wrong name. The first two are held in memory."""
    if _is_json_lines(path):
        return _json_lines(path)
    data = json_of_file(path)
    if isinstance(data, list):
        return from_sequence(data, repr(path.name))
    if isinstance(data, dict):
        wrapped = rows_within(data)
        if wrapped is not None:
            return from_sequence(wrapped, repr(path.name))
        if data and all(isinstance(values, dict) for values in data.values()):
            raise InputError(
                f"{path.name!r}: expected a list of objects, found an object of objects; "
                'if pandas wrote it, write it with to_json(path, orient="records")'
            )
        return from_mapping(data, repr(path.name))
    raise InputError(f"{path.name!r}: expected a list of objects, found {describe(data)}")


def json_of_file(path: Path) -> Any:
    """What a file of JSON holds, all of it in memory. Raises InputError."""
    try:
        return json.loads(whole_of(path).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError(f"{path.name!r} is not UTF-8; save it as UTF-8") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{path.name!r} is no JSON: {error.msg.removesuffix(' at')} in line {error.lineno}") from None
    except (ValueError, RecursionError, *DAMAGED) as error:
        raise InputError(f"{path.name!r} cannot be read as JSON: {error}") from None


def _is_json_lines(path: Path) -> bool:
    """Whether the first two lines that are not blank are objects, as `Dataset.to_json` of Hugging Face writes them."""
    lines = first_lines(path, 2)
    # a list on one line may be long: look at the brackets first
    return len(lines) == 2 and all(
        line.startswith(b"{") and line.endswith(b"}") and not isinstance(_json_row(line, 1), UnreadableRow)
        for line in lines
    )


def _csv(path: Path, delimiter: str | None = None) -> Source:
    # The limit is one for the whole process. It is only ever raised; 2**31 - 1 is the most that Windows takes.
    if csv.field_size_limit() < 2**31 - 1:
        csv.field_size_limit(2**31 - 1)
    mark = delimiter or _delimiter(path)

    def rows() -> Iterator[object]:
        with TextLines(open_bytes(path)) as lines:
            reader = csv.reader(lines, delimiter=mark, strict=True)
            header = _header(reader, path)
            while True:
                lines.begin()
                first = lines.number + 1
                try:
                    cells = next(reader)
                except StopIteration:
                    return
                except TooLargeError as error:
                    yield UnreadableRow(f"line {first}: the row is {error}", Cause.TOO_LARGE)
                except csv.Error as error:
                    yield UnreadableRow(f"line {first} is no CSV: {error}{_lost(first, lines.number)}")
                except DAMAGED as error:
                    yield _damage(path, error, f"from line {first} on")
                    return
                else:
                    if cells:
                        yield _csv_row(cells, header, first)

    with TextLines(open_bytes(path)) as lines:
        names = _header(csv.reader(lines, delimiter=mark, strict=True), path)
    names_of_columns = tuple(name for name in names if name)
    return Source(what=repr(path.name), open=rows, names=names_of_columns, count=lambda: _row_count(path, rows))


def _delimiter(path: Path) -> str:
    """The mark that makes the most cells of the first line."""
    with TextLines(open_bytes(path)) as lines:
        try:
            first = next(lines, "")
            first.encode()
        except UnicodeEncodeError:
            raise InputError(f"{path.name!r} is not UTF-8; save it as UTF-8 (CSV UTF-8 in spreadsheets)") from None
        except (TooLargeError, *DAMAGED) as error:
            raise InputError(f"{path.name!r}: the first line is no CSV header: {error}") from None
    return max(",;\t", key=lambda mark: len(next(csv.reader([first], delimiter=mark), [])))


def _lost(first: int, last: int) -> str:
    """What went with a row that is no CSV: where a quote is opened and not closed, the lines up to the next quote."""
    return "" if last <= first else f"; a quote is opened there, and the lines up to {last} are lost with it"


def _header(reader: Iterator[list[str]], path: Path) -> list[str]:
    try:
        header = [plain_text(name.strip()) for name in next((cells for cells in reader if cells), [])]
        "".join(header).encode()
    except UnicodeEncodeError:
        raise InputError(f"{path.name!r} is not UTF-8; save it as UTF-8 (CSV UTF-8 in spreadsheets)") from None
    except (csv.Error, TooLargeError, *DAMAGED) as error:
        raise InputError(f"{path.name!r}: the first line is no CSV header: {error}") from None
    twice = duplicate_names(filter(None, header))
    if twice:
        raise InputError(f"{path.name!r} has several columns of the same name: {', '.join(map(repr, twice))}")
    return header


def _csv_row(cells: list[str], header: list[str], line: int) -> Mapping[str, Any] | UnreadableRow:
    """A row of texts; a blank cell is a missing one, since CSV cannot tell the two apart."""
    if len(cells) != len(header):
        return UnreadableRow(f"line {line}: expected {len(header)} cells as in the header, found {len(cells)}")
    try:
        "".join(cells).encode()
    except UnicodeEncodeError:
        return UnreadableRow(f"line {line} is not UTF-8; save the file as UTF-8 (CSV UTF-8 in spreadsheets)")
    return {name: plain_text(cell) if cell.strip() else None for name, cell in zip(header, cells, strict=True) if name}


def _parquet(path: Path) -> Source:
    from assay.data.parquet import from_parquet

    return from_parquet(path)


#: Kinds of file that are met often, and not read.
_SHEETS = (".xlsx", ".xls", ".xlsm", ".ods")

_READERS: dict[str, Callable[[Path], Source]] = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json,
    ".csv": _csv,
    ".tsv": lambda path: _csv(path, "\t"),
    ".parquet": _parquet,
}
