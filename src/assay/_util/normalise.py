"""What records may hold: texts that can be written as UTF-8, and values that JSON has.

`Sample`, `Context` and `Turn` clean what they are given with these functions: no door lets in more than another.
"""

from __future__ import annotations

import contextlib
import math
import numbers
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from datetime import date, time
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

_DROP = object()
#: Values nested deeper than this are left out.
DEPTH = 20
#: Whole numbers of more bits are left out: Python refuses to print those of more than 4,300 digits.
_BITS = 8192

_LEFT_OUT: ContextVar[list[Exception] | None] = ContextVar("assay_left_out", default=None)


def well_formed(text: str) -> str:
    """`text` with every lone surrogate replaced by U+FFFD, one for one, so that offsets stay.

    JSON may carry half an emoji (`"\\ud83d"`, often the end of a text that was cut); such a text cannot be stored or
    sent as UTF-8. What comes out is a plain `str`: `str()` of a member of a text enumeration would be its name.
    """
    text = str.__str__(text)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= char <= "\udfff" else char for char in text)
    return text


def missing(value: object) -> bool:
    """Check whether a value is missing: None, NaN, or NA and NaT of pandas.

    Args:
        value: Any value.

    Returns:
        True for a missing value.
    """
    if value is None:
        return True
    if isinstance(value, numbers.Real):
        return bool(value != value)
    if isinstance(value, Decimal):
        return value.is_nan()
    return type(value).__name__ in ("NAType", "NaTType")


def real_number(value: object) -> float | None:
    """Convert a real number to a float: the one rule for numbers that somebody hands over.

    Args:
        value: Any value. Fractions, decimals and NumPy numbers are numbers. A bool is not.

    Returns:
        The float, which may be NaN; infinity for a number above the range of floats. None for any other value.
    """
    if isinstance(value, bool) or not isinstance(value, (numbers.Real, Decimal)):
        return None
    try:
        return math.nan if missing(value) else float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]  # real numbers have an order


def finite(value: object) -> float | None:
    """Convert a finite number to a float.

    Args:
        value: Any value: see `real_number`.

    Returns:
        The float. None for NaN, infinity, a number above the range of floats, and a value that is not a real number.
    """
    number = value if type(value) is float else real_number(value)
    return number if number is not None and math.isfinite(number) else None


def json_object(value: object, *, nulls: bool = False) -> dict[str, Any]:
    """What of a mapping JSON can hold, as a new dict: see `json_value`. Empty for anything that is no mapping.

    `nulls`: keep keys whose value is None, as in the arguments of a call.
    """
    if type(value) is dict and not value:
        return {}
    if type(value) is dict and all(map(_is_scalar, value.values())) and all(map(_is_plain_key, value)):
        return value.copy()
    if not isinstance(value, Mapping):
        return {}
    kept = {well_formed(str(key)): (json_value(item), item is None and nulls) for key, item in value.items()}
    return {key: item for key, (item, is_null) in kept.items() if item is not None or is_null}


@contextlib.contextmanager
def leaving_out() -> Iterator[list[Exception]]:
    """In this block, a value that raises when it is looked at is left out, as what JSON cannot hold; its error is here.

    Objects of a database whose session is over behave so. Elsewhere such an error goes to whoever handed it over.
    """
    errors: list[Exception] = []
    token = _LEFT_OUT.set(errors)
    try:
        yield errors
    finally:
        _LEFT_OUT.reset(token)


def json_value(value: object) -> Any:
    """Convert a value to the types of JSON.

    Dates and times become text in ISO 8601, UUIDs text, fractions and decimals numbers, and NumPy scalars and arrays
    numbers and lists. A value that
    JSON cannot hold is left out of its dict or list. Examples are bytes, infinity, images and objects. The same goes
    for dicts and lists below level DEPTH.

    If a value raises an exception when it is read, the exception propagates. Within `leaving_out` the exception is
    recorded, and the value is left out.

    Args:
        value: Any value.

    Returns:
        The converted value. None for a missing value, and for an outermost value that JSON cannot hold.
    """
    found = _kept(value, 0)
    return None if found is _DROP else found


def _kept(value: object, depth: int) -> Any:
    """The value in JSON's types; `_DROP` where it is left out."""
    try:
        return _json_value(value, depth)
    except Exception as error:
        errors = _LEFT_OUT.get()
        if errors is None:
            raise
        errors.append(error)
        return _DROP


def _json_value(value: object, depth: int) -> Any:
    if missing(value):
        return None
    if isinstance(value, str):
        return well_formed(str(value))
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if value.bit_length() <= _BITS else _DROP
    if isinstance(value, (float, Decimal, Fraction)):
        number = finite(value)
        return _DROP if number is None else number
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if depth > DEPTH:
        return _DROP
    if isinstance(value, Mapping):
        pairs = ((well_formed(str(key)), _kept(item, depth + 1)) for key, item in value.items())
        return {key: item for key, item in pairs if item is not _DROP}
    if isinstance(value, (list, tuple)):
        return [item for item in (_kept(item, depth + 1) for item in value) if item is not _DROP]
    to_list = getattr(value, "tolist", None)  # numpy's arrays and scalars
    if callable(to_list):
        return _kept(to_list(), depth + 1)
    return _DROP


def _is_plain_key(key: object) -> bool:
    return type(key) is str and key.isascii()


def _is_scalar(value: object) -> bool:
    """Whether `json_value` would give the same again; quicker than asking it, and most metadata is flat and plain."""
    kind = type(value)
    if kind is str:
        return value.isascii() or well_formed(value) is value  # type: ignore[attr-defined, arg-type]
    if kind is int:
        return value.bit_length() <= _BITS  # type: ignore[attr-defined, no-any-return]
    return kind is bool or (kind is float and math.isfinite(value))  # type: ignore[arg-type]
