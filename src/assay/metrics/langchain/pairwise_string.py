"""LangChain's pairwise comparison: is the answer better than a second one? A is 1, B is 0, neither is 0.5.

Range 0 to 1; higher is better for the answer of the sample (A). The second answer (B) is `metadata["prediction_b"]`.

The original shows the answers once, A first, and judges favour a place. Here both orders are asked, and where they do
not agree the answer is 0.5 with `parts["orders_agree"]` 0: the judge has said nothing of the answers. With the profile
"original" one order is asked. Source: langchain-classic 1.0.8, pairwise_string and labeled_pairwise_string; for the
favoured place see Zheng et al., "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena" (2023).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import Field, material_of
from assay.metrics.langchain.criteria import chosen_criteria, listed
from assay.metrics.langchain.score_string import DEFAULTS
from assay.metrics.shared_prompts import ask
from assay.metrics.systems.base import Entry, Steps, SystemMetric, given
from assay.prompts import Question
from assay.records import Sample, Score

VALUES: Mapping[str, float] = {"first": 1.0, "second": 0.0, "neither": 0.5}
LABELS: Mapping[str, str] = {
    "first": "the FIRST ANSWER is better",
    "second": "the SECOND ANSWER is better",
    "neither": "neither is better than the other",
}


def agree(label: str, swapped: str) -> bool:
    """Whether the two orders prefer the same answer."""
    return VALUES[label] == 1.0 - VALUES[swapped]


def preference(label: str, swapped: str | None = None) -> float:
    """How much the first answer is preferred; `swapped` is the label when the answers have changed places."""
    return VALUES[label] if swapped is None or agree(label, swapped) else 0.5


@dataclass(frozen=True)
class PairwiseString(SystemMetric):
    """1 where the answer is better than the second one, 0 where that is better, else 0.5.

    Attributes:
        criteria: A name, or a mapping of names to questions about the ANSWER; see `criteria.QUESTIONS`.
    """

    name: ClassVar[str] = "langchain:pairwise_string"
    needs: ClassVar[tuple[str, ...]] = ("question", "answer")
    asks: ClassVar = (Question,)
    shown: ClassVar[tuple[Field, ...]] = ("question",)
    columns: ClassVar[tuple[str, ...]] = ("prediction_b",)

    criteria: str | Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        chosen_criteria(self.criteria, DEFAULTS, type(self).__name__)

    @property
    def label(self) -> str:
        named = "" if self.criteria is None else "_" + "-".join(self.questions)
        return super().label.replace(self.name, self.name + named)

    @property
    def questions(self) -> dict[str, str]:
        """By what the answers are compared."""
        return chosen_criteria(self.criteria, DEFAULTS, type(self).__name__)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        answers = (sample.answer or "", given(sample, self, "prediction_b", str))
        orders = (answers,) if self.original else (answers, answers[::-1])
        verdicts = await ask(judge, *(self._prompt(sample, *order) for order in orders))
        labels = [verdict.label for verdict in verdicts]
        parts = {} if self.original else {"orders_agree": float(agree(*labels))}
        return self.make_score(preference(*labels), verdicts={"first/second": verdicts}, parts=parts)

    def _prompt(self, sample: Sample, first: str, second: str) -> Question:
        question = f"Which of the two answers to the QUESTION is better?\n{listed(self.questions)}"
        material = (*material_of(sample, self.shown), ("FIRST ANSWER", first), ("SECOND ANSWER", second))
        return Question(question, material, labels=LABELS, language=sample.spoken)


@dataclass(frozen=True)
class LabeledPairwiseString(PairwiseString):
    """The same, by the reference."""

    name: ClassVar[str] = "langchain:labeled_pairwise_string"
    needs: ClassVar[tuple[str, ...]] = ("question", "answer", "reference")
    shown: ClassVar[tuple[Field, ...]] = ("question", "reference")
    columns: ClassVar[tuple[str, ...]] = ("prediction_b",)


ENTRIES = tuple(
    Entry(
        make=kind,
        source=f"langchain_classic.evaluation.comparison.{kind.__name__}EvalChain",
        compared="langchain-classic 1.0.8",
        family="comparison",
        steps=Steps("the whole answer", against, "better", "better 1, worse 0, neither 0.5"),
        empty="an error for a reply without a preference",
    )
    for kind, against in ((PairwiseString, "a second answer"), (LabeledPairwiseString, "a second answer"))
)
