"""The pictures in docs/report.md: python -m tests.docs.make_report_pictures docs

Scores the answers of `assay demo` twice with the embedded judge, the second time with wrong passages, writes the
report of the second run against the first, and takes pictures of it: light, dark, on a phone, printed. Needs the extras
`embedded` and `report`, a Chromium, and `playwright`, `pillow` and `pypdfium2`.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path
from typing import Any

from assay import evaluate
from assay.data.demo import answers
from assay.report.build import ReportOptions, report_of
from assay.report.html.page import write_page
from tests._support.servers.browser import browser

METRICS = "faithfulness, context_utilization, context_relevance"
LARGEST = 150_000  # bytes of a picture
COLOURS = 128


def with_wrong_passages(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows as a retriever would leave them that finds another question's passages for every second one."""
    others = [*rows[1:], rows[0]]
    wrong = [number % 2 == 0 for number in range(len(rows))]
    return [
        {**row, "contexts": other["contexts"]} if swapped else row
        for row, other, swapped in zip(rows, others, wrong, strict=True)
    ]


def report(folder: Path) -> Path:
    rows = list(answers())
    before = evaluate(rows, METRICS, store=folder / "store", run="monday")
    now = evaluate(with_wrong_passages(rows), METRICS, store=folder / "store", run="tuesday", note="the new retriever")
    return write_page(report_of(now, before, ReportOptions(slices=("human",))), folder / "report.html")


def keep(picture: bytes, path: Path) -> None:
    """Write a picture in few colours, so that it stays small. Raises where it does not."""
    from PIL import Image

    Image.open(io.BytesIO(picture)).convert("RGB").quantize(COLOURS).save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path}: {size:,} bytes")
    if size > LARGEST:
        raise SystemExit(f"{path} has {size:,} bytes, more than {LARGEST:,}")


def opened(chromium: Any, path: Path, width: int, height: int, scheme: str) -> Any:
    page = chromium.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready=all]")
    return page


def open_sample(page: Any) -> None:
    """The first regression, with its second claim followed to its verdict."""
    page.locator("#regressions ~ .wide a").first.click()
    page.wait_for_selector("dialog[open]")
    page.wait_for_timeout(200)


def printed(page: Any) -> bytes:
    """The first page of what is printed."""
    import pypdfium2

    margin = dict.fromkeys(("top", "bottom", "left", "right"), "12mm")
    document = pypdfium2.PdfDocument(page.pdf(format="A4", print_background=True, margin=margin))
    picture = io.BytesIO()
    document[0].render(scale=1.2).to_pil().save(picture, "PNG")
    return picture.getvalue()


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary, browser() as chromium:
        path = report(Path(temporary))
        light = opened(chromium, path, 1180, 1000, "light")
        keep(light.screenshot(), folder / "report-light.png")
        keep(printed(light), folder / "report-printed.png")
        dark = opened(chromium, path, 1180, 900, "dark")
        open_sample(dark)
        keep(dark.screenshot(), folder / "report-sample-dark.png")
        phone = opened(chromium, path, 390, 844, "light")
        phone.evaluate("document.getElementById('count').scrollIntoView()")
        keep(phone.screenshot(), folder / "report-phone.png")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs"))
