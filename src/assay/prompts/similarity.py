"""Similarity: how close in meaning are texts, as the cosine of their embeddings? Distance: how far, coordinate by
coordinate?
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from assay.errors import InputError
from assay.prompts.base import JudgePrompt, Rule

if TYPE_CHECKING:
    import numpy as np

Apart = Literal["manhattan", "chebyshev", "hamming"]


@dataclass(frozen=True)
class TextComparison(JudgePrompt[tuple[float, ...]]):
    """What judges that embed need to know of the two: the texts, and what is made of their vectors."""

    judgement: ClassVar[Any] = tuple[float, ...]

    text: str
    others: tuple[str, ...]

    def items(self) -> int:
        return len(self.others)

    @abstractmethod
    def same(self) -> float:
        """What two equal texts have."""

    @abstractmethod
    def compare(self, a: np.ndarray, b: np.ndarray) -> float:
        """What two vectors of length 1 have."""


@dataclass(frozen=True)
class Similarity(TextComparison):
    """How similar is `text` to each of `others`?

    Judgement: one cosine in [-1, 1] per other text, in order; higher is closer. Judges answer it with embeddings.
    """

    name: ClassVar[str] = "similarity"

    def same(self) -> float:
        return 1.0

    def compare(self, a: np.ndarray, b: np.ndarray) -> float:
        return min(1.0, max(-1.0, float(a @ b)))

    def check(self, judgement: tuple[float, ...]) -> str | None:
        if len(judgement) != len(self.others):
            return f"expected {len(self.others)} cosines, got {len(judgement)}"
        wrong = next((c for c in judgement if not math.isfinite(c) or abs(c) > 1.0 + 1e-6), None)
        return None if wrong is None else f"{wrong!r} is no cosine"

    def apply_rule(self, rule: Rule) -> tuple[float, ...]:
        return tuple(float(rule(self.text, other)) for other in self.others)


#: How the coordinates of two vectors are compared.
_APART: Mapping[Apart, Callable[[np.ndarray, np.ndarray], Any]] = {
    "manhattan": lambda a, b: abs(a - b).sum(),
    "chebyshev": lambda a, b: abs(a - b).max(),
    "hamming": lambda a, b: (a != b).mean(),
}


@dataclass(frozen=True)
class Distance(TextComparison):
    """How far apart are the embeddings of `text` and each of `others`, by a measure that the cosine does not give?

    manhattan  the sum of the differences of their coordinates
    chebyshev  the largest of them
    hamming    the share of coordinates that differ, which is nearly all for texts that do

    Judgement: one distance of at least 0 per other text, in order; lower is closer. The vectors have length 1. A
    script's rule is told the measure: distance(text, other, measure).
    """

    name: ClassVar[str] = "distance"

    measure: Apart = "manhattan"

    def __post_init__(self) -> None:
        if self.measure not in _APART:
            raise InputError(f"Distance: measure: expected {', '.join(_APART)}; found {self.measure!r}")

    def same(self) -> float:
        return 0.0

    def compare(self, a: np.ndarray, b: np.ndarray) -> float:
        return float(_APART[self.measure](a, b))

    def check(self, judgement: tuple[float, ...]) -> str | None:
        if len(judgement) != len(self.others):
            return f"expected {len(self.others)} distances, got {len(judgement)}"
        wrong = next((d for d in judgement if not math.isfinite(d) or d < 0.0), None)
        return None if wrong is None else f"{wrong!r} is no distance"

    def apply_rule(self, rule: Rule) -> tuple[float, ...]:
        return tuple(float(rule(self.text, other, self.measure)) for other in self.others)
