"""LangChain's trajectory: how well did an agent go about its task? (rating - 1) / 4.

Range 0 to 1, higher is better; the rating is 1 to 5. The way is `messages`, or the text
`metadata["agent_trajectory"]`; the tools that the agent had, where it is known, `metadata["agent_tools"]`. A reference
answer is shown where there is one. A sample without tool calls has no way to rate and is skipped; LangChain rates the
empty text. Source: langchain-classic 1.0.8, trajectory.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import material_of
from assay.metrics.shared_prompts import ask
from assay.metrics.systems.base import Entry, Steps, SystemMetric, given
from assay.metrics.systems.conversation import call_text
from assay.metrics.tool_calls import calls
from assay.prompts import Rating
from assay.records import Sample, Score

ASKED = (
    "How well did the agent go about the QUESTION? Look at whether the STEPS lead to the ANSWER, whether the tools "
    "were the right ones and used in a sensible way, whether there were too many steps, and whether the ANSWER is "
    "helpful"
)
LEVELS = (
    (1, "badly: the steps do not help, or the answer is wrong"),
    (2, "poorly: much goes astray"),
    (3, "in part: the answer is of some use, or was reached by detours"),
    (4, "well: little could be better"),
    (5, "fully: a helpful answer by sensible steps with the right tools"),
)


def share_of(rating: int) -> float:
    """A rating of 1 to 5 as 0 to 1."""
    return (rating - 1) / 4


@dataclass(frozen=True)
class Trajectory(SystemMetric):
    """(rating of 1 to 5 - 1) / 4."""

    name: ClassVar[str] = "langchain:trajectory"
    needs: ClassVar = ("question", "answer")
    asks: ClassVar = (Rating,)
    may_read: ClassVar[tuple[str, ...]] = ("agent_tools", "agent_trajectory")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        steps = given(sample, self, "agent_trajectory", str, "") or steps_of(sample)
        if not steps.strip():
            return self.skip(Cause.MISSING_INPUT, f"{self.label} needs 'messages' with tool calls")
        tools = tools_of(given(sample, self, "agent_tools", list, []))
        material = (
            *((("TOOLS", tools),) if tools else ()),
            *material_of(sample, ("question",)),
            ("STEPS", steps),
            *material_of(sample, ("answer", "reference")),
        )
        asked = f"{ASKED}; the REFERENCE is the answer that it should reach." if sample.reference else f"{ASKED}."
        (rated,) = await ask(judge, Rating(asked, LEVELS, material, 0, sample.spoken))
        texts = {"reason": (rated.reason,)} if rated.reason else {}
        return self.make_score(share_of(rated.level), parts={"rating": float(rated.level)}, texts=texts)


def steps_of(sample: Sample) -> str:
    """The tool calls of the messages with what they gave back, a line for each."""
    return "\n".join(f"{number}. {call_text(call)}" for number, call in enumerate(calls(sample.messages), 1))


def tools_of(listed: list[Any]) -> str:
    """The tools that an agent had, a line for each: names, or objects with name and description."""
    return "\n".join(item if isinstance(item, str) else json.dumps(item, ensure_ascii=False) for item in listed)


ENTRIES = (
    Entry(
        make=Trajectory,
        source="langchain_classic.evaluation.agents.TrajectoryEvalChain",
        compared="langchain-classic 1.0.8",
        family="trajectory",
        steps=Steps("the agent's steps", "the question", "rating 1 to 5", "(rating - 1) / 4"),
        empty="whatever the judge says of no steps",
    ),
)
