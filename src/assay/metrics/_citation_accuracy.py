"""Citation accuracy: what share of the answer's citations name a passage that bears out what they are put to?

A citation is a claim of the answer and one passage that its sentence names, by its place among the contexts, from 1:
"It is red [2]", "It is red (Passages 1 and 2)", "According to passage 2, it is red".

    citations whose passage supports the claim on its own / citations

Range 0 to 1, higher is better. After the citation precision of ALCE (Gao et al., "Enabling Large Language Models to
Generate Text with Citations", 2023), where a passage that supports only a part also counts if the passages cited
together need it for the whole; here it must support the claim alone, as in AIS (Rashkin et al., "Measuring Attribution
in Natural Language Generation Models", 2023). A claim put together from two passages, both cited, so has two wrong
citations. A passage that is not there is a wrong citation too. What is cited is all that is measured: claims without a
citation do not count. Skipped when the answer makes no claim, or cites nothing.

The verdicts "answer/citations" say of each citation, in order, whether it is right; `parts` how many there are, and how
many name no passage. The reason of a wrong one names the passages that do support the claim.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeAlias

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics._faithfulness import share_supported
from assay.metrics.base import Metric
from assay.metrics.shared_prompts import claims_of, expected_share, gather, support, texts_not_judged
from assay.prompts import Claims, Support
from assay.records import Claim, Sample, Score, Verdict
from assay.text.citations import cited_in

#: A claim and the number of a passage, from 1.
Citation: TypeAlias = "tuple[Claim, int]"
Readings: TypeAlias = "dict[Citation, Verdict]"


@dataclass(frozen=True)
class CitationAccuracy(Metric):
    """Citations of the answer whose passage supports their claim / citations of the answer."""

    name: ClassVar[str] = "citation_accuracy"
    needs: ClassVar = ("answer", "contexts")
    asks: ClassVar = (Claims, Support)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        claims = await judge.find(claims_of(sample, "answer"))
        left = texts_not_judged(sample, claims)
        if not claims:
            return self.skip(Cause.NO_CLAIMS, "the answer makes no checkable claim", texts=left)
        cited = tuple(dict.fromkeys(citations_of(sample.answer or "", claims)))
        if not cited:
            return self.skip(Cause.NOT_APPLICABLE, "no claim of the answer cites a passage", texts=left)
        there = range(1, len(sample.passages) + 1)
        found = await _read(((claim, number) for claim, number in cited if number in there), sample, judge)
        wrong = dict.fromkeys(claim for claim, number in cited if not _supports(found.get((claim, number))))
        found |= await _read(((claim, n) for claim in wrong for n in there if (claim, n) not in found), sample, judge)
        verdicts = tuple(_verdict(citation, found, there) for citation in cited)
        missing = sum(number not in there for _, number in cited)
        read = expected_share([found[citation] for citation in cited if citation in found])
        return self.make_score(
            share_supported(verdicts),
            verdicts={"answer/citations": verdicts},
            parts={
                "citations": len(verdicts),
                "not_there": missing,
                **{name: share * (len(verdicts) - missing) / len(verdicts) for name, share in read.items()},
            },
            texts=left,
        )


def citations_of(answer: str, claims: Sequence[Claim]) -> Iterable[Citation]:
    """The claims of an answer with the numbers that the sentence of each cites, in order."""
    numbers = cited_in(answer, [claim.span for claim in claims])
    return ((claim, number) for claim, cited in zip(claims, numbers, strict=True) for number in cited)


async def _read(citations: Iterable[Citation], sample: Sample, judge: Judge) -> Readings:
    """What each passage alone says of the claims that it is read for: one prompt a passage, all at the same time."""
    wanted: dict[int, list[Claim]] = defaultdict(list)
    for claim, number in citations:
        wanted[number].append(claim)
    passages = sample.passages
    rows = await gather(
        *(support(tuple(claims), (passages[number - 1],), sample, judge) for number, claims in wanted.items())
    )
    return {
        (claim, number): verdict
        for (number, claims), row in zip(wanted.items(), rows, strict=True)
        for claim, verdict in zip(claims, row, strict=True)
    }


def _supports(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.label == "supported"


def _verdict(citation: Citation, found: Mapping[Citation, Verdict], there: range) -> Verdict:
    """The verdict on a citation: that of its passage, with quotes that say where they are among all passages."""
    claim, number = citation
    reading = found.get(citation)
    if _supports(reading):
        says = f"cites passage {number}"
    else:
        better = [f"passage {n}" for n in there if n != number and _supports(found.get((claim, n)))]
        says = f"cites passage {number}" if reading else f"cites passage {number}, and there are only {len(there)}"
        says += f"; supported by {' and '.join(better)}" if better else "; supported by no other"
    if reading is None:
        return Verdict(label="not_mentioned", claim=claim, reason=says)
    evidence = tuple(replace(quote, passage=number - 1) for quote in reading.evidence)
    reason = f"{says}; {reading.reason}" if reading.reason else says
    return replace(reading, claim=claim, passage=number - 1, cells=(), evidence=evidence, reason=reason)
