"""Images in a text, as Markdown writes them: `![alt](uri)`, `![alt](<uri> "title")`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from assay.records import Span

# every run ends at a character that begins the next image, so that a text full of beginnings is read once
_IMAGE = re.compile(
    r"!\[(?P<alt>[^\[\]]*+)\]\(\s*+(?:<(?P<in>[^<>\n]*+)>|(?P<uri>[^\s()<>]++))(?:\s++\"[^\"]*+\")?\s*+\)"
)


@dataclass(frozen=True, slots=True)
class ImageInText:
    """One image: its alternative text, its path, URL or data URI, and where it stands."""

    alt: str
    uri: str
    span: Span


def images_in(text: str) -> tuple[ImageInText, ...]:
    """The images of a text, in order."""
    return tuple(
        ImageInText(match["alt"].strip(), match["in"] or match["uri"] or "", Span(*match.span()))
        for match in _IMAGE.finditer(text)
        if match["in"] or match["uri"]
    )


def blanked(text: str) -> str:
    """The text with blanks in the place of each image: offsets stay."""
    pieces, at = [], 0
    for image in images_in(text):
        pieces += [text[at : image.span.start], " " * (image.span.end - image.span.start)]
        at = image.span.end
    return "".join([*pieces, text[at:]])


def around(text: str, most: int | None = None) -> tuple[tuple[str, str], ...]:
    """For each image of a text, the nearest piece of text before it and after it; other images are passed over.

    Args:
        most: Characters of each, those next to the image; None or 0: all.
    """
    spans = [image.span for image in images_in(text)]
    ends = [0, *(span.end for span in spans)]
    begins = [*(span.start for span in spans), len(text)]
    pieces = [text[end:begin] for end, begin in zip(ends, begins, strict=True)]
    before, after = _nearest(pieces[:-1]), _nearest(pieces[:0:-1])[::-1]
    return tuple(
        (left[-most:], right[:most]) if most else (left, right) for left, right in zip(before, after, strict=True)
    )


def _nearest(pieces: list[str]) -> list[str]:
    """For each place the last piece so far that is not empty."""
    found, last = [], ""
    for piece in pieces:
        last = piece or last
        found.append(last)
    return found
