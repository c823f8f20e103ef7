"""Pictures that unpack to more than anybody looks at: refused by their cause, the allowed ones in bounded memory."""

from __future__ import annotations

import io
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay._util import byte_limits
from assay.errors import Cause, InputError, JudgeFailure
from assay.metrics.multimodal.base import loaded, view_of
from assay.metrics.multimodal.faithfulness import Faithfulness
from assay.records import Context, Sample
from assay.records.images import MOST_BYTES, ImageTooLarge, data_uri
from assay.report.html.thumbnails import small
from assay.text import ocr

Image = pytest.importorskip("PIL.Image")
np = pytest.importorskip("numpy")


def png(width: int, height: int, mode: int = 0, bits: int = 8, lines: int | None = None) -> bytes:
    """A black PNG of some bytes: `lines` that are there of those that it claims."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    packer = zlib.compressobj(9)
    line = b"\0" + bytes(width * {0: 1, 2: 3, 6: 4}[mode] * bits // 8)
    data = b"".join([*(packer.compress(line) for _ in range(height if lines is None else lines)), packer.flush()])
    head = struct.pack(">IIBBBBB", width, height, bits, mode, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def saved(image: Any, kind: str, **more: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **more)
    return out.getvalue()


@pytest.mark.parametrize(
    "make",
    [
        lambda: png(60_000, 60_000, lines=1),  # 3.6 gigapixels claimed
        lambda: png(7_100, 7_100, lines=0),
        lambda: png(1, 70_000),  # each line takes memory of its own
        lambda: png(70_000, 1, 6, 16),
        lambda: saved(Image.new("P", (5100, 5000)), "WEBP"),  # half of what others may have: its decoder holds copies
    ],
)
def test_too_many_pixels_are_refused_before_they_are_decoded(make: Callable[[], bytes]) -> None:
    data = make()
    for read in (small, ocr.upright_image, ocr._pixels):
        with pytest.raises(ImageTooLarge, match="pixels"):
            read(data)


@pytest.mark.parametrize("data", [png(300, 300, 2)[:60], b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff\xe0"])
def test_what_is_no_whole_picture_is_an_error_of_input(data: bytes) -> None:
    for read in (small, ocr._pixels):
        with pytest.raises(InputError, match="cannot be decoded"):
            read(data)


@pytest.mark.parametrize("band", [1, 100, 1 << 20])
@pytest.mark.parametrize(
    "kind", ["RGBA", "RGB", "L", "LA", "P", "P transparent", "I;16", "turned", "CMYK", "GIF", "WEBP"]
)
def test_bands_make_the_picture_that_they_are_cut_from(kind: str, band: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Pillow makes it of the whole: eight bits, white behind it, turned as its EXIF data say."""
    from PIL import ImageOps

    monkeypatch.setattr(ocr, "_BAND", band)
    source = np.random.default_rng(7)
    whole = Image.fromarray(source.integers(0, 256, (23, 17, 4), dtype=np.uint8), "RGBA")
    turned = Image.Exif()
    turned[0x0112] = 6
    data = {
        "P": lambda: saved(whole.convert("RGB").quantize(9), "PNG"),
        "P transparent": lambda: saved(whole.convert("RGB").quantize(9), "PNG", transparency=bytes(range(0, 225, 25))),
        "I;16": lambda: saved(Image.fromarray(source.integers(0, 65536, (23, 17), dtype=np.uint16)), "PNG"),
        "turned": lambda: saved(whole, "PNG", exif=turned),
        "CMYK": lambda: saved(whole.convert("CMYK"), "JPEG"),
        "GIF": lambda: saved(whole.convert("RGB").quantize(9), "GIF", transparency=2),
        "WEBP": lambda: saved(whole, "WEBP", lossless=True),
    }.get(kind, lambda: saved(whole.convert(kind), "PNG"))()
    with Image.open(io.BytesIO(data)) as opened:
        rgba = ocr._eight_bits(ImageOps.exif_transpose(opened)).convert("RGBA")
    expected = Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba).convert("RGB")
    found = ocr.upright_image(data)
    assert (found.size, found.tobytes()) == (expected.size, expected.tobytes())
    assert np.array_equal(ocr._pixels(data), np.asarray(expected)[:, :, ::-1])


async def test_a_picture_that_is_too_large_is_skipped_with_that_cause(tmp_path: Path) -> None:
    (tmp_path / "large.png").write_bytes(png(2, 2) + bytes(MOST_BYTES))
    with pytest.raises(JudgeFailure, match="the picture of passage 1: it is larger than 20 MB") as caught:
        await loaded(str(tmp_path / "large.png"), "passage 1", urls=False)
    assert caught.value.cause is Cause.TOO_LARGE


async def test_all_pictures_of_a_row_share_its_room(monkeypatch: pytest.MonkeyPatch) -> None:
    picture = png(30, 30)
    monkeypatch.setattr(byte_limits, "ROW", 3 * len(picture))
    contexts = tuple(Context(text="", image=data_uri(picture)) for _ in range(4))
    metric = Faithfulness(reading="vision")
    assert len((await view_of(Sample(question="q", contexts=contexts[:3]), metric, show=True)).images) == 3
    with pytest.raises(JudgeFailure, match="the pictures of the passages take more than") as caught:
        await view_of(Sample(question="q", contexts=contexts), metric, show=True)
    assert caught.value.cause is Cause.TOO_LARGE


PEAK = """
import sys
from pathlib import Path
from assay.report.html.thumbnails import small
from assay.text.ocr import _pixels
data = Path(sys.argv[1]).read_bytes()
small(data) if sys.argv[2] == "report" else _pixels(data)
print(next(int(line.split()[1]) // 1024 for line in Path("/proc/self/status").read_text().splitlines()
           if line.startswith("VmHWM")))
"""


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory from /proc")
@pytest.mark.parametrize("use", ["report", "ocr"])
@pytest.mark.parametrize("kind", ["RGB", "RGBA of 16 bits", "I;16", "JPEG", "WEBP", "GIF"])
def test_the_largest_pictures_take_less_than_600_mb(kind: str, use: str, tmp_path: Path) -> None:
    data = {
        "RGB": lambda: png(7071, 7071, 2),
        "RGBA of 16 bits": lambda: png(7071, 7071, 6, 16),
        "I;16": lambda: png(7000, 7000, 0, 16),
        "JPEG": lambda: saved(Image.new("RGB", (7071, 7071)), "JPEG"),
        "WEBP": lambda: saved(Image.new("RGBA", (5000, 5000)), "WEBP", lossless=True),
        "GIF": lambda: saved(Image.new("P", (7071, 7071)), "GIF"),
    }[kind]()
    (tmp_path / "picture").write_bytes(data)
    command = [sys.executable, "-c", PEAK, str(tmp_path / "picture"), use]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert int(done.stdout) < 600
