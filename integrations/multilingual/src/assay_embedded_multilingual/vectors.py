"""The vectors of the pieces, 4 bits a number in the file, of which only those become floats that a text needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay_embedded.files import OpenFile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WIDTH = 384
BLOCK = 32  # numbers that share a scale: 16 bits of it, then two numbers a byte, the first half in the low bits
BYTES = 2 + BLOCK // 2
ROW = WIDTH // BLOCK * BYTES  # of one piece


class Vectors:
    """A table [pieces, 384] on disk, as blocks of 32 numbers: (q - 8) * scale."""

    __slots__ = ("_table",)

    def __init__(self, table: OpenFile) -> None:
        self._table = table

    def of(self, pieces: Sequence[int]) -> NDArray[np.float32]:
        """The vectors of these pieces, [1, n, 384]. Raises FileCorrupt where the file has them no more."""
        import numpy as np

        found = b"".join(self._table.read_at(int(piece) * ROW, ROW) for piece in pieces)
        rows = np.frombuffer(found, np.uint8).reshape(-1, WIDTH // BLOCK, BYTES)
        scale = np.ascontiguousarray(rows[..., :2]).view("<f2").astype(np.float32)
        numbers = np.concatenate([rows[..., 2:] & 15, rows[..., 2:] >> 4], axis=-1).astype(np.float32)
        vectors: NDArray[np.float32] = ((numbers - 8) * scale).reshape(1, len(pieces), WIDTH)
        return vectors
