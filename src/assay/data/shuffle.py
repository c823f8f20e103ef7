"""Rows in an order that says nothing of them, for what may end before all of them are read."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from assay.data import Data, RowError
from assay.records import Sample


class ShuffledData(Data):
    """The rows of other data by a hash of their numbers: the same order each time. All rows are held in memory.

    Attributes:
        rows: As they stand in the data, each with its number.
    """

    def __init__(self, data: Data) -> None:
        self.__dict__.update(data.__dict__)
        self.rows: list[tuple[int, Sample | RowError]] = list(data)
        self.total = len(self.rows)

    def __iter__(self) -> Iterator[tuple[int, Sample | RowError]]:
        return iter(sorted(self.rows, key=lambda row: sha256(b"%d" % row[0]).digest()))
