"""Pictures of passages in a report: small, encoded anew, never fetched, with the boxes of what was quoted."""

from __future__ import annotations

import base64
import io
import random
import sys
from pathlib import Path
from typing import Any

import pytest

from assay.errors import InputError
from assay.evaluation.external_runs import result_of
from assay.records import Claim, Context, Evidence, Sample, Score, ScoredSample, Span, Verdict
from assay.records.images import data_uri
from assay.report.build import report_of
from assay.report.html import thumbnails
from assay.report.html.page import write_page
from assay.report.html.thumbnails import EACH, Thumbnails, small
from tests.report.conftest import HOSTILE

Image = pytest.importorskip("PIL.Image")


def png(size: tuple[int, int] = (40, 20), colour: str = "red", note: str = "") -> bytes:
    from PIL import PngImagePlugin

    about = PngImagePlugin.PngInfo()
    about.add_text("Comment", note)
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG", pnginfo=about)
    return out.getvalue()


def decoded(uri: str | None) -> Any:
    assert uri is not None
    assert uri.startswith("data:image/jpeg;base64,")
    return Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2])))


def test_a_picture_of_the_row_and_one_of_this_machine_are_shown_small(tmp_path: Path) -> None:
    path = tmp_path / "page.png"
    path.write_bytes(png((3000, 1500)))
    for source in (str(path), path.as_uri(), data_uri(png((3000, 1500)))):
        uri, why_not = Thumbnails().of(source)
        assert decoded(uri).size == (640, 320)
        assert why_not is None


def test_what_else_a_file_holds_does_not_get_into_the_report() -> None:
    secret = data_uri(png(note="taken at home"))
    assert b"taken at home" in base64.b64decode(secret.partition(",")[2])
    uri, _ = Thumbnails().of(secret)
    assert uri is not None
    assert b"taken at home" not in base64.b64decode(uri.partition(",")[2])


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("https://example.org/a.png", "nothing is fetched"),
        ("HTTP://example.org/a.png", "nothing is fetched"),
        ("/nowhere/a.png", "there is no such file"),
        ("/dev/zero", "there is no such file"),
        ("/etc/hostname", "no PNG, JPEG, GIF or WebP"),
        ("data:image/svg+xml;base64," + base64.b64encode(b"<svg onload='1'/>").decode(), "no PNG, JPEG, GIF or WebP"),
        ("data:image/png;base64,%%%", "base64 is broken"),
        (data_uri(png()[:40]), "cannot be decoded"),
        ("\0", "there is no such file"),
        (HOSTILE, "there is no such file"),
    ],
)
def test_what_is_not_shown_says_why(source: str, reason: str) -> None:
    uri, why_not = Thumbnails().of(source)
    assert uri is None
    assert why_not is not None
    assert reason in why_not


def test_bytes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = Image.frombytes("RGB", (700, 700), random.Random(1).randbytes(700 * 700 * 3))
    out = io.BytesIO()
    noise.save(out, "PNG")
    assert len(small(out.getvalue())) <= EACH
    found = Thumbnails(left=EACH)
    first, second = data_uri(png()), data_uri(png(colour="blue"))
    assert found.of(first)[0] is not None
    assert found.of(second) == (None, "the pictures of a report take 12 MB at most")
    assert found.of(first)[0] is not None  # the same picture costs once
    monkeypatch.setattr(thumbnails, "EACH", 10)
    with pytest.raises(InputError, match="however small"):
        small(png())


def test_without_pillow_pictures_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    source = data_uri(png())
    monkeypatch.setitem(sys.modules, "PIL", None)
    uri, why_not = Thumbnails().of(source)
    assert (uri, why_not) == (None, "Pillow, which the extra report brings, is not installed")


@pytest.mark.needs(name="browser")
def test_a_report_shows_the_picture_with_the_box_of_what_was_quoted(chromium: Any, tmp_path: Path) -> None:
    quote = Evidence(passage=1, span=Span(0, 4), text="1931", box=(0.25, 0.5, 0.75, 1.0))
    claim = Claim(text="It opened in 1931.", span=Span(0, 18))
    verdict = Verdict(label="supported", claim=claim, evidence=(quote,))
    score = Score(metric="faithfulness", value=1.0, verdicts={"answer/contexts": (verdict,)})
    pictures = [data_uri(png((800, 400))), "https://example.org/a.png", HOSTILE]
    contexts = (Context(text="a text"), *(Context(text="", image=one) for one in pictures))
    sample = Sample(question="q", answer="It opened in 1931.", contexts=contexts)
    result = result_of("pictures", "scripted", [ScoredSample(sample=sample, scores={"faithfulness": score})] * 3)
    path = write_page(report_of(result), tmp_path / "report.html")
    context = chromium.new_context()
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    page = context.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-answers=read]")
    page.evaluate("location.hash = '#row=2'")
    page.wait_for_selector("dialog[open] .picture img")
    assert page.locator("dialog img").evaluate_all("all => all.map(one => [one.complete, one.naturalWidth])") == [
        [True, 640]
    ]
    page.locator("dialog [data-goto]").click()
    where = page.locator("dialog .picture .box.active").evaluate(
        "one => { const box = one.getBoundingClientRect(), all = one.parentElement.getBoundingClientRect();"
        " return [box.left - all.left, box.top - all.top, box.width, box.height].map((n, k) =>"
        " n / (k % 2 ? all.height : all.width)); }"
    )
    assert where == pytest.approx([0.25, 0.5, 0.5, 0.5], abs=0.01)
    shown = page.locator("dialog").inner_text()
    assert "not shown: it is at a URL, and nothing is fetched" in shown
    assert "not shown: there is no such file" in shown
    assert page.evaluate("window.bad") is None
    assert [url for url in asked if not url.startswith(("file:", "blob:", "data:image/jpeg"))] == []
    context.close()
