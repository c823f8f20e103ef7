"""Prints of data frames in a cell: pandas, Spark, DuckDB, pyarrow.

A frame of passages that was printed is several passages, and often they are cut at 50 characters. It is told from a
table that a document has by what pandas does to each: columns are flush right, all lines are of one length, and the
index stands at the left. A table of numbers, or without a column of texts, stays one passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.errors import InputError

#: Names of columns that hold passages.
_TEXTS = frozenset((
    "text", "texts", "content", "contents", "page_content", "context", "contexts", "passage", "passages", "chunk",
    "chunks", "document", "documents", "snippet", "body", "retrieved_contexts",
))  # fmt: skip
#: A name in the header: single blanks may stand in it.
_NAME = re.compile(r"\S+(?: \S+)*")  # not possessive: Python before 3.11.5 matches such groups wrongly
#: Four words, one after the other: no number, no name.
_PROSE = re.compile(r"\b[^\W\d_]{2,}+ [^\W\d_]++ [^\W\d_]++ [^\W\d_]{2,}")
_RULE = re.compile(r"\+(?:-++\+)++|┌[─┬]++┐")
_EMPTY = re.compile(r"Empty DataFrame\nColumns: \[[^\n]*\]\nIndex: \[[^\n]*\]")
_MOST = 10_000  # lines that are compared


def refuse_frame(text: str) -> None:
    """Refuse a cell that holds the print of a data frame of passages.

    Args:
        text: The text of the cell.

    Raises:
        InputError: It is one. The message has the remedy.
    """
    if is_printed_frame(text):
        raise InputError(
            "found the print of a data frame, which cuts long texts and does not show where a passage ends; write the "
            "texts as JSON, for example df[column] = df[column].map(lambda frame: json.dumps(list(frame['text'])))"
        )


def is_printed_frame(text: str) -> bool:
    """Check whether a text is the print of a data frame that holds passages.

    Args:
        text: The text of a cell, with the white space around it.

    Returns:
        Whether it is one.
    """
    start = text.strip("\n")
    if "\n" not in start:
        return False
    bare = start.strip()
    if bare.startswith(("pyarrow.Table\n", "DataFrame[", "Empty DataFrame\n")):
        return bare.startswith("pyarrow.Table\n") or _EMPTY.fullmatch(bare) is not None
    if _RULE.match(bare):
        return _is_ruled(bare)
    return _is_aligned(start)


def _is_ruled(text: str) -> bool:
    """Whether the first line within the rules names a column of passages."""
    names = text.splitlines()[1].strip("|│ ")
    return any(name.strip().lower() in _TEXTS for name in re.split("[|│]", names))


def _is_aligned(text: str) -> bool:
    """Whether a text is laid out as pandas does it; of a wide frame, its first columns."""
    head, second, *_ = text.split("\n", 2)
    length, indented = len(second), head.startswith("  ")
    names = _names(head if indented else head.strip().rjust(length))
    lines = list(_first_block(text, length))
    ends = [name.end() for name in names]
    if not names or not lines or ends[-1] > length or not _is_flush_right(ends, lines):
        return False
    named = not _TEXTS.isdisjoint(head.lower().split())  # a wide name is one blank from the one before it
    index = _index(lines)
    if _counts(index):
        return named or any(_PROSE.search(line) for line in lines)
    return named and indented and (len(lines) > 1 or all(one.isdecimal() for one in index))


def _names(header: str) -> list[re.Match[str]]:
    return [name for name in _NAME.finditer(header) if name[0] != "\\"]


def _first_block(text: str, length: int) -> Iterator[str]:
    """The lines after the header, up to a blank one; none where one has another length."""
    lines = text.split("\n", _MOST)[1:_MOST]
    end = next((number for number, line in enumerate(lines) if not line.strip()), len(lines))
    if all(len(line) == length for line in lines[:end]):
        yield from lines[:end]


def _is_flush_right(ends: Sequence[int], lines: Sequence[str]) -> bool:
    """Whether in each line no word goes on where a name ends in the header."""
    return all(line[end : end + 1] in ("", " ") for line in lines for end in ends)


def _index(lines: Sequence[str]) -> list[str]:
    """The first word of each line, without the line with the name of the index."""
    first = [line.split(" ", 1)[0] for line in lines]
    return first[1:] if len(lines) > 1 and not lines[0][len(first[0]) :].strip() else first


def _counts(index: Sequence[str]) -> bool:
    """Whether an index is 0, 1, 2 …, as one that nobody set; pandas leaves the middle of long ones out."""
    known = index[: index.index("..")] if ".." in index else index
    return bool(known) and list(known) == [str(number) for number in range(len(known))]
