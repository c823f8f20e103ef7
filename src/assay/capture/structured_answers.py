"""The answer of a structured object: one field of a model, a dataclass or a dict. All readers of answers use it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.records.field_names import ANSWER_NAMES

#: What LangChain's `with_structured_output(..., include_raw=True)` puts out, and nothing else.
_WITH_RAW = frozenset({"raw", "parsed", "parsing_error"})
#: What stands in the metadata of a sample whose structure could not be read.
PARSING_ERROR = "parsing_error"


def structured_answer(value: Any, key: str | None = None) -> str | None:
    """Find the answer of a structured object.

    Args:
        value: A model, a dataclass, a mapping or another object with attributes.
        key: Name of the answer's field. None: the first of the names in `ANSWER_NAMES` with a text, else the only field
            if it is a text.

    Returns:
        The text. None if no field holds the answer.
    """
    names = ANSWER_NAMES if key is None else (key,)
    texts = (value.get(name) if isinstance(value, Mapping) else getattr(value, name, None) for name in names)
    found = next((text for text in texts if isinstance(text, str)), None)
    if found is not None or key is not None:
        return found
    fields = fields_of(value)
    only = next(iter(fields.values())) if len(fields) == 1 else None
    return only if isinstance(only, str) else None


def fields_of(value: Any) -> Mapping[Any, Any]:
    """The fields of a model, a dataclass or a mapping; none for any other object."""
    if isinstance(value, Mapping):
        return value
    kind = type(value)
    names = getattr(kind, "__pydantic_fields__", None) or getattr(kind, "__dataclass_fields__", None) or ()
    return {name: getattr(value, name, None) for name in names}


def has_raw(outputs: Any) -> bool:
    """Whether this is a structured output with the message that it was read from."""
    return isinstance(outputs, Mapping) and outputs.keys() == _WITH_RAW


def is_unreadable(outputs: Any) -> bool:
    """Whether this is a structured output that could not be read from its message."""
    return has_raw(outputs) and outputs["parsed"] is None and bool(outputs["parsing_error"])
