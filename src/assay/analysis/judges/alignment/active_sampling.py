"""What to label next: items of which the judge is uncertain more often, each with a known probability.

The items are ordered by u / size, with u drawn for each item by its name (sequential Poisson sampling: Ohlsson, J. Off.
Stat. 14, 1998): the first n are a sample with probabilities in proportion to the sizes, for every n, so a session can
stop anywhere and go on. A label's weight is one over its size, up to a factor that all have: weighted, what is found in
the sample is unbiased for the whole run. Sizes lie between `LEAST` and `MOST`, so that no single label decides a mean.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from assay._util.tabular import ResultRows, Tabular
from assay.analysis.judges.alignment.items import SENTENCES, Item, RunItems
from assay.analysis.judges.alignment.labels import Level
from assay.errors import InputError

#: Of a size whose mean is 1.
LEAST, MOST = 0.5, 2.0
What = Literal["claims", "passages", "samples"]
LEVELS: dict[str, Level] = {"claims": "claim", "passages": "passage", "samples": "sample"}


@dataclass(frozen=True, slots=True)
class SampledItem(Tabular):
    """An item to label and the weight of its label: one over its chance, up to a factor."""

    _columns = "row=item.row level=item.level group=item.group text=item.text value=item.value weight"

    item: Item
    weight: float


def choose(
    items: RunItems, what: What = "claims", *, group: str | None = None, metric: str | None = None, seed: int = 0,
    alike: bool = False,
) -> ResultRows[SampledItem]:  # fmt: skip
    """The items of one kind, in the order in which to label them.

    Raises InputError where the run has no such items.

    Args:
        group: The reading, or the metric of samples; None: the reading that most of the items are of.
        metric: The same by the name of a metric that rests on it.
        alike: Give every item the same chance.
    """
    if what not in LEVELS:
        raise InputError(f"what: expected {', '.join(LEVELS)}, got {what!r}")
    found = [item for item in items.items if item.level == LEVELS[what] and item.group != SENTENCES]
    if what == "claims":
        found = [item for item in found if item.text]
    if what == "samples":
        found = [item for item in found if item.value is not None]
    names = list(dict.fromkeys(item.group for item in found))
    if metric is not None:
        names = [name for name in names if any(metric in item.metrics for item in found if item.group == name)]
    if group is not None:
        names = [name for name in names if name == group]
    if not names:
        there = ", ".join(sorted({f"{item.level}s of {item.group}" for item in items.items if item.group != SENTENCES}))
        raise InputError(f"{what}: this run has none of these to label; it has {there or 'nothing'}")
    first = min(names, key=lambda name: ("reference" in name, names.index(name)))
    some = [item for item in found if item.group == first]
    sizes = [1.0] * len(some) if alike else sizes_of([_uncertain(item) for item in some])
    order = sorted(range(len(some)), key=lambda n: _random_number(some[n], seed) / sizes[n])
    return ResultRows((SampledItem(some[n], 1.0 / sizes[n]) for n in order), SampledItem)


def sizes_of(uncertain: Sequence[float]) -> list[float]:
    """Sizes from `LEAST` to `MOST` that grow with the uncertainties."""
    mean = math.fsum(uncertain) / len(uncertain) if uncertain else 0.0
    if mean <= 0.0:
        return [1.0] * len(uncertain)
    return [min(MOST, LEAST + (1.0 - LEAST) * one / mean) for one in uncertain]


def _uncertain(item: Item) -> float:
    """The standard deviation of a yes of that probability, at most 0.5; of a sample by where its value lies."""
    p = item.probability
    if p is None and item.value is not None and math.isfinite(item.high - item.low):
        p = (item.value - item.low) / (item.high - item.low)
    return 0.25 if p is None else math.sqrt(p * (1.0 - p))


def _random_number(item: Item, seed: int) -> float:
    """A number in (0, 1) that is this item's own for a seed."""
    name = f"{seed}\0{item.row}\0{item.id}\0{item.group}\0{item.index}\0{item.text}"
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    return (int.from_bytes(digest[:8], "big") + 0.5) / 2**64
