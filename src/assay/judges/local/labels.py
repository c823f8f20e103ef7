"""What the outputs of somebody else's model mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from assay.errors import InputError
from assay.records import SupportLabel

Labels = Mapping[Any, SupportLabel] | Sequence[SupportLabel]  # by name or number; or in order

ALLOWED: tuple[str, ...] = get_args(SupportLabel)
_KNOWN: dict[str, SupportLabel] = {
    **dict.fromkeys(
        ("entailment", "entails", "entailed", "supported", "supports", "support", "consistent", "factual", "grounded",
         "faithful", "attributable"), "supported",
    ),
    **dict.fromkeys(("contradiction", "contradicts", "contradicted", "refutes", "refuted"), "contradicted"),
    **dict.fromkeys(
        ("neutral", "notentailment", "notsupported", "unsupported", "notmentioned", "notenoughinfo", "nei",
         "inconsistent", "hallucination", "hallucinated", "ungrounded", "unfaithful", "notattributable", "baseless"),
        "not_mentioned",
    ),
}  # fmt: skip


def meanings(count: int, given: Labels | None, config: Mapping[str, Any]) -> tuple[SupportLabel, ...]:
    """What each of `count` outputs means, from what the user says or from the names in the model's config.json.

    One output is the log-odds of supported. Raises InputError naming the labels that were found and what is expected.
    """
    names = {int(index): str(name) for index, name in dict(config.get("id2label") or {}).items()}
    if given is None:
        if count == 1:
            return ("supported",)
        found = [_KNOWN.get("".join(filter(str.isalpha, names.get(n, "").lower()))) for n in range(count)]
        known = [label for label in found if label is not None]
        if len(known) < count or "supported" not in known or len(set(known)) < 2:
            said = ", ".join(names.get(n, f"output {n}") for n in range(count))
            raise InputError(
                f"labels: the model calls its {count} outputs {said}, which is not known here; say what they mean, "
                f"for example labels=['not_mentioned', 'supported'] (of {', '.join(ALLOWED)})"
            )
        return tuple(known)
    if isinstance(given, str) or not isinstance(given, (Mapping, Sequence)):
        raise InputError(f"labels: expected a list or a mapping, got {given!r}")
    if isinstance(given, Mapping):
        indices = {name: index for index, name in names.items()}
        by_index = {indices.get(key, key): label for key, label in dict(given).items()}
    else:
        by_index = dict(enumerate(given))
    wrong = [label for label in by_index.values() if label not in ALLOWED]
    if wrong:
        raise InputError(f"labels: {wrong[0]!r} is none of {', '.join(ALLOWED)}")
    if set(by_index) != set(range(count)) or "supported" not in by_index.values():
        said = ", ".join(f"{n} {names.get(n, '')!r}" for n in range(count))
        raise InputError(f"labels: expected a meaning for each of {said}, one of them supported; got {given!r}")
    return tuple(by_index[n] for n in range(count))


def probabilities(logits: Sequence[float], meaning: Sequence[SupportLabel]) -> tuple[float, float]:
    """Of support and of contradiction, from the logits of a model; of one alone by the logistic function."""
    if len(logits) == 1:
        return _sigmoid(logits[0]), 0.0
    top = max(logits)
    parts = [math.exp(logit - top) for logit in logits]
    total = math.fsum(parts)
    shares = {
        label: math.fsum(part for part, meant in zip(parts, meaning, strict=True) if meant == label) / total
        for label in ("supported", "contradicted")
    }
    return min(1.0, shares["supported"]), min(shares["contradicted"], 1.0 - min(1.0, shares["supported"]))


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
