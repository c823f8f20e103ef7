"""DeepEval's prompt alignment: instructions of the prompt that the answer follows / instructions.

Range 0 to 1, higher is better. DeepEval 4.3.1, `PromptAlignmentMetric`. The instructions are a parameter, or the
column `prompt_instructions`; an empty list is refused there and skipped here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause, InputError
from assay.judges.protocol import Judge
from assay.metrics.deepeval.deepeval_metric import DeepEvalMetric, share_counted
from assay.metrics.systems.base import Entry, Steps
from assay.prompts import Classification
from assay.records import Sample, Score

CHOICES = (("followed", "all of it is followed"), ("not_followed", "some of it is not"))


@dataclass(frozen=True)
class PromptAlignment(DeepEvalMetric):
    """Instructions followed / instructions."""

    name: ClassVar[str] = "deepeval:prompt_alignment"
    needs: ClassVar = ("question", "answer")
    asks: ClassVar = (Classification,)
    columns: ClassVar[tuple[str, ...]] = ("prompt_instructions",)

    prompt_instructions: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prompt_instructions == ():
            raise InputError(f"{self.name}: prompt_instructions is empty")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        given = self.prompt_instructions or self.setting(sample, "prompt_instructions", list)
        instructions = tuple(map(str, given))
        if not instructions:
            return self.skip(Cause.MISSING_INPUT, "prompt_instructions is empty")
        asked = "Does the ANSWER to the QUESTION follow the ITEM, an instruction to its writer?"
        material = self.shown(sample, ("input", "actual_output"))
        verdicts = await judge.find(
            Classification("instructions", asked, instructions, CHOICES, material, language=sample.spoken)
        )
        return self.make_graded_score(
            share_counted([verdict.label for verdict in verdicts], ("followed",)),
            verdicts={"instructions/answer": verdicts},
            texts={"instructions": instructions},
        )


ENTRIES = (
    Entry(
        make=PromptAlignment,
        source="deepeval.metrics.PromptAlignmentMetric",
        compared="deepeval 4.3.1",
        family="criteria",
        steps=Steps("instructions of the prompt", "the whole answer", "followed", "share"),
        empty="refused",
    ),
)
