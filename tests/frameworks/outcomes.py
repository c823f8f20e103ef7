"""What became of each test of a suite, run by run, and what differs between runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ABSENT = "absent"


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of a suite.

    attached     "nothing", "empty" or "assay"
    outcomes     passed, failed, error, skipped, xfailed or xpassed, by the id of the test
    reasons      the first line of the error, for those that failed
    cpu_seconds  of the process from the first test on, scoring included
    seen         what the attached handler says of itself
    """

    attached: str = "nothing"
    outcomes: Mapping[str, str]
    reasons: Mapping[str, str] = field(default_factory=dict)
    cpu_seconds: float = 0.0
    seen: Mapping[str, Any] = field(default_factory=dict)

    @property
    def passed(self) -> int:
        return Counter(self.outcomes.values())["passed"]

    @classmethod
    def read(cls, path: Path) -> Run:
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=1, sort_keys=True), encoding="utf-8")


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A test that became with assay what it never became without.

    plain, empty, attached   its outcomes in the runs, each once
    reason                   of the failure, if it failed with assay
    """

    test: str
    plain: tuple[str, ...]
    empty: tuple[str, ...]
    attached: tuple[str, ...]
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """How runs of one suite with assay compare with those without.

    because  differences that neither a plain run nor a run with the empty handler shows: assay's own
    shared   differences that the empty handler makes as well
    flaky    tests that differ between plain runs, with their outcomes; they are among no other
    """

    because: tuple[Difference, ...]
    shared: tuple[Difference, ...]
    flaky: Mapping[str, tuple[str, ...]]


def compare(plain: Sequence[Run], empty: Sequence[Run], attached: Sequence[Run]) -> Comparison:
    """Compare test by test. A test that a run does not have is "absent" in it. At least one run of each kind."""
    if not (plain and empty and attached):
        raise ValueError("a comparison needs a run of each kind: plain, empty and attached")
    because, shared, flaky = [], [], {}
    for test in sorted({test for run in (*plain, *empty, *attached) for test in run.outcomes}):
        without, with_empty, with_assay = (_outcomes(test, runs) for runs in (plain, empty, attached))
        if len(without) > 1:
            flaky[test] = without
        elif strange := set(with_assay) - set(without):
            reason = next((run.reasons[test] for run in attached if test in run.reasons), "")
            one = Difference(test=test, plain=without, empty=with_empty, attached=with_assay, reason=reason)
            (shared if strange <= set(with_empty) else because).append(one)
    return Comparison(because=tuple(because), shared=tuple(shared), flaky=flaky)


def _outcomes(test: str, runs: Iterable[Run]) -> tuple[str, ...]:
    return tuple(sorted({run.outcomes.get(test, ABSENT) for run in runs}))
