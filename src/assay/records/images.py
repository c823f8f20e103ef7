"""Images as they are handed over, read and sent: PNG, JPEG, GIF and WebP, told by their first bytes.

An image is named by a data URI, a path or a URL. Nothing is fetched from a URL: it is handed on as it is, and only
where that was allowed. No image is decoded here.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from assay.errors import InputError

#: Bytes of one image, at most: what providers take.
MOST_BYTES = 20 * 2**20

#: First characters of an image in base64 without anything around it, as some retrievers store images.
_BASE64_BEGINS = ("iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{64}")
_DIGITS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_NAMES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_LONGEST_NAME = 1024


class ImageTooLarge(InputError):
    """An image has more bytes or pixels than it may."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image that a judge may be shown.

    Attributes:
        digest: SHA-256 of its bytes, or of the URL where it is one: what stands in content addresses.
        kind: "image/png", ...; empty where only the URL is known.
        data: The bytes; empty where only the URL is known.
        url: Where it is, if that is all that is known.
    """

    digest: str
    kind: str = ""
    data: bytes = field(default=b"", repr=False, compare=False)
    url: str | None = None

    @property
    def uri(self) -> str:
        """What is sent: a data URI, or the URL."""
        return self.url or data_uri(self.data)


def kind_of(data: bytes) -> str | None:
    """The media type that the first bytes tell; None for anything but the four kinds."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def data_uri(data: bytes) -> str:
    """The bytes of an image as a data URI. Raises InputError for what is no image."""
    return f"data:{_checked(data, 'the bytes')};base64,{base64.b64encode(data).decode()}"


def is_url(source: str) -> bool:
    """Whether an image is named by an address on a network."""
    return source[:8].lower().startswith(("http://", "https://"))


def is_data_uri(source: str) -> bool:
    return source[:11].lower() == "data:image/"


def image_in_text(text: str) -> str | None:
    """The image that a text names and nothing else: a data URI, bare base64, a path or URL that ends as images do.

    None for every other text. Looks at no file.
    """
    if is_data_uri(text):
        head, _, body = text.partition(",")
        return text.strip() if not head.lower().endswith(";base64") or is_base64(body) else None
    if text.startswith(_BASE64_BEGINS) and _BASE64.match(text):
        return _from_base64(text)
    if len(text) > _LONGEST_NAME or not text or any(map(str.isspace, text)):
        return None
    path = urlsplit(text).path if is_url(text) else text
    return text if path.lower().endswith(_NAMES) else None


def is_base64(text: str) -> bool:
    """Whether a text is base64 and nothing else, be it in lines. Nothing is decoded."""
    return text.isascii() and not _in_one_line(text).rstrip("=").encode().translate(None, _DIGITS)


def base64_uri(kind: str, text: str) -> str:
    """An image in base64 as a data URI. What it really holds is seen when it is loaded.

    Args:
        kind: The media type that came with it; "image/png" stands for one that is none of an image.
    """
    text = _in_one_line(text).rstrip("=")
    kind = kind if kind.lower().startswith("image/") and kind.isascii() and "," not in kind else "image/png"
    return f"data:{kind};base64,{text}{'=' * (-len(text) % 4)}"


def _in_one_line(text: str) -> str:
    return text.strip().replace("\r", "").replace("\n", "")


def _from_base64(text: str) -> str | None:
    """Base64 whose first bytes are those of an image, as a data URI; the rest is not decoded."""
    kind = kind_of(base64.b64decode(text[:64])) if is_base64(text) else None
    return None if kind is None else base64_uri(kind, text)


def image_of(value: object, kind: str = "") -> str:
    """An image given as bytes, path, URL, data URI or base64, as what a record holds. Raises InputError.

    Args:
        kind: The media type that came with base64; the first bytes decide where it is decoded.
    """
    if isinstance(value, (bytes, bytearray, memoryview)):
        return data_uri(bytes(value))
    if isinstance(value, Path):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"image: expected bytes, a path, a URL or a data URI, found {type(value).__name__}")
    value = value.strip()
    return (_from_base64(value) if value.startswith(_BASE64_BEGINS) and _BASE64.match(value) else None) or value


def file_of(source: str) -> Path | None:
    """The path of an image that is a file of this machine, also as `file://`; None for a URL or a data URI."""
    if is_url(source) or source[:5].lower() == "data:":
        return None
    return Path(unquote(urlsplit(source).path) if source[:7].lower() == "file://" else source)


def load(source: str, *, urls: bool = False) -> Image:
    """The image that a record names, read where it is a file. Blocks. Raises InputError, which says what is wrong.

    Args:
        urls: Whether an address may be handed on to a model; it is never fetched here.
    """
    if is_url(source):
        if not urls:
            raise InputError("it is at a URL, which is handed to no model unless that is allowed (urls=True)")
        return Image(digest=hashlib.sha256(source.encode()).hexdigest(), url=source)
    path = file_of(source)
    data = _decoded(source) if path is None else _read(path)
    kind = _checked(data, "it")
    return Image(digest=hashlib.sha256(data).hexdigest(), kind=kind, data=data)


def _decoded(source: str) -> bytes:
    head, comma, body = source.partition(",")
    if not comma or not head.lower().endswith(";base64"):
        raise InputError("it is a data URI without base64")
    if len(body) > MOST_BYTES * 4 // 3 + 4:
        raise ImageTooLarge(f"it is larger than {MOST_BYTES // 2**20} MB")
    try:
        return base64.b64decode(_in_one_line(body), validate=True)  # it may come in lines
    except (binascii.Error, ValueError):
        raise InputError("it is a data URI whose base64 is broken") from None


def _read(path: Path) -> bytes:
    try:
        if not path.is_file():  # neither a folder nor a pipe, which would never end
            raise InputError(f"there is no file {str(path)!r}")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"the file {str(path)!r} cannot be read: {error}") from None
    return data


def _checked(data: bytes, what: str) -> str:
    if len(data) > MOST_BYTES:
        raise ImageTooLarge(f"it is larger than {MOST_BYTES // 2**20} MB")
    kind = kind_of(data)
    if kind is None:
        raise InputError(f"{what} {'are' if what.endswith('s') else 'is'} no PNG, JPEG, GIF or WebP image")
    return kind
