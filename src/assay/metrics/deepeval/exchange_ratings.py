"""DeepEval's ratings of each exchange of a conversation: tool use, goal accuracy, and those for MCP servers.

    tool use              min(mean choice of tools, mean arguments, over the exchanges that call any)
    goal accuracy         (mean goal + mean plan) / 2
    multi-turn MCP use    min(mean choice of primitives, mean arguments)
    MCP task completion   mean completion
    MCP use               min(choice of primitives, arguments), of a single exchange

Each is a level / the highest level. Range 0 to 1, higher is better. DeepEval 4.3.1: without an exchange it gives 0, so
does tool use where no tool was called, though that choice was rated; here the choice alone then counts. The metrics for
MCP over several turns look at exchanges with three messages or more, as there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.deepeval.scales import Material, rate
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.metrics.systems.conversation import conversation, exchanges, tools_section, transcript_section
from assay.metrics.tool_calls import calls
from assay.prompts.rating import Rating
from assay.records import Message, Sample, Score

TOOLS = (
    "How far are the tools called in the CONVERSATION the right ones of the AVAILABLE TOOLS for what the user wants: "
    "none missing that is needed, none superfluous?"
)
ARGUMENTS = "How far are the arguments right with which tools are called in the CONVERSATION?"
GOAL = "How far does the assistant in the CONVERSATION reach what the user wants?"
PLAN = "How far does the assistant in the CONVERSATION follow a clear and complete plan to what the user wants?"
TASK = "How far does the assistant in the CONVERSATION complete the task that the user sets?"

Exchanges = tuple[tuple[Message, ...], ...]


def _spoken(messages: Sequence[Message]) -> int:
    return sum(message.role != "tool" for message in messages)


@dataclass(frozen=True)
class _ExchangeRating(SystemMetric):
    """What they share: the exchanges to rate. `least` is how many messages one must have."""

    name: ClassVar[str] = ""
    asks: ClassVar = (Rating,)
    conventions: ClassVar = {Cause.NOT_APPLICABLE: 0.0}
    least: ClassVar[int] = 2
    listed: ClassVar[str | None] = None

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        found = exchanges(conversation(sample, self))
        kept = tuple(messages for messages in found if _spoken(messages) >= self.least)
        if not kept:
            return self.skip(Cause.NOT_APPLICABLE, f"no exchange of {self.least} messages or more")
        return await self.rate(kept, sample, judge)

    async def rate(self, found: Exchanges, sample: Sample, judge: Judge) -> Score:
        raise NotImplementedError

    def materials(self, found: Exchanges, sample: Sample) -> tuple[Material, ...]:
        """What the judge sees of each exchange."""
        shown = () if self.listed is None else (tools_section(sample, self, "AVAILABLE TOOLS", self.listed),)
        return tuple((*shown, transcript_section(messages)) for messages in found)


@dataclass(frozen=True)
class ToolUse(_ExchangeRating):
    """The choice of tools and their arguments; metadata["available_tools"] lists the tools."""

    name: ClassVar[str] = "deepeval:tool_use"
    listed: ClassVar[str | None] = "available_tools"
    columns: ClassVar[tuple[str, ...]] = ("available_tools",)

    async def rate(self, found: Exchanges, sample: Sample, judge: Judge) -> Score:
        choice = await rate(TOOLS, self.materials(found, sample), sample, judge)
        calling = tuple(messages for messages in found if calls(messages))
        arguments = await rate(ARGUMENTS, self.materials(calling, sample), sample, judge)
        value = min(choice.mean, arguments.mean) if calling or self.original else choice.mean
        parts = {"tool_selection": choice.mean, **({"arguments": arguments.mean} if calling else {})}
        verdicts = {"tools/exchanges": choice.verdicts, "arguments/exchanges": arguments.verdicts}
        return self.make_score(value, parts=parts, verdicts=verdicts)


@dataclass(frozen=True)
class GoalAccuracy(_ExchangeRating):
    """The mean of how far goals are reached and of how good the plans are."""

    name: ClassVar[str] = "deepeval:goal_accuracy"

    async def rate(self, found: Exchanges, sample: Sample, judge: Judge) -> Score:
        materials = self.materials(found, sample)
        goal, plan = await rate(GOAL, materials, sample, judge), await rate(PLAN, materials, sample, judge)
        parts = {"goal": goal.mean, "plan": plan.mean}
        verdicts = {"goal/exchanges": goal.verdicts, "plan/exchanges": plan.verdicts}
        return self.make_score((goal.mean + plan.mean) / 2, parts=parts, verdicts=verdicts)


@dataclass(frozen=True)
class MultiTurnMCPUse(_ExchangeRating):
    """The choice of primitives and their arguments; metadata["mcp_servers"] lists what servers offer."""

    name: ClassVar[str] = "deepeval:multi_turn_mcp_use"
    listed: ClassVar[str | None] = "mcp_servers"
    least: ClassVar[int] = 3
    columns: ClassVar[tuple[str, ...]] = ("mcp_servers",)

    async def rate(self, found: Exchanges, sample: Sample, judge: Judge) -> Score:
        materials = self.materials(found, sample)
        choice, arguments = (
            await rate(TOOLS, materials, sample, judge),
            await rate(ARGUMENTS, materials, sample, judge),
        )
        parts = {"primitives": choice.mean, "arguments": arguments.mean}
        verdicts = {"tools/exchanges": choice.verdicts, "arguments/exchanges": arguments.verdicts}
        return self.make_score(min(choice.mean, arguments.mean), parts=parts, verdicts=verdicts)


@dataclass(frozen=True)
class MCPUse(MultiTurnMCPUse):
    """The same of a sample as a whole."""

    name: ClassVar[str] = "deepeval:mcp_use"
    least: ClassVar[int] = 2
    conventions: ClassVar = {}
    columns: ClassVar[tuple[str, ...]] = ("mcp_servers",)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        return await self.rate((conversation(sample, self),), sample, judge)


@dataclass(frozen=True)
class MCPTaskCompletion(_ExchangeRating):
    """How far the tasks of the exchanges are completed."""

    name: ClassVar[str] = "deepeval:mcp_task_completion"
    least: ClassVar[int] = 3

    async def rate(self, found: Exchanges, sample: Sample, judge: Judge) -> Score:
        done = await rate(TASK, self.materials(found, sample), sample, judge)
        return self.make_score(done.mean, verdicts={"task/exchanges": done.verdicts})


def _entry(make: type[SystemMetric], called: str, family: str, against: str, aggregate: str, empty: str = "0") -> Entry:
    steps = Steps("exchanges", against, "rating 0 to 4", aggregate)
    source = f"deepeval.metrics.{called}Metric"
    return Entry(make=make, source=source, compared="deepeval 4.3.1", family=family, steps=steps, empty=empty)


ENTRIES = (
    _entry(ToolUse, "ToolUse", "tool calls", "the available tools", "min of two means", "0, also without tool calls"),
    _entry(GoalAccuracy, "GoalAccuracy", "goal", "what the user wants", "mean of two means"),
    _entry(MCPUse, "MCPUse", "tool calls", "the available tools", "min of two", ""),
    _entry(MultiTurnMCPUse, "MultiTurnMCPUse", "tool calls", "the available tools", "min of two means"),
    _entry(MCPTaskCompletion, "MCPTaskCompletion", "goal", "what the user wants", "mean"),
)
