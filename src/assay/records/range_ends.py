"""Ends of ranges in JSON, which has no infinity: null stands for a range without an end."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any


def finite_or_none(value: float | None) -> float | None:
    """Convert a number to JSON.

    Args:
        value: The number.

    Returns:
        The number; None where it is infinite.
    """
    return value if value is not None and math.isfinite(value) else None


def plain_values(record: Any) -> dict[str, Any]:
    """Convert a dataclass to JSON values.

    Args:
        record: An instance, with fields that JSON can hold, or with dataclasses of such fields.

    Returns:
        Its fields. Tuples are lists, and numbers that are not finite are None.
    """
    found: dict[str, Any] = json.loads(json.dumps(asdict(record)), parse_constant=lambda name: None)
    return found


def read_low(value: float | None) -> float:
    """Read the lower end of a range from JSON.

    Args:
        value: The end. None: the range has none.

    Returns:
        The end, -inf where there is none.
    """
    return -math.inf if value is None else value


def read_high(value: float | None) -> float:
    """Read the upper end of a range from JSON.

    Args:
        value: The end. None: the range has none.

    Returns:
        The end, inf where there is none.
    """
    return math.inf if value is None else value


@dataclass(frozen=True)
class RangeEnd:
    """Tells pydantic how a field that is the end of a range is read and written.

    Attributes:
        missing: What null stands for.
    """

    missing: float

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema  # only where records are read or written

        return core_schema.no_info_before_validator_function(
            lambda value: self.missing if value is None else value,
            handler(source),
            serialization=core_schema.plain_serializer_function_ser_schema(finite_or_none, when_used="json"),
        )
