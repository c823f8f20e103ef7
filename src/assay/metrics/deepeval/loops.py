"""The three signs of an agent that runs in circles, by which DeepEval detects loops. Pure functions.

repetition   how often the same tool is called with the same arguments, at most: from the threshold on 0.5, from
             twice the threshold on 0, else 1
stagnation   how alike two successive texts of the model are, at most: from the threshold on 0.5, above 0.95 0, else 1
cycles       a step stands below one of the same kind, name and input: 0, else 1
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any

from assay.records import ToolCall

IDENTICAL = 0.95
LEAST_WORDS = 20  # a shorter text is compared with none
MOST = 5000  # characters of a text that are compared: comparing takes time that grows with the square of the length
SHOWN = 64  # characters of an input that tell two steps apart
_SMALL = """\
the a an is are was were i will now based on information provided to of in and that this with for it my next step going
so do be have has not but as or from at by about above below up its let"""
SMALL_WORDS = frozenset(_SMALL.split())


def most_alike_calls(calls: Sequence[ToolCall]) -> int:
    """How often the most frequent call is made."""
    seen = Counter(
        (call.name, tuple(sorted((str(key), str(value)) for key, value in call.arguments.items()))) for call in calls
    )
    return max(seen.values(), default=0)


def repetition(count: int, threshold: int) -> float:
    """1.0, 0.5 from `threshold` equal calls on, 0.0 from twice as many on."""
    return 0.0 if count >= 2 * threshold else 0.5 if count >= threshold else 1.0


def words_of(text: str) -> list[str]:
    """The words that count: of three letters or more, without small ones."""
    return [word for word in text[:MOST].lower().split() if word not in SMALL_WORDS and len(word) > 2]


def likeness(one: Sequence[str], other: Sequence[str]) -> float:
    """The larger of the shares of common pairs of words (Jaccard) and of common characters in order (difflib)."""
    pairs, others = set(pairwise(one)), set(pairwise(other))
    jaccard = len(pairs & others) / len(pairs | others) if pairs | others else 0.0
    return max(jaccard, SequenceMatcher(None, " ".join(one), " ".join(other)).ratio())


def most_alike_texts(texts: Sequence[str]) -> float | None:
    """The likeness of the two successive texts that are most alike; None where none are long enough."""
    words = [words_of(text) for text in texts]
    found = [likeness(a, b) for a, b in pairwise(words) if min(len(a), len(b)) >= LEAST_WORDS]
    return max(found, default=None)


def stagnation(alike: float, threshold: float) -> float:
    """1.0, 0.5 from `threshold` on, 0.0 above 0.95 where that is above the threshold."""
    if alike < threshold:
        return 1.0
    return 0.0 if alike > IDENTICAL else 0.5


def cycles(trace: Mapping[str, Any]) -> float:
    """0.0 where a step of this tree stands below its like, else 1.0. Steps below have the key "children"."""
    waiting: list[tuple[Mapping[str, Any], tuple[str, ...]]] = [(trace, ())]
    while waiting:
        step, above = waiting.pop()
        label = _label(step)
        if label in above:
            return 0.0
        waiting += [(child, (*above, label)) for child in step.get("children") or () if isinstance(child, Mapping)]
    return 1.0


def _label(step: Mapping[str, Any]) -> str:
    given = step.get("input", "")
    shown = json.dumps(given, sort_keys=True) if isinstance(given, dict) else str(given)
    return f"{step.get('type', 'unknown')}:{step.get('name', 'unnamed')}:{shown[:SHOWN]}"


def combined(signs: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The mean of the signs by their weights. Expects at least one."""
    return sum(weights[name] * value for name, value in signs.items()) / sum(weights[name] for name in signs)
