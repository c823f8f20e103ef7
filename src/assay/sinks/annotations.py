"""Scores as annotations of a trace: what every trace store is told, in one form. Pure functions.

An annotation's id depends on what was scored, the metric, its version and the judge, and on nothing else: writing the
same result again, on another day or from another process, writes the same annotation.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from assay.records import Context, Record, Sample, Score, ScoredSample, Verdict, fingerprint
from assay.records.field_names import well_formed
from assay.records.phrases import headline, score_in_words
from assay.sinks.base import Mask
from assay.sinks.masking import hider

#: Annotations get version 5 UUIDs under this one.
NAMESPACE = uuid.UUID("6f1d3c52-6a5f-5d0e-9d57-3a4f0c9b7e21")

#: The time of a sample that tells none: fixed, because some stores keep two scores of different days apart.
UNKNOWN_TIME = 946684800.0  # 2000-01-01T00:00:00Z

EXPLANATION = 4_000  # characters
EVIDENCE = 16_000  # characters of JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation(Record):
    """One score for one target.

    Attributes:
        id: UUID, the same for the same target, metric, version and judge.
        identifier: What tells apart scores of one metric on one target: 16 hex digits over version and judge.
        name: The metric's label.
        value: The number; None where there is no measurement.
        label: "skipped" or "failed" where there is no measurement (see `Score.outcome`), else None.
        cause: Why there is no measurement, machine readable: "no_context", "timeout" …
        explanation: The score and its evidence in plain sentences, at most EXPLANATION characters.
        metadata: Judge, version, range, direction, ids and evidence, as flat JSON-able values (evidence is JSON text).
        at: When the exchange ended, in seconds since 1970; fixed for the target.
    """

    id: str
    identifier: str
    name: str
    value: float | None = None
    label: str | None = None
    cause: str | None = None
    explanation: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    at: float = UNKNOWN_TIME


def annotations_of(
    scored: ScoredSample,
    *,
    target: str | None = None,
    mask: Mask | None = None,
    texts: bool = True,
    explanation_limit: int = EXPLANATION,
    evidence_limit: int = EVIDENCE,
) -> list[Annotation]:
    """One annotation per score, in the order of the scores.

    Args:
        target: What is annotated, as the store calls it (a span id, a run id); None: the sample's key.
        mask: Applied to every text, whole, before it is put into words, shortened or sent.
        texts: False: no text of the sample leaves; claims and quotes are hashes, the explanation holds only numbers.
    """
    where = target if target is not None else scored.sample.key()
    mask = hider(mask, texts)
    hide = well_formed if mask is None else lambda text: well_formed(mask(text))
    sample = _hidden_sample(scored.sample, hide)
    found = []
    for name, measured in scored.scores.items():
        score = _hidden_score(measured, hide)
        identifier = identifier_of(score)
        found.append(
            Annotation(
                id=str(uuid.uuid5(NAMESPACE, f"{where}\n{name}\n{identifier}")),
                identifier=identifier,
                name=name,
                value=score.value if score.measured else None,
                label=None if score.measured else score.outcome,
                cause=score.why_unmeasured,
                explanation=_shortened(_words(score, sample, texts), explanation_limit),
                metadata=_metadata(score, sample, evidence_limit),
                at=time_of(sample),
            )
        )
    return found


def identifier_of(score: Score) -> str:
    """What tells apart two scores of one metric on one target: 16 hex digits over its version and judge."""
    return fingerprint([score.version, score.judge])[:16]


def time_of(sample: Sample) -> float:
    """When the exchange ended, as its trace says; else the time in its id, if that is a UUID of version 7."""
    for name in ("ended", "started"):
        value = sample.metadata.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0:
            return float(value)
    try:
        identity = uuid.UUID(sample.id or "")
    except ValueError:
        return UNKNOWN_TIME
    return (identity.int >> 80) / 1000 if identity.version == 7 else UNKNOWN_TIME


def _hidden_sample(sample: Sample, hide: Mask) -> Sample:
    """The sample with its passages hidden: the words of an explanation quote from nothing else of it."""
    if sample.contexts is None:
        return sample
    return replace(sample, contexts=tuple(Context(text=hide(one.text), id=one.id) for one in sample.contexts))


def _hidden_score(score: Score, hide: Mask) -> Score:
    error = score.error
    return replace(
        score,
        error=None if error is None else replace(error, message=hide(error.message), raw=None),
        verdicts={
            name: tuple(_hidden_verdict(verdict, hide) for verdict in verdicts)
            for name, verdicts in score.verdicts.items()
        },
        texts={name: tuple(map(hide, texts)) for name, texts in score.texts.items()},
    )


def _hidden_verdict(verdict: Verdict, hide: Mask) -> Verdict:
    return replace(
        verdict,
        claim=None if verdict.claim is None else replace(verdict.claim, text=hide(verdict.claim.text)),
        evidence=tuple(replace(quote, text=hide(quote.text)) for quote in verdict.evidence),
        reason=None if verdict.reason is None else hide(verdict.reason),
    )


def _words(score: Score, sample: Sample, texts: bool) -> str:
    if texts:
        return score_in_words(score, sample)
    return headline(score) if score.measured else f"Not scored ({score.why_unmeasured})"


def _metadata(score: Score, sample: Sample, limit: int) -> dict[str, Any]:
    data: dict[str, Any] = {
        "assay.version": score.version,
        "assay.judge": score.judge or "",
        "assay.range": f"{score.low:g} to {score.high:g}",
        "assay.direction": score.direction,
        **{f"assay.part.{name}": value for name, value in score.parts.items()},
        **{f"assay.id.{name}": value for name, value in sample.ids.items()},
    }
    cause = score.why_unmeasured
    if cause is not None:
        data["assay.cause"] = cause
    evidence = _evidence(score, sample)
    if evidence:
        data["assay.evidence"], left_out = _within(evidence, limit)
        if left_out:
            data["assay.evidence_left_out"] = left_out
    return data


def _evidence(score: Score, sample: Sample) -> list[dict[str, Any]]:
    ids = [context.id for context in sample.contexts or ()]
    return [
        # where the contexts were cut into sentences, the verdicts count those
        _verdict(verdict, reading, ids if reading.endswith("/contexts") and not score.texts.get("contexts") else ())
        for reading, verdicts in score.verdicts.items()
        for verdict in verdicts
    ]


def _verdict(verdict: Verdict, reading: str, ids: Sequence[str | None]) -> dict[str, Any]:
    found: dict[str, Any] = {"reading": reading, "label": verdict.label}
    if verdict.probability is not None:
        found["probability"] = round(verdict.probability, 4)
    if verdict.claim is not None:
        found["claim"] = verdict.claim.text
        found["at"] = [verdict.claim.span.start, verdict.claim.span.end]
    if verdict.passage is not None:
        found["passage"] = verdict.passage
    if verdict.evidence:
        found["quotes"] = [
            {
                "passage": quote.passage,
                "at": [quote.span.start, quote.span.end],
                "text": quote.text,
                **({"id": ids[quote.passage]} if quote.passage < len(ids) and ids[quote.passage] is not None else {}),
            }
            for quote in verdict.evidence
        ]
    if verdict.reason:
        found["reason"] = verdict.reason
    return found


def _within(evidence: Sequence[Mapping[str, Any]], limit: int) -> tuple[str, int]:
    """Those verdicts that fit, as JSON, unfavourable ones first; and how many did not fit."""
    favourable = ("supported", "useful", "direct", "yes")
    ordered = sorted(evidence, key=lambda item: item["label"] in favourable)
    pieces: list[str] = []
    room = limit - 2
    for item in ordered:
        piece = json.dumps(item, ensure_ascii=False, separators=(",", ":"))
        if len(piece) + 1 <= room:
            pieces.append(piece)
            room -= len(piece) + 1
    return "[" + ",".join(pieces) + "]", len(ordered) - len(pieces)


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
