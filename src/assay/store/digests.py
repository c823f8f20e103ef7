"""Digests of what a run holds: they find damage and accidents, not somebody who can write to the store."""

from __future__ import annotations

import hashlib

#: Digests are below this, so that the sum of two of them fits into 64 bits with a sign.
MODULUS = 2**62


def text_digest(text: str) -> int:
    """The digest of a text."""
    return _digest(text.encode("utf-8", "surrogatepass"))


def row_digest(number: int, name: str | None, body: bytes) -> int:
    """The digest of a row: its number, its id, and its sample and scores as they are stored.

    That of a run is the sum of those of its rows modulo MODULUS, in whatever order they were written.
    """
    label = _bytes(name)
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


class RowDigests:
    """The sum of the digests of rows, while they are read."""

    def __init__(self) -> None:
        self.value = 0

    def add(self, number: int, name: str | None, body: bytes) -> None:
        """Add a row."""
        self.value = (self.value + row_digest(number, name, body)) % MODULUS
