"""DeepEval's argument correctness: tool calls whose arguments serve the question / tool calls.

Range 0 to 1, higher is better. DeepEval 4.3.1, which gives 1 where no tool was called.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.deepeval.shares import share
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.metrics.systems.conversation import call_text, called_tools
from assay.prompts.classification import Classification
from assay.records import Sample, Score

QUESTION = "Are the arguments of this tool call right for what the QUESTION asks: complete, and with the right values?"
CHOICES = (("correct", "the arguments are right"), ("incorrect", "some argument is wrong or missing"))


@dataclass(frozen=True)
class ArgumentCorrectness(SystemMetric):
    """Correct calls / calls, by a judge that sees question and call."""

    name: ClassVar[str] = "deepeval:argument_correctness"
    needs: ClassVar = ("question",)
    asks: ClassVar = (Classification,)
    conventions: ClassVar = {Cause.NOT_APPLICABLE: 1.0}
    may_read: ClassVar[tuple[str, ...]] = ("tools_called",)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        called = tuple(call_text(call, output=False) for call in called_tools(sample, self))
        if not called:
            return self.skip(Cause.NOT_APPLICABLE, "no tool was called")
        material = (("QUESTION", sample.question or ""),)
        prompt = Classification("arguments", QUESTION, called, CHOICES, material, 0, sample.spoken)
        verdicts = await judge.find(prompt)
        return self.make_score(
            share(verdicts, "correct"), verdicts={"calls/question": verdicts}, texts={"calls": called}
        )


ENTRIES = (
    Entry(
        make=ArgumentCorrectness,
        source="deepeval.metrics.ArgumentCorrectnessMetric",
        compared="deepeval 4.3.1",
        family="tool calls",
        steps=Steps("tool calls", "the question", "correct", "share"),
        empty="1 where no tool was called",
    ),
)
