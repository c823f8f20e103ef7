"""Arrays of numbers as text, for states that are kept as JSON: little-endian float64 in base64, exact and short."""

from __future__ import annotations

import base64
import binascii

import numpy as np

from assay.errors import InputError
from assay.stats.arrays import Floats


def to_text(values: Floats) -> str:
    """The numbers as text."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode("ascii")


def from_text(text: str) -> Floats:
    """The numbers of a text.

    Raises:
        InputError: The text is not one that `to_text` wrote.
    """
    try:
        return np.frombuffer(base64.b64decode(text, validate=True), dtype="<f8").astype(np.float64)
    except (TypeError, ValueError, binascii.Error):
        raise InputError(f"state: expected numbers in base64, got {text!r:.60}") from None
