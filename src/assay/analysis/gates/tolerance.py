"""What a judge differs from itself by, held against a rule: nothing fails for less.

Of a rule against a baseline two runs were read, and where that is known answered anew: they differ by the tolerance of
`assay.stats.noise`. Of a limit to the mean of these very rows one was read: its mean is off by that over sqrt(2). The
interval of a mean holds the judge's noise already, since the values do, and so does the share of good rows.
"""

from __future__ import annotations

import math
from dataclasses import replace

from assay.analysis.gates.rules import Gate, GateRule
from assay.analysis.judges.noise import NoiseReport
from assay.errors import InputError
from assay.evaluation.result import Result
from assay.judges.no_judge import same_judge


def with_noise(gate: Gate) -> Gate:
    """The gate with its noise read, where a file of it is named. Raises InputError for one that cannot be read."""
    if gate.noise is None or isinstance(gate.noise, NoiseReport):
        return gate
    return replace(gate, noise=NoiseReport.load(gate.noise))


def _given_noise(gate: Gate) -> NoiseReport | None:
    noise = with_noise(gate).noise
    return noise if isinstance(noise, NoiseReport) else None


def tolerance_of(rule: GateRule, gate: Gate, rows: int) -> float | None:
    """What chance makes of a rule on so many rows, on the scale of the scores; None where no noise is known of it."""
    known = _given_noise(gate)
    noise = None if known is None else known.metrics.get(rule.metric)
    if noise is None or rows < 1 or rule.by == "interval" or rule.kind == "good_share":
        return None
    alike = noise.tolerance(rows, "readings", gate.confidence)
    if not rule.relative:
        return None if alike is None else alike / math.sqrt(2.0)
    anew = noise.tolerance(rows, "answers", gate.confidence)
    return max((one for one in (alike, anew) if one is not None), default=None)


def check_noise(gate: Gate, result: Result) -> tuple[str, ...]:
    """What is to be said of the gate's noise: metrics of which none is known.

    Raises InputError where it was measured with another judge than the run's.
    """
    known = _given_noise(gate)
    if known is None:
        return ()
    if not same_judge(known.judge, result.judge):
        raise InputError(
            f"noise: it was measured with the judge {known.judge}, and run {result.run!r} is by {result.judge}; "
            "measure this one with `assay judge noise`"
        )
    unknown = [name for name in gate.metrics if name not in known.metrics]
    return (f"how far the judge wavers is not known of {', '.join(unknown)}",) if unknown else ()
