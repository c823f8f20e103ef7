"""A gate that is looked at after every row and ends a run once it is decided, and is wrong no more often for that.

Rules against a baseline and those by the interval are two `assay.stats.Sequential` each: for passing, rows without a
value count as bad as can be, for failing as good as can be. Half of the gate's 1 - confidence is theirs, shared by all
of them; the other half is that of the gate on all rows, where the run came to its end undecided. A limit to the mean of
these very rows is decided once the rows that are left cannot change it; a share of good rows is for all rows to say.

One rule that is broken ends the run; to pass, all have to be kept, and enough rows to have a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from assay._util.tabular import ResultRows
from assay._util.terminal import pluralize
from assay.analysis.comparison.pairing import Key, keys_of, scores_by_key
from assay.analysis.gates.checking import check, incomplete_baseline
from assay.analysis.gates.decision import GateDecision, Ruling, Verdict
from assay.analysis.gates.row_selection import One, is_selected
from assay.analysis.gates.rules import Gate, GateRule
from assay.analysis.gates.tolerance import check_noise, tolerance_of, with_noise
from assay.data import RowError
from assay.errors import InputError
from assay.evaluation.result import Result
from assay.judges.no_judge import same_judge
from assay.metrics.base import Metric
from assay.records import Sample, Score, ScoredSample
from assay.stats.sequential import Sequential


@dataclass(slots=True)
class _Ends:
    """The range of a metric where more is better, and what of the values is known so far."""

    low: float
    high: float
    sign: float
    seen: int = 0
    known: int = 0
    total: float = 0.0

    def take(self, value: float | None) -> None:
        self.seen += 1
        if value is not None:
            self.known += 1
            self.total += value

    @property
    def mean(self) -> float | None:
        return self.total / self.known if self.known else None


@dataclass(slots=True)
class _RuleBets:
    """One rule and its bets; None where it can only be decided on all rows."""

    rule: GateRule
    ends: _Ends
    rows: int
    keeps: Sequential | None = None
    breaks: Sequential | None = None
    verdict: Verdict | None = field(default=None)

    def take(self, one: One, gate: Gate) -> None:
        """Take in a row that is meant."""
        value = _change(one, self.ends) if self.rule.relative else _level(one.value, self.ends)
        self.ends.take(value)
        low, high = self._range()
        if self.keeps is not None and self.breaks is not None:
            self.keeps.add(low if value is None else value)
            self.breaks.add(high if value is None else value)
        chance = tolerance_of(self.rule, gate, self.ends.known) or 0.0
        if self._is_broken(chance):
            self.verdict = "FAIL"
        elif self.verdict is None and self._is_kept():
            self.verdict = "PASS"

    def covers(self, share: float) -> bool:
        """Whether enough of the rows have a value. `share`: of the baseline's rows that are in the data."""
        return self.ends.known * share >= self.rule.coverage * self.ends.seen - 1e-9

    def _range(self) -> tuple[float, float]:
        width = self.ends.high - self.ends.low
        return (-width, width) if self.rule.relative else (self.ends.low, self.ends.high)

    def _is_broken(self, chance: float) -> bool:
        mean = self.ends.mean
        if self.breaks is not None:
            return self.breaks.verdict == "fail" and mean is not None and (not self.rule.relative or mean < -chance)
        if self.rule.tests:
            return False
        gaps = self.rows - self.ends.known
        best = (self.ends.total + gaps * self.ends.high) / self.rows
        return not self.rule.leave_out and best < _limit(self.rule, self.ends) - chance - 1e-9

    def _is_kept(self) -> bool:
        if self.keeps is not None:
            return self.keeps.verdict == "pass"
        if self.rule.tests or self.rule.leave_out:
            return False
        worst = (self.ends.total + (self.rows - self.ends.known) * self.ends.low) / self.rows
        return worst >= _limit(self.rule, self.ends) - 1e-9

    def ruling(self, found: Ruling | None) -> Ruling:
        """What became of the rule. `found`: what the rows so far say of it, for the rows that decided it."""
        mean, interval = self.ends.mean, None
        if self.keeps is not None and self.breaks is not None and self.ends.known:
            interval = self.keeps.interval[0], self.breaks.interval[1]
        if self.ends.sign < 0:
            mean = None if mean is None else -mean
            interval = None if interval is None else (-interval[1], -interval[0])
        if self.rule.kind == "good_share" and found is not None:
            return replace(found, verdict="INCONCLUSIVE", because=f"{found.because}; not decided when the run ended")
        shown = "no row has a value" if mean is None else f"{mean:+.3f} on {pluralize(self.ends.known, 'row')}"
        if interval is not None:
            shown += f" ({interval[0]:+.3f} to {interval[1]:+.3f}, looked at after each)"
        return Ruling(
            self.rule, self.verdict or "INCONCLUSIVE",
            shown if self.verdict else f"{shown}; not decided when the run ended",
            mean, interval, None, None, self.ends.seen, self.ends.known,
            decisive=found.decisive if found is not None and self.verdict == "FAIL" else (),
        )  # fmt: skip


class Early:
    """Looks at a gate after every row; hand `take` to `assay.evaluate(..., until=...)`, with `ShuffledData` rows.

    Raises InputError for a gate with clusters, a baseline of another judge or one that is incomplete, a rule against
    one without one, a metric that is not measured, and ranges without an end.

    Args:
        rows: All rows of the data with their numbers, in their order.
        judge: The fingerprint of the judge that will score them.
    """

    def __init__(
        self,
        gate: Gate,
        metrics: Iterable[Metric],
        rows: Iterable[tuple[int, Sample | RowError]],
        judge: str,
        baseline: Result | None = None,
    ) -> None:
        if gate.cluster is not None:
            raise InputError("early: rows that hang together come together; without cluster, or without early")
        relative = [rule.metric for rule in gate.rules if rule.relative]
        if relative and baseline is None:
            raise InputError(f"gate {relative[0]}: it holds a run against another; name it with baseline")
        if baseline is not None and not same_judge(baseline.judge, judge) and not gate.any_judge:
            raise InputError(
                f"early: the baseline {baseline.run!r} is by {baseline.judge}, and this run by {judge}; runs of "
                "different judges do not compare, unless any_judge says so"
            )
        if relative and (reasons := incomplete_baseline(baseline)):
            raise InputError(f"early: {'; '.join(reasons)}; score the baseline again, or leave out early")
        self.gate, self.baseline = with_noise(gate), baseline
        held = list(rows)
        samples = (Sample(id=row.id) if isinstance(row, RowError) else row for _, row in held)
        self._keys: dict[int, Key] = {number: key for (number, _), key in zip(held, keys_of(samples), strict=True)}
        self._before: Mapping[Key, Mapping[str, Score]] = (
            {} if baseline is None else scores_by_key(baseline, dict.fromkeys(relative))
        )
        shared = sum(key in self._before for key in self._keys.values())
        self._share = shared / len(self._before) if self._before else 1.0
        known = {metric.label: metric for metric in metrics}
        tests = sum(rule.tests for rule in gate.rules)
        self._rules = [_looked(rule, known, shared if rule.relative else len(held), gate, tests) for rule in gate.rules]
        self.rows = 0
        self.verdict: Literal["PASS", "FAIL"] | None = None

    @property
    def gate_at_the_end(self) -> Gate:
        """The gate for all rows, where the run came to its end undecided: with the half that is left to it."""
        return replace(self.gate, confidence=1.0 - (1.0 - self.gate.confidence) / 2.0)

    def take(self, number: int, scored: ScoredSample) -> str | None:
        """Take in a row; once the gate is decided, a sentence that says so."""
        self.rows += 1
        key = self._keys[number]
        name = scored.sample.id if scored.sample.id is not None else f"row {number}"
        for looked in self._rules:
            rule, before = looked.rule, self._before.get(key)
            if rule.relative and before is None:
                continue
            one = One(name, number, scored.scores.get(rule.metric), None if before is None else before.get(rule.metric))
            if is_selected(rule, one):
                looked.take(one, self.gate)
        if any(looked.verdict == "FAIL" for looked in self._rules):
            self.verdict = "FAIL"
        elif all(
            looked.verdict == "PASS" and looked.covers(self._share if looked.rule.relative else 1.0)
            for looked in self._rules
        ):
            self.verdict = "PASS"
        return None if self.verdict is None else f"the gate was decided after {self.rows} of {len(self._keys)} rows"

    def decision(self, result: Result) -> GateDecision:
        """What the gate says of the run: decided early, or by all rows. Raises InputError as `check` does."""
        if self.verdict is None:
            return check(self.gate_at_the_end, result, self.baseline)
        notes = check_noise(self.gate, result)
        ended = replace(result, stopped=None)  # by this gate: nothing is missing that it needs
        found = {ruling.rule: ruling for ruling in check(self.gate, ended, self.baseline).rulings}
        left = len(self._keys) - self.rows
        said = f"Decided after {self.rows} of {len(self._keys)} rows, in an order by chance: {left} were spared."
        rulings = ResultRows(looked.ruling(found.get(looked.rule)) for looked in self._rules)
        against = None if self.baseline is None else self.baseline.run
        return GateDecision(result.run, against, self.gate.confidence, rulings, (said, *notes))


def _looked(rule: GateRule, metrics: Mapping[str, Metric], rows: int, gate: Gate, tests: int) -> _RuleBets:
    metric = metrics.get(rule.metric)
    if metric is None:
        raise InputError(f"gate {rule.metric}: it is not among the metrics that are measured, {', '.join(metrics)}")
    higher = metric.direction == "higher"
    ends = _Ends(*((metric.low, metric.high) if higher else (-metric.high, -metric.low)), 1.0 if higher else -1.0)
    width = ends.high - ends.low
    if not width < float("inf"):
        raise InputError(f"early: {rule.metric} has a range without an end: rows to come could always change its mean")
    looked = _RuleBets(rule, ends, rows)
    if not rule.tests or rule.kind == "good_share":  # by labels it is for all rows to say
        return looked
    low, high = (-width, width) if rule.relative else (ends.low, ends.high)
    margin = rule.limit if rule.kind == "margin" else 0.0
    reference = 0.0 if rule.kind == "margin" else -rule.limit if rule.relative else _limit(rule, ends)
    if low < reference < high:  # else it is for all rows to say
        alpha = (1.0 - gate.confidence) / 2.0 / tests
        looked.keeps = Sequential(margin, reference=reference, low=low, high=high, alpha=alpha)
        looked.breaks = Sequential(margin, reference=reference, low=low, high=high, alpha=alpha)
    return looked


def _limit(rule: GateRule, ends: _Ends) -> float:
    return rule.limit * ends.sign


def _level(value: float | None, ends: _Ends) -> float | None:
    return None if value is None else value * ends.sign


def _change(one: One, ends: _Ends) -> float | None:
    if one.value is None or one.value_before is None:
        return None
    return (one.value - one.value_before) * ends.sign
