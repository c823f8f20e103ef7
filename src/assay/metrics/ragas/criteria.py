"""ragas' free criteria: yes or no to a definition ("aspect_critic"), or a whole number by it ("simple_criteria").

    aspect_critic      1 where the definition holds for the submission, else 0
    simple_criteria    the number that the judge gives; by default a level from 0 to 5

Which end is good depends on the definition (`direction`). Source: ragas 0.1 to 0.4.3; five aspects come ready made
(harmfulness, maliciousness, coherence, correctness, conciseness). There `strictness`, made odd, was the number of votes
of which the most frequent counts; since 0.1 one reply is asked for whatever it says, and so it is by the original's
profile. By assay's profile it is the number of votes. The original leaves the range of a number to its definition; a
judge has to know it, so it is a parameter here.

Without a definition of its own a metric reads `metadata["definition"]` of the sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, TypeVar, get_args

from assay.errors import InputError
from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import ASPECTS, Field, material_of
from assay.metrics.shared_prompts import ask
from assay.metrics.systems.base import Entry, Steps, SystemMetric, at_least, given
from assay.prompts import Criterion, Rating
from assay.records import Direction, Sample, Score

T = TypeVar("T")


def odd(strictness: int) -> int:
    """The number of votes: the next odd one where it is even."""
    return strictness if strictness % 2 else strictness + 1


def most_frequent(votes: Sequence[T]) -> T:
    """The vote that is there most often; of several the one that was there first. Expects at least one."""
    return Counter(votes).most_common(1)[0][0]


@dataclass(frozen=True)
class _Criteria(SystemMetric):
    """What the two have in common: a name, a definition, votes on it."""

    needs: ClassVar = ("answer",)

    name: str  # type: ignore[misc]  # what it is called, and its score
    definition: str = ""
    strictness: int = 1
    #: "lower" where much, or yes, is bad
    direction: Direction = field(default="higher", kw_only=True)  # type: ignore[misc]

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise InputError(f"{type(self).__name__}: name is empty")
        at_least(self, "strictness")

    def _votes(self) -> Sequence[int]:
        count = 1 if self.original else odd(self.strictness)
        return (0,) if count == 1 else range(1, count + 1)

    def _defined(self, sample: Sample) -> str:
        return self.definition or given(sample, self, "definition", str)


@dataclass(frozen=True)
class AspectCritic(_Criteria):
    """Whether `definition`, a question about the ANSWER, is answered yes."""

    asks: ClassVar = (Criterion,)
    columns: ClassVar[tuple[str, ...]] = ("definition",)

    name: str = "ragas:aspect_critic"  # type: ignore[misc]

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        material = material_of(sample, get_args(Field))
        definition = self._defined(sample)
        votes = await ask(judge, *(Criterion(definition, material, vote, sample.spoken) for vote in self._votes()))
        value = float(most_frequent([vote.label for vote in votes]) == "yes")
        return self.make_score(value, verdicts={self.name: votes}, parts={"votes": len(votes)})


@dataclass(frozen=True)
class SimpleCriteria(_Criteria):
    """The level from `low` to `high` that the ANSWER reaches by `definition`, a question or an instruction."""

    asks: ClassVar = (Rating,)
    columns: ClassVar[tuple[str, ...]] = ("definition",)

    name: str = "ragas:simple_criteria"  # type: ignore[misc]
    low: int = field(default=0, kw_only=True)  # type: ignore[misc]
    high: int = field(default=5, kw_only=True)  # type: ignore[misc]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.low < self.high:
            raise InputError(f"SimpleCriteria: low must be below high, not {self.low!r} and {self.high!r}")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        material = material_of(sample, get_args(Field))
        definition = self._defined(sample)
        ends = {self.low: "the lowest", self.high: "the highest"}
        levels = tuple((level, ends.get(level, "between")) for level in range(self.low, self.high + 1))
        rate = partial(Rating, definition, levels, material, language=sample.spoken, fenced=not self.definition)
        votes = await ask(judge, *(rate(vote=vote) for vote in self._votes()))
        reasons = tuple(vote.reason for vote in votes if vote.reason)
        value = float(most_frequent([vote.level for vote in votes]))
        return self.make_score(value, parts={"votes": len(votes)}, texts={"reasons": reasons} if reasons else {})


def _aspect(name: str) -> Entry:
    aspect = ASPECTS[name]
    return Entry(
        make=partial(AspectCritic, f"ragas:{name}", aspect.definition, direction=aspect.direction),
        source=f"ragas.metrics.AspectCritic({name})",
        compared="ragas 0.4.3",
        family="criteria",
        steps=Steps("the whole answer", f"the aspect {name}", "yes", "1 or 0"),
    )


ENTRIES = (
    Entry(
        make=AspectCritic,
        source="ragas.metrics.AspectCritic",
        compared="ragas 0.4.3",
        family="criteria",
        steps=Steps("the whole answer", "a definition", "yes", "1 or 0"),
    ),
    *map(_aspect, ASPECTS),
    Entry(
        make=SimpleCriteria,
        source="ragas.metrics.SimpleCriteriaScore",
        compared="ragas 0.4.3",
        family="criteria",
        steps=Steps("the whole answer", "a definition", "a whole number", "the number"),
        also=("SimpleCriteriaScore",),
    ),
)
