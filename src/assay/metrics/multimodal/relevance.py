"""Answer relevancy with pictures: (relevant + borderline statements and pictures of the answer) / all of them.

Range 0 to 1, higher is better. DeepEval 2 to 4: the answer's statements are judged by the question, which may hold a
picture; a picture in the answer counts as one statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.multimodal.base import MultiModalMetric, sections
from assay.metrics.shared_prompts import ask, claims_of, texts_not_judged
from assay.metrics.systems.base import Entry, Steps
from assay.prompts import Claims, Classification, Criterion
from assay.records import Sample, Score, Verdict
from assay.text.images import blanked, images_in

CHOICES = (
    ("relevant", "it answers the question or a part of it"),
    ("borderline", "it does not answer it, but helps to understand or to use the answer"),
    ("irrelevant", "it does neither"),
)


def share_relevant(labels: Sequence[str]) -> float:
    """(relevant + borderline) / all. Expects at least one."""
    return sum(label in ("relevant", "borderline") for label in labels) / len(labels)


@dataclass(frozen=True)
class Relevance(MultiModalMetric):
    """Relevant and borderline statements and pictures of the answer / all of them."""

    name: ClassVar[str] = "multimodal:relevance"
    needs: ClassVar = ("question", "answer")
    asks: ClassVar = (Claims, Classification, Criterion)
    conventions: ClassVar = {Cause.NO_CLAIMS: 1.0}
    reads_answer: ClassVar = True

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        pictures = images_in(sample.answer or "")
        said = replace(sample, answer=blanked(sample.answer or ""))
        claims = await judge.find(claims_of(said, "answer"))
        left = texts_not_judged(said, claims)
        if not claims and not pictures:
            return self.skip(Cause.NO_CLAIMS, "the answer states nothing", texts=left)
        question = (("QUESTION", sample.question or ""),)
        verdicts: tuple[Verdict, ...] = ()
        if claims:
            texts = tuple(claim.text for claim in claims)
            asked = "How does the ITEM, a statement of an answer, relate to the QUESTION?"
            found = await judge.find(
                Classification("relevance", asked, texts, CHOICES, question, language=sample.spoken)
            )
            verdicts = tuple(replace(one, claim=claim) for one, claim in zip(found, claims, strict=True))
        named = [(f"PICTURE {n}", one.uri, f"picture {n} of the answer") for n, one in enumerate(pictures, 1)]
        shown = [await sections([one], self, judge) for one in named]
        votes = await ask(
            judge,
            *(
                Criterion(f"Does {material[0][0]} help to answer the QUESTION?", (*question, *material), images=images)
                for material, images in shown
            ),
        )
        labels = [verdict.label for verdict in verdicts]
        labels += ["relevant" if vote.label == "yes" else "irrelevant" for vote in votes]
        parts = {"statements": float(len(verdicts)), "pictures": float(len(votes))}
        evidence = {"answer/question": verdicts, "pictures/question": votes}
        return self.make_score(share_relevant(labels), verdicts=evidence, parts=parts, texts=left)


ENTRIES = (
    Entry(
        make=Relevance,
        source="deepeval.metrics.AnswerRelevancyMetric with images",
        compared="deepeval 4.3.1",
        family="answer relevancy",
        steps=Steps("claims and pictures of the answer", "the question", "relevant or borderline", "share"),
        empty="1 where there are no statements",
        also=("MultimodalAnswerRelevancyMetric",),
    ),
)
