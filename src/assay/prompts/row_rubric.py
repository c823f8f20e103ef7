"""Rubrics of rows: questions, levels and labels that come with the data stand between fences, like all judged text.

The instructions name them by title: "as the text LEVEL 3 says". A rubric of the metric's own stands in the instructions
itself. Prompts with a field `fenced` are written this way where it is set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from assay.prompts.base import PromptSection

T = TypeVar("T")

#: What the instructions ask in the place of a row's question.
ASKED = "What is the answer to the text RUBRIC, asked of the other texts?"


def fenced_levels(levels: Iterable[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
    """The levels as the instructions name them."""
    return tuple((number, f"as the text LEVEL {number} says") for number, _ in levels)


def level_sections(question: str, levels: Iterable[tuple[int, str]]) -> tuple[PromptSection, ...]:
    """A row's question and levels as material."""
    described = (PromptSection(f"LEVEL {number}", text) for number, text in levels)
    return (PromptSection("RUBRIC", question), *described)


def fenced_labels(choices: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The labels as the instructions name them: label_1, label_2, ..."""
    return tuple((f"label_{n}", f"what the text LABEL {n} says") for n, _ in enumerate(choices, 1))


def label_sections(question: str, choices: Iterable[tuple[str, str]]) -> tuple[PromptSection, ...]:
    """A row's question and labels as material."""
    texts = (label if meaning in ("", label) else f"{label}: {meaning}" for label, meaning in choices)
    described = (PromptSection(f"LABEL {n}", text) for n, text in enumerate(texts, 1))
    return (PromptSection("RUBRIC", question), *described)


def by_own_label(found: Mapping[str, T], choices: Iterable[tuple[str, str]]) -> dict[str, T]:
    """What a judge said of label_1, label_2, ..., by the labels of the row."""
    return {label: found[f"label_{n}"] for n, (label, _) in enumerate(choices, 1) if f"label_{n}" in found}
