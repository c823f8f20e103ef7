"""A picture as the answer: sqrt(semantic consistency * perceptual quality) / 10.

    text_to_image    the picture of the answer against the question's text
    image_editing    the picture of the answer against the question's text and its picture

Semantic consistency is the lowest of the levels 0 to 10 for: follows the instruction; for editing also: nothing else
was changed. Perceptual quality is the lowest of the levels 0 to 10 for: looks natural; is free of flaws. Range 0 to 1,
higher is better. DeepEval 4.3.1, after Ku et al., "VIEScore" (2023), which has the root of the product.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.inquiries.rating import Rating
from assay.judges.base import Judge
from assay.metrics.readings import ask
from assay.records import Sample, Score
from assay.systems.base import Entry, Steps
from assay.systems.multimodal.base import MultiModalMetric, sections
from assay.systems.multimodal.image_ratings import LEVELS, as_verdict
from assay.text.images import blanked, images_in

FOLLOWS = "How well does the PICTURE show what the INSTRUCTION asks for?"
KEEPS = "How well does the PICTURE keep everything of the PICTURE BEFORE that the INSTRUCTION does not change?"
NATURAL = "How natural does the PICTURE look: light, shadows, distances, proportions?"
FLAWLESS = "How free is the PICTURE of flaws: smears, broken limbs or faces, seams, unreadable signs, watermarks?"


def root_of_lowest(consistency: Sequence[float], quality: Sequence[float]) -> float:
    """sqrt(min(consistency) * min(quality)) / 10."""
    return math.sqrt(min(consistency) * min(quality)) / 10


@dataclass(frozen=True)
class TextToImage(MultiModalMetric):
    """How well the picture of the answer shows what the question asks for, and how good it looks."""

    name: ClassVar[str] = "multimodal:text_to_image"
    needs: ClassVar = ("question", "answer")
    asks: ClassVar = (Rating,)
    reads_answer: ClassVar = True
    views: ClassVar = False
    edits: ClassVar[bool] = False

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        made, given = images_in(sample.answer or ""), images_in(sample.question or "")
        if not self.shows(judge):
            return self.unscored(
                Cause.NEEDS_VISION, "how a picture looks is no matter of its text; name a judge that sees"
            )
        if len(made) != 1 or len(given) != int(self.edits):
            wanted = "one picture in the question and one in the answer" if self.edits else "one picture, in the answer"
            return self.unscored(Cause.NOT_APPLICABLE, f"expected {wanted}; found {len(given)} and {len(made)}")
        instruction = (("INSTRUCTION", blanked(sample.question or "")),)
        new, image = await sections([("PICTURE", made[0].uri, "the answer")], self, judge)
        old, before = await sections([("PICTURE BEFORE", one.uri, "the question") for one in given], self, judge)
        asked = [Rating(FOLLOWS, LEVELS, (*instruction, *old, *new), images=(*before, *image))]
        if self.edits:
            asked.append(Rating(KEEPS, LEVELS, (*instruction, *old, *new), images=(*before, *image)))
        looks = [Rating(question, LEVELS, new, images=image) for question in (NATURAL, FLAWLESS)]
        rated = await ask(judge, *asked, *looks)
        consistency, quality = rated[: len(asked)], rated[len(asked) :]
        return self.scored(
            root_of_lowest([one.level for one in consistency], [one.level for one in quality]),
            verdicts={
                "picture/instruction": tuple(as_verdict(one, 0) for one in consistency),
                "picture/quality": tuple(as_verdict(one, 0) for one in quality),
            },
            parts={
                "consistency": float(min(one.level for one in consistency)),
                "quality": float(min(one.level for one in quality)),
            },
        )


@dataclass(frozen=True)
class ImageEditing(TextToImage):
    """How well the picture of the answer is the question's, changed as asked, and how good it looks."""

    name: ClassVar[str] = "multimodal:image_editing"
    edits: ClassVar = True


_AGGREGATE = "root of (lowest consistency * lowest quality) / 10"

ENTRIES = tuple(
    Entry(
        make=metric,
        source=f"deepeval.metrics.{metric.__name__}Metric",
        compared="deepeval 4.3.1",
        family="generated pictures",
        steps=Steps("the picture of the answer", against, "ratings 0 to 10", _AGGREGATE),
        empty="an error",
    )
    for metric, against in ((TextToImage, "the question"), (ImageEditing, "the question and its picture"))
)
