"""DeepEval's tool correctness: expected tools that were called / expected tools.

    any order     sum over the expected tools of the best match among the calls not used yet / expected tools
    in order      weight of the heaviest common subsequence / expected tools     (should_consider_ordering)
    exact         1 if both lists are equal, item by item, else 0                (should_exact_match)

A match weighs 1 where only names are compared; with "input_parameters" the share of equal arguments among all names of
arguments, nested objects likewise; with "output" 0 where outputs differ. Nothing expected and nothing called is 1,
something called where nothing was expected 0. Calls too many cost nothing but in the exact comparison. Where the
metadata lists `available_tools`, a judge rates the choice of tools too, and the smaller number counts.

Range 0 to 1, higher is better. DeepEval 4.3.1. The original takes equal calls for one: where a tool is expected twice
and called twice alike, it counts once. So does @original; without the profile each call counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from assay.errors import InputError, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics.deepeval.scales import rate
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.metrics.systems.conversation import call_text, called_tools, tool_calls, tools_section
from assay.prompts.rating import Rating
from assay.records import Sample, Score, ToolCall

Compared = Literal["input_parameters", "output"]

CHOICE = (
    "Were the TOOLS CALLED the right ones of the AVAILABLE TOOLS for the QUESTION: none that is needed missing, none "
    "superfluous, none where another fits better?"
)


def arguments_match(expected: Mapping[str, Any], called: Mapping[str, Any]) -> float:
    """Equal arguments / names of arguments in either; nested objects count by their own share."""
    if expected == called:
        return 1.0
    names = set(expected) | set(called)
    shares = 0.0
    for name in sorted(set(expected) & set(called)):
        one, other = expected[name], called[name]
        if one == other:
            shares += 1 / len(names)
        elif isinstance(one, dict) and isinstance(other, dict):
            shares += arguments_match(one, other) / len(names)
    return shares


def match(expected: ToolCall, called: ToolCall, compared: Sequence[Compared]) -> float:
    """How far a call is the expected one, 0 to 1."""
    if expected.name != called.name or ("output" in compared and expected.output != called.output):
        return 0.0
    return arguments_match(expected.arguments, called.arguments) if "input_parameters" in compared else 1.0


def any_order(
    expected: Sequence[ToolCall], called: Sequence[ToolCall], compared: Sequence[Compared], *, alike_once: bool = False
) -> float:
    """The mean over the expected tools of the best match among calls not used yet; `alike_once`: nor equal to one."""
    if not expected:
        return 0.0 if called else 1.0
    total = 0.0
    free = list(range(len(called)))
    for wanted in expected:
        best = max(free, key=lambda n: match(wanted, called[n], compared), default=None)
        weight = 0.0 if best is None else match(wanted, called[best], compared)
        if best is not None and weight > 0:
            total += weight
            same = {n for n in free if n == best or (alike_once and _alike(called[n], called[best]))}
            free = [n for n in free if n not in same]
    return total / len(expected)


def in_order(expected: Sequence[ToolCall], called: Sequence[ToolCall], compared: Sequence[Compared]) -> float:
    """The weight of the heaviest common subsequence / expected tools."""
    if not expected:
        return 0.0 if called else 1.0
    above = [0.0] * (len(called) + 1)
    for wanted in expected:
        row = [0.0]
        for n, call in enumerate(called):
            row.append(max(above[n + 1], row[n], above[n] + match(wanted, call, compared)))
        above = row
    return above[-1] / len(expected)


def exact(expected: Sequence[ToolCall], called: Sequence[ToolCall], compared: Sequence[Compared]) -> float:
    """1.0 where both are equal, item by item, in all that is compared."""
    if len(expected) != len(called):
        return 0.0
    return float(all(match(one, other, compared) == 1.0 for one, other in zip(expected, called, strict=True)))


def _alike(one: ToolCall, other: ToolCall) -> bool:
    return (one.name, one.arguments, one.output) == (other.name, other.arguments, other.output)


@dataclass(frozen=True)
class ToolCorrectness(SystemMetric):
    """Calls of the messages (or of metadata["tools_called"]) against metadata["expected_tools"]."""

    name: ClassVar[str] = "deepeval:tool_correctness"
    asks: ClassVar = (Rating,)
    columns: ClassVar[tuple[str, ...]] = ("expected_tools",)
    may_read: ClassVar[tuple[str, ...]] = ("available_tools",)

    evaluation_params: tuple[Compared, ...] = ()
    should_exact_match: bool = False
    should_consider_ordering: bool = False

    def __post_init__(self) -> None:
        if not set(self.evaluation_params) <= set(get_args(Compared)):
            raise InputError(
                f"ToolCorrectness: evaluation_params must be of {', '.join(get_args(Compared))}; "
                f"not {self.evaluation_params!r}"
            )

    def cannot(self, judge: Judge, language: str = "en") -> JudgeFailure | None:
        return None  # only a sample with available_tools is shown to the judge

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        expected, called = tool_calls(sample, self, "expected_tools"), called_tools(sample, self)
        calling = self._calling(expected, called)
        parts = {"tool_calling": calling, "expected": float(len(expected)), "called": float(len(called))}
        if not sample.metadata.get("available_tools"):
            return self.make_score(calling, parts=parts)
        cannot = judge.cannot(Rating, sample.spoken)
        if cannot is not None:
            raise cannot
        material = (
            ("QUESTION", sample.question or ""),
            tools_section(sample, self, "AVAILABLE TOOLS", "available_tools"),
            ("TOOLS CALLED", "\n".join(call_text(call, output=False) for call in called)),
        )
        chosen = await rate(CHOICE, (material,), sample, judge)
        parts["tool_selection"] = chosen.mean
        return self.make_score(min(calling, chosen.mean), parts=parts, verdicts={"tools/question": chosen.verdicts})

    def _calling(self, expected: Sequence[ToolCall], called: Sequence[ToolCall]) -> float:
        if self.should_exact_match:
            return exact(expected, called, self.evaluation_params)
        if self.should_consider_ordering:
            return min(1.0, in_order(expected, called, self.evaluation_params))
        return min(1.0, any_order(expected, called, self.evaluation_params, alike_once=self.original))


ENTRIES = (
    Entry(
        make=ToolCorrectness,
        source="deepeval.metrics.ToolCorrectnessMetric",
        compared="deepeval 4.3.1",
        family="tool calls",
        steps=Steps("tool calls", "the expected tool calls", "best match", "share"),
        empty="1 where nothing was expected nor called; 0 where something was called",
    ),
)
