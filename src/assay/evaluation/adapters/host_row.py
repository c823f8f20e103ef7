"""One row that another tool hands over: its sample, the values in it that cannot be read, and its scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from assay._util.normalise import well_formed
from assay.errors import Cause, InputError
from assay.evaluation.score_sample import score_sample
from assay.judges.protocol import Judge
from assay.metrics.base import Metric
from assay.records import Sample, ScoredSample


@dataclass(frozen=True, slots=True)
class HostRow:
    """One row of another tool.

    Attributes:
        sample: The sample, without the fields that cannot be read.
        errors: Field of the sample -> why its value cannot be read.
        error: Why the whole row cannot be read; None where it can.
    """

    sample: Sample
    errors: Mapping[str, str] = field(default_factory=dict)
    error: str | None = None

    def reason(self, metric: Metric) -> str | None:
        """Explain why a metric cannot score this row: it cannot be read, or a field that the metric needs cannot.

        Args:
            metric: The metric.

        Returns:
            The reason; None where there is none.
        """
        if self.error is not None:
            return self.error
        return next((self.errors[name] for name in metric.needs if name in self.errors), None)


def read_host_row(make: Callable[[], HostRow | Sample] | HostRow | Sample) -> HostRow:
    """Make the row of another tool. Raises nothing for a value that cannot be read.

    Args:
        make: A row, a sample, or a function that makes one.

    Returns:
        The row. Where `make` raises, the whole row cannot be read, and `error` says why.
    """
    try:
        row = make() if callable(make) else make
    except (Exception, SystemExit) as error:  # the values are another tool's: one row, and the others go on
        return HostRow(Sample(), error=message_of(error))
    return row if isinstance(row, HostRow) else HostRow(row)


async def score_host_row(
    row: HostRow, metrics: Sequence[Metric], judge: Judge, *, deadline: float | None = None
) -> ScoredSample:
    """Score a row with several metrics. A metric that needs an unreadable value fails (bad_row).

    Args:
        row: The row.
        metrics: The metrics.
        judge: The judge.
        deadline: Seconds for the sample; None: no limit.

    Returns:
        The sample with one score per metric, in order.
    """
    reasons = {metric.label: row.reason(metric) for metric in metrics}
    readable = [metric for metric in metrics if reasons[metric.label] is None]
    scores = dict((await score_sample(row.sample, readable, judge, deadline=deadline)).scores)
    for metric in metrics:
        reason = reasons[metric.label]
        if reason is not None:
            scores[metric.label] = metric.skip(Cause.BAD_ROW, reason)
    return ScoredSample(sample=row.sample, scores={metric.label: scores[metric.label] for metric in metrics})


def message_of(error: BaseException) -> str:
    """Format an error as a message.

    Args:
        error: The error.

    Returns:
        The text of an InputError. For other errors the type and the text, "KeyError: 'answer'". The type alone where
        the error has no readable text.
    """
    try:
        text = str(error)
    except Exception:  # an exception of another package, whose text cannot be made
        return type(error).__name__
    return well_formed(text if isinstance(error, InputError) else f"{type(error).__name__}: {text}")
