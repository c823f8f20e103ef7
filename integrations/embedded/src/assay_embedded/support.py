"""What a passage says of a claim: from the reader's logits and from the words that both share, as probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay_embedded.errors import FileCorrupt
from assay_embedded.features import FEATURES, TextFeatures

Logits = tuple[float, float, float]  # supported, contradicted, not mentioned
NOWHERE = (0, 0)


@dataclass(frozen=True, slots=True)
class SupportReading:
    """What a passage says of a claim.

    Attributes:
        probability: That the passage supports the claim, in [0, 1]; 0.5 is the threshold measured on the card.
        contradiction: That it says otherwise, in [0, 1 - probability]; what is left is that it does not say.
        sentence: Offsets in the passage of the sentence that covers the claim best; of a supported claim that shares no
            word with any, the first that was read; else (0, 0).
        unsupported: Offsets in the claim of runs of words and numbers that are nowhere in the passage.
        overlap: Share of the claim's different content words that the passage has, in [0, 1].
        equal: Quantities of the claim that the passage tells otherwise, each with the passage's words for it:
            ("60 minutes", "one hour").
    """

    probability: float
    contradiction: float
    sentence: tuple[int, int]
    unsupported: tuple[tuple[int, int], ...]
    overlap: float
    equal: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Regression:
    """The logistic regression over the features, as trained by training/train_support.py."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    weights: tuple[float, ...]
    intercept: float

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Regression:
        if list(data["features"]) != list(FEATURES):
            raise FileCorrupt("support.json", "its features are not those of features.py")
        fields = {name: tuple(map(float, data[name])) for name in ("low", "high", "mean", "scale", "weights")}
        return cls(**fields, intercept=float(data["intercept"]))

    def logit(self, values: Sequence[float]) -> float:
        """Features outside the range seen in training count as its edge."""
        terms = (
            weight * (min(max(value, low), high) - mean) / scale
            for value, low, high, mean, scale, weight in zip(
                values, self.low, self.high, self.mean, self.scale, self.weights, strict=True
            )
        )
        return self.intercept + math.fsum(terms)


@dataclass(frozen=True, slots=True)
class ProbabilityMap:
    """Turns logits into probabilities, as fitted by training/calibrate_support.py on documents kept out of training."""

    reader: float
    words: float
    shift: float
    against: float
    against_shift: float

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> ProbabilityMap:
        return cls(*(float(data[name]) for name in ("reader", "words", "shift", "against", "against_shift")))

    def probabilities(self, logits: Logits, words: float) -> tuple[float, float]:
        """Of support and of contradiction, from the reader's logits and the regression's."""
        yes = sigmoid(self.reader * margin(logits) + self.words * words + self.shift)
        against = sigmoid(self.against * (logits[1] - logits[2]) + self.against_shift)
        return yes, (1 - yes) * against


def margin(logits: Logits) -> float:
    """Log-odds of supported, as the reader has them."""
    yes, *no = logits
    top = max(no)
    return yes - (top + math.log(sum(math.exp(x - top) for x in no)))


def combined(parts: Sequence[Sequence[Logits]]) -> Logits | None:
    """One for all windows: of each part of a claim the window that supports it best, of those the worst part.

    None when there is nothing to read, that is, where the claim or the passage is empty.
    """
    best = [max(windows, key=margin) for windows in parts if windows]
    return min(best, key=margin) if best else None


def judged(
    logits: Logits | None,
    words: TextFeatures,
    regression: Regression | None,
    calibration: ProbabilityMap,
    read: Sequence[tuple[int, int]] = (),
    equal: Sequence[tuple[str, str]] = (),
) -> SupportReading:
    """The reading; probability 0 where there was nothing to read. `read`: the sentences with which the claim was.

    `equal`: quantities that both tell otherwise.

    Without a `regression` shared words have no say.
    """
    probability, contradiction = 0.0, 0.0
    if logits is not None:
        probability, contradiction = calibration.probabilities(
            logits, regression.logit(words.values) if regression else 0.0
        )
    return SupportReading(
        probability=probability,
        contradiction=contradiction,
        sentence=words.sentence if words.sentence != NOWHERE or probability < 0.5 else next(iter(read), NOWHERE),
        unsupported=words.missing,
        overlap=words.overlap,
        equal=tuple(equal),
    )


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
