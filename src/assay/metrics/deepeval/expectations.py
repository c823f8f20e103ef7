"""DeepEval's expectations: what a row's answer must do and must not do; 1 where it keeps to all of it, else 0.

DeepEval 4.3.1, the field `expectations` of a test case: {"must": [...], "must_not": [...]}, here the column of that
name; `conversational_expectations` are those of a conversation, judged by all that is said and done in it. A demand
that the judge cannot decide from what it sees makes the row skipped, as it does there (an error).
`parts["kept"]` is the share of demands kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.deepeval.deepeval_metric import DeepEvalMetric, share_counted
from assay.metrics.deepeval.turn_fields import TURN_FIELDS, Sections, case_sections, turn_sections
from assay.metrics.systems.base import Entry, Steps, given
from assay.prompts import Classification
from assay.records import Sample, Score

CHOICES = (
    ("kept", "what must be is so, or what must not be is not"),
    ("broken", "what must be is not so, or what must not be is"),
    ("undecided", "the texts do not show it"),
)
SEES = ("retrieval_context", "context", "input", "actual_output", "tools_called", "tags")


def all_kept(labels: Sequence[str]) -> float:
    """1.0 where every demand is kept, else 0.0."""
    return float(all(label == "kept" for label in labels))


def demands_of(expectations: Mapping[str, Any]) -> tuple[str, ...]:
    """The demands of a row in its order, those on what must be first."""
    must, must_not = (expectations.get(key) or () for key in ("must", "must_not"))
    return (*(f"It must: {one}" for one in must), *(f"It must not: {one}" for one in must_not))


@dataclass(frozen=True)
class Expectations(DeepEvalMetric):
    """Whether the answer keeps to all demands of the row."""

    name: ClassVar[str] = "deepeval:expectations"
    needs: ClassVar[tuple[str, ...]] = ("question", "answer")
    asks: ClassVar = (Classification,)

    asked: ClassVar[str] = (
        "Does the ANSWER keep to the ITEM, a demand on it? That something was done counts where the TOOLS CALLED "
        "show it, not where the answer only says so."
    )
    columns: ClassVar[tuple[str, ...]] = ("expectations",)
    may_read: ClassVar[tuple[str, ...]] = ("tags", "tools_called")

    threshold: float = field(default=1.0, kw_only=True)

    def sections(self, sample: Sample) -> Sections:
        """What the judge is shown."""
        return self.shown(sample, SEES)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        demands = demands_of(given(sample, self, "expectations", dict))
        if not demands:
            return self.skip(Cause.NOT_APPLICABLE, "the row has no expectations")
        material = self.sections(sample)
        verdicts = await judge.find(
            Classification("expectations", self.asked, demands, CHOICES, material, language=sample.spoken)
        )
        evidence: dict[str, Any] = {"verdicts": {"expectations/answer": verdicts}, "texts": {"expectations": demands}}
        labels = [verdict.label for verdict in verdicts]
        if "undecided" in labels:
            open_ = demands[labels.index("undecided")]
            return self.skip(Cause.NOT_APPLICABLE, f"the texts do not show whether this is so: {open_}", **evidence)
        return self.make_graded_score(all_kept(labels), parts={"kept": share_counted(labels, ("kept",))}, **evidence)


@dataclass(frozen=True)
class ConversationalExpectations(Expectations):
    """Whether the assistant of a conversation keeps to all demands of the row."""

    name: ClassVar[str] = "deepeval:conversational_expectations"
    needs: ClassVar[tuple[str, ...]] = ()
    asked: ClassVar[str] = (
        "Does the assistant in the CONVERSATION keep to the ITEM, a demand on it? The whole CONVERSATION counts, and "
        "its order. That something was done counts where a tool call shows it, not where the assistant only says so."
    )
    columns: ClassVar[tuple[str, ...]] = ("expectations",)
    may_read: ClassVar[tuple[str, ...]] = ("chatbot_role", "scenario", "tags")

    def sections(self, sample: Sample) -> Sections:
        case = tuple(name for name in ("scenario", "chatbot_role") if sample.metadata.get(name))
        turns = turn_sections(sample, self, TURN_FIELDS)
        return (*self.shown(sample, ("context", "tags")), *turns, *case_sections(sample, self, case))


ENTRIES = (
    Entry(
        make=Expectations,
        source="deepeval.evaluate.expectations",
        compared="deepeval 4.3.1",
        family="criteria",
        steps=Steps("demands of the row", "the whole answer", "kept", "all"),
        empty="left out",
    ),
    Entry(
        make=ConversationalExpectations,
        source="deepeval.evaluate.expectations",
        compared="deepeval 4.3.1",
        family="criteria",
        steps=Steps("demands of the row", "the whole conversation", "kept", "all"),
        empty="left out",
    ),
)
