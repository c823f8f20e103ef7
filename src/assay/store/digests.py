"""Digests of what a run holds: they find damage and accidents, not somebody who can write to the store."""

from __future__ import annotations

import hashlib
import struct
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

#: Digests are below this, so that the sum of two of them fits into 64 bits with a sign.
MODULUS = 2**62


def text_digest(text: str) -> int:
    """The digest of a text."""
    return _digest(text.encode("utf-8", "surrogatepass"))


def row_digest(number: int, name: str | None, body: bytes) -> int:
    """The digest of a row: its number, its id, and its sample and scores as they are stored.

    That of a run is the sum of those of its rows modulo MODULUS, in whatever order they were written.
    """
    label = _bytes(name.replace("\0", "\ufffd") if isinstance(name, str) else name)  # as PostgreSQL stores it
    return _digest(b"%d:%d:" % (name is not None, len(label)), _bytes(number), b":", label, _bytes(body))


def _bytes(value: object) -> bytes:
    """In a damaged row anything may stand for a number, an id or a body."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    return str(value).encode("utf-8", "surrogatepass")


def _digest(*parts: bytes) -> int:
    whole = hashlib.blake2b(digest_size=8)
    for part in parts:
        whole.update(part)
    return int.from_bytes(whole.digest(), "big") % MODULUS


_64 = 2**64 - 1


@lru_cache(maxsize=4096)
def name_hash(text: str) -> int:
    """A number of 62 bits that stands for the name of a metric or of a cause in `score_digest`."""
    return text_digest(text)


def score_digest(row: int, metric: int, value: float | None, cause: int) -> int:
    """The digest of one score; that of a run is their sum modulo MODULUS.

    Args:
        row: Number of the row.
        metric: `name_hash` of the metric's label.
        value: The value, if there is one.
        cause: `name_hash` of the cause; 0 for a measured value.
    """
    bits = 0 if value is None else int.from_bytes(struct.pack("<d", value), "little")
    return _mixed(_mixed((row & _64) ^ metric) ^ bits ^ (cause << 1 & _64)) % MODULUS


def _mixed(x: int) -> int:
    """SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    x = (x + 0x9E3779B97F4A7C15) & _64
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & _64
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & _64
    return x ^ x >> 31


def score_digests(rows: np.ndarray, metric: int, values: np.ndarray, causes: np.ndarray) -> int:
    """The sum of `score_digest` over arrays.

    Args:
        rows: Numbers of the rows [n].
        metric: As of `score_digest`.
        values: The values [n]; NaN where there is none.
        causes: As of `score_digest` [n], uint64.
    """
    import numpy as np

    bits = np.where(np.isnan(values), np.float64(0.0), values).astype("<f8").view("<u8").astype(np.uint64)
    start = rows.astype(np.int64).view(np.uint64) ^ np.uint64(metric)
    mixed = _mixed_array(_mixed_array(start) ^ bits ^ (causes << np.uint64(1))) % np.uint64(MODULUS)
    # halves apart: a sum of 62-bit numbers would not fit into 64 bits
    low, high = (mixed & np.uint64(2**31 - 1)).sum(dtype=np.uint64), (mixed >> np.uint64(31)).sum(dtype=np.uint64)
    return (int(low) + (int(high) << 31)) % MODULUS


def _mixed_array(x: np.ndarray) -> np.ndarray:
    import numpy as np

    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: np.ndarray = x ^ (x >> np.uint64(31))
    return mixed


class RowDigests:
    """The sum of the digests of rows, while they are read."""

    def __init__(self) -> None:
        self.value = 0

    def add(self, number: int, name: str | None, body: bytes) -> None:
        """Add a row."""
        self.value = (self.value + row_digest(number, name, body)) % MODULUS
