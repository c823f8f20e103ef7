"""What the metrics of all systems have in common: their names, their profile, what they are given besides texts.

An `Entry` describes a metric to people: where it comes from, the steps of its formula (`assay show --definitions` shows
where two systems differ), and what its system gives where there is nothing to measure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeVar

from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics.base import Metric
from assay.metrics.systems.input_rules import InputRules
from assay.records import Record, Sample, Score, ScoreError

Profile = Literal["assay", "original"]
ORIGINAL: Literal["original"] = "original"

T = TypeVar("T")


@dataclass(frozen=True)
class SystemMetric(Metric):
    """A metric of another system.

    Attributes:
        name: "SYSTEM:NAME".
        input_rules: What the original refuses, and what it measures all the same.
        conventions: What the original gives for a cause for which assay gives no value; without an entry there is none.
        profile: "assay": no number without a measurement. "original": the original's numbers, and where it gives one
            without measuring, that one, marked by `Score.convention`.
    """

    input_rules: ClassVar[InputRules] = InputRules()
    conventions: ClassVar[Mapping[Cause, float]] = {}

    profile: Profile = field(default="assay", kw_only=True)

    @property
    def original(self) -> bool:
        """Whether the original's numbers are wanted to the letter."""
        return self.profile == ORIGINAL

    @property
    def label(self) -> str:
        return f"{self.name}@{ORIGINAL}" if self.original else self.name

    def missing(self, sample: Sample) -> ScoreError | None:
        if not self.original:
            return super().missing(sample)
        refused = self.input_rules.refusal(sample, self.needs, self.label)
        return refused or super().missing(self.input_rules.filled(sample))

    async def score(self, sample: Sample, judge: Judge) -> Score:
        found = await super().score(sample, judge)
        if not self.original or found.error is None or found.error.cause not in self.conventions:
            return found
        value = self.conventions[found.error.cause]
        return replace(found, value=value, error=None, convention=found.error.message)


def given(sample: Sample, metric: Metric, key: str, kind: type[T], default: T | None = None) -> T:
    """What a sample's metadata has under `key`, such as "reference_topics", for metrics that need more than texts.

    Raises JudgeFailure(missing_input), which makes the score skipped, where it is not there and has no default, and
    where it is of another kind.
    """
    value: Any = sample.metadata.get(key, default)
    if value is None:
        raise JudgeFailure(Cause.MISSING_INPUT, f"{metric.label} needs metadata[{key!r}], which is missing")
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        expected = {"list": "a list", "dict": "an object", "str": "a text"}.get(kind.__name__, kind.__name__)
        where = f"{metric.label}: metadata[{key!r}]"
        raise JudgeFailure(Cause.MISSING_INPUT, f"{where}: expected {expected}, found {type(value).__name__}")
    return value


def at_least(metric: object, argument: str, least: int = 1) -> None:
    """Raise InputError, naming class and argument, unless the argument, a whole number, is one from `least` on."""
    value = getattr(metric, argument)
    if value < least:
        said = f"expected a whole number of at least {least}, not {value!r}"
        raise InputError(f"{type(metric).__name__}: {argument}: {said}")


@dataclass(frozen=True, slots=True)
class Steps(Record):
    """The formula of a metric in four steps, each a few words, equal where two metrics do the same.

    Attributes:
        unit: What is judged: "claims of the answer", "sentences of the reference", "passages", "the whole answer".
        against: What it is judged by: "all contexts together", "each passage alone", "the reference", "the question".
        counts: Which verdict counts: "supported", "not contradicted", "rating 0 to 3".
        aggregate: How one number is made of them: "share", "average precision", "mean", "the rating / 3".
    """

    unit: str
    against: str
    counts: str
    aggregate: str

    def parts_from(self, other: Steps) -> str | None:
        """The first step in which the two differ; None where none does."""
        names = ("unit", "against", "counts", "aggregate")
        return next((name for name in names if getattr(self, name) != getattr(other, name)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A metric of a system, as it is listed.

    Attributes:
        make: The metric with its system's defaults.
        source: What it is called there, and where: "ragas.metrics.collections.Faithfulness".
        compared: The package and version whose numbers ours are held to ("ragas 0.4.3"), or why there is none to
            compare with ("published formula: ...").
        family: The name that several systems give to their own formulas: "faithfulness", "context precision", ...
        empty: What the original gives where nothing can be measured, in words; ours is skipped.
        also: Other names of the same there: "LLMContextPrecisionWithReference".
        ordered: Whether the order of the passages matters.
        example: Fields of a row that it needs in a form of its own, with values that it takes: {"answer": "id,year"}.
    """

    make: Callable[[], SystemMetric]
    source: str
    compared: str
    family: str
    steps: Steps
    empty: str = ""
    also: tuple[str, ...] = ()
    ordered: bool = False
    example: Mapping[str, Any] = field(default_factory=dict)


def table(*listed: Entry) -> Mapping[str, Entry]:
    """The entries by what follows the colon in their names. Raises InputError for a name given twice."""
    found: dict[str, Entry] = {}
    for entry in listed:
        name = entry.make().name.partition(":")[2]
        if name in found:
            raise InputError(f"two metrics are called {name!r}")
        found[name] = entry
    spellings(found)
    return found


def spellings(entries: Mapping[str, Entry]) -> Mapping[str, Entry]:
    """The entries by their other names: those in `also`, and what `source` calls the class or function.

    One class often makes several metrics; its name means the first of them, which has the system's defaults. Raises
    InputError for a name in `also` that means two metrics.
    """
    found: dict[str, Entry] = {}
    for entry in entries.values():
        for name in entry.also:
            if found.setdefault(name, entry) is not entry or entries.get(name, entry) is not entry:
                raise InputError(f"two metrics are called {name!r}")
    for entry in entries.values():
        if name := spelled(entry.source):
            found.setdefault(name, entry)
    return found


def spelled(source: str) -> str:
    """What a source calls the class or function: "Faithfulness" of "ragas.metrics.Faithfulness, until 0.3"; else ""."""
    dotted = re.match(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+", source)
    return dotted.group().rpartition(".")[2] if dotted else ""
