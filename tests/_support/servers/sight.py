"""Eyes for the fake server: what a picture shows is written in its file, in a text chunk of PNG.

`drawn` makes such a picture, with the standard library alone; `flat` makes the messages of a request texts again, with
what the pictures show in their places, after looking at every byte that came.
"""

from __future__ import annotations

import base64
import hashlib
import struct
import zlib
from typing import Any

KEYWORD = b"Description\x00"
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def drawn(shows: str, size: int = 8) -> bytes:
    """A grey PNG of which `seen` says that it shows this."""
    rows = b"".join(b"\x00" + bytes([128] * size) for _ in range(size))
    header = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"tEXt", KEYWORD + shows.encode()), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return _SIGNATURE + b"".join(map(_chunk, chunks))


def _chunk(named: tuple[bytes, bytes]) -> bytes:
    name, data = named
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def seen(data: bytes) -> str:
    """What a picture of `drawn` shows. Raises ValueError where a single byte of it is wrong."""
    if not data.startswith(_SIGNATURE):
        raise ValueError("no PNG")
    at, shows = len(_SIGNATURE), ""
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        if struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] != zlib.crc32(name + body):
            raise ValueError(f"broken chunk {name!r}")
        if name == b"tEXt":
            shows = body.removeprefix(KEYWORD).decode()
        at += 12 + length
    return shows


def images_of(body: dict[str, Any]) -> list[str]:
    """The addresses of the pictures of a request, in order."""
    lists = [m["content"] for m in body["messages"] if isinstance(m["content"], list)]
    return [part["image_url"]["url"] for parts in lists for part in parts if part["type"] == "image_url"]


def flat(body: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The request with texts alone, and the SHA-256 of each picture's bytes. A picture at a URL shows that URL."""
    digests: list[str] = []

    def said(part: dict[str, Any]) -> str:
        if part["type"] == "text":
            return str(part["text"])
        head, _, data = part["image_url"]["url"].partition(";base64,")
        if not data:
            return f"\n{head}"
        digests.append(hashlib.sha256(base64.b64decode(data, validate=True)).hexdigest())
        return "\n" + seen(base64.b64decode(data))

    messages = [
        {**m, "content": "".join(map(said, m["content"])) if isinstance(m["content"], list) else m["content"]}
        for m in body["messages"]
    ]
    return {**body, "messages": messages}, digests
