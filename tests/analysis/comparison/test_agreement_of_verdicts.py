"""With several metrics and rules: no line has a verdict that its interval speaks against."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import assay
from assay import Gate, GateRule, ScriptedJudge, check, compare
from assay.evaluation.result import Result

FALLS = {"one": 6, "two": 7, "three": 8, "four": 9, "five": 12}  # rows that fall by 0.25


def column(name: str) -> Any:
    def scored(metadata: Mapping[str, Any]) -> float:
        return float(metadata[name])

    scored.__name__ = name
    return assay.metric(scored)


def run(folder: Path, name: str, fallen: bool, n: int = 20) -> Result:
    rows = [
        {"id": f"r{row}", "question": f"Q{row}?", "answer": "It is so.",
         **{metric: 0.5 if fallen and row < k else 0.75 for metric, k in FALLS.items()}}
        for row in range(n)
    ]  # fmt: skip
    metrics = [column(metric) for metric in FALLS]
    return assay.evaluate(rows, metrics, ScriptedJudge(), store=folder, run=name, progress=False)


def test_verdicts_corrected_for_other_metrics_have_intervals_that_agree(tmp_path: Path) -> None:
    """Six falls: p = 0.031 by itself. With slices of "one" each value is a slice in which all rows fell, or none."""
    found = compare(run(tmp_path, "before", False), run(tmp_path, "after", True), ["one", "two", "three"])
    for one in found.metrics.values():
        assert one.difference is not None
        by = one.difference.estimate
        assert (one.verdict in ("inconclusive", "unchanged")) == (by.low <= 0.0 <= by.high)
    more = compare(run(tmp_path, "b", False), run(tmp_path, "a", True), by="one")
    for values in more.slices.values():
        for metrics in values.values():
            for one in metrics.values():
                assert one.difference is not None
                by = one.difference.estimate
                assert (one.verdict in ("inconclusive", "unchanged")) == (by.low <= 0.0 <= by.high)
    assert {one.verdict for one in more.metrics.values()} == {"worse"}


def test_the_detectable_difference_is_larger_with_more_metrics(tmp_path: Path) -> None:
    before, after = run(tmp_path, "before", False), run(tmp_path, "after", True)
    alone = compare(before, after, ["one"]).metrics["one"].difference
    together = compare(before, after).metrics["one"].difference
    assert alone is not None
    assert together is not None
    assert alone.detectable is not None
    assert together.detectable is not None
    assert together.detectable > 1.1 * alone.detectable


def test_a_ruling_that_other_rules_make_inconclusive_has_its_limit_in_the_interval(tmp_path: Path) -> None:
    """Six falls: p = 0.0156 one-sided, which is below 0.05 by itself and 0.078 as the first of five tests."""
    before, after = run(tmp_path, "before", False), run(tmp_path, "after", True)
    gate = Gate((
        GateRule("one", "max_drop", 0.0), GateRule("one", "at_least", 0.75, by="interval"),
        GateRule("two", "at_least", 0.75, by="interval"), GateRule("two", "max_drop", 0.03),
        GateRule("three", "max_drop", 0.09), GateRule("one", "margin", 0.2),
    ))  # fmt: skip
    verdicts = set()
    for one in check(gate, after, before).rulings:
        assert one.interval is not None
        limit = {"max_drop": -one.rule.limit, "margin": 0.0}.get(one.rule.kind, one.rule.limit)
        verdicts.add(one.verdict)
        if one.verdict == "INCONCLUSIVE":
            assert one.interval[0] <= limit <= one.interval[1]
        if one.verdict == "FAIL":
            assert one.interval[1] < limit
    assert {"FAIL", "INCONCLUSIVE"} <= verdicts
