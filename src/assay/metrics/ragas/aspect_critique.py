"""The aspect critique of ragas 0.0.11: yes or no to a definition, by votes whose number comes out even.

    1 where most of the votes say yes, else 0

Range 0 to 1. Its code means to make `strictness` odd and makes it even: 1 becomes 2, 3 becomes 4, and a tie goes to the
vote that came first. So it is by the original's profile; by assay's the number is the next odd one, and there are no
ties. Later versions: `ragas:aspect_critic`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.metrics.ragas.criteria import AspectCritic, odd
from assay.metrics.systems.base import Entry, Steps


def even(strictness: int) -> int:
    """The number of votes: the next even one where it is odd."""
    return strictness + strictness % 2


@dataclass(frozen=True)
class AspectCritique(AspectCritic):
    """Whether `definition` is answered yes, by the most frequent of the votes."""

    columns: ClassVar[tuple[str, ...]] = ("definition",)

    name: str = "ragas:aspect_critique"  # type: ignore[misc]

    def _votes(self) -> range:
        return range(1, (even if self.original else odd)(self.strictness) + 1)


ENTRIES = (
    Entry(
        make=AspectCritique,
        source="ragas.metrics.AspectCritique, of 0.0.11",
        compared="ragas 0.0.11",
        family="criteria",
        steps=Steps("the whole answer", "a definition", "yes, in an even number of votes", "the most frequent"),
    ),
)
