"""A ruling in a sentence: what was found, and why that is not enough where it is not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from assay._util.tabular import ResultRows
from assay._util.terminal import pluralize
from assay.analysis.gates.decision import DecidingRow, Ruling
from assay.judges.thresholds import Threshold


def because_of(ruling: Ruling, short: bool, decisive: Sequence[DecidingRow], incomplete: Sequence[str] = ()) -> Ruling:
    """The ruling with its sentence, and the rows that decided it.

    Args:
        ruling: The ruling without its sentence.
        short: Whether fewer rows have a value than the rule asks for.
        decisive: The rows that decided it.
        incomplete: Why the runs are incomplete, which alone decides then.
    """
    why = [] if incomplete else _why(ruling, short)
    return replace(
        ruling,
        because="; ".join([*incomplete, *_measured_parts(ruling), *why]),
        decisive=ResultRows(decisive, DecidingRow),
    )


def _measured_parts(ruling: Ruling) -> list[str]:
    """What was measured, on how many rows."""
    if ruling.value is None:
        return [f"no row of {ruling.rows} has a value" + (" in both runs" if ruling.rule.relative else "")]
    relative = ruling.rule.relative
    shown = f"{ruling.value:+.3f}" if relative else f"{_quantity(ruling)} {ruling.value:.3f}"
    if ruling.interval is not None:
        low, high = ruling.interval
        shown += f" ({low:+.3f} to {high:+.3f})" if relative else f" ({low:.3f} to {high:.3f})"
    of = f"{ruling.measured} of {ruling.rows} rows" if ruling.measured < ruling.rows else pluralize(ruling.rows, "row")
    said = [f"{shown} on {of}"]
    if ruling.left_out:
        said[0] += f", {ruling.left_out} left out"
    if ruling.threshold is not None:
        said.append(_by_labels(ruling, ruling.threshold))
    if ruling.only_before:
        said.append(f"{pluralize(ruling.only_before, 'row')} of the baseline are not in this run")
    return said


def _quantity(ruling: Ruling) -> str:
    return "mean" if ruling.threshold is None else "share that people would call good"


def _by_labels(ruling: Ruling, threshold: Threshold) -> str:
    """How many rows are on the good side of the threshold, and what that is worth."""
    yes, no = f"{threshold.found:.0%} of yes", f"{1.0 - threshold.left:.0%} of no"
    return (
        f"{ruling.good} of {ruling.measured} are on the good side of {threshold.value:.3g}, from which on people say "
        f"yes (of {threshold.labels} labels {yes} and {no} reach it)"
    )


def _why(ruling: Ruling, short: bool) -> list[str]:
    """What the verdict hangs on besides."""
    rule, said = ruling.rule, []
    gaps = ruling.rows - ruling.measured
    if ruling.value is not None and gaps and ruling.bounds is not None and ruling.verdict != "PASS":
        low, high = (f"{end:+.3f}" if rule.relative else f"{end:.3f}" for end in ruling.bounds)
        ends = f"{low} to {high}" if all(map(math.isfinite, ruling.bounds)) else "anything"
        known = "the one without a value" if gaps == 1 else f"the {gaps} without a value"
        said.append(f"were {known} known: {ends}")
    if ruling.tolerance:
        said.append(f"the judge alone may make {ruling.tolerance:.3f} of it")
    if short and ruling.verdict == "INCONCLUSIVE":
        said.append(f"too few rows have a value: the rule asks for {rule.coverage:.0%}")
    if ruling.verdict == "FAIL" and ruling.p is not None:
        said.append(f"p = {ruling.p:.2g} with all rules counted")
    if ruling.verdict == "INCONCLUSIVE" and rule.tests and ruling.value is not None and not gaps and not short:
        said.append(_undecided(ruling))
    return said


def _undecided(ruling: Ruling) -> str:
    rule = ruling.rule
    if rule.kind == "max_drop":
        return "more than allowed, and so few rows may show it by chance"
    if rule.kind == "margin":
        return "so few rows do not show that it is within the margin, nor that it is worse"
    if rule.kind == "good_share":
        return "so few rows and labels do not show on which side of the limit it is"
    return "so few rows do not show on which side of the limit it is"
