"""Scoring what labels are about, now: where the labels bring their texts, no run is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from assay.analysis.judges.alignment.labels import Label, Labels
from assay.errors import Cause, InputError
from assay.evaluation.evaluate import evaluate
from assay.evaluation.result import Result
from assay.judges import JudgeSpec
from assay.judges.protocol import Judge
from assay.metrics import Metric, share_supported
from assay.metrics.names import resolve_metrics
from assay.prompts import Support, Usefulness
from assay.records import Claim, Sample, Score, Span
from assay.store.store import Store


@dataclass(frozen=True)
class LabelledClaims(Metric):
    """The share of the labelled claims of a sample that its contexts support; the claims are taken as they are."""

    name: ClassVar[str] = "labelled_claims"
    needs: ClassVar = ("contexts",)
    asks: ClassVar = (Support,)

    claims: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        texts = self.claims.get(sample.key(), ())
        if not texts:
            return self.skip(Cause.NO_CLAIMS, "no claim of this sample is labelled")
        claims = tuple(Claim(text=text, span=Span(0, len(text))) for text in texts)
        verdicts = await judge.find(Support(claims, sample.passages, sample.question, sample.spoken))
        return self.make_score(share_supported(verdicts), verdicts={"claims/contexts": verdicts})


@dataclass(frozen=True)
class LabelledPassages(Metric):
    """The share of a sample's passages that are useful for its question."""

    name: ClassVar[str] = "labelled_passages"
    needs: ClassVar = ("question", "contexts")
    asks: ClassVar = (Usefulness,)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        if not sample.passages:
            return self.skip(Cause.NO_CONTEXT, "there are no passages")
        verdicts = await judge.find(Usefulness(sample.question or "", sample.passages, None, sample.spoken))
        useful = sum(verdict.label == "useful" for verdict in verdicts)
        return self.make_score(useful / len(verdicts), verdicts={"question/contexts": verdicts})


def bring_texts(labels: Labels) -> bool:
    """Whether every label brings what a judge would read."""
    return bool(labels.labels) and all(label.sample is not None and _readable(label) for label in labels.labels)


def _readable(label: Label) -> bool:
    sample = label.sample
    if sample is None or not (sample.contexts or sample.answer is not None):
        return False
    return label.level == "sample" or sample.contexts is not None


def score_labels(
    labels: Labels,
    metrics: str | None = None,
    judge: JudgeSpec = None,
    store: Store | str | Path = ".assay",
    progress: bool | None = None,
) -> Result:
    """A run over the texts that the labels bring: labelled claims and passages, and the metrics of labelled samples.

    Args:
        metrics: For labels of samples that do not name one. Raises InputError where one is needed, and as `evaluate`
            does.
    """
    samples: dict[str, Sample] = {}
    claims: dict[str, list[str]] = {}
    for label in labels.labels:
        if label.sample is None:
            raise InputError(f"{labels.name}, row {label.number}: it brings no texts to score")
        key = label.sample.key()
        metadata = {**label.sample.metadata, **label.columns}
        samples.setdefault(key, replace(label.sample, id=key, metadata=metadata))
        if label.level == "claim" and label.text is not None and label.text not in claims.setdefault(key, []):
            claims[key].append(label.text)
    chosen = _chosen(labels.labels, claims, metrics)
    return evaluate(list(samples.values()), chosen, judge, store=store, progress=progress, note=f"labels {labels.name}")


def _chosen(labels: Sequence[Label], claims: Mapping[str, Sequence[str]], metrics: str | None) -> list[Metric]:
    named = [label.metric for label in labels if label.level == "sample" and label.metric is not None]
    silent = any(label.level == "sample" and label.metric is None for label in labels)
    if silent and metrics is None:
        raise InputError("metrics: which metric are the labels of samples about? name one with --metrics")
    wanted = list(dict.fromkeys([*named, *([metrics] if silent and metrics else [])]))
    chosen: list[Any] = list(resolve_metrics(wanted)) if wanted else []
    if claims:
        chosen.append(LabelledClaims({key: tuple(texts) for key, texts in claims.items()}))
    if any(label.level == "passage" for label in labels):
        chosen.append(LabelledPassages())
    return chosen
