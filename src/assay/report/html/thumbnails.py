"""Pictures of passages as a report shows them: small, encoded anew, and bounded in number of bytes.

Those that stand in the row or in a file of this machine. Nothing is fetched, and no byte of what was handed over gets
into the report as it was: a picture is decoded and written as JPEG, without what else its file held.
"""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from assay.errors import InputError
from assay.records.images import is_url, load

#: Pixels along the longer side, and the quality of the JPEG: the first that fits.
SIZES = ((640, 70), (480, 60), (320, 50), (160, 40))
#: Bytes of one picture in a report, and of all of them.
EACH, ALL = 60_000, 12_000_000


@dataclass(slots=True)
class Thumbnails:
    """The pictures of one report, each once however many rows have it."""

    left: int = ALL
    _known: dict[bytes, tuple[str | None, str | None]] = field(default_factory=dict)

    def of(self, source: str) -> tuple[str | None, str | None]:
        """The data URI that shows a picture; or None, and why it is not shown."""
        key = hashlib.blake2b(source.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if key not in self._known:
            self._known[key] = self._made(source)
        return self._known[key]

    def _made(self, source: str) -> tuple[str | None, str | None]:
        if is_url(source):
            return None, "it is at a URL, and nothing is fetched"
        if self.left < EACH:
            return None, f"the pictures of a report take {ALL // 1_000_000} MB at most"
        try:
            data = small(load(source).data)
        except ImportError:
            return None, "Pillow, which the extra report brings, is not installed"
        except InputError as error:
            return None, "there is no such file" if str(error).startswith("there is no file") else str(error)
        self.left -= len(data)
        return f"data:image/jpeg;base64,{base64.b64encode(data).decode()}", None


def small(data: bytes) -> bytes:
    """A picture as a JPEG of at most EACH bytes. Raises InputError for what cannot be decoded."""
    from assay.text.ocr import upright_image

    image = upright_image(data)
    return next((made for made in _tries(image) if len(made) <= EACH), b"") or _refused()


def _tries(image: Any) -> Iterator[bytes]:
    for side, quality in SIZES:
        shown, out = image.copy(), io.BytesIO()
        shown.thumbnail((side, side))
        shown.save(out, "JPEG", quality=quality, optimize=True)
        yield out.getvalue()


def _refused() -> bytes:
    raise InputError(f"it takes more than {EACH // 1000} kB, however small")
