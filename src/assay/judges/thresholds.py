"""The value of a metric from which on people say yes, and how well it tells: part of a calibration."""

from __future__ import annotations

import math
from dataclasses import dataclass

from assay.errors import InputError
from assay.records import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold(Record):
    """Where a metric parts what people say yes and no of, on the scale of its scores.

    Attributes:
        value: That of all labels: at and above it people say yes.
        parts: Those that were found without one part of the labels each; the figures below are by these, each part of
            the labels held to the one that was found without it.
        yes, no: Labels of each kind; of labels with unequal weights as many as say as much (Kish).
        found: The share of the yes that reaches its part's threshold; `left`: the share of the no that does not.
        labels: How many there were.
        metric: The metric with its parameters; None where that was not known.
    """

    value: float
    parts: tuple[float, ...]
    yes: float
    no: float
    found: float
    left: float
    labels: int
    metric: str | None = None

    def __post_init__(self) -> None:
        numbers = (self.value, *self.parts, self.yes, self.no)
        if not self.parts or not all(map(math.isfinite, numbers)) or not (self.yes > 0.0 and self.no > 0.0):
            raise InputError("threshold: expected finite numbers, one part or more, and labels of both kinds")
        if not (0.0 <= self.found <= 1.0 and 0.0 <= self.left <= 1.0):
            raise InputError("threshold: found, left: expected shares from 0 to 1")

    def reached(self, value: float) -> float:
        """The share of the parts' thresholds that a value reaches, in [0, 1]."""
        return sum(value >= part for part in self.parts) / len(self.parts)
