"""The pictures of an answer, each rated 0 to 10 with the text around it: mean of (level / 10).

    image_coherence     does the picture fit the text around it?
    image_helpfulness   does it help to understand that text?
    image_reference     does the text refer to the picture, and rightly?

Range 0 to 1, higher is better. DeepEval 4.3.1. Around a picture stand the nearest piece of text before and the nearest
after it, other pictures passed over; of each `max_context_size` characters at most, those next to it. An answer without
pictures is skipped; the original raises an error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.multimodal.base import MultiModalMetric, sections
from assay.metrics.shared_prompts import ask
from assay.metrics.systems.base import Entry, Steps, at_least
from assay.prompts.rating import Rating, RatingResult
from assay.records import Sample, Score, Verdict
from assay.text.images import around, images_in

#: The ends and the middle are described; the others lie between.
_MEANT = {0: "not at all", 3: "hardly", 5: "in part", 8: "well", 10: "fully"}
LEVELS = tuple((level, _MEANT.get(level, "between the levels next to it")) for level in range(11))


def mean_of_tenths(levels: Sequence[float]) -> float:
    """Mean of level / 10. Expects at least one."""
    return math.fsum(level / 10 for level in levels) / len(levels)


def as_verdict(rated: RatingResult, picture: int) -> Verdict:
    """The rating of one picture, as evidence."""
    return Verdict(label=str(rated.level), reason=rated.reason, passage=picture)


@dataclass(frozen=True)
class _ImageRating(MultiModalMetric):
    """Mean over the pictures of the answer of their level / 10."""

    needs: ClassVar = ("answer",)
    asks: ClassVar = (Rating,)
    reads_answer: ClassVar = True
    question: ClassVar[str]

    max_context_size: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.max_context_size is not None:
            at_least(self, "max_context_size", 0)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        answer = sample.answer or ""
        pictures = images_in(answer)
        if not pictures:
            return self.skip(Cause.NOT_APPLICABLE, "the answer has no picture")
        asked = []
        for n, (image, (before, after)) in enumerate(zip(pictures, around(answer, self.max_context_size), strict=True)):
            material, images = await sections([("PICTURE", image.uri, f"picture {n + 1} of the answer")], self, judge)
            texts = (("TEXT BEFORE", before), *material, ("TEXT AFTER", after))
            shown = tuple((title, text) for title, text in texts if text.strip())
            asked.append(Rating(self.question, LEVELS, shown, language=sample.spoken, images=images))
        ratings = await ask(judge, *asked)
        return self.make_score(
            mean_of_tenths([rated.level for rated in ratings]),
            verdicts={"pictures/pictures": tuple(as_verdict(rated, n) for n, rated in enumerate(ratings))},
            texts={"pictures": tuple(image.alt or image.uri[:80] for image in pictures)},
        )


@dataclass(frozen=True)
class ImageCoherence(_ImageRating):
    """How well the pictures of the answer fit the text around them."""

    name: ClassVar[str] = "multimodal:image_coherence"
    question: ClassVar = "How well does the PICTURE fit the text around it: the same subject, at the place where it is?"


@dataclass(frozen=True)
class ImageHelpfulness(_ImageRating):
    """How much the pictures of the answer help to understand the text around them."""

    name: ClassVar[str] = "multimodal:image_helpfulness"
    question: ClassVar = "How much does the PICTURE help a reader to understand the text around it?"


@dataclass(frozen=True)
class ImageReference(_ImageRating):
    """How well the text around the pictures of the answer refers to them."""

    name: ClassVar[str] = "multimodal:image_reference"
    question: ClassVar = "How clearly and rightly does the text around the PICTURE refer to it or explain it?"


_STEPS = Steps("pictures of the answer", "the text around each", "rating 0 to 10", "mean of rating / 10")

ENTRIES = tuple(
    Entry(
        make=metric,
        source=f"deepeval.metrics.{metric.__name__}Metric",
        compared="deepeval 4.3.1",
        family="pictures of the answer",
        steps=_STEPS,
        empty="an error",
    )
    for metric in (ImageCoherence, ImageHelpfulness, ImageReference)
)
