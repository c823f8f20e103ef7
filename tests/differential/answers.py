"""What a judge says of whole answers of the `worlds`, and rankings of passages by ids; only the standard library."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import worlds


def told(case: worlds.Case) -> dict[str, Any]:
    """The verdicts and ratings of whole texts of a case, always the same for the same texts."""
    about = (case.question, case.answer, *case.contexts)

    def yes(what: str) -> bool:
        return worlds.share(what, *about) < 0.5

    def level(what: str, low: int, high: int) -> int:
        return low + int(worlds.share(what, *about) * (high - low + 1))

    filled = any(text.strip() for text in case.contexts)
    return {
        "faithfulness": filled and yes("faithfulness"),
        "relevancy": filled and yes("relevancy"),
        "subject": yes("subject"),
        "focus": yes("focus"),
        "subject_level": level("subject", 0, 2),
        "answering_level": level("answering", 0, 2),
        "level": level("level", 1, 5),
        "guideline": yes("guideline"),
        "vote": worlds.pick(("first", "second", "tie"), "vote", *about),
        "flipped_vote": worlds.pick(("first", "second", "tie"), "flipped", *about),
    }


@dataclass(frozen=True)
class Ranking:
    """Ids of passages, retrieved and expected."""

    id: str
    retrieved: tuple[str, ...]
    expected: tuple[str, ...]


def rankings() -> list[Ranking]:
    """46 rankings: 40 ordinary ones, and six that decide what a formula does at its ends."""
    chance = random.Random(11)
    names = [f"p{number}" for number in range(12)]
    found = [
        Ranking(
            f"ranking-{number}",
            tuple(chance.sample(names, chance.randint(1, 8))),
            tuple(chance.sample(names, chance.randint(1, 5))),
        )
        for number in range(40)
    ]
    return [
        *found,
        Ranking("nothing-retrieved", (), ("p1",)),
        Ranking("nothing-expected", ("p1",), ()),
        Ranking("none-found", ("p1", "p2"), ("p3",)),
        Ranking("all-found", ("p1", "p2"), ("p2", "p1")),
        Ranking("retrieved-twice", ("p1", "p1", "p2"), ("p1",)),
        Ranking("expected-twice", ("p1", "p3"), ("p1", "p1", "p2")),
    ]
