"""DeepEval's DAGs, of answers and of conversations: decision graphs whose verdicts lead to a score or a metric.

    score of the verdict reached / 10, or the value of the metric that it leads to

Range 0 to 1, higher is better. DeepEval 4.3.1, `DAGMetric` with `TaskNode`, `BinaryJudgementNode`,
`NonBinaryJudgementNode` and `VerdictNode`; `ConversationalDAGMetric` with the same nodes over the turns of a
conversation. The graph (see `graph`) is a parameter or the column `dag`, for conversations `conversational_dag`. It
begins with one judgement, so one path is taken and one verdict reached; DeepEval also allows several at once, and then
the one that ends last sets the score. Strict mode raises the threshold and changes no score.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from assay.errors import Cause, InputError, JudgeFailure
from assay.judges.protocol import Judge
from assay.metrics.deepeval.deepeval_metric import DeepEvalMetric
from assay.metrics.deepeval.graph import Graph, Node, graph_of
from assay.metrics.deepeval.turn_fields import Sections, turn_sections
from assay.metrics.systems.base import Entry, Steps
from assay.metrics.systems.conversation import conversation
from assay.prompts import Criterion, Extraction, Question
from assay.records import Sample, Score, Verdict


def leaf_value(score: int) -> float:
    """The value of a verdict's score from 0 to 10."""
    return score / 10


@dataclass(frozen=True)
class DAG(DeepEvalMetric):
    """The score at which the way through `graph` ends."""

    name: ClassVar[str] = "deepeval:dag"
    columns: ClassVar[tuple[str, ...]] = ("dag",)
    asks: ClassVar = (Extraction, Criterion, Question)

    conversational: ClassVar[bool] = False
    lowers: ClassVar[bool] = False

    graph: Graph | Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.graph, Mapping):
            object.__setattr__(self, "graph", self._read(self.graph))
        if isinstance(self.graph, Graph) and self.graph.conversational is not self.conversational:
            expected = "turns of a conversation" if self.conversational else "fields of one exchange"
            raise InputError(f"{self.name}: graph: expected one whose nodes show {expected}")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        try:
            graph = self.graph if isinstance(self.graph, Graph) else self._read(self.setting_of(sample))
        except InputError as error:
            return self.skip(Cause.MISSING_INPUT, str(error))
        nodes = dict(graph.nodes)
        way: dict[str, Verdict] = {}
        written: dict[str, str] = {}
        at = graph.start
        while True:
            node = nodes[at]
            material = await self._material(node, nodes, written, sample, judge)
            way[at] = await _judged(node, material, sample, judge)
            lead = dict(node.verdicts)[way[at].label]
            if isinstance(lead, tuple) and lead[0] == "node":
                at = lead[1]
                continue
            evidence: dict[str, Any] = {
                "verdicts": {name: (verdict,) for name, verdict in way.items()},
                "texts": {"way": tuple(way), **{name: (text,) for name, text in written.items()}},
            }
            if isinstance(lead, int):
                return self.make_graded_score(leaf_value(lead), parts={"score": float(lead)}, **evidence)
            return await self._child(lead[1], sample, judge, evidence)

    def setting_of(self, sample: Sample) -> Mapping[str, Any]:
        """The graph of the row. Raises JudgeFailure where it has none."""
        key = self.name.partition(":")[2]
        found = sample.metadata.get(key)
        if not isinstance(found, Mapping):
            raise JudgeFailure(Cause.MISSING_INPUT, f"{self.label} needs metadata[{key!r}], which is missing")
        return found

    def sections(self, node: Node, sample: Sample) -> Sections:
        """What a node is shown of the row."""
        return self.shown(sample, node.shown)

    def _read(self, given: Mapping[str, Any]) -> Graph:
        return graph_of(given, conversational=self.conversational)

    async def _material(
        self, node: Node, nodes: Mapping[str, Node], written: dict[str, str], sample: Sample, judge: Judge
    ) -> Sections:
        """What a node is shown: fields of the row, and what its tasks wrote, which is written where it is not yet."""
        for name in node.reads:
            if name not in written:
                shown = await self._material(nodes[name], nodes, written, sample, judge)
                items = await judge.find(Extraction(name, nodes[name].text, shown, language=sample.spoken))
                written[name] = "\n".join(items)
        return (*self.sections(node, sample), *((name.upper(), written[name]) for name in node.reads))

    async def _child(self, name: str, sample: Sample, judge: Judge, evidence: Mapping[str, Any]) -> Score:
        """The score of a metric of DeepEval in the place of this one's."""
        from assay.metrics.systems import named

        metric = replace(named(name), profile=self.profile)
        found = await metric.score(sample, judge)
        if found.value is None:
            reason = found.error
            cause, message = (reason.cause, reason.message) if reason else (Cause.NOT_APPLICABLE, "no value")
            return self.skip(cause, f"{metric.label}: {message}", verdicts=evidence["verdicts"])
        return self.make_graded_score(found.value, parts=found.parts, **evidence)


@dataclass(frozen=True)
class ConversationalDAG(DAG):
    """The same for a conversation: nodes show its turns, and a metric that a verdict leads to rates conversations."""

    name: ClassVar[str] = "deepeval:conversational_dag"
    columns: ClassVar[tuple[str, ...]] = ("conversational_dag",)
    conversational: ClassVar[bool] = True

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        conversation(sample, self)
        return await super().measure(sample, judge)

    def sections(self, node: Node, sample: Sample) -> Sections:
        return turn_sections(sample, self, node.shown, node.window) if node.shown else ()


async def _judged(node: Node, material: Sections, sample: Sample, judge: Judge) -> Verdict:
    if node.kind == "binary":
        return await judge.find(Criterion(node.text, material, language=sample.spoken))
    labels = {label: "" for label, _ in node.verdicts}
    return await judge.find(Question(node.text, material, labels=labels, language=sample.spoken))


ENTRIES = (
    Entry(
        make=DAG,
        source="deepeval.metrics.DAGMetric",
        compared="deepeval 4.3.1",
        family="criteria",
        steps=Steps("the whole answer", "a decision graph", "score 0 to 10", "the score / 10"),
        empty="refused",
    ),
    Entry(
        make=ConversationalDAG,
        source="deepeval.metrics.ConversationalDAGMetric",
        compared="deepeval 4.3.1",
        family="criteria",
        steps=Steps("the whole conversation", "a decision graph", "score 0 to 10", "the score / 10"),
        empty="refused",
    ),
)
