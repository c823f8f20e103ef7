"""Score: a value with its range, direction and evidence, or why there is none."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from assay._util.normalise import real_number
from assay._util.tabular import Tabular
from assay.errors import SETTLED, Cause, InputError, printable
from assay.records.base import Record, _name_suffix, _put, _refused, _short
from assay.records.evidence import Verdict
from assay.records.migration import VERSION, VERSION_KEY, migrate_scored
from assay.records.range_ends import RangeEnd
from assay.records.sample import Sample

Direction = Literal["higher", "lower"]
Outcome = Literal["scored", "skipped", "failed"]


#: Numbers that stay as they are.
_PLAIN = (float, int, bool, type(None))
#: What stands in the place of a cause for values that another system gives by convention.
BY_CONVENTION = "by_convention"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage(Record):
    """Calls and tokens of a judge.

    Where several judge prompts shared one call, the first of them carries its cost, so that sums are exact.

    Attributes:
        calls: Number of calls.
        prompt_tokens: Tokens of the prompts; None: the endpoint did not report them (unknown is not 0).
        completion_tokens: Tokens of the replies; None as above.
        cached_tokens: Tokens of the prompts that the endpoint had cached; None as above.
        cache_write_tokens: Tokens of the prompts that the endpoint wrote to its cache at a price of their own. None: it
            reported none.
    """

    calls: int = 0
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    cached_tokens: int | None = 0
    cache_write_tokens: int | None = None

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type, handler: Any) -> Any:
        """`to_dict` leaves out what is None: a count that is not there is unknown, although the default is 0."""
        from pydantic_core import core_schema

        def read(data: Any) -> Any:
            unknown = dict.fromkeys(("prompt_tokens", "completion_tokens", "cached_tokens"))
            return {**unknown, **data} if isinstance(data, Mapping) else data

        return core_schema.no_info_before_validator_function(read, handler(source))

    def __add__(self, other: Usage) -> Usage:
        def plus(a: int | None, b: int | None) -> int | None:
            return None if a is None or b is None else a + b

        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=plus(self.prompt_tokens, other.prompt_tokens),
            completion_tokens=plus(self.completion_tokens, other.completion_tokens),
            cached_tokens=plus(self.cached_tokens, other.cached_tokens),
            cache_write_tokens=_sum(self.cache_write_tokens, other.cache_write_tokens),
        )


def _sum(a: int | None, b: int | None) -> int | None:
    """The sum of counts, of which None are left out."""
    return b if a is None else a if b is None else a + b


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreError(Record):
    """Why a score has no value.

    Attributes:
        cause: The cause, machine readable.
        message: The same in one sentence.
        raw: The judge's own reply, where there was one.
    """

    cause: Cause
    message: str
    raw: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Score(Tabular, Record):
    """A value with its range, direction and evidence; or no value and the reason. One of `value` and `error` is None.

    Attributes:
        metric: Label of the metric.
        value: The value, from `low` to `high`.
        error: Why there is no value.
        low: Least value that the metric can have; -inf, null in JSON, where there is none.
        high: Greatest value; inf, null in JSON, where there is none.
        direction: Which end is good: "higher" or "lower".
        verdicts: Name of what was judged against what ("answer/contexts") -> the verdicts behind the value.
        parts: Name of an intermediate figure of the formula -> its value.
        texts: Name of a group -> texts, such as sentences that were not judged.
        convention: Why the value was not measured: another system gives it by convention where it has nothing to
            measure. Such values count in no mean.
        version: Version of the metric.
        judge: Name and version of the judge; None where none was asked.
        usage: Calls and tokens of the judge for this score.
    """

    _columns = "metric value verdicts cause message low high direction version judge"

    def _record(self) -> dict[str, Any]:
        return {
            "metric": self.metric,
            "value": self.value,
            "verdicts": dict(Counter(one.label for some in self.verdicts.values() for one in some)),
            "cause": self.why_unmeasured,
            "message": self.error.message if self.error is not None else self.convention,
            **{name: getattr(self, name) for name in ("low", "high", "direction", "version", "judge")},
        }

    metric: str
    value: float | None = None
    error: ScoreError | None = None
    low: Annotated[float, RangeEnd(-math.inf)] = 0.0
    high: Annotated[float, RangeEnd(math.inf)] = 1.0
    direction: Direction = "higher"
    verdicts: Mapping[str, tuple[Verdict, ...]] = field(default_factory=dict)
    parts: Mapping[str, float] = field(default_factory=dict)
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    version: str = "1"
    judge: str | None = None
    usage: Usage = field(default_factory=Usage)
    convention: str | None = None

    def __str__(self) -> str:
        if self.error is not None:
            return printable(f"{self.metric}: not scored ({self.error.cause}): {self.error.message}")
        if self.convention is not None:
            return printable(f"{self.metric} = {self.value:.3f} by convention: {self.convention}")
        parts = ", ".join(f"{name} {value:.3g}" for name, value in self.parts.items())
        return printable(f"{self.metric} = {self.value:.3f}" + (f" ({parts})" if parts else ""))

    def __repr__(self) -> str:
        return f"<Score {self}>"

    @property
    def measured(self) -> bool:
        """Whether there is a value, and it was measured."""
        return self.value is not None and self.convention is None

    @property
    def outcome(self) -> Outcome:
        """What became of the sample: "scored", "skipped" (there was nothing to measure) or "failed".

        A value that another system gives by convention was not measured: "skipped".
        """
        if self.error is not None:
            return "skipped" if self.error.cause in SETTLED else "failed"
        return "scored" if self.convention is None else "skipped"

    @property
    def why_unmeasured(self) -> str | None:
        """The cause, or "by_convention", where there is no value that was measured; None where there is one."""
        if self.convention is not None:
            return BY_CONVENTION
        return None if self.error is None else self.error.cause.value

    def __post_init__(self) -> None:
        if (self.value is None) == (self.error is None):
            raise InputError(f"Score {self.metric!r}: give either a value or a reason why there is none")
        self._make_plain()
        if self.value is not None and not self.low <= self.value <= self.high:  # NaN fails this as well
            raise InputError(f"Score {self.metric!r}: value {self.value!r} is outside [{self.low}, {self.high}]")

    def _make_plain(self) -> None:
        """Make floats of other numbers: a fraction or a decimal would end the run where it is stored."""
        for name in ("value", "low", "high"):
            given = getattr(self, name)
            if type(given) not in _PLAIN:
                number = real_number(given)
                if number is None:
                    raise _refused(self, name, "a number", given)
                _put(self, name, number)
        if any(type(part) not in _PLAIN for part in self.parts.values()):
            kept = {name: (part, real_number(part)) for name, part in self.parts.items()}
            _put(self, "parts", {name: part if number is None else number for name, (part, number) in kept.items()})


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredSample(Tabular, Record):
    """A sample with its scores.

    Attributes:
        sample: The sample.
        scores: Label of a metric -> its score.
    """

    _item_type = Score

    def _items(self) -> Collection[Score]:
        return self.scores.values()

    @property
    def headline(self) -> str:
        """The id and the question, on one line."""
        return printable(f"sample{_name_suffix(self.sample.id)}: {_short(self.sample.question or 'no question', 160)}")

    sample: Sample
    scores: Mapping[str, Score]

    def to_dict(self) -> dict[str, Any]:
        """Describe the sample and its scores as plain JSON values.

        Returns:
            Keys `sample` and `scores`, and the version of their schema.
        """
        return {VERSION_KEY: VERSION, **Record.to_dict(self)}

    @classmethod
    def _current(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        return migrate_scored(data)

    @property
    def values(self) -> dict[str, float | None]:
        """The numbers alone; None where there is no measurement."""
        return {name: score.value for name, score in self.scores.items()}

    def __str__(self) -> str:
        return "\n".join([str(self.sample), *(f"  {score}" for score in self.scores.values())])
