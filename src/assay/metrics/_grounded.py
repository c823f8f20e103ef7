"""Grounded: is the whole answer supported by the retrieved contexts, or is something in it that is not?

Range 0 to 1, higher is better: the probability that it is; `parts["grounded"]` is the verdict, 1 from 0.5 on. It is
taken from the `LEAST` claims that are least supported: the mean of their log-odds, as a probability. One claim that
is misread does not decide alone, and a long answer does not lose by its length (with the lowest alone, or "any claim
below 0.5", people's labels of whole answers were met less often: docs/evidence/embedded-judge.md). The second of them
counts for odds of 4.5 to 1 at most (`MOST`), so a claim of a probability below 0.18 is outweighed by none: with it no
answer is grounded, however sure the others are. Where the judge gives no probability, 1 if every claim is supported and
0 if not. `texts["decided_by"]` are those claims, the least supported
first. An answer without claims is skipped; contexts of earlier turns are evidence too, and, where no
contexts are known, what tools gave back to an agent. Our own definition.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.base import Metric
from assay.metrics.shared_prompts import answer_against_conversation
from assay.prompts import Claims, Support
from assay.records import Sample, Score, Verdict

LEAST = 2  # claims
MOST = 1.5  # log-odds, of those after the first
SURE = 1e-6  # no probability counts as nearer to 0 or 1


def least_supported(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts that decide, the least supported first; in order of the text where two are alike."""
    return sorted(verdicts, key=_probability)[:LEAST]


def probability_grounded(verdicts: Sequence[Verdict]) -> float:
    """The probability that all of the answer is supported, from the verdicts on its claims. Expects at least one."""
    if any(verdict.probability is None for verdict in verdicts):
        return float(all(verdict.label == "supported" for verdict in verdicts))
    first, *others = [_log_odds(_probability(verdict)) for verdict in least_supported(verdicts)]
    odds = [first, *(min(one, max(first, MOST)) for one in others)]
    return 1 / (1 + math.exp(-math.fsum(odds) / len(odds)))


def _probability(verdict: Verdict) -> float:
    return verdict.probability if verdict.probability is not None else float(verdict.label == "supported")


def _log_odds(probability: float) -> float:
    safe = min(max(probability, SURE), 1 - SURE)
    return math.log(safe / (1 - safe))


@dataclass(frozen=True)
class Grounded(Metric):
    """The probability that the contexts support the whole answer."""

    name: ClassVar[str] = "grounded"
    needs: ClassVar = ("answer", "contexts")
    asks: ClassVar = (Claims, Support)
    reads_history: ClassVar = True

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        reading = await answer_against_conversation(sample, judge)
        if not reading.verdicts:
            return self.skip(Cause.NO_CLAIMS, "the answer makes no checkable claim", texts=reading.not_judged)
        value = probability_grounded(reading.verdicts)
        claims = tuple(one.claim.text for one in least_supported(reading.verdicts) if one.claim is not None)
        evidence = reading.with_parts(grounded=float(value >= 0.5))
        return self.make_score(value, **{**evidence, "texts": {**evidence["texts"], "decided_by": claims}})
