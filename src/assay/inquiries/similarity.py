"""Similarity: how close in meaning are texts, as the cosine of their embeddings?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.inquiries.base import Inquiry, Rule


@dataclass(frozen=True)
class Similarity(Inquiry[tuple[float, ...]]):
    """How similar is `text` to each of `others`?

    Finding: one cosine in [-1, 1] per other text, in order; higher is closer. Judges answer it with embeddings.
    """

    name: ClassVar[str] = "similarity"
    finding: ClassVar[Any] = tuple[float, ...]

    text: str
    others: tuple[str, ...]

    def items(self) -> int:
        return len(self.others)

    def check(self, finding: tuple[float, ...]) -> str | None:
        if len(finding) != len(self.others):
            return f"expected {len(self.others)} cosines, got {len(finding)}"
        wrong = next((c for c in finding if not math.isfinite(c) or abs(c) > 1.0 + 1e-6), None)
        return None if wrong is None else f"{wrong!r} is no cosine"

    def scripted(self, rule: Rule) -> tuple[float, ...]:
        return tuple(float(rule(self.text, other)) for other in self.others)
