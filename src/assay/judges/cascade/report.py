"""What a cascade decided where: counted while it works, told when asked."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assay.records import Record, Usage

_COUNTED = ("decided", "escalated", "kept", "passed_on")


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeReport(Record):
    """What a cascade decided where.

    decided      verdicts that stayed with the first judge, by kind of inquiry
    escalated    verdicts in doubt, which the second judge was asked for
    kept         of those, the ones that are the first judge's all the same, because the second failed
    passed_on    inquiries that went to the second judge whole
    calls_alone  requests that the second judge alone would have had, where inquiries that share one count once
    calls        of those, the ones that it was sent
    """

    decided: Mapping[str, int] = field(default_factory=dict)
    escalated: Mapping[str, int] = field(default_factory=dict)
    kept: Mapping[str, int] = field(default_factory=dict)
    passed_on: Mapping[str, int] = field(default_factory=dict)
    calls_alone: int = 0
    calls: int = 0
    first_usage: Usage = field(default_factory=Usage)
    then_usage: Usage = field(default_factory=Usage)

    @property
    def share_escalated(self) -> float | None:
        """Verdicts in doubt / all verdicts that the first judge gave; None where it gave none."""
        doubtful = sum(self.escalated.values())
        verdicts = doubtful + sum(self.decided.values())
        return doubtful / verdicts if verdicts else None

    @property
    def calls_saved(self) -> int:
        """Requests that the second judge was spared."""
        return self.calls_alone - self.calls

    def text(self) -> str:
        """The report in one line."""
        share, doubtful = self.share_escalated, sum(self.escalated.values())
        asked = "no verdicts" if share is None else f"{doubtful} of {doubtful + sum(self.decided.values())} verdicts"
        percent = "" if share is None else f" ({share:.0%})"
        passed = sum(self.passed_on.values())
        return (
            f"cascade: {asked}{percent} went to the second judge"
            + (f", and {passed} inquiries whole" if passed else "")
            + (f"; {sum(self.kept.values())} of them failed there and were kept" if self.kept else "")
            + f"; {self.calls_saved} of {self.calls_alone} calls saved"
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one inquiry: verdicts by where they were decided, and the cost with each judge."""

    kind: str
    decided: int
    escalated: int
    kept: int
    passed_on: int
    first_usage: Usage
    then_usage: Usage


class Counts:
    """Adds up what a report tells, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_kind: dict[str, Counter[str]] = {name: Counter() for name in _COUNTED}
        self._alone = self._sent = 0
        self._usage = [Usage(), Usage()]

    def add(self, outcomes: Sequence[Outcome], alone: bool, sent: bool) -> None:
        """Inquiries that were answered together; whether the second judge alone would have been asked, and was."""
        with self._lock:
            for one in outcomes:
                for name, counts in self._by_kind.items():
                    counts[one.kind] += getattr(one, name)
                self._usage = [self._usage[0] + one.first_usage, self._usage[1] + one.then_usage]
            self._alone += alone or sent
            self._sent += sent

    def report(self) -> CascadeReport:
        """The sums until now."""
        with self._lock:
            return CascadeReport(
                **{name: {k: n for k, n in sorted(counts.items()) if n} for name, counts in self._by_kind.items()},
                calls_alone=self._alone,
                calls=self._sent,
                first_usage=self._usage[0],
                then_usage=self._usage[1],
            )
