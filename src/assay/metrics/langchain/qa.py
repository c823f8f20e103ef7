"""LangChain's question answering graders: is the answer correct? CORRECT is 1, INCORRECT is 0.

Range 0 to 1, higher is better. `qa` and `cot_qa` grade by the reference, `context_qa` by the contexts; more than is
asked for is no fault there, a contradiction is. LangChain hands `context_qa` its context where others have the
reference. `cot_qa` has the model reason before it grades, which every judge here does, so the two are one judgement.
Source: langchain-classic 1.0.8. A reply without either word is None there, and skipped here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import Field, majority, material_of
from assay.metrics.shared_prompts import ask
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.prompts import Criterion
from assay.records import Sample, Score

BY_REFERENCE = (
    "Measured by the REFERENCE, is the ANSWER to the QUESTION right in its facts? Wording does not count, and more "
    "facts than the REFERENCE has are no fault as long as none contradicts it."
)
BY_CONTEXTS = (
    "Measured by the PASSAGES, is the ANSWER to the QUESTION right in its facts? Wording does not count, and more "
    "facts than are asked for are no fault as long as none contradicts the PASSAGES."
)


@dataclass(frozen=True)
class QA(SystemMetric):
    """1 where the answer is right by the reference, else 0."""

    name: ClassVar[str] = "langchain:qa"
    needs: ClassVar = ("question", "answer", "reference")
    asks: ClassVar = (Criterion,)
    shown: ClassVar[tuple[Field, ...]] = ("question", "answer", "reference")
    asked: ClassVar[str] = BY_REFERENCE

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        material = material_of(sample, self.shown)
        verdicts = await ask(judge, Criterion(self.asked, material, 0, sample.spoken))
        return self.make_score(majority(verdicts), verdicts={"correct": verdicts})


@dataclass(frozen=True)
class CotQA(QA):
    """The same with the reasons first, which is how every judge is asked here."""

    name: ClassVar[str] = "langchain:cot_qa"


@dataclass(frozen=True)
class ContextQA(QA):
    """1 where the answer is right by the contexts, else 0."""

    name: ClassVar[str] = "langchain:context_qa"
    needs: ClassVar = ("question", "answer", "contexts")
    shown: ClassVar[tuple[Field, ...]] = ("contexts", "question", "answer")
    asked: ClassVar[str] = BY_CONTEXTS


def _entry(kind: type[QA], source: str, against: str) -> Entry:
    return Entry(
        make=kind,
        source=f"langchain_classic.evaluation.qa.{source}",
        compared="langchain-classic 1.0.8",
        family="correctness",
        steps=Steps("the whole answer", against, "correct", "yes 1, no 0"),
        empty="whatever the judge says of nothing; None for a reply without a grade",
    )


ENTRIES = (
    _entry(QA, "QAEvalChain", "the reference"),
    _entry(CotQA, "CotQAEvalChain", "the reference"),
    _entry(ContextQA, "ContextQAEvalChain", "all contexts together"),
)
