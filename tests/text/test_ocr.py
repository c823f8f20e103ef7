"""Text on pictures: read on this machine, kept by content, off the event loop, and where a quote stands."""

from __future__ import annotations

import asyncio
import hashlib
import io
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from assay.errors import Cause, InputError, MissingExtra
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.multimodal.faithfulness import Faithfulness
from assay.metrics.systems import named
from assay.records import Context, Sample, Score, Span
from assay.records.images import Image, data_uri, load
from assay.records.phrases import score_in_words
from assay.text import ocr
from assay.text.ocr import Page, TextLine, page_of, read
from tests._support.servers.openai_server import OpenAIServer
from tests._support.servers.sight import drawn

PAGE = Page(
    (
        TextLine("Opened in 1931.", (0.1, 0.10, 0.4, 0.15), 0.99),  # 15 characters, 0.02 each
        TextLine("88 metres", (0.1, 0.20, 0.28, 0.25), 0.98),  # 9 characters, 0.02 each
    )
)


def picture(data: bytes) -> Image:
    return Image(digest=hashlib.sha256(data).hexdigest(), kind="image/png", data=data)


def test_a_piece_of_the_text_has_a_box() -> None:
    assert PAGE.text == "Opened in 1931.\n88 metres"
    at = PAGE.text.index("1931")
    assert PAGE.box_of(Span(at, at + 4)) == pytest.approx((0.1 + 10 * 0.02, 0.10, 0.1 + 14 * 0.02, 0.15))
    assert PAGE.box_of(Span(16, 25)) == pytest.approx((0.1, 0.20, 0.28, 0.25))
    # over a line's end: from the left-most to the right-most of both
    assert PAGE.box_of(Span(at, 18)) == pytest.approx((0.1, 0.10, 0.4, 0.25))
    assert PAGE.box_of(Span(15, 16)) is None  # the line break
    assert PAGE.box_of(Span(99, 120)) is None


class Engine:
    """Stands for the models: counts what it reads, and in which thread."""

    def __init__(self) -> None:
        self.threads: list[str] = []

    def __call__(self, pixels: Any) -> Any:
        self.threads.append(threading.current_thread().name)
        height, width = pixels.shape[:2]
        quad = [[0, 0], [width / 2, 0], [width / 2, height], [-5, height]]
        return type("Found", (), {"txts": ("seen ", "■ -"), "boxes": [quad, quad], "scores": (0.5, 0.5)})()


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    pytest.importorskip("PIL")
    made = Engine()
    monkeypatch.setattr(ocr, "_engine", lambda: made)
    ocr._reader.cache_clear()
    yield made
    ocr._reader.cache_clear()


def test_a_page_is_read_once_for_equal_pictures_and_few_are_kept(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ocr, "MOST_PAGES", 2)
    first, second, third = (picture(drawn(name)) for name in "abc")
    assert read(first) == Page((TextLine("seen", (0.0, 0.0, 0.5, 1.0), 0.5),))  # within the picture, without strokes
    assert read(picture(drawn("a"))) == read(first)
    assert len(engine.threads) == 1
    read(second), read(first), read(third), read(first)
    assert len(engine.threads) == 3  # the first was used again, and so it stayed
    read(second)
    assert len(engine.threads) == 4


async def test_pictures_are_read_off_the_event_loop(engine: Engine) -> None:
    await asyncio.gather(*(page_of(picture(drawn(name))) for name in "ab"))
    assert engine.threads == ["assay-ocr", "assay-ocr"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "nothing is fetched"),
        (b"\x89PNG\r\n\x1a\nbroken", "it cannot be decoded"),
        (drawn("small")[:60], "it cannot be decoded"),
    ],
)
def test_what_cannot_be_read_says_why(engine: Engine, data: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read(picture(data))
    assert engine.threads == []


def test_a_small_file_may_claim_any_size(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "MOST_PIXELS", 63)
    with pytest.raises(InputError, match="more than 0 million pixels"):
        read(picture(drawn("8 times 8")))


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "find_spec", lambda name: None)
    ocr._reader.cache_clear()
    with pytest.raises(MissingExtra, match=r"the extra ocr: .*\[ocr\]"):
        read(picture(drawn("x")))


# ---- the real reader on pages that are rendered here

FACTS = ("The bridge opened in 1931.", "It is 88 metres long.", "The tower was sold in 1974.")


def rendered(*lines: str, size: int = 28, chart: bool = False) -> bytes:
    """A page with these lines, each 60 pixels below the one before; or a chart of bars with them as labels."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (640, 420), "white")
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(size)
    for n, line in enumerate(lines):
        if chart:
            pen.rectangle((60 + 190 * n, 320 - 60 * n, 180 + 190 * n, 360), fill=(70, 110, 190))
            pen.text((60 + 190 * n, 275 - 60 * n), line, fill="black", font=font)
        else:
            pen.text((40, 40 + 60 * n), line, fill="black", font=font)
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


@pytest.fixture
def real() -> None:
    pytest.importorskip("rapidocr")
    ocr._reader.cache_clear()


JUDGE = {
    "claims": lambda text: FACTS,
    "support": lambda claim, passage: claim if claim in passage else "not_mentioned",
    "usefulness": lambda question, passage: "1931" in passage,
}


def scored(metric: Any, *images: bytes, judge: ScriptedJudge | None = None) -> tuple[Score, Sample]:
    contexts = tuple(Context(text="", image=data_uri(image)) for image in images)
    sample = Sample(
        question="When?", answer=" ".join(FACTS), reference=FACTS[0], contexts=(Context(text="A river."), *contexts)
    )
    return asyncio.run(metric.score(sample, judge or ScriptedJudge(**JUDGE))), sample


@pytest.mark.long
@pytest.mark.usefixtures("real")
def test_a_claim_is_supported_by_a_box_on_a_page() -> None:
    score, sample = scored(named("multimodal:faithfulness"), rendered(*FACTS[:2]))
    assert score.value == pytest.approx(2 / 3)
    first, second, third = score.verdicts["answer/contexts"]
    assert third.evidence == ()
    (quote,) = second.evidence
    assert (quote.passage, quote.text) == (1, FACTS[1])
    assert quote.span.of(score.texts["contexts"][1]) == FACTS[1]
    assert quote.box is not None
    left, top, right, bottom = quote.box
    # the line begins at 40 of 640 and stands between 100 and 140 of 420 pixels
    assert (left, top, bottom) == pytest.approx((40 / 640, 104 / 420, 132 / 420), abs=0.02)
    assert 0.3 < right < 0.6
    assert first.evidence[0].box is not None
    assert first.evidence[0].box[3] < top
    assert "[passage 2, picture, box 6,2" in score_in_words(score, sample)
    assert Score.from_dict(score.to_dict()) == score


@pytest.mark.long
@pytest.mark.usefixtures("real")
def test_a_caption_stands_before_what_was_read_and_has_no_box() -> None:
    context = Context(text="The tower was sold in 1974.", image=data_uri(rendered(*FACTS[:2])))
    sample = Sample(question="When?", answer=" ".join(FACTS), contexts=(context,))
    score = asyncio.run(named("multimodal:faithfulness").score(sample, ScriptedJudge(**JUDGE)))
    assert score.value == 1.0
    boxes = [verdict.evidence[0].box for verdict in score.verdicts["answer/contexts"]]
    assert [box is not None for box in boxes] == [True, True, False]
    assert score.texts["contexts"][0].startswith("The tower was sold in 1974.\nThe bridge opened")


@pytest.mark.long
@pytest.mark.usefixtures("real")
def test_the_labels_of_a_chart_are_read_where_they_stand() -> None:
    labels = ("2022: 14", "2023: 27", "2024: 39")
    page = read(picture(rendered(*labels, size=24, chart=True)))
    found = [line.text.replace(" ", "") for line in sorted(page.lines, key=lambda line: line.box[0])]
    assert found == [label.replace(" ", "") for label in labels]  # narrow gaps are not always seen
    lefts = sorted(line.box[0] for line in page.lines)
    assert lefts == pytest.approx([60 / 640, 250 / 640, 440 / 640], abs=0.02)
    tops = [line.box[1] for line in sorted(page.lines, key=lambda line: line.box[0])]
    assert tops == sorted(tops, reverse=True)  # the bars rise


@pytest.mark.long
@pytest.mark.usefixtures("real")
def test_a_picture_without_text_needs_a_judge_that_sees() -> None:
    score, _ = scored(named("multimodal:faithfulness"), rendered())
    assert score.error is not None
    assert score.error.cause is Cause.NEEDS_VISION
    assert "passage 2 has a picture on which no text was found" in score.error.message


@pytest.mark.long
@pytest.mark.usefixtures("real")
@pytest.mark.parametrize(
    ("metric", "value"),
    [("contextual_recall", 1.0), ("contextual_precision", 0.5), ("contextual_relevancy", 1 / 3)],
)
def test_retrieval_is_measured_on_what_was_read(metric: str, value: float) -> None:
    judge = ScriptedJudge(**JUDGE | {"claims": lambda text: FACTS[:1]})
    # relevancy: of the river, the bridge and its length one sentence is useful
    score, _ = scored(named(f"multimodal:{metric}"), rendered(*FACTS[:2]), judge=judge)
    assert score.value == pytest.approx(value), str(score)


@pytest.mark.long
@pytest.mark.usefixtures("real")
def test_where_an_endpoint_refuses_pictures_their_text_is_read() -> None:
    from assay.judges.llm.openai import OpenAIJudge

    async def run(metric: Faithfulness, base_url: str) -> Score:
        judge = OpenAIJudge("fake", base_url=base_url, max_attempts=1)
        contexts = (Context(text="", image=data_uri(rendered(*FACTS[:2]))),)
        try:
            return await metric.score(Sample(question="When?", answer=FACTS[0], contexts=contexts), judge)
        finally:
            await judge.release()

    with OpenAIServer() as server:
        score = asyncio.run(run(Faithfulness(), server.base_url))
        assert score.value == 1.0
        assert score.verdicts["answer/contexts"][0].evidence[0].box is not None
        only_shown = asyncio.run(run(Faithfulness(reading="vision"), server.base_url))
        assert only_shown.error is not None


@pytest.mark.long
@pytest.mark.usefixtures("real")
def test_reading_connects_to_nothing_and_prints_nothing(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("something was fetched"))
    assert read(picture(rendered(FACTS[2]))).text == FACTS[2]
    assert capfd.readouterr() == ("", "")


PAGE_THEN_FORK = """
import os, sys, time
from assay.text import ocr
from assay.records.images import load

picture = load(sys.argv[1])
assert ocr.read(picture).text.strip()
child = os.fork()
if child == 0:
    os._exit(0 if ocr.read(picture).text.strip() else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.usefixtures("real")
def test_a_forked_child_reads_with_models_of_its_own(tmp_path: Path) -> None:
    """The end of the parent's models would wait in the child for threads that are not there."""
    (tmp_path / "page.png").write_bytes(rendered(*FACTS))
    command = [sys.executable, "-c", PAGE_THEN_FORK, str(tmp_path / "page.png")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout.strip(), done.stderr) == ("0", "")


def written(size: tuple[int, int] = (600, 200)) -> Any:
    """A page with one line, near its top."""
    from PIL import Image, ImageDraw, ImageFont

    page = Image.new("RGB", size, "white")
    ImageDraw.Draw(page).text((40, 30), "The bridge opened in 1931", fill="black", font=ImageFont.load_default(36))
    return page


def saved(image: Any, kind: str, **how: Any) -> Image:
    file = io.BytesIO()
    image.save(file, kind, **how)
    return load(data_uri(file.getvalue()))


def turned() -> Image:
    """The page lying on its side, with the EXIF tag by which viewers turn it upright."""
    from PIL import Image

    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees, clockwise
    return saved(written().rotate(90, expand=True), "JPEG", exif=exif)


def deep() -> Image:
    import numpy as np
    from PIL import Image

    return saved(Image.fromarray(np.asarray(written().convert("L")).astype("uint16") * 257), "PNG")


def moving() -> Image:
    frame = written().convert("P")
    return saved(frame, "GIF", save_all=True, append_images=[frame.rotate(180)])


@pytest.mark.long
@pytest.mark.parametrize(
    "make",
    [
        turned,
        deep,
        moving,
        lambda: saved(written().convert("CMYK"), "JPEG"),
        lambda: saved(written(), "WEBP"),
    ],
)
def test_boxes_are_where_people_see_the_line(make: Any) -> None:
    pytest.importorskip("rapidocr")
    (line,) = read(make()).lines
    assert line.text == "The bridge opened in 1931"
    left, top, right, bottom = line.box
    # written at 40 of 600 across and 30 of 200 down, in letters of 36
    assert 0.0 < left < 0.1
    assert 0.7 < right < 0.9
    assert 0.0 < top < 0.2
    assert 0.3 < bottom < 0.5


def test_a_picture_of_one_pixel_has_no_lines_and_half_a_file_says_so(engine: Engine) -> None:
    from PIL import Image

    assert saved(Image.new("RGB", (1, 1)), "PNG").kind == "image/png"
    whole = io.BytesIO()
    written().save(whole, "PNG")
    with pytest.raises(InputError, match="cannot be decoded"):
        read(load(data_uri(whole.getvalue()[:800])))
    assert read(saved(written(), "PNG")).lines  # and the next one is read
