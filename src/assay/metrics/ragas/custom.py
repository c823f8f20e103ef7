"""ragas' metrics of a user's own, by a prompt and the values allowed; after ragas 0.4.3.

    DiscreteMetric("polite", "Is {response} polite to whoever asked {user_input}?", ("pass", "fail"))
    NumericMetric("depth", "How deep does {response} go?", (0.0, 1.0))
    RankingMetric("order", "Rank the passages by how well they answer {question}.")

A name in braces is a field of the sample under any name that assay accepts, or a text of its metadata. The text itself
does not become part of the prompt: the judge reads it as material, under a title that stands in its place.

ragas returns the judge's label, number or list. A score here is a number: of a label 1.0 for the first allowed and 0.0
for the others, or what `allowed_values` gives as a mapping; of a ranking, how far the order of the passages agrees with
it: pairs in the same order / pairs, a tie counting half. Label and ranking are in the score's evidence.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics.systems.base import SystemMetric, given
from assay.prompts import Classification, Question, Rating
from assay.records import Sample, Score
from assay.records.field_names import field_of

T = TypeVar("T")
Material = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Custom(SystemMetric):
    """A metric with a name and a prompt of the user's."""

    name: str = field()  # type: ignore[misc]  # no default: that of the class above is not meant
    prompt: str = field()

    def __post_init__(self) -> None:
        for argument in ("name", "prompt"):
            if not getattr(self, argument).strip():
                raise InputError(f"{type(self).__name__}: {argument} is empty")
        try:
            self.variables()
        except ValueError as error:
            raise InputError(f"{type(self).__name__}: prompt: {error}") from None

    def variables(self) -> tuple[str, ...]:
        """The names in braces, each once."""
        return tuple(dict.fromkeys(name for _, name, _, _ in string.Formatter().parse(self.prompt) if name))

    def question(self) -> str:
        """The prompt with the titles of texts in the place of their names."""
        parts = (text + (title(name) if name else "") for text, name, _, _ in string.Formatter().parse(self.prompt))
        return "".join(parts)

    def material(self, sample: Sample) -> Material:
        """The texts that the prompt names. Raises JudgeFailure(missing_input) where the sample lacks one."""
        return tuple(section for name in self.variables() for section in self._sections(sample, name))

    def _sections(self, sample: Sample, name: str) -> Material:
        known = field_of(name)
        if known in ("contexts", "reference_contexts"):
            found = getattr(sample, known)
            texts = None if found is None else [context.text for context in found]
            return tuple((f"{title(name)} {n}", text) for n, text in enumerate(self._there(texts, name), 1))
        if known in ("question", "answer", "reference"):
            return ((title(name), self._there(getattr(sample, known), name)),)
        return ((title(name), given(sample, self, name, str)),)

    def _there(self, found: T | None, name: str) -> T:
        if found is None:
            raise JudgeFailure(Cause.MISSING_INPUT, f"{self.label} needs {name!r}, which is missing")
        return found


def title(name: str) -> str:
    """What stands in a prompt for the text of this name."""
    known = field_of(name) or name
    return {"contexts": "PASSAGE", "reference_contexts": "REFERENCE PASSAGE"}.get(known, known.upper())


@dataclass(frozen=True)
class DiscreteMetric(Custom):
    """One of the allowed labels."""

    asks: ClassVar = (Question,)

    allowed_values: Sequence[str] | Mapping[str, float] = ("pass", "fail")

    def __post_init__(self) -> None:
        super().__post_init__()
        values = self.values()
        if len(values) < 2 or not all(0 <= one <= 1 for one in values.values()):
            raise InputError("DiscreteMetric: allowed_values: expected two or more labels, with values from 0 to 1")

    def values(self) -> dict[str, float]:
        """What each label counts."""
        if isinstance(self.allowed_values, Mapping):
            return dict(self.allowed_values)
        return {label: float(place == 0) for place, label in enumerate(self.allowed_values)}

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        values = self.values()
        labels = dict.fromkeys(values, "")
        verdict = await judge.find(
            Question(self.question(), self.material(sample), labels=labels, language=sample.spoken)
        )
        return self.make_score(values[verdict.label], verdicts={self.name: (verdict,)})


@dataclass(frozen=True)
class NumericMetric(Custom):
    """A number between the allowed ends, on a scale of equal steps; for a `range`, one of its numbers."""

    asks: ClassVar = (Rating,)

    allowed_values: tuple[float, float] | range = (0.0, 1.0)
    steps: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.numbers()) < 2 or self.steps < 1 or self.numbers()[0] >= self.numbers()[-1]:
            raise InputError("NumericMetric: allowed_values: expected a low and a higher number, or a range of several")

    @property
    def low(self) -> float:  # type: ignore[override]
        return float(self.numbers()[0])

    @property
    def high(self) -> float:  # type: ignore[override]
        return float(self.numbers()[-1])

    def numbers(self) -> tuple[float, ...]:
        """The numbers of the scale, lowest first."""
        if isinstance(self.allowed_values, range):
            return tuple(sorted(self.allowed_values))
        low, high = self.allowed_values
        return (*(low + (high - low) * step / self.steps for step in range(self.steps)), high)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        numbers = self.numbers()
        levels = tuple((level, f"{number:g}") for level, number in enumerate(numbers))
        rated = await judge.find(Rating(self.question(), levels, self.material(sample), language=sample.spoken))
        texts = {"reason": (rated.reason,)} if rated.reason else {}
        return self.make_score(numbers[rated.level], parts={"level": rated.level}, texts=texts)


def agreement(ranks: Sequence[int]) -> float:
    """Pairs of items that stand in the order of their ranks / pairs; a tie counts half. Expects two items."""
    pairs = [(a, b) for place, a in enumerate(ranks) for b in ranks[place + 1 :]]
    return sum(1.0 if a < b else 0.5 if a == b else 0.0 for a, b in pairs) / len(pairs)


@dataclass(frozen=True)
class RankingMetric(Custom):
    """How far the order of the contexts agrees with the judge's ranking of them, best first."""

    needs: ClassVar = ("contexts",)
    asks: ClassVar = (Classification,)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        items = sample.passages
        if len(items) < 2:
            return self.skip(Cause.NOT_APPLICABLE, "one context has no order")
        choices = tuple((f"rank_{n}", f"place {n} of {len(items)}") for n in range(1, len(items) + 1))
        question = f"{self.question()} Which place has the item in this ranking, 1 being the best?"
        sorting = Classification("rank", question, items, choices, self.material(sample), language=sample.spoken)
        verdicts = await judge.find(sorting)
        ranks = [int(verdict.label.removeprefix("rank_")) for verdict in verdicts]
        return self.make_score(agreement(ranks), verdicts={self.name: verdicts})
