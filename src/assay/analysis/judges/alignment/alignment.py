"""How well the judge of a run agrees with people's labels, and what the means are by people's measure.

alignment = align(Result.load("last"), "labels.jsonl", by="topic")
print(alignment)
alignment.calibration().save("calibration.json")
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.analysis.judges.alignment.corrected_means import corrected_means
from assay.analysis.judges.alignment.figures import CONFIDENCE, AlignmentFigures
from assay.analysis.judges.alignment.groups import LabelPair, group_of
from assay.analysis.judges.alignment.items import RunItems
from assay.analysis.judges.alignment.labels import Label, Labels, labels_of, read_labels
from assay.errors import InputError, printable
from assay.evaluation.result import Result

if TYPE_CHECKING:
    from assay.judges.calibrated_judge import Calibration

_SHOWN = 3  # labels without an item that are named


class Alignment(AlignmentFigures):
    """A run against people's labels: its figures as a text, as JSON and as a calibration of the judge."""

    __slots__ = ()

    def __str__(self) -> str:
        from assay.analysis.judges.alignment.table import as_text

        return printable(as_text(self))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain JSON values, but for the single labels."""
        found = asdict(self)
        for name, group in self.groups.items():
            found["groups"][name].pop("pairs")
            found["groups"][name]["calibrated"] = None if group.calibrated is None else asdict(group.calibrated)
        found["means"] = {name: {**asdict(one), "narrower": one.narrower} for name, one in self.means.items()}
        made: dict[str, Any] = json.loads(json.dumps(found))
        return made

    def calibration(self, method: str = "platt", threshold: str = "likely", note: str | None = None) -> Calibration:
        """What makes the judge's probabilities those of people: see
        `assay.analysis.judges.alignment.calibration.calibration`."""
        from assay.analysis.judges.alignment.calibration import calibration

        return calibration(self, method, threshold, note)


def align(
    result: Result,
    labels: Labels | str | Path | list[dict[str, Any]],
    *,
    metrics: str | None = None,
    by: str | None = None,
    confidence: float = CONFIDENCE,
) -> Alignment:
    """Measure how far a run agrees with labels by people.

    Labels are of claims, passages or samples, also mixed. Labels of several people for one item count by majority; of
    several labels by one person the last one counts.

    Args:
        result: The run.
        labels: Labels, the path of a file of them, or a list of dicts.
        metrics: The metric of labels of samples that name none.
        by: A column of the data or of the labels. Each of its values is also measured as a slice.
        confidence: Confidence of the intervals.

    Returns:
        Agreement for each metric and slice, with the items that differ.

    Raises:
        InputError: For labels that cannot be read, and where no label matches an item of the run.
    """
    if isinstance(labels, (str, Path)):
        labels = read_labels(labels, list(result.metrics))
    elif isinstance(labels, list):
        labels = labels_of(labels, list(result.metrics))
    items = RunItems.of(result, by)
    found, strange = _paired(items, labels, _one_metric(items, labels, metrics), by)
    matched = sum(len(pair.labels) for pair in found)
    if not matched:
        said = "; ".join(strange[:_SHOWN]) or "nobody could tell of any"
        raise InputError(f"{labels.name}: no label is about anything in run {result.run!r}: {said}")
    if by is not None and all(pair.slice in (None, "–") for pair in found):
        raise InputError(f"by: neither the data nor the labels have the column {by!r}")
    pairs: dict[str, list[LabelPair]] = {}
    for pair in found:
        pairs.setdefault(pair.item.group, []).append(pair)
    groups = {name: group_of(name, some, confidence) for name, some in pairs.items()}
    notes = []
    if strange:
        more = f" and {len(strange) - _SHOWN} more" if len(strange) > _SHOWN else ""
        notes.append(f"{len(strange)} labels are about nothing in the run: {'; '.join(strange[:_SHOWN])}{more}.")
    ties = sum(pair.truth is None for pair in found)
    if ties:
        notes.append(f"{ties} items are left out: people are divided on them.")
    means, too_few = corrected_means(items, groups, confidence)
    return Alignment(
        run=result.run,
        judge=result.judge,
        labels=len(labels.labels),
        matched=matched,
        unsure=labels.unsure,
        by=by,
        groups=groups,
        means=means,
        people=_people(found),
        confidence=confidence,
        notes=(*notes, *too_few),
        parameters=result.parameters,
    )


def _one_metric(items: RunItems, labels: Labels, metric: str | None) -> str | None:
    """The metric that labels of samples are about which name none."""
    silent = next((label for label in labels.labels if label.level == "sample" and label.metric is None), None)
    chosen = metric or (items.metrics[0] if len(items.metrics) == 1 else None)
    if silent is not None and chosen is None:
        raise InputError(
            f"{labels.name}, row {silent.number}: metric: which one is it about? expected one of "
            f"{', '.join(items.metrics)}, in a column 'metric' or for all labels with metrics= (--metrics)"
        )
    named = {label.metric for label in labels.labels if label.metric is not None} | ({metric} if metric else set())
    for name in sorted(named - set(items.metrics)):
        raise InputError(f"metric: {name!r} is not in this run; it has {', '.join(items.metrics)}")
    return chosen


def _paired(items: RunItems, labels: Labels, metric: str | None, by: str | None) -> tuple[list[LabelPair], list[str]]:
    """The labels on each item, and what could not be found."""
    from dataclasses import replace

    found: dict[tuple[Any, ...], LabelPair] = {}
    strange: list[str] = []
    for label in labels.labels:
        meant = replace(label, metric=metric) if label.level == "sample" and label.metric is None else label
        item = items.item_of(meant)
        if item is None:
            strange.append(_strange(items, label))
            continue
        value = label.columns.get(by) if by is not None else None
        here = str(value) if value is not None else items.slices.get(item.row)
        pair = found.setdefault(item.key, LabelPair(item, {}, here))
        pair.labels[label.by or ""] = label
    return list(found.values()), strange


def _strange(items: RunItems, label: Label) -> str:
    row = label.id if label.id is not None else label.row if label.row is not None else "its texts"
    if items.row_of(label) is None:
        return f"row {label.number}: no row, or more than one, is {str(row)[:40]!r}"
    what = repr(label.text[:40]) if label.text is not None else f"{label.level} {(label.index or 0) + 1}"
    return f"row {label.number}: {str(row)[:40]!r} has no verdict on {what}"


def _people(pairs: list[LabelPair]) -> tuple[int, int] | None:
    several = [list(pair.labels.values()) for pair in pairs if len(pair.labels) > 1]
    two = [(some[0].value, other.value) for some in several for other in some[1:]]
    return (sum(a == b for a, b in two), len(two)) if two else None
