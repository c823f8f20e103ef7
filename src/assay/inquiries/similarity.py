"""Similarity: how close in meaning are texts, as the cosine of their embeddings?"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from assay.inquiries.base import Inquiry, Prompt


@dataclass(frozen=True)
class Similarity(Inquiry[tuple[float, ...]]):
    """How similar is `text` to each of `others`?

    Finding: one cosine in [-1, 1] per other text, in order; higher is closer. Judges answer it with embeddings.
    """

    name: ClassVar[str] = "similarity"
    finding: ClassVar[Any] = tuple[float, ...]

    text: str
    others: tuple[str, ...]

    def merge_key(self) -> Hashable | None:
        return "similarity"  # texts of many samples are embedded in one request

    @classmethod
    def prompt(cls, group: Sequence[Self]) -> Prompt:
        raise TypeError("Similarity is answered by embeddings, not by a prompt")

    @classmethod
    def read(cls, group: Sequence[Self], reply: Mapping[str, Any]) -> list[tuple[float, ...]]:
        raise TypeError("Similarity is answered by embeddings, not by a prompt")

    def answered_by(self, finding: tuple[float, ...]) -> bool:
        return len(finding) == len(self.others)
