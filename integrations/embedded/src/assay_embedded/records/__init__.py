"""Records inside a passage, told as lines that can be read: JSON, Python literals, tables, lines of `key: value`.

The reader was made for sentences. `pieces` cuts a passage into what is read of it one by one: sentences as they stand,
and of records one short line for what stands together, with keys as words, clock times and dates as people say them,
"yes" and "no" for booleans, and the lowest and highest of what is listed. Every piece knows where in the passage it
stands. Nothing is guessed: what is not clearly a record stays as it is.

Time is linear in the length of the text. The words are English, as the judge is.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay_embedded.records.lines import RecordPart
from assay_embedded.records.literals import records
from assay_embedded.records.objects import object_pieces
from assay_embedded.records.tables import pieces_between

__all__ = ["RecordPart", "pieces"]


def pieces(text: str) -> Iterator[RecordPart]:
    """All of a passage, piece by piece, in its order; no piece for white space alone."""
    done = 0
    for node in records(text):
        yield from pieces_between(text, done, node.start)
        yield from object_pieces(text, node, ())
        done = node.end
    yield from pieces_between(text, done, len(text))
