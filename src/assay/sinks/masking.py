"""Scored samples without their texts: structure, numbers and labels stay, every text is masked or becomes its hash."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from assay.errors import InputError
from assay.records import Sample, Score, ScoredSample
from assay.sinks.base import Mask
from assay.store.live_runs import slices_of

#: Keys, at any depth, whose texts say nothing of what was asked, found or said.
_KEPT = frozenset(
    {
        *(
            "metric",
            "judge",
            "version",
            "direction",
            "cause",
            "label",
            "language",
            "status",
            "id",
            "ids",
            "start",
            "end",
        ),
        "role",
    }
)
#: Keys under which everything is somebody's own, so that no name in it says that a text may be kept.
_FOREIGN = frozenset({"metadata", "arguments"})


def hash_text(text: str) -> str:
    """`sha256:` and the hex digest of a text."""
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def hider(mask: Mask | None, texts: bool) -> Mask | None:
    """What is to be done to each text: hash it, mask it, or nothing (None).

    The function raises InputError where the mask fails, without the mask's own words: they may hold the text.
    """
    if not texts:
        return hash_text
    if mask is None:
        return None

    def masked(text: str) -> str:
        try:
            hidden = mask(text)
        except Exception as error:
            raise InputError(f"mask: it raised {type(error).__name__}; nothing was written") from None
        if not isinstance(hidden, str):
            raise InputError(f"mask: expected a function that returns a text, got {type(hidden).__name__}")
        return hidden

    return masked


def hashed_texts(data: dict[str, Any]) -> dict[str, Any]:
    """`ScoredSample.to_dict()` with every text hashed, except names, labels, ids and roles.

    In metadata and in a tool's arguments all are hashed.
    """
    return hidden_texts(data, hash_text)


def hidden_texts(data: dict[str, Any], hide: Mask) -> dict[str, Any]:
    """`ScoredSample.to_dict()` with `hide` applied to every text, except names, labels and ids; see `hashed_texts`."""
    return {
        "sample": _hidden(data["sample"], _KEPT, hide),
        "scores": {name: _hidden(score, _KEPT, hide) for name, score in data["scores"].items()},
    }


def without_texts(scored: ScoredSample, slices: Collection[str] = ()) -> ScoredSample:
    """Keep scores, causes and ids alone: no text of the sample, of its evidence or of the judge.

    Args:
        scored: The scored sample.
        slices: Metadata to keep besides `assay.store.live_runs.SLICE_KEYS`.

    Returns:
        The same without texts, under the same key.
    """
    sample = scored.sample
    kept = Sample(
        id=sample.key(),
        ids=sample.ids,
        language=sample.language,
        status=sample.status,
        metadata=slices_of(sample.metadata, slices),
    )
    return ScoredSample(sample=kept, scores={name: _bare(score) for name, score in scored.scores.items()})


def _bare(score: Score) -> Score:
    error = score.error
    if error is not None:  # a message may quote
        error = replace(error, message=error.cause.value, raw=None)
    convention = None if score.convention is None else "by convention"
    return replace(score, error=error, convention=convention, verdicts={}, texts={})


def _hidden(value: Any, kept: frozenset[str], hide: Mask) -> Any:
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict):
        return {
            key: item if key in kept else _hidden(item, frozenset() if key in _FOREIGN else kept, hide)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_hidden(item, kept, hide) for item in value]
    return value
