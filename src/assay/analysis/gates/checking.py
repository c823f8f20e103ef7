"""A gate held against a run: every rule with its verdict, corrected for all of them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from assay._util.tabular import ResultRows
from assay.analysis.comparison.compare import Comparison, compare
from assay.analysis.comparison.pairing import RowPair, pairs_of
from assay.analysis.gates.deciding_rows import WITNESSES, witnesses_of
from assay.analysis.gates.decision import GateDecision, Ruling, Verdict
from assay.analysis.gates.evidence import LimitEvidence, of_change, of_level, of_mean
from assay.analysis.gates.label_share import of_share, thresholds_for
from assay.analysis.gates.messages import because_of
from assay.analysis.gates.row_selection import SelectedRows, pairs_for, rows_of, scores_of
from assay.analysis.gates.rules import Gate, GateRule, check_limit
from assay.analysis.gates.tolerance import check_noise, tolerance_of, with_noise
from assay.errors import InputError
from assay.evaluation.result import Result
from assay.judges.thresholds import Threshold
from assay.stats import holm


def check(gate: Gate, result: Result, baseline: Result | None = None, *, witnesses: int = WITNESSES) -> GateDecision:
    """Decide whether a run keeps the rules of a gate, and which rows decide.

    FAIL where a rule is shown to be broken, PASS where it is shown to be kept. INCONCLUSIVE where neither is shown,
    where rows without a value could decide, and where too few rows have one; always where the run is incomplete
    (`Result.incomplete`), and for rules against a baseline where that is. Significance is corrected for all rules that
    test (Holm); passing needs no correction, because all rules have to pass (Berger, Technometrics 24, 1982).

    Args:
        gate: The rules.
        result: The run.
        baseline: An earlier run, for rules against one.
        witnesses: Rows that are named for each rule, at most.

    Returns:
        One ruling a rule, and the decision.

    Raises:
        InputError: A metric is not in the run or the baseline, a limit does not fit a metric, a rule needs a baseline,
            noise or thresholds are of another judge or cannot be read, or the runs cannot be compared (see `compare`).
    """
    gate = with_noise(gate)
    for rule in gate.rules:
        _check(rule, result, baseline)
    notes = check_noise(gate, result)
    if result.incomplete and not result.rows:
        return _without_rows(gate, result, baseline)
    thresholds = thresholds_for(gate, result)
    pairs: list[RowPair] = []
    only_before, comparison = 0, None
    if baseline is not None and gate.relative:
        names = list(dict.fromkeys(rule.metric for rule in gate.rules if rule.relative))
        comparison = compare(baseline, result, names, cluster=gate.cluster, moved=witnesses, any_judge=gate.any_judge)
        pairs, only_before = pairs_of(baseline, result, names, cluster=gate.cluster)
    alone = scores_of(result, [rule.metric for rule in gate.rules if not rule.relative], gate.cluster)
    found = [
        pairs_for(rule, result, pairs) if rule.relative else rows_of(rule, result, alone[rule.metric])
        for rule in gate.rules
    ]
    if gate.cluster is not None and not any(one.cluster for rows in found for one in rows.ones):
        raise InputError(f"cluster: no row has the column {gate.cluster!r}")
    shown = [_evidence(rule, rows, gate, thresholds) for rule, rows in zip(gate.rules, found, strict=True)]
    before = incomplete_baseline(baseline) if comparison is not None else ()
    rulings = ResultRows(
        _ruling(
            rule, rows, one, p, gate, only_before if rule.relative else 0, result, comparison, witnesses,
            (*result.incomplete, *(before if rule.relative else ())),
        )
        for rule, rows, one, p in zip(gate.rules, found, shown, _corrected(shown), strict=True)
    )  # fmt: skip
    notes += () if comparison is None else comparison.notes
    against = None if comparison is None else comparison.first
    return GateDecision(result.run, against, gate.confidence, rulings, notes, (*result.incomplete, *before))


def _without_rows(gate: Gate, result: Result, baseline: Result | None) -> GateDecision:
    """The decision on an incomplete run of which no row can be read."""
    because = "; ".join([*result.incomplete, "no row can be read"])
    rulings = ResultRows(Ruling(rule, "INCONCLUSIVE", because, rows=result.lost) for rule in gate.rules)
    against = baseline.run if baseline is not None and gate.relative else None
    return GateDecision(result.run, against, gate.confidence, rulings, incomplete=result.incomplete)


def incomplete_baseline(baseline: Result | None) -> tuple[str, ...]:
    """Why the baseline is incomplete, in words; empty where it is complete, or there is none."""
    return () if baseline is None else tuple(f"baseline {baseline.run}: {reason}" for reason in baseline.incomplete)


def _check(rule: GateRule, result: Result, baseline: Result | None) -> None:
    for run in (result, baseline) if rule.relative and baseline is not None else (result,):
        if rule.metric not in run.metrics:
            near = difflib.get_close_matches(rule.metric, run.metrics, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            why = "".join(f"; {reason}" for reason in run.incomplete)
            raise InputError(
                f"gate: the metric {rule.metric!r} is not in run {run.run!r}, which has "
                f"{', '.join(run.metrics) or 'none'}{hint}{why}"
            )
    summary = result.metrics[rule.metric]
    check_limit(rule, summary.low, summary.high, summary.direction)
    if rule.relative and baseline is None:
        raise InputError(f"gate {rule.metric}: {rule.kind} holds a run against another; name it with baseline")
    if baseline is not None and (baseline.run, baseline.store.name) == (result.run, result.store.name):
        raise InputError(f"gate: {result.run!r} is its own baseline; name two runs")


def _evidence(
    rule: GateRule, rows: SelectedRows, gate: Gate, thresholds: Mapping[str, Threshold]
) -> LimitEvidence | None:
    """The numbers of a rule; None where no row has a value."""
    low, high = rows.ends
    alpha = 1.0 - gate.confidence
    tolerance = tolerance_of(rule, gate, len(rows.complete(rule))) or 0.0
    limit = rule.limit if rule.relative else rows.better(rule.limit)
    values = [*(one.value for one in rows.ones), *[None] * rows.lost]
    names = None if gate.cluster is None else [one.cluster or f"\0{one.row}" for one in rows.ones]
    if names is not None:
        names += [f"\0lost {n}" for n in range(rows.lost)]
    now = [None if value is None else rows.better(value) for value in values]
    if rule.relative:
        before = [None if one.value_before is None else rows.better(one.value_before) for one in rows.ones]
        if not any(a is not None and b is not None for a, b in zip(before, now, strict=True)):
            return None
        margin = limit if rule.kind == "margin" else None
        drop = max(0.0 if rule.kind == "margin" else limit, tolerance)
        return of_change(before, now, low, high, drop, margin, clusters=names, alpha=alpha)
    known = [value for value in now if value is not None]
    if not known:
        return None
    if rule.kind == "good_share":
        return of_share(values, thresholds[rule.metric], rows.direction, rule.limit, clusters=names, alpha=alpha)
    if rule.by == "mean":
        return of_mean(known, len(now) - len(known), low, high, limit, tolerance)
    with_name = list(zip(now, names or (), strict=False))
    clusters = None if names is None else [name for value, name in with_name if value is not None]
    alone = None if names is None else [name for value, name in with_name if value is None]
    return of_level(known, len(now) - len(known), low, high, limit, clusters=clusters, alone=alone, alpha=alpha)


def _corrected(shown: Sequence[LimitEvidence | None]) -> list[float | None]:
    """The p-values of all rules that test, corrected for their number."""
    raw = [None if one is None else one.p for one in shown]
    corrected = iter(holm([p for p in raw if p is not None]))
    return [None if p is None else next(corrected) for p in raw]


def _ruling(
    rule: GateRule,
    rows: SelectedRows,
    shown: LimitEvidence | None,
    p: float | None,
    gate: Gate,
    only_before: int,
    result: Result,
    comparison: Comparison | None,
    most: int,
    incomplete: Sequence[str],
) -> Ruling:
    complete = rows.complete(rule)
    there = len(rows.ones) + rows.lost + only_before
    short = len(complete) < rule.coverage * there - 1e-9
    verdict: Verdict = "INCONCLUSIVE"
    if shown is not None and not incomplete:
        fails = (
            shown.broken and (p is None or p < 1.0 - gate.confidence) and not (rule.kind == "margin" and shown.holds)
        )
        verdict = "FAIL" if fails else "PASS" if shown.holds and not short else "INCONCLUSIVE"
        if shown.broken and not fails and not shown.holds:
            shown = replace(
                shown, interval=_with_limit(shown.interval, rule, rows, tolerance_of(rule, gate, len(complete)))
            )
    # a share of good rows is not turned
    sign = 1.0 if rows.direction == "higher" or rule.kind == "good_share" else -1.0
    made = Ruling(
        rule,
        verdict,
        "",
        None if shown is None else sign * shown.value,
        None if shown is None else _turned(shown.interval, sign),
        None if shown is None else _turned(shown.bounds, sign),
        p,
        len(rows.ones) + rows.lost,
        len(complete),
        rows.left_out,
        only_before,
        tolerance=tolerance_of(rule, gate, len(complete)),
        threshold=None if shown is None else shown.threshold,
        good=None if shown is None else shown.good,
    )
    return because_of(made, short, witnesses_of(made, rows, result, comparison, most), incomplete)


def _with_limit(
    ends: tuple[float, float] | None, rule: GateRule, rows: SelectedRows, tolerance: float | None
) -> tuple[float, float] | None:
    """The interval, extended to the limit: below it by this rule alone, but not with all rules counted."""
    if ends is None:
        return None
    limit = rule.limit if rule.kind == "good_share" else rows.better(rule.limit)
    if rule.relative:
        limit = -max(0.0 if rule.kind == "margin" else rule.limit, tolerance or 0.0)
    return ends[0], max(ends[1], limit)


def _turned(ends: tuple[float, float] | None, sign: float) -> tuple[float, float] | None:
    if ends is None or sign > 0:
        return ends
    return -ends[1], -ends[0]
