"""What a gate asks of a run: one rule per metric and kind, and what all rules have in common.

at_least, at_most   of the mean itself: whether the mean of these rows reaches a limit; `by="interval"`: whether
                    the mean of many such rows does, as far as these rows tell
good_share          whether people would call so many of many such rows good, as far as rows and labels tell: by the
                    threshold of the metric that `assay judge align --write` found
max_drop            against a baseline: fails where it is shown that the metric got worse by more than this
margin              against a baseline: passes only where it is shown that it got worse by less than this
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from assay.errors import Cause, InputError
from assay.records import BY_CONVENTION

if TYPE_CHECKING:
    from assay.analysis.judges.noise import NoiseReport
    from assay.judges.calibrated_judge import CalibrationSpec

Kind = Literal["at_least", "at_most", "good_share", "max_drop", "margin"]
By = Literal["mean", "interval"]

KINDS: tuple[Kind, ...] = get_args(Kind)
#: Kinds that hold a run against another one.
RELATIVE: tuple[Kind, ...] = ("max_drop", "margin")
#: Of the rows, how many must have a value for a rule to pass or fail, unless it says otherwise.
COVERAGE = 0.8
CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class GateRule:
    """One limit for one metric.

    Attributes:
        metric: Label of the metric.
        kind: What is limited: "at_least", "at_most", "max_drop", "margin" or "good_share".
        limit: The limit, on the scale of the scores; for "good_share" a share of rows from 0 to 1.
        by: "mean": of these rows. "interval": of many rows like these; inconclusive where the interval contains the
            limit. For at_least and at_most; the other kinds always go by what the rows show.
        coverage: Share of the rows that must have a value; with less, the rule is inconclusive.
        leave_out: Causes of missing values, such as "no_claims", whose rows do not count for this rule. Other rows
            without a value count as the worst and as the best value, and the rule is inconclusive where that decides.

    Raises:
        InputError: A limit, a coverage or a cause is out of range.
    """

    metric: str
    kind: Kind
    limit: float
    by: By = "mean"
    coverage: float = COVERAGE
    leave_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        where = f"gate {self.metric}"
        if self.kind not in KINDS:
            raise InputError(f"{where}: kind: expected {', '.join(KINDS)}, got {self.kind!r}")
        if not _number(self.limit):
            raise InputError(f"{where}: {self.kind}: expected a number, got {self.limit!r}")
        if (self.kind == "max_drop" and self.limit < 0) or (self.kind == "margin" and self.limit <= 0):
            least = "0 or more" if self.kind == "max_drop" else "a number above 0"
            raise InputError(f"{where}: {self.kind}: expected {least}, got {self.limit}")
        if self.kind == "good_share" and not 0.0 < self.limit < 1.0:
            raise InputError(f"{where}: good_share: expected a share between 0 and 1, as 0.9, got {self.limit:g}")
        if self.by not in get_args(By):
            raise InputError(f"{where}: by: expected 'mean' or 'interval', got {self.by!r}")
        if self.by == "interval" and self.kind not in ("at_least", "at_most"):
            raise InputError(f"{where}: by: goes with at_least and at_most; {self.kind} goes by the interval anyway")
        check_share(f"{where}: coverage", self.coverage)
        known = {*(cause.value for cause in Cause if cause is not Cause.LOST), BY_CONVENTION}
        for cause in self.leave_out:
            if cause not in known:
                raise InputError(
                    f"{where}: leave_out: there is no cause {cause!r}; there are {', '.join(sorted(known))}"
                )

    @property
    def relative(self) -> bool:
        """Whether it needs a baseline."""
        return self.kind in RELATIVE

    @property
    def tests(self) -> bool:
        """Whether it may be wrong by chance: all but a limit to the mean of these very rows."""
        return self.relative or self.by == "interval" or self.kind == "good_share"

    def __str__(self) -> str:
        limit = f"{self.limit:g}"
        said = {
            "at_least": f"at least {limit}",
            "at_most": f"at most {limit}",
            "good_share": f"good by people's measure on at least {self.limit:.4g} of rows",
            "max_drop": f"at most {limit} worse than the baseline" if self.limit else "no worse than the baseline",
            "margin": f"within {limit} of the baseline",
        }[self.kind]
        return f"{self.metric} {said}" + (", by the interval" if self.by == "interval" else "")


@dataclass(frozen=True, slots=True)
class Gate:
    """A quality gate: rules that a run must keep to pass. `check` applies it.

    Args:
        rules: The rules, at most one of a kind for each metric.
        confidence: Confidence of all tests together (Holm): a gate fails by chance with probability 1 - confidence at
            most, and passes a broken margin with at most the same probability.
        cluster: A column of the data. Rows with the same value are correlated and count as one cluster.
        any_judge: Also compare runs of different judges.
        noise: Report of `assay judge noise` for the judge, or its file, which is read when needed. Differences within
            the judge's variance do not fail the gate.
        thresholds: Thresholds of `assay judge align --write` for the judge, or their file, for rules of kind
            good_share.

    Raises:
        InputError: For a gate without rules, two rules of one kind for one metric, and a confidence outside (0.5, 1).
    """

    rules: tuple[GateRule, ...]
    confidence: float = CONFIDENCE
    cluster: str | None = None
    any_judge: bool = False
    noise: NoiseReport | str | Path | None = None
    thresholds: CalibrationSpec | None = None

    def __post_init__(self) -> None:
        if not self.rules:
            raise InputError("gate: it has no rules, and so nothing could fail; give one, as faithfulness at_least 0.8")
        seen = set()
        for rule in self.rules:
            if (rule.metric, rule.kind) in seen:
                raise InputError(f"gate {rule.metric}: {rule.kind} is given twice")
            seen.add((rule.metric, rule.kind))
        if not (_number(self.confidence) and 0.5 < self.confidence < 1.0):
            raise InputError(f"gate: confidence: expected a number between 0.5 and 1, got {self.confidence!r}")

    @property
    def relative(self) -> bool:
        """Whether any rule needs a baseline."""
        return any(rule.relative for rule in self.rules)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that the rules speak of, each once."""
        return tuple(dict.fromkeys(rule.metric for rule in self.rules))


def limits_of(kind: Kind, given: Sequence[str], option: str) -> tuple[GateRule, ...]:
    """Rules from METRIC=LIMIT, as they are written on a command line. Raises InputError naming the option."""
    rules = []
    for written in given:
        metric, sign, limit = written.rpartition("=")
        try:
            value = float(limit)
        except ValueError:
            value = math.nan
        if not (metric.strip() and sign) or not math.isfinite(value):
            raise InputError(f"{option}: expected METRIC=NUMBER, as faithfulness=0.8, got {written!r}")
        rules.append(GateRule(metric.strip(), kind, value))
    return tuple(rules)


def check_limit(rule: GateRule, low: float, high: float, direction: str) -> None:
    """Check that scores can break the limit of a rule.

    Args:
        rule: The rule.
        low: Least value of the metric.
        high: Greatest value of the metric.
        direction: Which values are better: "higher" or "lower".

    Raises:
        InputError: The rule is `at_least` where lower values are better, or `at_most` where higher values are better.
            The limit of one of these rules is outside `low` to `high`. The limit of a `max_drop` or `margin` rule is
            `high - low` or more. A `good_share` rule always passes.
    """
    wrong = {"at_least": "lower", "at_most": "higher"}.get(rule.kind)
    if wrong == direction:
        other = "at_most" if rule.kind == "at_least" else "at_least"
        raise InputError(f"gate {rule.metric}: {rule.kind}: {direction} is better for this metric; say {other}")
    if rule.kind == "good_share":  # a share of rows, whatever the scores
        return
    if not rule.relative and not low <= rule.limit <= high:
        raise InputError(
            f"gate {rule.metric}: {rule.kind}: expected a number from {low:g} to {high:g}, got {rule.limit:g}"
        )
    if rule.relative and rule.limit >= high - low:
        raise InputError(
            f"gate {rule.metric}: {rule.kind}: expected less than {high - low:g}, the whole range, got {rule.limit:g}"
        )


def check_share(where: str, value: object) -> None:
    """Raise InputError unless this is a share, 0 to 1."""
    if not _number(value) or not 0.0 <= value <= 1.0:  # type: ignore[operator]
        raise InputError(f"{where}: expected a number from 0 to 1, got {value!r}")


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
