"""Bedrock's citation precision: what share of the cited passages are cited rightly?

    citations whose passage bears out the part of the answer that cites it / citations

Range 0 to 1, higher is better. Amazon Bedrock, evaluation of retrieval and generation: yes or no for each cited
passage. Citations are those of Bedrock's data sets (`metadata["citations"]`), else the marks in the answer. A mark that
names no passage is a wrong citation. An answer that cites nothing is skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics._aspect_critique import material_of
from assay.metrics.bedrock.citations import CitedPart, cited_parts
from assay.metrics.shared_prompts import ask
from assay.metrics.systems.base import Entry, Steps, SystemMetric
from assay.prompts import Classification
from assay.records import Sample, Score, Verdict

WHAT = "cited passages"
ASKED = "Does the passage that the ITEM names bear out the STATEMENT, or a part of it that it can be cited for?"
CHOICES = (("yes", "it does"), ("no", "it does not, or is about something else"))


def share_right(verdicts: Sequence[Verdict]) -> float:
    """Citations that are right / citations. Expects at least one."""
    return sum(verdict.label == "yes" for verdict in verdicts) / len(verdicts)


@dataclass(frozen=True)
class CitationPrecision(SystemMetric):
    """Citations that are right / citations."""

    name: ClassVar[str] = "bedrock:citation_precision"
    needs: ClassVar = ("answer",)
    asks: ClassVar = (Classification,)
    may_read: ClassVar[tuple[str, ...]] = ("citations",)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        parts = cited_parts(sample)
        if not parts:
            return self.skip(Cause.NOT_APPLICABLE, "the answer cites nothing")
        prompts = [_prompt(sample, part) for part in parts]
        found = iter(await ask(judge, *(prompt for prompt in prompts if prompt is not None)))
        verdicts: list[Verdict] = []
        for part, prompt in zip(parts, prompts, strict=True):
            read = iter(next(found) if prompt is not None else ())
            verdicts += [
                Verdict(label="no", reason=f"there is no {title}") if text is None else next(read)
                for title, text in part.passages
            ]
        titled = [title for part in parts for title, _ in part.passages]
        evidence = tuple(
            replace(verdict, reason=f"{title}: {verdict.reason}" if verdict.reason else title)
            for title, verdict in zip(titled, verdicts, strict=True)
        )
        texts = {"citing": tuple(part.part for part in parts)}
        return self.make_score(share_right(verdicts), verdicts={"answer/citations": evidence}, texts=texts)


def _prompt(sample: Sample, part: CitedPart) -> Classification | None:
    """What is asked of the passages of a part; None where none of them is there."""
    there = tuple((title, text) for title, text in part.passages if text is not None)
    material = (*there, *material_of(sample, ("question",)), ("STATEMENT", part.part))
    items = tuple(title for title, _ in there)
    return Classification(WHAT, ASKED, items, CHOICES, material, language=sample.spoken) if items else None


ENTRIES = (
    Entry(
        make=CitationPrecision,
        source="Amazon Bedrock evaluations, Builtin.CitationPrecision",
        compared="published formula: the share of cited passages that are cited rightly",
        family="citations",
        steps=Steps("citations of the answer", "the cited passage alone", "yes", "share"),
        also=("Builtin.CitationPrecision",),
    ),
)
