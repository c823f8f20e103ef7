"""The assertion: an answer is scored, its scores are kept, and one that is not good enough fails the test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import pytest

from assay import GateRule, InputError, Metric, Sample, Score, ScoredSample, open_data
from assay.extension import (
    BaseJudge,
    ColumnMap,
    Explanation,
    Judge,
    MetricSpec,
    Row,
    RowError,
    check_limit,
    resolve_metrics,
    run_sync,
    score_sample,
    storable,
)
from assay_pytest.collector import collected_in

OnError = Literal["fail", "skip", "pass"]
_COLUMNS = 100  # of the evidence in a message


class AssertScores:
    """What the fixture `assert_scores` gives a test."""

    def __init__(self, item: pytest.Item, judge: BaseJudge) -> None:
        self._item = item
        self._judge = judge
        self._calls = 0

    def __call__(
        self,
        sample: Sample | Mapping[str, Any],
        limits: Mapping[str, float] | None = None,
        /,
        *,
        metrics: MetricSpec | None = None,
        on_error: OnError = "fail",
        column_map: ColumnMap | None = None,
        deadline: float | None = 300.0,
        **named: float,
    ) -> ScoredSample:
        """Score a sample, or a row as `evaluate` takes it, and fail where a score is worse than its limit.

        Gives the sample with its scores. Raises InputError for limits that no metric has or can break.

        Args:
            limits: The least value by metric (the greatest, where lower is better), for names that are no words of
                Python: {"ragas:faithfulness": 0.8}; else by keyword, faithfulness=0.8.
            metrics: Metrics of your own, or with parameters, that limits then name; they are scored without one, too.
            on_error: What a score without a value does to the test: "fail", "skip" or "pass".
            column_map: Your names of fields, where the sample is a row.
            deadline: Seconds for the scores; what is not measured by then has no value.
        """
        __tracebackhide__ = True
        wanted = {**(limits or {}), **named}
        chosen = _chosen(metrics, wanted)
        if on_error not in ("fail", "skip", "pass"):
            raise InputError(f"on_error: expected 'fail', 'skip' or 'pass', got {on_error!r}")
        made = sample if isinstance(sample, Sample) else _sample(sample, column_map)
        self._calls += 1
        collected = collected_in(self._item.config, self._judge)
        scored = run_sync(lambda: _scored(made, chosen, collected.asking(self._judge), self._judge, deadline))
        number = collected.keep(self._item, self._named(made, scored))
        said = [self._failure(scored.scores[name], limit, on_error) for name, limit in wanted.items()]
        failed = {name: text for name, text in zip(wanted, said, strict=True) if text is not None}
        if failed:
            shown = (f"{text}\n\n{_evidence(number, scored, name)}" for name, text in failed.items())
            raise AssertionError("\n\n".join(shown))
        missing = [scored.scores[name] for name in wanted if not scored.scores[name].measured]
        if missing and on_error == "skip":
            pytest.skip("; ".join(map(str, missing)))
        return scored

    def _named(self, sample: Sample, scored: ScoredSample) -> ScoredSample:
        """The scored sample by the name of its test: two tests may ask the same, and are two rows."""
        name = self._item.nodeid if self._calls == 1 else f"{self._item.nodeid}#{self._calls}"
        metadata = sample.metadata if sample.id is None else {**sample.metadata, "sample_id": sample.id}
        return replace(scored, sample=replace(sample, id=name, metadata=metadata))

    @staticmethod
    def _failure(score: Score, limit: float, on_error: OnError) -> str | None:
        if not score.measured or score.value is None:
            return f"{score.metric} has no value, and {limit:g} was expected: {score}" if on_error == "fail" else None
        if score.direction == "higher" and score.value < limit:
            return f"{score.metric} = {score.value:.3f}, and at least {limit:g} was expected"
        if score.direction == "lower" and score.value > limit:
            return f"{score.metric} = {score.value:.3f}, and at most {limit:g} was expected"
        return None


async def _scored(
    sample: Sample, metrics: Sequence[Metric], judge: Judge, asked: BaseJudge, deadline: float | None
) -> ScoredSample:
    """The sample with its scores; what the judge has of this event loop is let go."""
    try:
        return storable(await score_sample(sample, metrics, judge, deadline=deadline))
    finally:
        await asked.release()


def _sample(row: Mapping[str, Any], column_map: ColumnMap | None) -> Sample:
    """The sample of one row. Raises InputError where it is none."""
    ((_, found),) = open_data([dict(row)], column_map=column_map)
    if isinstance(found, RowError):
        raise InputError(f"assert_scores: {found.message}")
    return found


def _chosen(metrics: MetricSpec | None, wanted: Mapping[str, float]) -> tuple[Metric, ...]:
    """The metrics to score. Raises InputError where there is none, and for limits that they cannot break."""
    if metrics is None and not wanted:
        raise InputError("assert_scores: give a metric its limit, as faithfulness=0.8")
    given = () if metrics is None else resolve_metrics(metrics)
    known = {metric.label: metric for metric in given}
    chosen = {**known, **{name: resolve_metrics(name)[0] for name in wanted if name not in known}}
    for name, limit in wanted.items():
        metric = chosen[name]
        rule = GateRule(name, "at_least" if metric.direction == "higher" else "at_most", limit)
        check_limit(rule, metric.low, metric.high, metric.direction)
    return tuple(chosen.values())


def _evidence(number: int, scored: ScoredSample, metric: str) -> str:
    return Explanation(Row(number, scored), metric).text(_COLUMNS)
