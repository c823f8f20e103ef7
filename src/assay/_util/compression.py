"""How judgements and rows lie on disk: JSON, compressed, found by short keys. No pickle."""

from __future__ import annotations

import hashlib
import json
import zlib
from typing import Any

#: Of zlib. Higher levels take a third more time for a twentieth of the size.
LEVEL = 4
#: What most of what is stored has in it, the most frequent last. Part of the format: what was packed with it needs it.
DICTIONARY = (
    b'"prompt_tokens":,"completion_tokens":,"cached_tokens":0}}"noncommittal":false}{"questions":["{"schema":2,'
    b'"sample":{"question":"","answer":"","reference":"","metadata":{}},"scores":{"usage":{"calls":1,"parts":{},'
    b'"texts":{},"version":"1","judge":"openai/[{"text":".","span":{"start":0,"end":1}},{"text":""tool_calls":[],'
    b'"image":null,"box":null}],"value":1.0,"verdicts":{"error":null"passage":0,"cells":[],"evidence":[{"passage":0,'
    b'"span":{"start":0,"end":1},"text":"","box":null}],"unlocated":0,"unsupported":[]},{"label":"not_useful",'
    b'"probability":null,"reason":"","claim":null,"passage":1,"cells":[],"evidence":[],"unlocated":0,"unsupported":[]},'
    b'{"label":"contradicted","probability":null,"reason":"","claim":{"text":"","span":{"start":0,"end":1}},'
    b'"passage":null,"cells":[{"label":"not_mentioned","probability":null},{"label":"supported","probability":null},'
    b'{"label":"supported"},{"label":"not_mentioned"}],"evidence":[{"passage":0,"span":{"start":1,"end":1},"text":"'
)
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
    packer = zlib.compressobj(LEVEL, zdict=DICTIONARY)
    return packer.compress(content) + packer.flush()


def unpack(blob: bytes) -> bytes:
    """What `pack` was given, also before it had a dictionary. Raises ValueError for what cannot be that."""
    unpacker = zlib.decompressobj(zdict=DICTIONARY)
    try:
        content = unpacker.decompress(blob)
    except (zlib.error, TypeError) as error:
        raise ValueError(f"it is damaged ({error})") from None
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("it is damaged (its end is missing, or something follows it)")
    return content


def key_hash(key: str) -> bytes:
    """What stands for a key on disk: 16 bytes, whatever its length."""
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()[:KEY_BYTES]
