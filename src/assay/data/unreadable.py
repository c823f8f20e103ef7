"""The row that stands in the place of one that could not be read."""

from __future__ import annotations

from dataclasses import dataclass

from assay.errors import Cause


@dataclass(frozen=True, slots=True)
class UnreadableRow:
    """A row that could not even be read.

    Attributes:
        message: Where, and why.
        cause: The cause of its scores: BAD_ROW or TOO_LARGE.
    """

    message: str
    cause: Cause = Cause.BAD_ROW
