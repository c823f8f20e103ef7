"""The text on pictures, read on this machine: lines with boxes. Needs the extra `ocr`; its models come with it.

    page = await page_of(load("scan.png"))
    page.text                   # the lines, joined
    page.box_of(span)           # where a piece of that text stands

Boxes are shares of the picture's width and height: (left, top, right, bottom), from 0.0 to 1.0.
"""

from __future__ import annotations

import asyncio
import io
import logging
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

from assay._util.forks import FORK_LOCK, keep, own_lock, renewed
from assay._util.install_hints import install_extra
from assay._util.threads import BackgroundWorker
from assay.errors import InputError, MissingExtra
from assay.records import Box, Span
from assay.records.images import Image, ImageTooLarge
from assay.text.reading_order import in_reading_order

#: Pixels of a picture, at most: a file of a few bytes can claim any size.
MOST_PIXELS = 50_000_000
#: Pixels of a side, at most: what JPEG and GIF can have.
LONGEST_SIDE = 65_535
_BAND = 1 << 20  # pixels that are converted at a time
#: Pages kept, by the digest of their picture.
MOST_PAGES = 512


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line of text on a picture. `confidence` is the reader's own, in [0, 1]."""

    text: str
    box: Box
    confidence: float


@dataclass(frozen=True, slots=True)
class Page:
    """What was read on a picture, in reading order."""

    lines: tuple[TextLine, ...]

    @property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)

    def box_of(self, span: Span) -> Box | None:
        """The box around a piece of `text`; within a line by its share of the characters. None where it is empty."""
        boxes, at = [], 0
        for line in self.lines:
            begin, end = max(span.start - at, 0), min(span.end - at, len(line.text))
            if begin < end:
                left, top, right, bottom = line.box
                width = (right - left) / len(line.text)
                boxes.append((left + begin * width, top, left + end * width, bottom))
            at += len(line.text) + 1
        if not boxes:
            return None
        lefts, tops, rights, bottoms = zip(*boxes, strict=True)
        return min(lefts), min(tops), max(rights), max(bottoms)


def available() -> bool:
    """Whether the extra is installed."""
    return find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None


class _OcrReader:
    """The models, loaded when first needed; they read one picture at a time, in a thread of their own."""

    def __init__(self) -> None:
        self.threads = BackgroundWorker(1, "assay-ocr")
        self._lock = own_lock(self)
        self._set_up()
        renewed(self)  # the threads of the models are not in a forked child

    def _set_up(self) -> None:
        if getattr(self, "_engine", None) is not None:
            keep(self._engine)  # in a forked child its end would wait for threads that are not there
        self._pages: OrderedDict[str, Page] = OrderedDict()
        self._engine: Any = None

    def page(self, picture: Image) -> Page:
        with self._lock:
            known = self._pages.get(picture.digest)
            if known is None:
                known = self._pages[picture.digest] = self._read(picture)
            self._pages.move_to_end(picture.digest)
            while len(self._pages) > MOST_PAGES:
                self._pages.popitem(last=False)
            return known

    def _read(self, picture: Image) -> Page:
        if not picture.data:
            raise InputError("it is at a URL, and nothing is fetched; hand over the file or its bytes")
        if self._engine is None:
            with FORK_LOCK.entered():  # its locks are the whole process's
                self._engine = _engine()
        pixels = _pixels(picture.data)
        height, width = pixels.shape[:2]
        found = self._engine(pixels)
        if found.txts is None or found.boxes is None:
            return Page(())
        lines = []
        for text, quad, sure in zip(found.txts, found.boxes, found.scores, strict=True):
            across, down = [float(x) / width for x, _ in quad], [float(y) / height for _, y in quad]
            box = tuple(min(1.0, max(0.0, share)) for share in (min(across), min(down), max(across), max(down)))
            if any(map(str.isalnum, text)):  # edges and boxes are now and then read as strokes
                lines.append(TextLine(text.strip(), box, float(sure)))
        return Page(tuple(in_reading_order(lines)))


@cache
def _reader() -> _OcrReader:
    return _OcrReader()


def read(picture: Image) -> Page:
    """The page on a picture. Blocks for about a second. Raises InputError, and MissingExtra without the extra."""
    return _reader().page(picture)


async def page_of(picture: Image) -> Page:
    """`read`, off the event loop."""
    return await asyncio.wrap_future(_reader().threads.submit(read, picture))


def _engine() -> Any:
    if not available():
        raise MissingExtra(f"the text on pictures is read by the extra ocr: {install_extra('ocr')}")
    from rapidocr import RapidOCR

    # it says at every start which of its files it uses
    engine = RapidOCR(params={"Global.log_level": "critical"})
    logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)
    return engine


def _pixels(data: bytes) -> Any:
    """The picture as people see it, as an array of blue, green, red. Raises InputError."""
    import numpy as np

    with decoded(data) as image:
        pixels = np.empty((image.height, image.width, 3), np.uint8)
        for top, band in _bands(image):
            pixels[top : top + band.height] = np.asarray(band)[:, :, ::-1]
        return pixels


def upright_image(data: bytes) -> Any:
    """The picture as people see it, as Pillow's image: turned as its EXIF data say, on white where it is transparent.

    Raises InputError for what cannot be decoded or is too large.
    """
    from PIL import Image

    with decoded(data) as image:
        shown = Image.new("RGB", image.size)
        for top, band in _bands(image):
            shown.paste(band, (0, top))
        return shown


@contextmanager
def decoded(data: bytes) -> Iterator[Any]:
    """The picture, decoded and upright. A copy of it takes four bytes for each pixel, so there is none.

    Raises InputError for what cannot be decoded, ImageTooLarge for too many pixels; also for errors of the block.
    """
    from PIL import Image, ImageOps

    try:
        with Image.open(io.BytesIO(data)) as image:
            most = MOST_PIXELS // (2 if image.format == "WEBP" else 1)  # its decoder holds several copies
            if image.width * image.height > most:
                raise ImageTooLarge(f"it has more than {most // 1_000_000} million pixels")
            if max(image.size) > LONGEST_SIDE:  # each line takes memory of its own
                raise ImageTooLarge(f"a side of it has more than {LONGEST_SIDE:,} pixels")
            ImageOps.exif_transpose(image, in_place=True)
            yield image
    except InputError:
        raise
    except Image.DecompressionBombError as error:  # more than Pillow opens at all
        raise ImageTooLarge(f"it has too many pixels: {error}") from None
    except Exception as error:  # of a decoder, on what somebody else made
        raise InputError(f"it cannot be decoded: {type(error).__name__}: {error}") from None


def _bands(image: Any) -> Iterator[tuple[int, Any]]:
    """The picture in bands of some lines, in eight bits and on white, each with its first line."""
    from PIL import Image

    lines = max(1, _BAND // image.width)
    for top in range(0, image.height, lines):
        band = image.crop((0, top, image.width, min(image.height, top + lines)))
        shown = _eight_bits(band).convert("RGBA")
        yield top, Image.alpha_composite(Image.new("RGBA", shown.size, "white"), shown).convert("RGB")


def _eight_bits(image: Any) -> Any:
    """A picture of 16 bits a pixel in 8; others as they are."""
    if not image.mode.startswith("I"):
        return image
    return image.convert("I").point(lambda value: value * (1 / 257)).convert("L")
