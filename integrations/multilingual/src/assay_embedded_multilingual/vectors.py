"""The vectors of the pieces, 4 bits a number in the file, of which only those become floats that a text needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay_embedded.files import MappedFile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WIDTH = 384
BLOCK = 32  # numbers that share a scale: 16 bits of it, then two numbers a byte, the first half in the low bits
BYTES = 2 + BLOCK // 2


class Vectors:
    """A table [pieces, 384] on disk, as blocks of 32 numbers: (q - 8) * scale."""

    __slots__ = ("_mapped",)

    def __init__(self, mapped: MappedFile) -> None:
        self._mapped = mapped

    def of(self, pieces: Sequence[int]) -> NDArray[np.float32]:
        """The vectors of these pieces, [1, n, 384]."""
        import numpy as np

        table = np.frombuffer(self._mapped.data, np.uint8).reshape(-1, WIDTH // BLOCK, BYTES)
        rows = table[np.asarray(pieces, np.int64)]
        scale = np.ascontiguousarray(rows[..., :2]).view("<f2").astype(np.float32)
        numbers = np.concatenate([rows[..., 2:] & 15, rows[..., 2:] >> 4], axis=-1).astype(np.float32)
        vectors: NDArray[np.float32] = ((numbers - 8) * scale).reshape(1, len(pieces), WIDTH)
        return vectors
