"""Passages that say nearly the same. In linear time, whatever the texts.

Words in threes (Broder, "On the resemblance and containment of documents", 1997) as 64-bit numbers; of each passage 64
minima under random linear hashes, in 16 bands of 4: passages with a band in common are compared exactly, each with the
first of its band alone, so that a thousand equal passages are a thousand comparisons. Two passages of a likeness of 0.8
share a band with a probability of 1 - (1 - 0.8^4)^16 = 0.9998.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

#: Jaccard likeness, in [0, 1], from which on two passages are nearly the same.
LIKE = 0.8
_HASHES, _BANDS = 64, 16
_CHUNK = 8192  # numbers hashed at a time
# a word, but each character by itself in scripts that set no spaces
_WORD = re.compile(
    r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\W\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+"
)

Numbers = npt.NDArray[np.uint64]
_RANDOM = np.random.Generator(np.random.PCG64(14))
_FACTORS: Numbers = _RANDOM.integers(1, 2**63, _HASHES, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_ADDED: Numbers = _RANDOM.integers(0, 2**63, _HASHES, dtype=np.uint64)


def shingles(text: str) -> Numbers:
    """The words of a text in threes, as sorted 64-bit numbers, each once; a shorter text is one. Linear."""
    words = np.fromiter(
        (zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in _WORD.findall(text.casefold())), np.uint64
    )
    if len(words) == 0:
        return words
    padded = np.concatenate([words, np.zeros(max(0, 3 - len(words)), np.uint64)])
    with np.errstate(over="ignore"):
        threes = (padded[:-2] * np.uint64(0x9E3779B97F4A7C15) + padded[1:-1]) * np.uint64(0xC2B2AE3D27D4EB4F) + padded[
            2:
        ]
        threes ^= threes >> np.uint64(29)
    return np.unique(threes)


def likeness(one: Numbers, other: Numbers) -> float:
    """Shared threes / all threes of both, in [0, 1]; 0 where one has none."""
    both = len(np.intersect1d(one, other, assume_unique=True))
    return both / (len(one) + len(other) - both) if len(one) and len(other) else 0.0


def near_duplicates(passages: Sequence[str], like: float = LIKE) -> list[tuple[int, int]]:
    """Passages that say nearly what an earlier one says, as (the earlier one, this one), from 0; at most one each.

    Linear in the characters of all passages.
    """
    known = [shingles(passage) for passage in passages]
    first: dict[tuple[int, bytes], int] = {}
    found: list[tuple[int, int]] = []
    for n, threes in enumerate(known):
        if not len(threes):
            continue
        bands = _minima(threes).reshape(_BANDS, -1)
        earlier = sorted({first.setdefault((k, band.tobytes()), n) for k, band in enumerate(bands)} - {n})
        same = next((m for m in earlier if likeness(known[m], threes) >= like), None)
        if same is not None:
            found.append((same, n))
    return found


def _minima(threes: Numbers) -> Numbers:
    """The smallest of all numbers under each hash."""
    least = np.full(_HASHES, np.iinfo(np.uint64).max, np.uint64)
    with np.errstate(over="ignore"):
        for start in range(0, len(threes), _CHUNK):
            some = threes[start : start + _CHUNK, None] * _FACTORS + _ADDED
            some ^= some >> np.uint64(32)
            least = np.minimum(least, some.min(axis=0))
    return least
