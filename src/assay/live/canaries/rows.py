"""Canary rows from a file of scored rows: the samples, and the verdicts that are stored with them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from assay._util.terminal import pluralize
from assay.errors import InputError
from assay.records import Sample
from assay.stats.canaries import LEAST_ROWS

if TYPE_CHECKING:
    from assay.evaluation.result import Result

MOST_ROWS = 1000  # each is scored every day


@dataclass(frozen=True, slots=True)
class CanaryRows:
    """A set of canary rows.

    Attributes:
        name: Where they come from.
        samples: Hash of a row's content -> the sample. A row whose text is changed is another row.
        values: Metric -> row -> stored verdict.
        ranges: Metric -> lowest and highest score.
        judge: Who gave the stored verdicts; "" where the file does not say it.
        written: When they were written, in seconds since 1970; None: not known.
    """

    name: str
    samples: Mapping[str, Sample]
    values: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    judge: str = ""
    written: float | None = None


def load_canaries(path: str | os.PathLike[str]) -> CanaryRows:
    """Read canary rows from a file with scores, as `assay score DATA --out FILE.jsonl` writes it.

    Args:
        path: The file, in any format that `assay.evaluation.external_runs.open_run` reads: a queue's folder and
            STORE#RUN, too.

    Returns:
        The rows.

    Raises:
        InputError: There is no such file, it holds no scores, a row cannot be read or has no texts, or it has fewer
            than 10 or more than 1,000 rows. The message begins with "canaries".
        StoreError: A store cannot be read.
    """
    from assay.evaluation.external_runs import open_run

    name = os.fspath(path)
    try:
        result = open_run(Path(path))
    except InputError as error:
        raise InputError(f"canaries: {str(error).removeprefix('run: ')}") from None
    try:
        return _rows_of(result, name)
    finally:
        result.store.close()


def _rows_of(result: Result, name: str) -> CanaryRows:
    from assay.evaluation.output_runs import NOT_SAID

    if result.lost:
        raise InputError(f"canaries: {name}: {pluralize(result.lost, 'row')} cannot be read{_why(result)}")
    if result.rows > MOST_ROWS:
        raise InputError(
            f"canaries: {name}: expected at most {MOST_ROWS:,} rows, which are scored each day, got {result.rows:,}"
        )
    samples: dict[str, Sample] = {}
    values: dict[str, dict[str, float]] = {}
    ranges: dict[str, tuple[float, float]] = {}
    for number, scored in enumerate(result, 1):
        if not scored.sample.has_texts:
            raise InputError(f"canaries: {name}: row {number} has no texts, so that it cannot be scored again")
        row = scored.sample.content_hash()[:16]
        samples[row] = scored.sample
        for metric, score in scored.scores.items():
            ranges[metric] = (score.low, score.high)
            if score.value is not None:
                values.setdefault(metric, {})[row] = float(score.value)
    if len(samples) < LEAST_ROWS:
        raise InputError(f"canaries: {name}: expected at least {LEAST_ROWS} different rows, got {len(samples)}")
    if not values:
        raise InputError(f"canaries: {name}: no row has a score; score them first: assay score DATA --out FILE.jsonl")
    judge = "" if result.judge == NOT_SAID else result.judge
    return CanaryRows(name, samples, values, ranges, judge, result.started)


def _why(result: Result) -> str:
    return "".join(f"; {note}" for note in result.notes if "could not be read" in note)


def missing_metrics(rows: CanaryRows, labels: Iterable[str]) -> list[str]:
    """List the metrics that the rows have no stored verdicts of: their first scoring is the reference.

    Args:
        rows: The rows.
        labels: Labels of the metrics that are scored.

    Returns:
        The labels.
    """
    return [label for label in labels if label not in rows.values]
