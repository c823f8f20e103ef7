"""Which record of an answer is held against which of the reference: openevals' four ways of pairing lists of objects.

    ordered         by their places
    same_elements   each of the answer's with the one of the reference's with which it has most values in common, each
                    taken once, the first of equals; who is left alone counts against the answer
    subset          the same, but what is left of the reference does not count
    superset        each of the reference's with one of the answer's; what is left of the answer does not count

For same_elements, lists that are equal in any order are paired so before anything else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import zip_longest
from typing import Any, Literal, TypeAlias

ListMode = Literal["superset", "subset", "same_elements", "ordered"]
Object: TypeAlias = Mapping[str, Any]
#: A record of the answer and one of the reference; None where one is alone.
Pair: TypeAlias = tuple[Object | None, Object | None]


def pairs(ours: Sequence[Object], theirs: Sequence[Object], mode: ListMode, skipped: Set[str]) -> list[Pair]:
    """The pairs of two lists of records; `skipped` keys have no say in who belongs to whom."""
    if mode == "ordered":
        return list(zip_longest(ours, theirs))
    if mode == "superset":
        return [(our, their) for their, our in _greedy(theirs, ours, skipped)[0]]
    if mode == "same_elements" and (equal := _equal(ours, theirs, skipped)) is not None:
        return equal
    found, left = _greedy(ours, theirs, skipped)
    return found + [(None, their) for their in left] if mode == "same_elements" else found


def _greedy(first: Sequence[Object], others: Sequence[Object], skipped: Set[str]) -> tuple[list[Pair], list[Object]]:
    """Each of the first with the best of the others that is free, and those that are left."""
    free = list(others)
    found: list[Pair] = []
    for one in first:
        best = max(range(len(free)), key=lambda n: _common(one, free[n], skipped), default=None)
        found.append((one, None if best is None else free.pop(best)))
    return found, free


def _common(one: Object, other: Object, skipped: Set[str]) -> int:
    """How many values they have in common."""
    return sum(key in other and other[key] == value for key, value in one.items() if key not in skipped)


def _equal(ours: Sequence[Object], theirs: Sequence[Object], skipped: Set[str]) -> list[Pair] | None:
    """The pairs of lists that are equal but for their order; None for others."""
    if len(ours) != len(theirs):
        return None
    free = [(their, _without(their, skipped)) for their in theirs]
    found: list[Pair] = []
    for our in ours:
        bare = _without(our, skipped)
        at = next((n for n, (_, other) in enumerate(free) if other == bare), None)
        if at is None:
            return None
        found.append((our, free.pop(at)[0]))
    return found


def _without(record: Object, skipped: Set[str]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in skipped}
