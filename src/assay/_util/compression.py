"""How judgements and rows lie on disk: JSON, compressed, found by short keys. No pickle."""

from __future__ import annotations

import hashlib
import json
import zlib
from typing import Any

#: Higher levels take twice the time for a tenth of the size.
LEVEL = 1
KEY_BYTES = 16


def to_json(data: Any) -> str:
    """JSON that SQLite can hold: lone surrogates, which no UTF-8 has, are escaped."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(data, separators=(",", ":"))
    return text


def pack(content: bytes) -> bytes:
    """The content, compressed."""
    return zlib.compress(content, LEVEL)


def unpack(blob: bytes) -> bytes:
    """What `pack` was given. Raises ValueError for what cannot be that."""
    try:
        return zlib.decompress(blob)
    except (zlib.error, TypeError) as error:
        raise ValueError(f"it is damaged ({error})") from None


def key_hash(key: str) -> bytes:
    """What stands for a key on disk: 16 bytes, whatever its length."""
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()[:KEY_BYTES]
