"""`pytest.mark.short_cases(2)`: of the cases of a test the first and the last run by default, the others are long."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import pytest


def mark_the_others(items: Sequence[pytest.Item]) -> None:
    """Mark all cases as long but those that are to run by default, spread evenly from the first to the last.

    Args:
        items: The collected tests. Cases that are long already do not count.
    """
    cases: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("short_cases") and not item.get_closest_marker("long"):
            cases[item.nodeid.partition("[")[0]].append(item)
    for found in cases.values():
        count = found[0].get_closest_marker("short_cases").args[0]  # type: ignore[union-attr]
        kept = set(short_places(len(found), count))
        for place, item in enumerate(found):
            if place not in kept:
                item.add_marker(pytest.mark.long)


def short_places(cases: int, count: int) -> list[int]:
    """Which of so many cases run by default: at most `count`, spread evenly from the first to the last."""
    if count < 2 or cases <= count:
        return list(range(min(cases, count)))
    return [place * (cases - 1) // (count - 1) for place in range(count)]
