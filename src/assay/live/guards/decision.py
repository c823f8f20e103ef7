"""What a guard decided, why, and how often it decided what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from assay._util.error_counter import Errors
from assay._util.tabular import Tabular
from assay.errors import AssayError, printable
from assay.records import Record, ScoredSample

Outcome = Literal["passed", "blocked", "timeout", "skipped", "error"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardDecision(Tabular, Record):
    """Decision of a guard on one answer, with its reason.

    Attributes:
        allowed: Whether the answer may go out. This is what counts.
        outcome: "passed": every metric keeps its threshold. "blocked": at least one metric has a value that misses its
            threshold. "timeout": not all was scored within the deadline, and what was scored keeps its threshold.
            "skipped": the sample gives nothing to measure: a refusal without claims, no contexts. "error": the judge or
            the guard failed.
        scored: The sample with the scores at the time of the decision. None where the guard itself failed.
        failed: Metrics that miss their threshold.
        seconds: Seconds from the call until the decision.
        reason: The explanation in words: the first line is the decision, the others hold the evidence.
    """

    _columns = "allowed outcome failed seconds reason"

    allowed: bool
    outcome: Outcome
    scored: ScoredSample | None = None
    failed: tuple[str, ...] = ()
    seconds: float
    reason: str

    @property
    def headline(self) -> str:
        """The first line of the reason. It names metrics and numbers, and holds no text of the sample."""
        return self.reason.partition("\n")[0]

    def __str__(self) -> str:
        verdict = "allowed" if self.allowed else "not allowed"
        return printable(f"{verdict} ({self.outcome}, {self.seconds:.2f} s): {self.reason}")

    def __repr__(self) -> str:
        return f"<GuardDecision {self.outcome}, {'allowed' if self.allowed else 'not allowed'}: {self.headline}>"


class GuardBlocked(AssayError):
    """Error: a guard blocked an answer and has no fallback to replace it.

    Args:
        decision: The decision, with the reason. It stays in the attribute `decision`.
    """

    def __init__(self, decision: GuardDecision):
        super().__init__(decision)
        self.decision = decision

    def __str__(self) -> str:
        return self.decision.headline


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardHealth(Tabular, Record):
    """Counters of a guard in this process at one moment.

    Attributes:
        checks: Calls of `check` and `acheck`: the five outcomes, `pending` and `withdrawn`.
        pending: Checks without a decision yet.
        withdrawn: Checks that the caller cancelled or interrupted before a decision.
        passed: Decisions with the outcome "passed".
        blocked: Decisions with the outcome "blocked".
        timeout: Decisions with the outcome "timeout".
        skipped: Decisions with the outcome "skipped".
        error: Decisions with the outcome "error".
        allowed: Answers that may go out: those that passed, and those that `on_timeout`, `on_error` and `on_skipped`
            let pass.
        causes: Scores without a value, by cause.
        late: Scorings that the guard cancelled at the deadline.
        stuck: Threads that the guard abandoned, because the judge did not return.
        errors: Exceptions caught in the guard, the judge's thread, the fallback and `on_decision`, by type.
        last_error: The newest of them. None without one.
    """

    checks: int = 0
    pending: int = 0
    withdrawn: int = 0
    passed: int = 0
    blocked: int = 0
    timeout: int = 0
    skipped: int = 0
    error: int = 0
    allowed: int = 0
    causes: Mapping[str, int] = field(default_factory=dict)
    late: int = 0
    stuck: int = 0
    errors: Mapping[str, int] = field(default_factory=dict)
    last_error: str | None = None


class GuardCounts:
    """The running counters behind `GuardHealth`: `counts` by the names of its fields. Change them under a lock."""

    __slots__ = ("causes", "counts", "errors")

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.causes: Counter[str] = Counter()
        self.errors = Errors()

    def count(self, decision: GuardDecision) -> None:
        """A check has its decision."""
        self.counts.update({"pending": -1, decision.outcome: 1, "allowed": int(decision.allowed)})
        for score in decision.scored.scores.values() if decision.scored is not None else ():
            if score.error is not None:
                self.causes[score.error.cause.value] += 1

    def health(self) -> GuardHealth:
        """The counters as they stand."""
        return GuardHealth(
            **self.counts,
            causes=dict(self.causes),
            errors=dict(self.errors.counts),
            last_error=self.errors.last,
        )
