"""Judge prompts whose judgement has one verdict for each of several items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from assay.prompts.base import Division, JudgePrompt
from assay.records import Verdict

Verdicts = tuple[Verdict, ...]


@dataclass(frozen=True)
class ItemVerdicts(JudgePrompt[Verdicts]):
    """Judge prompt that asks one verdict for each item: a claim, a passage, a sentence, a question.

    Attributes:
        item_field: Name of the field that has the items, a tuple.
    """

    judgement: ClassVar[Any] = Verdicts
    divisible: ClassVar[bool] = True
    item_field: ClassVar[str]

    def items(self) -> int:
        return len(getattr(self, self.item_field))

    def verdicts(self, judgement: Verdicts) -> Verdicts:
        return judgement

    def part(self, numbers: Sequence[int]) -> Self:
        items = getattr(self, self.item_field)
        chosen: dict[str, Any] = {self.item_field: tuple(items[n] for n in numbers)}
        return replace(self, **chosen)

    def in_place(self, verdict: Verdict, number: int) -> Verdict:
        """The verdict on an item of a part, as the verdict on item `number` of this prompt."""
        return verdict

    def with_part(self, judgement: Verdicts, numbers: Sequence[int], of_part: Verdicts) -> Verdicts:
        new = {n: self.in_place(verdict, n) for n, verdict in zip(numbers, of_part, strict=True)}
        return tuple(new.get(n, verdict) for n, verdict in enumerate(judgement))

    def halve(self) -> Division[Verdicts] | None:
        count = self.items()
        if count < 2:
            return None

        def join(judgements: Sequence[Verdicts]) -> Verdicts:
            verdicts = [verdict for judgement in judgements for verdict in judgement]
            return tuple(self.in_place(verdict, n) for n, verdict in enumerate(verdicts))

        return Division((self.part(range(count // 2)), self.part(range(count // 2, count))), join)

    def check(self, judgement: Verdicts) -> str | None:
        if len(judgement) != self.items():
            return f"expected {self.items()} verdicts, got {len(judgement)}"
        return super().check(judgement)
