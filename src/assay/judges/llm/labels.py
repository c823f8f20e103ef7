"""Label probabilities: what an endpoint's token log-probabilities say of the labels in a reply.

A label is a closed choice, so the probability of each is the mass of the tokens that could have begun it, where the
label's value begins. After a written reason this is the probability given that reason: often overconfident, and to
be calibrated before use.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.judges.llm.replies import ParsedReply

#: Below this share of the mass the model was about to write something that is no label: no probability then.
LEAST_MASS = 0.5

# Within a JSON string a quote has a backslash before it, so this finds keys only.
_LABEL = re.compile(r'"label"\s*:\s*"')


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a reply, with the likeliest alternatives at its place and their natural log-probabilities."""

    text: str
    top: tuple[tuple[str, float], ...]
    bytes: bytes | None = None


def attach_probabilities(
    found: ParsedReply, schema: Mapping[str, Any], reply: str, tokens: Sequence[Token], labels: Sequence[str] = ()
) -> None:
    """Give each object of `found.data` that has a label with a closed set its `probs`, where they can be told.

    They add up to 1; `mass` is the probability that all labels have together.

    Leaves everything as it is when the tokens do not make up the reply, or the object was not JSON as it stood.

    Args:
        labels: Those of the schema's that were offered; () for all.
    """
    if found.start is None:
        return
    places = [found.start + match.end() for match in _LABEL.finditer(found.text)]
    labelled = list(_labelled(found.data, schema))
    index = _Index.of(reply, tokens)
    if index is None or len(places) != len(labelled):
        return
    for place, (item, allowed) in zip(places, labelled, strict=True):
        offered = [label for label in allowed if label in labels] if labels else allowed
        mass = _masses(index, place, offered) if offered else {}
        total = sum(mass.values())
        if mass and total >= LEAST_MASS:
            item["probs"] = {label: value / total for label, value in mass.items()}
            item["mass"] = total


def drop_probabilities(data: Any) -> None:
    """Take away what a reply itself calls the probabilities of its labels: only tokens show those.

    Args:
        data: The reply, which is changed.
    """
    for value in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        drop_probabilities(value)
    if isinstance(data, dict) and "label" in data:
        data.pop("probs", None)
        data.pop("mass", None)


def _labelled(data: Any, schema: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], Sequence[str]]]:
    """The objects with a text as label, in the order of their labels in the document, each with what is allowed."""
    if isinstance(data, list):
        items = schema.get("items", {})
        for item in data:
            yield from _labelled(item, items)
    elif isinstance(data, dict):
        properties = schema.get("properties", {})
        for key, value in data.items():
            inner = properties.get(key, {})
            if key == "label" and isinstance(value, str):
                yield data, inner.get("enum", ())
            else:
                yield from _labelled(value, inner)


@dataclass(frozen=True, slots=True)
class _Index:
    """Tokens by the character at which they begin."""

    tokens: Sequence[Token]
    starts: list[int]

    @classmethod
    def of(cls, reply: str, tokens: Sequence[Token]) -> _Index | None:
        joined = "".join(token.text for token in tokens)
        if joined == reply:
            lengths = [len(token.text) for token in tokens]
        else:  # a character may be split over tokens: then only the bytes add up to the reply
            pieces = [token.bytes for token in tokens]
            if None in pieces or b"".join(piece or b"" for piece in pieces) != reply.encode("utf-8", "replace"):
                return None
            # continuation bytes belong to the character before them
            lengths = [sum(byte & 0xC0 != 0x80 for byte in piece or b"") for piece in pieces]
        starts, at = [], 0
        for length in lengths:
            starts.append(at)
            at += length
        return cls(tokens, starts)

    def at(self, place: int) -> tuple[Token, int]:
        """The token that holds the character at `place`, and how many of its characters stand before that."""
        n = bisect_right(self.starts, place) - 1
        return self.tokens[n], place - self.starts[n]


def _masses(index: _Index, place: int, allowed: Sequence[str]) -> dict[str, float]:
    token, before = index.at(place)
    mass = dict.fromkeys(allowed, 0.0)
    for text, logprob in token.top:
        label = _begun_by(text, token.text[:before], allowed)
        if label is not None:
            mass[label] += math.exp(min(0.0, logprob))
    return mass


def _begun_by(text: str, before: str, allowed: Sequence[str]) -> str | None:
    """The one label that this token could begin; None when it begins none, or could begin several.

    `before` is what the chosen token has before the label (a space, the opening quote): an alternative is compared
    after the same, since without it the value would not have begun.
    """
    if before and not text.startswith(before):
        return None
    core = text[len(before) :].lower()
    word = core.split('"', 1)[0]
    if not word:
        return None
    if word in allowed:
        return word
    begun = [label for label in allowed if label.startswith(word)]
    return begun[0] if len(begun) == 1 and '"' not in core else None
