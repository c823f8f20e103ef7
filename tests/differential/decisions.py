"""What `talks` does not say and DeepEval's graphs, classifiers and decision models ask, with probabilities.

Everything follows from the last mark that a text holds, as in `talks`. Only the standard library.
"""

from __future__ import annotations

from collections.abc import Sequence

import talks
import worlds

LEVELS = ("bad", "fair", "good")
CREDITS: dict[str, float | None] = {"friendly": 1.0, "plain": 0.4, "rude": None, "silent": None}
STATEMENT, SCALE, CHOICE = "It is polite.", "How good is it?", "What tone does it have?"
WEIGHTS = {STATEMENT: 2.0, SCALE: 1.0, CHOICE: 0.5}
TONES = {"friendly": 10, "plain": 7}
WINDOW = (0, 1)
MOODS = ("glad", "calm", "angry")
RESOLUTIONS = ("resolved", "unresolved", "handed_over")
MUST, MUST_NOT = ("answer every question", "be short"), ("mention the weather",)


def odds(about: str, options: Sequence[str], text: str) -> dict[str, float]:
    """A probability for each option; one in four is sure of one of them."""
    mark = talks.last_mark(text)
    if worlds.share("sure", about, mark) < 0.25:
        sure = worlds.pick(tuple(options), "which", about, mark)
        return {option: float(option == sure) for option in options}
    weights = {option: worlds.share("odds", about, option, mark) ** 3 for option in options}
    return {option: weight / sum(weights.values()) for option, weight in weights.items()}


def has_source(talk: talks.Talk) -> bool:
    return worlds.share("source", talk.id) < 0.8


def tone(text: str) -> str:
    return worlds.pick(("friendly", "plain", "rude"), "tone", talks.last_mark(text))


def label(classifier: str, labels: Sequence[str], text: str) -> str:
    return worlds.pick(tuple(labels), "label", classifier, talks.last_mark(text))


def expected(classifier: str, labels: Sequence[str], talk: talks.Talk) -> str:
    return worlds.pick(tuple(labels), "expected", classifier, talk.id)


def keeps(demand: str, text: str) -> str:
    return worlds.pick((*(["kept"] * 9), "broken", "broken", "undecided"), "keeps", demand, talks.last_mark(text))


def tokens(talk: talks.Talk) -> list[tuple[str, float]]:
    """The likeliest tokens where a level from 0 to 10 stands, with their probabilities, which add up to 0.9 or less."""
    found = odds("tokens", [str(level) for level in range(11)], talk.said[0].text)
    return [(level, 0.9 * one) for level, one in found.items() if one > 0] + [(" and", 0.05)]


def written(talk: talks.Talk) -> int:
    """The level that is written: the likeliest one."""
    return int(max(tokens(talk), key=lambda one: one[1])[0])
