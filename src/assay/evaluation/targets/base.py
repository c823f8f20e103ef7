"""What a target is, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from assay._util.normalise import finite
from assay.errors import AssayError
from assay.records import Context, Message, Sample

#: Values of `vary`: keyword arguments of a function, template variables of a request.
Variables = Mapping[str, Any]

#: Characters of an answer and its passages together; what is longer is refused, so that no row fills the memory.
LONGEST = 10_000_000


class TargetFailure(AssayError):
    """The target gave no answer to one question: the row gets no score, with this message.

    Args:
        message: What went wrong.
        passing: Whether the same call may succeed later.
        retry_after: Seconds to wait before the next attempt, where the target asks for that.
        limited: Whether the target refused the call for its rate.
    """

    def __init__(
        self, message: str, *, passing: bool = True, retry_after: float | None = None, limited: bool = False
    ) -> None:
        super().__init__(message)
        self.message = message
        self.passing = passing
        self.retry_after = retry_after
        self.limited = limited


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a target answered to one question.

    Attributes:
        text: The answer.
        contexts: The retrieved passages, best first; None: not known.
        messages: The conversation of an agent.
        input_tokens, output_tokens: Tokens of its LLM calls; None: not known.
        cost: Money, in the currency of the target; None: not known.
        seconds: Duration of the call.
        cached: Whether it comes from the store.
    """

    text: str
    contexts: tuple[Context, ...] | None = None
    messages: tuple[Message, ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    seconds: float | None = None
    cached: bool = field(default=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON values, for the store."""
        return {
            "sample": Sample(answer=self.text, contexts=self.contexts, messages=self.messages).to_dict(),
            **{name: value for name in NUMBERS if (value := getattr(self, name)) is not None},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Answer:
        """Read what `to_dict` wrote."""
        sample = Sample.from_dict(data["sample"])
        numbers = {name: data.get(name) for name in NUMBERS}
        return cls(text=sample.answer or "", contexts=sample.contexts, messages=sample.messages, cached=True, **numbers)


#: The fields of an answer that are numbers.
NUMBERS = ("input_tokens", "output_tokens", "cost", "seconds")


def count_in(value: object) -> int | None:
    """A number of tokens, where it is one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def amount_in(value: object) -> float | None:
    """An amount of money, where it is one."""
    known = finite(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None
    return known if known is not None and known >= 0 else None


class Target(Protocol):
    """An application that answers questions.

    Attributes:
        name: What messages and runs call it.
        version: Identifies what answers; None: not known, and answers are not reused by later runs.
        attempts: Attempts at one question by default.
    """

    attempts: int

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str | None: ...

    def check(self, variables: Variables) -> None:
        """Raise InputError for variables that it does not take."""

    def session(self) -> AbstractAsyncContextManager[None]:
        """What it needs while it is asked: threads, connections."""

    async def ask(self, sample: Sample, variables: Variables, seconds: float) -> Answer:
        """Answer one question.

        Args:
            sample: The question, without reference, answer and contexts.
            variables: Keyword arguments or template variables.
            seconds: Time for the call.

        Raises:
            TargetFailure: There is no answer.
        """
