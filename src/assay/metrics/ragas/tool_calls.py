"""ragas' metrics of an agent's tool calls against reference calls; ragas 0.4.3. Both 0 to 1, higher is better.

tool_call_accuracy  the sum over paired calls of (arguments that are equal as text / arguments of the reference call),
                    over the number of reference calls; 0 where the order of the tools differs. Documented is that
                    calls beyond the shorter of the two lists are left out, which costs coverage. In fact the original
                    compares the whole lists of names, so that any difference in length gives 0: the number of
                    `profile="original"`
tool_call_f1        with the sets of calls (name and arguments) 2 tp / (2 tp + fp + fn); the original rounds to 4 digits
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.ragas.conversation import messages_of, tools_called, tools_wanted
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.records import Sample, Score, ToolCall

Pairs = list[tuple[ToolCall, ToolCall]]


def equal_arguments(said: ToolCall, wanted: ToolCall) -> float:
    """Arguments of the reference call that are equal as text / its arguments; 1 where neither has any."""
    if not wanted.arguments:
        return float(not said.arguments)
    equal = sum(
        name in said.arguments and str(said.arguments[name]) == str(value) for name, value in wanted.arguments.items()
    )
    return equal / len(wanted.arguments)


def spelled(call: ToolCall) -> tuple[str, ...]:
    """What calls are sorted by where their order does not count."""
    return (call.name, *(part for name in sorted(call.arguments) for part in (name, str(call.arguments[name]))))


def pairs_in_order(said: Sequence[ToolCall], wanted: Sequence[ToolCall]) -> Pairs | None:
    """The calls paired by place, as far as both lists go; None where their tools differ."""
    pairs = list(zip(said, wanted, strict=False))
    return pairs if all(a.name == b.name for a, b in pairs) else None


def pairs_of_any_order(said: Sequence[ToolCall], wanted: Sequence[ToolCall]) -> Pairs | None:
    """The calls of each tool paired; None unless the tools of one list, each as often, are among those of the other."""
    a, b = Counter(call.name for call in said), Counter(call.name for call in wanted)
    if not (a <= b or b <= a):
        return None
    groups = [
        {name: list(calls) for name, calls in groupby(sorted(one, key=spelled), key=lambda call: call.name)}
        for one in (said, wanted)
    ]
    return [pair for name in groups[1] for pair in zip(groups[0].get(name, ()), groups[1][name], strict=False)]


def accuracy(said: Sequence[ToolCall], wanted: Sequence[ToolCall], *, strict_order: bool, whole: bool) -> float:
    """The sum of `equal_arguments` over the pairs / the reference calls; `whole`: 0 for lists of different length."""
    if whole and len(said) != len(wanted):
        return 0.0
    pairs = pairs_in_order(said, wanted) if strict_order else pairs_of_any_order(said, wanted)
    return sum(equal_arguments(a, b) for a, b in pairs) / len(wanted) if pairs else 0.0


def frozen(value: Any) -> Any:
    """A JSON value that can be in a set."""
    if isinstance(value, dict):
        return frozenset((name, frozen(one)) for name, one in value.items())
    return tuple(map(frozen, value)) if isinstance(value, (list, tuple)) else value


def f1(said: Sequence[ToolCall], wanted: Sequence[ToolCall]) -> float:
    """2 tp / (2 tp + fp + fn) over the sets of calls. Expects a call in one of them."""
    a, b = ({(call.name, frozen(dict(call.arguments))) for call in one} for one in (said, wanted))
    return 2 * len(a & b) / (len(a) + len(b))


@dataclass(frozen=True)
class ToolCalls(SystemMetric):
    """What both have in common."""

    needs: ClassVar = ("messages",)

    def value(self, said: Sequence[ToolCall], wanted: Sequence[ToolCall]) -> Score:
        raise NotImplementedError

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        return self.value(tools_called(messages_of(sample, self)), tools_wanted(sample, self))

    def without(self, number: float, message: str) -> Score:
        """What stands where there is nothing to compare: no number, or the original's."""
        if self.original:
            return replace(self.make_score(number), convention=message)
        return self.skip(Cause.NOT_APPLICABLE, message)


@dataclass(frozen=True)
class ToolCallAccuracy(ToolCalls):
    """Equal arguments of the reference's tool calls, where the tools were called in its order."""

    name: ClassVar[str] = "ragas:tool_call_accuracy"
    columns: ClassVar[tuple[str, ...]] = ("reference_tool_calls",)

    strict_order: bool = True

    @property
    def label(self) -> str:
        return super().label + ("" if self.strict_order else "(strict_order=False)")

    def value(self, said: Sequence[ToolCall], wanted: Sequence[ToolCall]) -> Score:
        if not wanted:
            return self.without(0.0 if said else 1.0, "the reference calls no tool")
        value = accuracy(said, wanted, strict_order=self.strict_order, whole=self.original)
        return self.make_score(value, parts={"called": len(said), "wanted": len(wanted)})


@dataclass(frozen=True)
class ToolCallF1(ToolCalls):
    """F1 of the set of tool calls."""

    name: ClassVar[str] = "ragas:tool_call_f1"
    columns: ClassVar[tuple[str, ...]] = ("reference_tool_calls",)

    def value(self, said: Sequence[ToolCall], wanted: Sequence[ToolCall]) -> Score:
        if not said and not wanted:
            return self.without(0.0, "no tool is called, here or in the reference")
        value = f1(said, wanted)
        return self.make_score(
            round(value, 4) if self.original else value, parts={"called": len(said), "wanted": len(wanted)}
        )


def _entry(make: type[SystemMetric], counts: str, aggregate: str, empty: str) -> Entry:
    return Entry(
        make=make,
        source=f"ragas.metrics.collections.{make.__name__}",
        compared="ragas 0.4.3",
        family="tool calls",
        steps=Steps("tool calls", "the reference's tool calls", counts, aggregate),
        empty=empty,
    )


ENTRIES = (
    _entry(ToolCallAccuracy, "equal arguments, in order", "share of the reference's", "1 where neither calls a tool"),
    _entry(ToolCallF1, "equal name and arguments", "F1", "0 where neither calls a tool"),
)
