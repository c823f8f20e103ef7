"""Scored samples without their texts: structure, numbers and labels stay, every text becomes its hash."""

from __future__ import annotations

import hashlib
from typing import Any

#: Keys, at any depth, whose texts say nothing of what was asked, found or said.
_KEPT = frozenset(
    {"metric", "judge", "version", "direction", "cause", "label", "language", "status", "id", "ids", "start", "end"}
)


def hash_text(text: str) -> str:
    """`sha256:` and the hex digest of a text."""
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def hashed_texts(data: dict[str, Any]) -> dict[str, Any]:
    """`ScoredSample.to_dict()` with every text hashed, except names, labels and ids; in metadata without exception."""
    return {
        "sample": _hashed(data["sample"], _KEPT),
        "scores": {name: _hashed(score, _KEPT) for name, score in data["scores"].items()},
    }


def _hashed(value: Any, kept: frozenset[str]) -> Any:
    if isinstance(value, str):
        return hash_text(value)
    if isinstance(value, dict):
        return {
            key: item if key in kept else _hashed(item, frozenset() if key == "metadata" else kept)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_hashed(item, kept) for item in value]
    return value
