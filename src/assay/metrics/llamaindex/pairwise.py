"""LlamaIndex' pairwise comparison: is the answer better than a second one, in both orders?

The judge reads the two answers twice, each once as the first. A vote for the answer is 1, one for the other 0, a tie
0.5 for each:

    1.0   the answer has more of the two votes
    0.0   the other has more
    0.5   a tie: two ties, or two votes that are for whichever stood first (or second)

Higher is better. llama-index-core 0.14, PairwiseComparisonEvaluator. `consensus=False` asks once, the answer first.
The second answer is `metadata["second_response"]`. The original gives, where one reading is a tie and the flipped one
is not, the number of the flipped reading, in which 1 stands for the other answer: the reverse of what was found. Its
profile here does the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from assay.judges.protocol import Judge
from assay.metrics.shared_prompts import ask
from assay.metrics.systems.base import Entry, Steps, SystemMetric, given
from assay.prompts import Question
from assay.records import Sample, Score

ASKED = (
    "Which of the two answers serves the QUESTION better: by being right, to the point, useful and full enough? Where "
    "a REFERENCE is given, what it says is right. Neither their order nor their length counts."
)
LABELS = {"first": "the FIRST ANSWER is better", "second": "the SECOND ANSWER is better", "tie": "neither is better"}
#: What a label is for the answer that was read first.
VOTES = {"first": 1.0, "second": 0.0, "tie": 0.5}


def settled(original: float, flipped: float) -> float:
    """The votes of both readings, each for the answer that stood first in it, as one number for the answer."""
    votes = original + (1 - flipped)
    return 0.5 if votes == 1 else float(votes > 1)


def settled_as_there(original: float, flipped: float) -> float:
    """The same as the original gives it: the number of a reading that voted for the winner, as that reading has it."""
    if original + (1 - flipped) == 1:
        return 0.5
    return flipped if original == 0.5 else original


@dataclass(frozen=True)
class Pairwise(SystemMetric):
    """Whether the answer is better than a second one."""

    name: ClassVar[str] = "llamaindex:pairwise"
    needs: ClassVar = ("question", "answer")
    asks: ClassVar = (Question,)
    columns: ClassVar[tuple[str, ...]] = ("second_response",)

    consensus: bool = True

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        own, other = sample.answer or "", given(sample, self, "second_response", str)
        orders = ((own, other), (other, own)) if self.consensus else ((own, other),)
        verdicts = await ask(judge, *(self._prompt(sample, first, second) for first, second in orders))
        votes = [VOTES[verdict.label] for verdict in verdicts]
        value = (settled_as_there if self.original else settled)(*votes) if self.consensus else votes[0]
        parts = dict(zip(("original", "flipped"), votes, strict=False))
        return self.make_score(value, verdicts={"answer/second_response": verdicts}, parts=parts)

    def _prompt(self, sample: Sample, first: str, second: str) -> Question:
        texts = [("QUESTION", sample.question or ""), ("REFERENCE", sample.reference or "")]
        shown = [(title, text) for title, text in texts if text.strip()]
        pair = [("FIRST ANSWER", first), ("SECOND ANSWER", second)]
        return Question(ASKED, [*shown, *pair], labels=LABELS, language=sample.spoken)


ENTRIES = (
    Entry(
        make=Pairwise,
        source="llama_index.core.evaluation.PairwiseComparisonEvaluator",
        compared="llama-index-core 0.14.25",
        family="comparison",
        steps=Steps("the whole answer", "a second answer", "votes in both orders", "majority"),
        empty="an invalid result for a reply without a verdict",
    ),
)
