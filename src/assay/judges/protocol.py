"""The protocol of judges: what a judge is asked, what it answers, and what a call spends."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, get_args, runtime_checkable

from assay.errors import JudgeFailure
from assay.prompts.base import JudgePrompt
from assay.records import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from assay.judges.instructions import JudgeInstructions


F = TypeVar("F")


@runtime_checkable
class Judge(Protocol):
    """Protocol of a judge, as metrics use it.

    Attributes:
        fingerprint: Identity of the judge: model, parameters, versions. Judges with equal fingerprints are
            interchangeable.
        detects_contradiction: Whether its support verdicts tell a contradiction from missing support.
    """

    @property
    def fingerprint(self) -> str:
        """What makes this judge's judgements its own: model, parameters, versions. Equal means interchangeable."""

    @property
    def detects_contradiction(self) -> bool:
        """Whether its support verdicts tell a contradiction from a gap."""

    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure | None:
        """Explain why the judge does not answer a kind of question.

        Args:
            prompt: The kind of question.
            language: Code of the text's language.

        Returns:
            The failure, with the remedy. None when the judge answers it.
        """

    async def find(self, prompt: JudgePrompt[F]) -> F:
        """Answer one question.

        Args:
            prompt: The question.

        Returns:
            The judgement.

        Raises:
            JudgeFailure: The judge cannot answer it, or failed.
        """


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of a judge: a judgement, or the failure in its place, and the usage.

    Attributes:
        judgement: The judgement. None with a failure.
        failure: The failure. None with a judgement.
        usage: What the answer cost.
        keep: False for a provisional judgement that must not be cached, in memory or in a store.
    """

    judgement: Any = None
    failure: JudgeFailure | None = None
    usage: Usage = field(default_factory=Usage)
    keep: bool = True


class JudgeBackend(Protocol):
    """What the cache in front of a judge needs of it: a `BaseJudge` has it."""

    batched_questions: BatchedQuestions | None
    durable: bool
    instructions: JudgeInstructions | None
    sees: bool

    @property
    def fingerprint(self) -> str:
        """See `Judge.fingerprint`."""

    @property
    def detects_contradiction(self) -> bool:
        """See `Judge.detects_contradiction`."""

    @property
    def address(self) -> str:
        """All of this judge that can change a judgement, for the judgement's content address."""

    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure | None:
        """See `Judge.cannot`."""

    def add_instructions(self, prompt: JudgePrompt[F]) -> JudgePrompt[F]:
        """The prompt with the user's instructions for such prompts."""

    def groups(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Sequence[JudgePrompt[Any]]]:
        """Which of these prompts to answer together."""

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        """One answer per prompt, in order."""


def sees(judge: Judge | JudgeBackend) -> bool:
    """Whether a judge can be shown pictures."""
    return bool(getattr(judge, "sees", False))


def batched_groups_of(judge: Judge | JudgeBackend) -> frozenset[Group]:
    """The groups of prompts that a judge is asked together: see `assay.metrics.joint_prompts`."""
    groups: frozenset[Group] = getattr(judge, "batched_groups", frozenset())
    return groups


class Around:
    """A judge around another one, as metrics see it: it is what that one is, and finds in a way of its own.

    Whoever stands around a judge has it as `judge`, and a `find`.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # a dataclass would take it for the default of its field

        @property
        def judge(self) -> Judge | JudgeBackend: ...

    @property
    def fingerprint(self) -> str:
        return self.judge.fingerprint

    @property
    def detects_contradiction(self) -> bool:
        return self.judge.detects_contradiction

    @property
    def sees(self) -> bool:
        return sees(self.judge)

    @property
    def batched_groups(self) -> frozenset[Group]:
        return batched_groups_of(self.judge)

    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure | None:
        return self.judge.cannot(prompt, language)


class Meter:
    """Adds up what the judgements asked for in one context (one metric on one sample) cost."""

    __slots__ = ("usage",)

    def __init__(self) -> None:
        self.usage = Usage()

    def add(self, usage: Usage) -> None:
        self.usage += usage


#: The meter of the metric that is running, if it keeps one.
METER: ContextVar[Meter | None] = ContextVar("assay_meter", default=None)


class Waits:
    """How many answers of a judge one row waits for at the moment."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


#: The row that is being scored, where its run wants to know whether it waits.
WAITS: ContextVar[Waits | None] = ContextVar("assay_waits", default=None)


class Host(Protocol):
    """A run, as a judge sees that answers late: it holds many rows, and must know when all of them wait for it."""

    @property
    def name(self) -> str:
        """The run's name."""

    @property
    def folder(self) -> Path:
        """Where its store is, and where the judge may keep what it must not lose."""

    @property
    def reading(self) -> int:
        """Which reading of the same texts it is: what one reading found is not known to another."""

    @property
    def detach(self) -> bool:
        """Whether the run is to end, by `stop`, where nothing is left to do but wait."""

    def all_wait(self) -> bool:
        """Whether every row in flight waits for an answer, and no further row can begin."""

    def note(self, text: str) -> None:
        """A sentence for whoever reads the run's figures."""

    def stop(self, error: Exception) -> None:
        """End the run with this error. Rows that wait are not recorded."""


class Reservation(Protocol):
    """What was set aside for one request."""

    def settle(self, usage: Usage) -> None:
        """The request is over. Counts that are None stay at what was set aside: unknown is not 0."""


@runtime_checkable
class Spending(Protocol):
    """A budget, as judges see it."""

    def reserve(self, prompt_tokens: int, completion_tokens: int, share: float = 1.0) -> Reservation:
        """Set aside one request and the tokens it may take at most. Raises JudgeFailure (budget) without room.

        `share`: of the usual price, where the request is cheaper than others.
        """


#: True while a judge asks a model: what a framework tells our own handlers then is no answer of the application.
JUDGING: ContextVar[bool] = ContextVar("assay_judging", default=False)


#: The budget that every request sent from this context is taken from, if there is one.
SPENDING: ContextVar[Spending | None] = ContextVar("assay_spending", default=None)


class JudgementStore(Protocol):
    """Where judgements are kept between runs. May raise StoreError, which costs the keeping and nothing else."""

    def get_judgement(self, key: str) -> bytes | None:
        """The judgement stored under this key."""

    def put_judgement(self, key: str, prompt: str, judge: str, judgement: bytes) -> None:
        """Keep a judgement; on disk when this returns."""


BatchedQuestions = Literal["auto", "yes", "no"]


Group = Literal["both_ways", "answer", "reference"]


#: The names of all groups.
GROUPS: tuple[Group, ...] = get_args(Group)
