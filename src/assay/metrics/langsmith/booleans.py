"""LangSmith's evaluators: one yes-or-no question about the texts of a run, with the reason before the answer.

    yes = 1, no = 0

Higher is better for all six. `correctness`, `relevance`, `groundedness` and `retrieval_relevance` are those of
LangSmith's tutorial on evaluating RAG; `conciseness` and `hallucination` those of its ready-made prompts, which come
with openevals 0.2.2. A yes to `hallucination` says that the answer is free of it. The mean over an experiment is the
share of yes. The judge answers about the whole answer, not claim by claim.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import Field, material_of
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.metrics.systems.input_rules import TAKES_NO_PASSAGES
from assay.prompts import Criterion
from assay.records import Sample, Score


@dataclass(frozen=True, kw_only=True)
class YesOrNo(SystemMetric):
    """Whether the answer to `question` is yes.

    Attributes:
        reads: The sample's texts that the judge sees and that must be there.
        also: Those that it sees where they are there.
    """

    asks = (Criterion,)
    #: the judge is asked about no passages too
    input_rules: ClassVar = TAKES_NO_PASSAGES

    name: str  # type: ignore[misc]  # one class for all evaluators
    question: str
    reads: tuple[Field, ...]
    also: tuple[Field, ...] = ()

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]  # what it reads
        return self.reads

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        material = material_of(sample, (*self.reads, *self.also))
        verdict = await judge.find(Criterion(self.question, material, 0, sample.spoken))
        return self.make_score(float(verdict.label == "yes"), verdicts={self.name: (verdict,)})


CORRECTNESS = YesOrNo(
    name="langsmith:correctness",
    question="Is the ANSWER to the QUESTION correct, measured by the REFERENCE? It may say more than the REFERENCE, as "
    "long as nothing contradicts it.",
    reads=("question", "answer", "reference"),
)
RELEVANCE = YesOrNo(
    name="langsmith:relevance",
    question="Is the ANSWER concise, does it address the QUESTION, and does it help to settle it?",
    reads=("question", "answer"),
)
GROUNDEDNESS = YesOrNo(
    name="langsmith:groundedness",
    question="Does everything that the ANSWER states come from the passages, with nothing added to them?",
    reads=("contexts", "answer"),
)
RETRIEVAL_RELEVANCE = YesOrNo(
    name="langsmith:retrieval_relevance",
    question="Do the passages hold anything that has to do with the QUESTION? Other matter in them is no fault.",
    reads=("contexts", "question"),
)
CONCISENESS = YesOrNo(
    name="langsmith:conciseness",
    question="Does the ANSWER hold exactly what the QUESTION asks for, in as few words as that takes, without "
    "pleasantries, hedges, repetition or explanations nobody asked for?",
    reads=("question", "answer"),
)
HALLUCINATION = YesOrNo(
    name="langsmith:hallucination",
    question="Is the ANSWER free of hallucinations: is every fact, number and date in it borne out by the passages, or "
    "by the REFERENCE where there is one, without guesses and inventions?",
    reads=("contexts", "question", "answer"),
    also=("reference",),
)


def _entry(made: YesOrNo, source: str, family: str, unit: str, against: str) -> Entry:
    return Entry(
        make=lambda: made,
        source=source,
        compared="langsmith 0.15.0, openevals 0.2.2",
        family=family,
        steps=Steps(unit, against, "yes", "yes or no"),
        empty="what the judge says of it",
    )


TUTORIAL = "LangSmith's tutorial on evaluating RAG"
PROMPTS = "openevals.prompts"
WHOLE, ALL = "the whole answer", "all contexts together"

ENTRIES = (
    _entry(CORRECTNESS, TUTORIAL, "correctness", WHOLE, "the reference"),
    _entry(RELEVANCE, TUTORIAL, "answer relevance", WHOLE, "the question"),
    _entry(GROUNDEDNESS, TUTORIAL, "faithfulness", WHOLE, ALL),
    _entry(RETRIEVAL_RELEVANCE, TUTORIAL, "context relevance", ALL, "the question"),
    _entry(CONCISENESS, f"{PROMPTS}.CONCISENESS_PROMPT", "criteria", WHOLE, "the question"),
    _entry(HALLUCINATION, f"{PROMPTS}.HALLUCINATION_PROMPT", "hallucination", WHOLE, ALL),
)
