"""What the commands print: results to stdout, all else to stderr, and nothing in it that a terminal would obey."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay._util.csv_rows import write_table
from assay._util.output_files import output_file
from assay._util.terminal import in_colour, json_text, width
from assay.errors import InputError, printable

if TYPE_CHECKING:
    from rich.console import RenderableType

STDOUT = "-"  # in place of a file


def say(text: object, *, aside: bool = False) -> None:
    """Print a text; `aside` to stderr."""
    print(printable(str(text)), file=sys.stderr if aside else sys.stdout, flush=True)


def say_json(value: Any, indent: int | None = None) -> None:
    """Print a value as JSON, in one line where there is no `indent`."""
    print(json_text(value, indent), flush=True)


def show(renderable: RenderableType, *, wrapped: bool = True) -> None:
    """Print what rich draws, in colours where stdout is a terminal. Others' texts are `SeenText`s.

    As wide as the terminal; text that is not to be `wrapped` keeps its lines, whatever their length.
    """
    from assay._util.rich_text import UNWRAPPED, render_text

    print(render_text(renderable, width() if wrapped else UNWRAPPED, colour=in_colour(sys.stdout)), flush=True)


def write_csv(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], file: str) -> None:
    """Write rows to a CSV file, or to stdout for "-". See `write_table`; on stdout, what a terminal would obey is
    spelled out. Raises InputError for the name of a file that is no CSV.
    """
    check_csv(file)
    if file == STDOUT:
        write_table(sys.stdout, rows, columns, printable)
        sys.stdout.flush()
        return
    with output_file(file, newline="") as out:
        write_table(out, rows, columns)
    say(f"rows as CSV: {file}", aside=True)


def check_csv(file: str | None) -> None:
    """Raises InputError for a file that is no CSV by name: `--csv a.jsonl b.jsonl` means something else."""
    if file not in (None, STDOUT) and Path(str(file)).suffix.lower() != ".csv":
        raise InputError(f"--csv: expected a file that ends in .csv, or none for stdout; found {file!r}")
