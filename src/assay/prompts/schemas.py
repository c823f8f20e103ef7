"""Pieces that the schemas and readers of prompts share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.errors import InvalidReply
from assay.prompts.base import PromptSection
from assay.records.images import Image


def array(items: Mapping[str, Any]) -> dict[str, Any]:
    """JSON schema of a list."""
    return {"type": "array", "items": items}


def record(**properties: Mapping[str, Any]) -> dict[str, Any]:
    """JSON schema of an object with exactly these keys, in this order."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def one_of(*labels: str) -> dict[str, Any]:
    """JSON schema of a closed set of labels."""
    return {"type": "string", "enum": list(labels)}


TEXT: dict[str, Any] = {"type": "string"}

#: The one schema of all readings of passages. Endpoints that count the schema to the prompt put it first, so that
#: readings with schemas of their own would share no prefix, however many passages they have in common.
READINGS: dict[str, Any] = record(
    items=array(
        record(
            id=TEXT,
            reason=TEXT,
            label=one_of("supported", "contradicted", "not_mentioned", "useful", "not_useful"),
            quotes=array(
                record(passage=TEXT, label=one_of("supported", "contradicted", "together", "useful"), quote=TEXT)
            ),
        )
    ),
    sentences=array({"type": "integer"}),
)


def items_by_id(items: Any, key: str, expected: Sequence[str], what: str) -> dict[str, Mapping[str, Any]]:
    """The items of a reply by their id, checked: each expected id once, and no other."""
    if not isinstance(items, list):
        raise InvalidReply(f"Expected a list of {what}s.")
    known = frozenset(expected)
    found: dict[str, Mapping[str, Any]] = {}
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get(key), str):
            raise InvalidReply(f"Every {what} must be an object with the text field {key!r}.")
        name = item[key].strip().strip("[]")
        if name not in known:
            raise InvalidReply(f"There is no {key} {name!r}; the ids are {', '.join(expected)}.")
        if name in found:
            raise InvalidReply(f"{name!r} is answered twice; give each id once.")
        found[name] = item
    missing = [name for name in expected if name not in found]
    if missing:
        raise InvalidReply(f"No {what} for {', '.join(missing)}; give one for each of {', '.join(expected)}.")
    return found


def label_of(item: Mapping[str, Any], labels: Sequence[str]) -> str:
    """The label of an item, from the closed set."""
    label = item.get("label")
    if isinstance(label, str):
        tidy = label.strip().lower().replace(" ", "_").replace("-", "_")
        if tidy in labels:
            return tidy
    raise InvalidReply(f"The label must be one of {', '.join(labels)}, not {label!r}.")


def text_of(item: Mapping[str, Any], key: str) -> str | None:
    """A text field of an item; None when absent or empty."""
    value = item.get(key)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise InvalidReply(f"The field {key!r} must be text.")
    return value.strip() or None


def probability_of(item: Mapping[str, Any], label: str) -> float | None:
    """The probability that the judge gave this label of the item, where it is known."""
    probs = item.get("probs")
    return None if not probs else min(1.0, max(0.0, float(probs.get(label, 0.0))))


def mass_of(item: Mapping[str, Any]) -> float:
    """The probability that the judge gave to all labels of the item together; 1 where it is not known."""
    return min(1.0, max(0.0, float(item.get("mass", 1.0))))


def passage_index(entry: Any, count: int) -> int:
    """The index, from 0, of the passage that an entry names as P1, P2, ..."""
    name = entry.get("passage") if isinstance(entry, dict) else None
    digits = str(name).strip().strip("[]").removeprefix("P") if name is not None else ""
    if not digits.isdecimal() or len(digits) > 6 or not 1 <= int(digits) <= count:
        raise InvalidReply(f"There is no passage {name!r}; the ids are P1 to P{count}.")
    return int(digits) - 1


def passage_sections(passages: Sequence[str]) -> tuple[PromptSection, ...]:
    """Passages P1, P2, ... as sections, in order."""
    return tuple(PromptSection(f"PASSAGE P{number}", text) for number, text in enumerate(passages, 1))


def pictured(images: Sequence[tuple[str, Image]]) -> frozenset[int]:
    """The indexes of the passages that have a picture: what a judge quotes of them may stand on it."""
    return frozenset(int(title.removeprefix("PASSAGE P")) - 1 for title, _ in images if title.startswith("PASSAGE P"))


def question_section(question: str | None, earlier: str | None = None) -> tuple[PromptSection, ...]:
    """The user's question as a section, if there is one, after the question of the turn before, if that is known."""
    before = (PromptSection("EARLIER QUESTION", earlier),) if question and earlier else ()
    return (*before, PromptSection("QUESTION", question)) if question else ()


def one_line(text: str) -> str:
    """The text on one line, so that in a numbered list it cannot pass itself off as the next entry."""
    return " ".join(text.split())
