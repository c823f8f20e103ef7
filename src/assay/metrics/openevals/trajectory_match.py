"""openevals' trajectory match: did an agent go the way of a reference? 1 or 0, higher is better.

    strict      as many messages with the same roles in the same order, and in each the same tool calls in any order;
                what the messages say does not count
    unordered   the same tool calls, wherever they are made
    subset      no tool call that the reference does not have
    superset    every tool call of the reference

Each call is matched once. How arguments are compared: see `tool_args`. Where there is no call to look for (none in the
reference for superset, none of the agent's for subset, none at all for unordered) nothing is measured; openevals gives
1. Source: openevals 0.2.2, create_trajectory_match_evaluator; agentevals 0.0.9 has the same, but hands its matchers
the reference's arguments first for subset.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Literal, get_args

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.openevals.tool_args import Mode, Override, check_modes, covers
from assay.metrics.openevals.trajectories import reference_trajectory, trajectory
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.records import Message, Sample, Score, ToolCall

MatchMode = Literal["strict", "unordered", "subset", "superset"]


def strict(ours: Sequence[Message], theirs: Sequence[Message], mode: Mode, overrides: Mapping[str, Override]) -> bool:
    """Whether the messages agree one by one."""
    return len(ours) == len(theirs) and all(
        one.role == other.role
        and len(one.tool_calls) == len(other.tool_calls)
        and covers(other.tool_calls, one.tool_calls, mode, overrides, swapped=True)
        for one, other in zip(ours, theirs, strict=True)
    )


def calls_match(
    how: MatchMode, ours: Sequence[ToolCall], theirs: Sequence[ToolCall], mode: Mode, overrides: Mapping[str, Override]
) -> bool:
    """Whether the tool calls agree, wherever they are made."""
    within = how == "superset" or covers(theirs, ours, mode, overrides, swapped=True)
    return within and (how == "subset" or covers(ours, theirs, mode, overrides, swapped=False))


@dataclass(frozen=True)
class TrajectoryMatch(SystemMetric):
    """1 where `messages` go the way of `metadata["reference_outputs"]`.

    Attributes:
        trajectory_match_mode: Strict, unordered, subset or superset.
        tool_args_match_mode: Exact, ignore, subset or superset.
        tool_args_match_overrides: By the name of a tool: a mode, a list of arguments, or a function of both arguments.
    """

    conventions: ClassVar = {Cause.NOT_APPLICABLE: 1.0}
    columns: ClassVar[tuple[str, ...]] = ("reference_outputs",)

    trajectory_match_mode: MatchMode = "strict"
    tool_args_match_mode: Mode = "exact"
    tool_args_match_overrides: Mapping[str, Override] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_modes("TrajectoryMatch", self.tool_args_match_mode, self.tool_args_match_overrides)

    @property
    def name(self) -> str:  # type: ignore[override]  # it carries the mode
        return f"openevals:trajectory_{self.trajectory_match_mode}_match"

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        ours, theirs = trajectory(sample, self), reference_trajectory(sample, self)
        how, mode, overrides = self.trajectory_match_mode, self.tool_args_match_mode, self.tool_args_match_overrides
        called, wanted = (tuple(call for one in messages for call in one.tool_calls) for messages in (ours, theirs))
        parts = {"tool_calls": float(len(called)), "reference_tool_calls": float(len(wanted))}
        if how == "strict":
            return self.make_score(float(strict(ours, theirs, mode, overrides)), parts=parts)
        if not {"unordered": called or wanted, "subset": called, "superset": wanted}[how]:
            return self.skip(Cause.NOT_APPLICABLE, "there is no tool call to look for")
        return self.make_score(float(calls_match(how, called, wanted, mode, overrides)), parts=parts)


ENTRIES = tuple(
    Entry(
        make=partial(TrajectoryMatch, how),
        source="openevals.create_trajectory_match_evaluator, agentevals.trajectory.match",
        compared="openevals 0.2.2",
        family="tool calls",
        steps=Steps(
            "messages and their tool calls" if how == "strict" else "tool calls", "reference steps", how, "yes 1, no 0"
        ),
        empty="0 for other messages than none" if how == "strict" else "1",
        also=(f"trajectory_{how}",) if how in ("subset", "superset") else (),  # what agentevals calls the function
    )
    for how in get_args(MatchMode)
)
