"""The scale on which DeepEval's metrics of agents and conversations judge as a whole: 0 to 1, here in quarters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.judges.protocol import Judge
from assay.metrics.shared_prompts import ask
from assay.prompts.rating import Rating, RatingResult
from assay.records import Sample, Verdict

TOP = 4
LEVELS = (
    (0, "not at all"),
    (1, "in small part"),
    (2, "by half"),
    (3, "for the most part, with small faults"),
    (4, "fully"),
)

Material = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Rate:
    """The levels that several texts reach, as shares of the highest."""

    shares: tuple[float, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def mean(self) -> float:
        """Their mean; 0.0 of none, as in the original."""
        return sum(self.shares) / len(self.shares) if self.shares else 0.0


async def rate(question: str, materials: Sequence[Material], sample: Sample, judge: Judge) -> Rate:
    """How far the answer to `question` is yes, asked of each of the materials."""
    found = await ask(judge, *(Rating(question, LEVELS, material, 0, sample.spoken) for material in materials))
    return Rate(tuple(one.level / TOP for one in found), tuple(map(_verdict, found)))


def _verdict(rated: RatingResult) -> Verdict:
    return Verdict(label=str(rated.level), reason=rated.reason)
