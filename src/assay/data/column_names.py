"""Columns that flat exports name by a role, a path or a number: `input_question`, `outputs.documents`, `context_1`.

They are read where exactly one column, or one numbered group, fits a field that no column has by an accepted name. What
was read as what is said in a note; where two fit, both are named and neither is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from assay.records.field_names import ACCEPTED, STATE_CONTEXT_NAMES, field_of

Role = Literal["input", "output", "reference", ""]

_ROLES: Mapping[str, Role] = {
    "input": "input", "inputs": "input", "request": "input",
    "output": "output", "outputs": "output", "response": "output", "prediction": "output", "predictions": "output",
    "reference": "reference", "expected": "reference", "expectation": "reference", "expectations": "reference",
    "target": "reference", "gold": "reference", "ideal": "reference", "reference_output": "reference",
    "reference_outputs": "reference", "expected_output": "reference", "expected_outputs": "reference",
    "ground_truth": "reference",
    # objects that hold fields, whatever their role
    "attributes": "", "data": "", "item": "", "record": "", "row": "", "sample": "", "vars": "", "retrieval": "",
}  # fmt: skip
#: Fields that a column of a role can be, and what an answer is among the references.
_FIELDS: Mapping[Role, Mapping[str, str]] = {
    "input": {name: name for name in ("question", "contexts", "reference", "reference_contexts")},
    "output": {name: name for name in ("answer", "contexts")},
    "reference": {"answer": "reference", "reference": "reference", "contexts": "reference_contexts"},
    "": {name: name for name in ("question", "answer", "contexts", "reference", "reference_contexts")},
}
_OWN: Mapping[Role, str] = {"input": "question", "output": "answer", "reference": "reference"}
_VALUES = ("value", "text", "content")
_PASSAGES = ("contexts", "reference_contexts")
_PASSAGE_NAMES = frozenset(
    {"doc", "document", "passage", "chunk", "chunks", "snippet", "snippets", *STATE_CONTEXT_NAMES}
)
_TEXTS = frozenset({"text", "content", "pagecontent", "context", "document", "chunk", "passage", "body"})

_SPLIT = re.compile(r"[._\-/\s]+|(?<=[a-z])(?=[A-Z])")
_NUMBERED = re.compile(
    r"(?P<base>.*?[^\W\d_])[\s._\-\[(#]*(?P<number>\d{1,6})[\])]*"
    r"(?:[\s._\-]+(?P<suffix>[A-Za-z]{1,20}(?:[_ ][A-Za-z]{1,20})?))?"
)


@dataclass(slots=True)
class InferredColumns:
    """Columns that hold fields by the parts of their names.

    Attributes:
        columns: Field -> its column.
        several: Field -> the columns whose passages make it up together, in the order of their numbers.
        notes: A sentence on what was read as what, and one for each field that two columns could be.
    """

    columns: dict[str, str] = field(default_factory=dict)
    several: dict[str, tuple[str, ...]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def infer_columns(names: Iterable[str], known: Iterable[str]) -> InferredColumns:
    """Find the columns of fields that have none by an accepted name.

    Args:
        names: Names of the columns that hold no field so far.
        known: Fields that have a column.

    Returns:
        What was found.
    """
    names, known = list(names), set(known)
    found = InferredColumns()
    candidates: dict[str, list[tuple[str, ...]]] = {}
    grouped: set[str] = set()
    for held, group in _numbered_groups(names):
        candidates.setdefault(held, []).append(group)
        grouped.update(group)
    for name in names:
        held_by = None if name in grouped else field_of_parts(name)
        if held_by is not None:
            candidates.setdefault(held_by, []).append((name,))
    for held, groups in candidates.items():
        if held in known:
            continue
        if len(groups) > 1:
            listed = " and ".join(", ".join(map(repr, group)) for group in groups)
            found.notes.append(
                f"{listed} could each be the {held}, and none was read; say which is meant, for example "
                f"column_map={map_of({held: groups[0]})}"
            )
            continue
        found.columns[held] = groups[0][0]
        if len(groups[0]) > 1:
            found.several[held] = groups[0]
    if found.columns:
        read = (
            f"{_listed(found.several.get(held, (column,)))} as the {held}" for held, column in found.columns.items()
        )
        found.notes.insert(0, f"read by the parts of their names: {'; '.join(read)}")
    return found


def field_of_parts(name: str) -> str | None:
    """Find the field that a name says by its parts, as `outputs.documents` says contexts.

    Args:
        name: Name of a column.

    Returns:
        The field; None where the parts say none.
    """
    parts = [part.lower() for part in _SPLIT.split(name) if part]
    role: Role | None = None
    while len(parts) > 1:
        size = next((size for size in (2, 1) if size < len(parts) and "_".join(parts[:size]) in _ROLES), 0)
        if not size:
            break
        found = _ROLES["_".join(parts[:size])]
        role = found or role or ""
        parts = parts[size:]
    if role is None:
        return None
    rest = "_".join(parts)
    own = _ROLES.get(rest, "")
    if (rest in _VALUES and role) or (role == "" and own):
        return _OWN.get(role or own)
    return _FIELDS[role].get(_passage_field(rest) or field_of(rest) or "")


def _passage_field(name: str) -> str | None:
    plural = field_of(f"{name}s")
    if name in _PASSAGE_NAMES:
        return "contexts"
    return plural if plural in _PASSAGES else None


def _numbered_groups(names: Iterable[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Groups of columns of passages that differ by their number alone, in the order of the numbers."""
    groups: dict[tuple[str, str], dict[int, str]] = {}
    for name in names:
        parts = _NUMBERED.fullmatch(name)
        if parts is not None and _plain(parts["suffix"] or "text") in _TEXTS:
            groups.setdefault((parts["base"], _plain(parts["suffix"] or "")), {})[int(parts["number"])] = name
    bare = {base for base, suffix in groups if not suffix}
    for (base, suffix), numbered in groups.items():
        lowered = "_".join(part.lower() for part in _SPLIT.split(base) if part)
        held = field_of(lowered) if field_of(lowered) in _PASSAGES else _passage_field(lowered) or field_of_parts(base)
        if held in _PASSAGES and not (suffix and base in bare):
            yield held, tuple(numbered[number] for number in sorted(numbered))


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace(" ", "")


def map_of(columns: Mapping[str, str | tuple[str, ...]]) -> str:
    """Write a column map to paste.

    Args:
        columns: Field -> its column or columns.

    Returns:
        The map as Python and JSON write it.
    """
    lists = {held: (column,) if isinstance(column, str) else column for held, column in columns.items()}
    plain = {held: names[0] if len(names) == 1 else list(names) for held, names in lists.items()}
    return json.dumps(plain, ensure_ascii=False)


def _listed(names: tuple[str, ...], most: int = 4) -> str:
    shown = names if len(names) <= most else (*names[: most - 1], names[-1])
    listed = [repr(name) for name in shown]
    if len(names) > most:
        listed.insert(-1, "…")
    return ", ".join(listed)


# -- suggestions for names that nobody can be sure of ------------------------------------------------------------------

_WORDS: Mapping[str, frozenset[str]] = {
    "reference": frozenset({
        "correct", "expected", "ideal", "gold", "golden", "right", "true", "truth", "target", "label",
    }),
    "contexts": frozenset({
        "context", "contexts", "passage", "passages", "document", "documents", "docs", "chunk", "chunks", "retrieved",
        "retrieval", "sources", "evidence", "texts", "snippets",
    }),
    "question": frozenset({"question", "query", "prompt", "input", "ask", "asked"}),
    "answer": frozenset({"answer", "reply", "response", "output", "completion", "generated", "prediction", "result"}),
}  # fmt: skip
_OF_SCORES = frozenset({"score", "id", "ids", "url", "count", "time", "date", "tokens", "length", "rank", "cost"})


def suggest_columns(names: Iterable[str], fields: Iterable[str]) -> dict[str, str]:
    """Suggest columns for fields by single words of their names.

    Args:
        names: Names of columns that hold no field.
        fields: Fields that have no column.

    Returns:
        Field -> a column that may hold it. Nothing is read by it.
    """
    wanted = set(fields)
    found: dict[str, str] = {}
    for name in names:
        words = {part.lower() for part in _SPLIT.split(name) if part}
        held = next((held for held, known in _WORDS.items() if words & known), None)
        if held in wanted and not words & _OF_SCORES:
            found.setdefault(held, name)
    return {held: found[held] for held in ACCEPTED if held in found}
