"""The means of a run by people's measure: what the judge says of all rows, corrected by what people say of some."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from assay.analysis.judges.alignment.groups import Group, LabelPair
from assay.analysis.judges.alignment.items import Item, RunItems, by_row
from assay.stats.ppi import CorrectedMean, corrected_mean

#: Labelled rows, of one weight, below which no mean is corrected: its interval would be wrong (see test_ppi.py).
FEWEST = 30
#: Metrics that are made of the labelled items themselves.
AS_LABELLED = ("labelled_claims", "labelled_passages")


def corrected_means(
    items: RunItems, groups: Mapping[str, Group], confidence: float
) -> tuple[dict[str, CorrectedMean], list[str]]:
    """By metric, or by reading for the share of affirmed verdicts; and where there is none, how many labels it needs.

    A metric that is the share of affirmed verdicts of a reading, as faithfulness is, has a mean where all verdicts of
    the labelled rows are labelled, with equal weights: then a row's value by people is known.
    """
    found: dict[str, CorrectedMean | None] = {}
    for group in groups.values():
        if group.level == "sample":
            found[group.name] = _of_metric(items, group, confidence)
            continue
        found[group.name] = _of_verdicts(items, group, confidence)
        rows = _whole_rows(items, group)
        for metric in (name for name, reading in items.shares.items() if reading == group.name):
            if metric not in groups and metric not in AS_LABELLED and rows is not None:
                found[metric] = _of_rows(items, metric, rows, confidence)
    notes = [f"{name}: {_missing_labels(one)}" for name, one in found.items() if one and not _enough(one)]
    return {name: one for name, one in found.items() if one is not None and _enough(one)}, notes


def _enough(found: CorrectedMean) -> bool:
    """Whether there are labels enough, of both kinds: labels that are all alike do not tell how rare the others are."""
    return found.witnesses >= FEWEST - 1e-9 and (found.differ or not found.unlabelled)


def _missing_labels(found: CorrectedMean) -> str:
    """How many labels more give a corrected mean: FEWEST in all, or as many as hold a row unlike the others in 95 %.

    That is 3 by the share of such rows (the rule of three), which is no more than 3 by the number of labels.
    """
    if found.witnesses < FEWEST - 1e-9:
        more = math.ceil(round((FEWEST / found.witnesses - 1.0) * found.labelled, 6))
        return f"no corrected mean, {found.labelled} labels are too few for it. Label {max(1, more)} more."
    more = min(found.labelled, found.unlabelled)
    return f"no corrected mean, all {found.labelled} labels are alike. Label {more} more, so that some differ."


def _corrected(
    pairs: Sequence[tuple[float, float, float, int]],
    rest: Sequence[tuple[float, int]],
    low: float,
    high: float,
    confidence: float,
) -> CorrectedMean | None:
    """From (people's, the judge's, weight, row) of what is labelled, and (the judge's, row) of the rest."""
    if not all(low <= truth <= high for truth, *_ in pairs):
        return None
    return corrected_mean(
        [one[0] for one in pairs], [one[1] for one in pairs], [one[0] for one in rest], low, high,
        weights=[one[2] for one in pairs], clusters=[one[3] for one in pairs], rest_clusters=[one[1] for one in rest],
        confidence=confidence,
    )  # fmt: skip


def _of_metric(items: RunItems, group: Group, confidence: float) -> CorrectedMean | None:
    first = group.pairs[0].item if group.pairs else None
    if first is None:
        return None
    labelled = {pair.item.row for pair in group.pairs}
    rest = [(i.value, i.row) for i in items.of_group(group.name) if i.value is not None and i.row not in labelled]
    pairs = [(_truth(pair), pair.item.value or 0.0, pair.weight, pair.item.row) for pair in group.pairs]
    return _corrected(pairs, rest, first.low, first.high, confidence)


def _of_verdicts(items: RunItems, group: Group, confidence: float) -> CorrectedMean | None:
    labelled = {pair.item.key for pair in group.pairs}
    rest = [(float(bool(i.yes)), i.row) for i in items.of_group(group.name) if i.key not in labelled]
    pairs = [(_truth(pair), float(bool(pair.item.yes)), pair.weight, pair.item.row) for pair in group.pairs]
    return _corrected(pairs, rest, 0.0, 1.0, confidence)


def _whole_rows(items: RunItems, group: Group) -> dict[int, tuple[float, float]] | None:
    """The share that people affirm, and that the judge does, in each labelled row; None where some verdicts of a row
    have no label, for whole rows are then the short ones, and where rows were chosen with unequal weights."""
    pairs = {pair.item.key: pair for pair in group.pairs}
    if len({pair.weight for pair in pairs.values()}) > 1:
        return None
    of_row: Mapping[int, list[Item]] = by_row(items.of_group(group.name))
    found: dict[int, tuple[float, float]] = {}
    for row in {pair.item.row for pair in group.pairs}:
        there = of_row[row]
        if any(item.key not in pairs for item in there):
            return None
        people = sum(_truth(pairs[item.key]) for item in there) / len(there)
        found[row] = people, sum(bool(item.yes) for item in there) / len(there)
    return found


def _of_rows(
    items: RunItems, metric: str, rows: Mapping[int, tuple[float, float]], confidence: float
) -> CorrectedMean | None:
    pairs = [(people, judged, 1.0, row) for row, (people, judged) in rows.items()]
    values = [item for item in items.of_group(metric) if item.value is not None]
    return _corrected(
        pairs, [(i.value or 0.0, i.row) for i in values if i.row not in rows], values[0].low, values[0].high, confidence
    )


def _truth(pair: LabelPair) -> float:
    assert pair.truth is not None  # groups hold no others
    return pair.truth
