"""agentevals' graph trajectories: the nodes that an agent in a graph went through, turn by turn.

`metadata["graph_trajectory"]` holds them as {"steps": [["__start__", "agent"], ...]} with, for the judge, `results` and
`inputs` as lists of equal length; `metadata["reference_graph_trajectory"]` is the reference.

    graph_trajectory_strict_match   1 where the steps are those of the reference, node for node, else 0
    graph_trajectory_accuracy       1 where the judge finds the steps sensible, else 0; a reference is shown where given

Higher is better. Source: agentevals 0.0.9.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.errors import Cause, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import majority
from assay.metrics.base import Metric
from assay.metrics.systems.base import Entry, Steps, SystemMetric, given
from assay.prompts import Criterion
from assay.records import Sample, Score

KEY, REFERENCE = "graph_trajectory", "reference_graph_trajectory"
ASKED = (
    "The STEPS are the nodes that an agent went through, turn by turn. Are they a sensible and not too long way to "
    "what was asked of it, and in the end the same as the REFERENCE STEPS where there are any? At __start__ it begins; "
    "at __interrupt__ it waits for somebody."
)


@dataclass(frozen=True)
class GraphTrajectoryStrictMatch(SystemMetric):
    """1 where the steps are equal."""

    name: ClassVar[str] = "openevals:graph_trajectory_strict_match"
    columns: ClassVar[tuple[str, ...]] = ("graph_trajectory", "reference_graph_trajectory")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        ours, theirs = (_steps(given(sample, self, key, dict), key, self) for key in (KEY, REFERENCE))
        return self.make_score(float(ours == theirs))


@dataclass(frozen=True)
class GraphTrajectoryAccuracy(SystemMetric):
    """1 where the judge finds the steps sensible."""

    name: ClassVar[str] = "openevals:graph_trajectory_accuracy"
    asks: ClassVar = (Criterion,)
    columns: ClassVar[tuple[str, ...]] = ("graph_trajectory",)
    may_read: ClassVar[tuple[str, ...]] = ("reference_graph_trajectory",)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        reference = given(sample, self, REFERENCE, dict, {})
        material = [("STEPS", _thread(given(sample, self, KEY, dict), KEY, self))]
        if reference:
            material.insert(0, ("REFERENCE STEPS", _thread(reference, REFERENCE, self)))
        verdict = await judge.find(Criterion(ASKED, tuple(material), 0, sample.spoken))
        return self.make_score(majority((verdict,)), verdicts={KEY: (verdict,)})


def _steps(held: dict[str, Any], key: str, metric: Metric) -> list[Any]:
    steps = held.get("steps")
    if not isinstance(steps, list):
        message = f"{metric.label}: metadata[{key!r}]: expected 'steps', a list of lists of nodes; found {steps!r:.80}"
        raise JudgeFailure(Cause.MISSING_INPUT, message)
    return steps


def _thread(held: dict[str, Any], key: str, metric: Metric) -> str:
    """The turns, three lines each: what was asked, the nodes, what came of it."""
    turns = _steps(held, key, metric)
    lines = []
    for number in range(len(turns)):
        for title, values in (("ASKED", held.get("inputs")), ("NODES", turns), ("RESULT", held.get("results"))):
            if isinstance(values, list) and number < len(values) and values[number]:
                lines.append(f"{title}: {json.dumps(values[number], ensure_ascii=False)}")
    return "\n".join(lines)


ENTRIES = (
    Entry(
        make=GraphTrajectoryStrictMatch,
        source="agentevals.graph_trajectory.graph_trajectory_strict_match",
        compared="agentevals 0.0.9",
        family="trajectory",
        steps=Steps("nodes of the graph", "reference steps", "equal", "yes 1, no 0"),
        empty="1 where neither has steps",
    ),
    Entry(
        make=GraphTrajectoryAccuracy,
        source="agentevals.graph_trajectory.create_graph_trajectory_llm_as_judge",
        compared="agentevals 0.0.9",
        family="trajectory",
        steps=Steps("nodes of the graph", "reference steps", "sensible", "yes 1, no 0"),
        empty="whatever the judge says of nothing",
    ),
)
