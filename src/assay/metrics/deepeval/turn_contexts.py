"""DeepEval's retrieval metrics over conversations: a single-turn formula for each window of exchanges, and their mean.

    turn faithfulness           claims of the answers that the passages do not contradict / claims
    turn contextual precision   average precision of the passages for the expected outcome
    turn contextual recall      claims of the expected outcome that the passages support / claims
    turn contextual relevancy   sentences of the passages that the questions need / sentences

A window is an exchange with up to nine before it: all their questions, answers and passages are taken together. The
passages of an exchange are those of its turn in the history, for the last one those of the sample, else what its tools
gave back. Range 0 to 1, higher is better. DeepEval 4.3.1, whose windows with nothing to judge count as 1; here they are
left out. The expected outcome is the reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics._context_precision import average_precision, share_useful
from assay.metrics._faithfulness import share_supported
from assay.metrics.deepeval.shares import share
from assay.metrics.shared_prompts import ask, claims_of, gather, support
from assay.metrics.systems.base import Entry, Steps, SystemMetric, at_least
from assay.metrics.systems.conversation import Exchange, conversation, exchanges_of, windows
from assay.prompts import Claims, Support, Usefulness, UsefulSentences
from assay.records import Context, Sample, Score, Verdict

Found = tuple[float | None, tuple[Verdict, ...]]


@dataclass(frozen=True)
class _OverWindows(SystemMetric):
    """What they share. `penalize_ambiguous_claims` counts for faithfulness alone."""

    name: ClassVar[str] = ""
    conventions: ClassVar = {Cause.NOT_APPLICABLE: 1.0}

    window_size: int = 10

    def __post_init__(self) -> None:
        at_least(self, "window_size")

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        conversation(sample, self)
        found = await gather(*(
            self.window(_joined(window, sample), window, judge)
            for window in windows(exchanges_of(sample), self.window_size)
        ))  # fmt: skip
        values = [1.0 if value is None else value for value, _ in found if self.original or value is not None]
        if not values:
            return self.skip(Cause.NOT_APPLICABLE, "no exchange in which there is something to judge")
        verdicts = {f"window {n}": one for n, (_, one) in enumerate(found, 1) if one}
        parts = {f"window {n}": value for n, (value, _) in enumerate(found, 1) if value is not None}
        return self.make_score(sum(values) / len(values), verdicts=verdicts, parts=parts)

    async def window(self, sample: Sample, window: Sequence[Exchange], judge: Judge) -> Found:
        """The value of a window, None where there is nothing to judge, and its verdicts."""
        raise NotImplementedError


def _joined(window: Sequence[Exchange], sample: Sample) -> Sample:
    """The window as one sample."""
    passages = tuple(chain(*(exchange.contexts for exchange in window)))
    return Sample(
        question="\n".join(exchange.question for exchange in window),
        contexts=tuple(Context(text=text) for text in passages),
        answer="\n".join(exchange.answer for exchange in window),
        reference=sample.reference,
        language=sample.language,
    )


@dataclass(frozen=True)
class TurnFaithfulness(_OverWindows):
    """Claims not contradicted / claims; with `penalize_ambiguous_claims` supported claims / claims."""

    name: ClassVar[str] = "deepeval:turn_faithfulness"
    asks: ClassVar = (Claims, Support)

    penalize_ambiguous_claims: bool = False

    async def window(self, sample: Sample, window: Sequence[Exchange], judge: Judge) -> Found:
        alone = [replace(sample, question=one.question, answer=one.answer) for one in window]
        claims = tuple(chain(*await ask(judge, *(claims_of(one, "answer") for one in alone))))
        if not claims or (not any(map(str.strip, sample.passages)) and not self.original):
            return None, ()
        verdicts = await support(claims, sample.passages, sample, judge)
        value = share_supported(verdicts) if self.penalize_ambiguous_claims else 1 - share(verdicts, "contradicted")
        return value, verdicts


@dataclass(frozen=True)
class TurnContextualPrecision(_OverWindows):
    """The mean of the average precision of each window's passages."""

    name: ClassVar[str] = "deepeval:turn_contextual_precision"
    needs: ClassVar = ("reference",)
    asks: ClassVar = (Usefulness,)

    async def window(self, sample: Sample, window: Sequence[Exchange], judge: Judge) -> Found:
        if not sample.passages:
            return None, ()
        prompt = Usefulness(sample.question or "", sample.passages, sample.reference, sample.spoken)
        verdicts = await judge.find(prompt)
        return average_precision([verdict.label == "useful" for verdict in verdicts]), verdicts


@dataclass(frozen=True)
class TurnContextualRecall(_OverWindows):
    """The mean of the share of the reference's claims that each window's passages support."""

    name: ClassVar[str] = "deepeval:turn_contextual_recall"
    needs: ClassVar = ("reference",)
    asks: ClassVar = (Claims, Support)

    async def window(self, sample: Sample, window: Sequence[Exchange], judge: Judge) -> Found:
        claims = await judge.find(replace(claims_of(sample, "reference"), question=None)) if sample.passages else ()
        if not claims:
            return None, ()
        verdicts = await support(claims, sample.passages, sample, judge)
        return share_supported(verdicts), verdicts


@dataclass(frozen=True)
class TurnContextualRelevancy(_OverWindows):
    """The mean of the share of each window's sentences that are useful."""

    name: ClassVar[str] = "deepeval:turn_contextual_relevancy"
    asks: ClassVar = (UsefulSentences,)

    async def window(self, sample: Sample, window: Sequence[Exchange], judge: Judge) -> Found:
        prompt = UsefulSentences.of(sample.question or "", sample.passages, sample.spoken)
        if not prompt.sentences:
            return None, ()
        verdicts = await judge.find(prompt)
        return share_useful(verdicts), verdicts


def _entry(make: type[SystemMetric], called: str, family: str, unit: str, against: str, counts: str) -> Entry:
    steps = Steps(unit, against, counts, "mean over windows of exchanges")
    source = f"deepeval.metrics.{called}Metric"
    empty = "1 for a window with nothing to judge, and without exchanges"
    return Entry(
        make=make, source=source, compared="deepeval 4.3.1", family=family, steps=steps, empty=empty,
        ordered="by rank" in counts,
    )  # fmt: skip


ENTRIES = (
    _entry(
        TurnFaithfulness, "TurnFaithfulness", "faithfulness",
        "claims of the answers", "all contexts together", "not contradicted",
    ),
    _entry(
        TurnContextualPrecision, "TurnContextualPrecision", "context precision",
        "passages", "the reference", "useful, by rank",
    ),
    _entry(
        TurnContextualRecall, "TurnContextualRecall", "context recall",
        "claims of the reference", "all contexts together", "supported",
    ),
    _entry(
        TurnContextualRelevancy, "TurnContextualRelevancy", "context relevance",
        "sentences of the passages", "the question", "useful",
    ),
)  # fmt: skip
