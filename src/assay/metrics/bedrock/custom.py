"""Bedrock's custom metric: instructions of your own, and a scale of definitions with a number or a word each.

    Custom("tone", "Is the tone of {{prediction}} friendly?", (("cold", 0.0), ("friendly", 1.0)))

The value is the number of the level that the judge chooses; the range is that of the numbers. Of a scale with words,
its levels listed from the worst to the best, it is the place of the level on 0 to 1, and the word is the verdict's
label: Bedrock reports such scales as counts alone. The placeholders {{prompt}}, {{context}}, {{prediction}} and
{{ground_truth}} say which texts the judge sees; without any it sees all that are there. Amazon Bedrock, evaluation of
models and of retrieval and generation. `Custom.of` reads the definition of an evaluation job.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.errors import InputError
from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import Field, material_of
from assay.metrics.bedrock.scales import normalised
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.prompts import Rating
from assay.records import Sample, Score, Verdict

#: A placeholder of Bedrock's instructions -> the field, and what the judge is told it is.
PLACEHOLDERS: Mapping[str, tuple[Field, str]] = {
    "{{prompt}}": ("question", "the QUESTION"),
    "{{context}}": ("contexts", "the PASSAGES"),
    "{{prediction}}": ("answer", "the ANSWER"),
    "{{ground_truth}}": ("reference", "the REFERENCE"),
}
_ALL: tuple[Field, ...] = ("contexts", "question", "answer", "reference")

RatingScale = tuple[tuple[str, float | str], ...]


def worth(scale: RatingScale, level: int) -> float:
    """The number of a level: its own, or its place on 0 to 1 among levels that have words."""
    value = scale[level][1]
    return normalised(level, len(scale)) if isinstance(value, str) else value


@dataclass(frozen=True)
class Custom(SystemMetric):
    """The number of the level that the answer reaches on a scale of your own."""

    name: ClassVar[str] = "bedrock:custom"
    asks: ClassVar = (Rating,)

    title: str = "custom"
    instructions: str = "How good is {{prediction}} as a reply to {{prompt}}?"
    rating_scale: RatingScale = (("poor", 0.0), ("fair", 0.5), ("good", 1.0))

    def __post_init__(self) -> None:
        if not self.title.strip() or not self.instructions.strip():
            raise InputError("Custom: title and instructions must not be empty")
        values = [value for _, value in self.rating_scale]
        words = [value for value in values if isinstance(value, str)]
        numbers = [value for value in values if not isinstance(value, str)]
        if len(values) < 2 or len(set(values)) < len(values) or (words and numbers):
            raise InputError("Custom: rating_scale needs two or more levels, with different numbers or different words")
        if not all(math.isfinite(number) for number in numbers):
            raise InputError(f"Custom: rating_scale: every number must be finite, not {numbers!r}")

    @classmethod
    def of(cls, definition: Mapping[str, Any]) -> Custom:
        """The metric of a `customMetricDefinition` of an evaluation job. Raises InputError for what is none."""
        inner = definition.get("customMetricDefinition", definition)
        try:
            scale = tuple((level["definition"], _value(level["value"])) for level in inner["ratingScale"])
            return cls(inner["name"], inner["instructions"], scale)
        except (KeyError, TypeError, StopIteration):
            raise InputError("Custom: expected name, instructions and ratingScale of definitions and values") from None

    @property
    def label(self) -> str:
        return super().label.replace(":custom", f":{self.title}", 1)

    @property
    def low(self) -> float:  # type: ignore[override]  # depends on the scale
        return min(worth(self.rating_scale, level) for level in range(len(self.rating_scale)))

    @property
    def high(self) -> float:  # type: ignore[override]
        return max(worth(self.rating_scale, level) for level in range(len(self.rating_scale)))

    @property
    def named(self) -> tuple[Field, ...]:
        """The texts that the instructions name."""
        return tuple(field for mark, (field, _) in PLACEHOLDERS.items() if mark in self.instructions)

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]  # depends on the instructions
        return self.named or ("answer",)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        asked = self.instructions
        for mark, (_, said) in PLACEHOLDERS.items():
            asked = asked.replace(mark, said)
        levels = tuple(enumerate(definition for definition, _ in self.rating_scale))
        rated = await judge.find(Rating(asked, levels, material_of(sample, self.named or _ALL), language=sample.spoken))
        value = self.rating_scale[rated.level][1]
        verdict = Verdict(label=str(value), reason=rated.reason)
        return self.make_score(worth(self.rating_scale, rated.level), verdicts={self.title: (verdict,)})


def _value(given: Any) -> float | str:
    value = next(iter(given.values())) if isinstance(given, Mapping) else given
    return value if isinstance(value, str) else float(value)


ENTRIES = (
    Entry(
        make=Custom,
        source="Amazon Bedrock evaluations, customMetricDefinition",
        compared="published formula: the number of the level",
        family="criteria",
        steps=Steps("the whole answer", "instructions of your own", "a level of your own scale", "its number"),
    ),
)
