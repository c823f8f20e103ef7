"""Judges: whoever answers prompts.

A judge implements `answer`, which takes a batch of prompts of any types and returns one `Answer` for each. What a
metric holds in its hands is the small `Judge` protocol, served by a `JudgementCache`: memory, store, batches.

There are two ways to answer, and a judge may have one or both: *generate* structured text (see `llm.judge`), or
*decide*: a probability for each label of a closed set, many questions in one request (`JudgePrompt.questions`,
`from_decisions`).
"""

from __future__ import annotations

import asyncio
import copy
import weakref
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias

from assay._util.call_repr import call_repr
from assay.errors import InputError, JudgeFailure

if TYPE_CHECKING:
    from assay.judges.instructions import InstructionsSpec, JudgeInstructions
    from assay.judges.protocol import BatchedQuestions, Group, JudgementStore
    from assay.prompts.base import JudgePrompt
from assay.judges.protocol import Answer, F, Host


def check_immediate(judge: BaseJudge, who: str) -> None:
    """Raise InputError for a judge that answers in batches, within a day: `who` needs its answers sooner."""
    if judge.rows_in_flight is not None:
        raise InputError(
            f"judge: {type(judge).__name__} answers in batches, which may take a day, and {who} cannot wait for that; "
            "name one that answers at once, 'openai:MODEL', or score later: assay score --judge openai-batch:MODEL"
        )


class BaseJudge(ABC):
    """Base class of judges. Subclass it with a `fingerprint` and an `answer`.

    Attributes:
        batched_questions: Whether related questions share a request, see `assay.judges.question_batching`. None: never.
        durable: Whether judgements are kept on disk. False for judges of scripts and tests.
        samples_at_once: Samples that an evaluation asks about at the same time. None: all that are in flight.
        rows_in_flight: Rows that an evaluation holds while they wait for a judge that answers after hours; such rows
            have no deadline. None: as many as the evaluation's `concurrency`.
        instructions: The user's instructions for single kinds of question. None: no instructions.
        sees: Whether it accepts pictures. Without, it is asked no question that has one.
        free: Whether a judgement costs no money: the judge computes on this machine.
        budgeted: True for judges that reserve each request from `SPENDING` before it leaves, and for those that cost
            nothing.
    """

    batched_questions: BatchedQuestions | None = None

    #: False for judges whose judgements need not be kept on disk (scripts, tests)
    durable: bool = True

    #: how many samples an evaluation asks this judge about at the same time; None: all that are in flight
    samples_at_once: int | None = None

    #: rows that an evaluation holds while they wait for this judge, where it answers after hours; no row has a deadline
    #: then. None: as many as the evaluation's `concurrency`
    rows_in_flight: int | None = None

    #: what its user tells it about single kinds of prompt; None: nothing
    instructions: JudgeInstructions | None = None
    #: True for judges that can be shown pictures; the others are asked nothing that has one
    sees: bool = False

    #: whether a judgement costs no money: the judge computes on this machine
    free: bool = False

    #: True for judges that reserve each request from `SPENDING` before it leaves, and for those that cost nothing
    budgeted: bool = False

    def __repr__(self) -> str:
        return call_repr(self)

    @property
    def detects_contradiction(self) -> bool:
        """See `Judge.detects_contradiction`."""
        return True

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """See `Judge.fingerprint`."""

    @property
    def address(self) -> str:
        """All of this judge that can change a judgement, for the judgement's content address. Its fingerprint, if
        not more.

        Raises whatever `fingerprint` raises.
        """
        return self.fingerprint

    def with_probabilities(self) -> BaseJudge:
        """Copy the judge, set to return label probabilities where it can. They may cost more than the labels.

        Returns:
            The judge. The default returns the judge itself.
        """
        return self

    def with_store(self, store: JudgementStore) -> BaseJudge:
        """Prepare the judge for a run that keeps judgements in a store.

        Args:
            store: The store. A judge that asks another judge keeps that one's judgements there.

        Returns:
            The judge. The default returns the judge itself.
        """
        return self

    def with_instructions(self, instructions: InstructionsSpec) -> Self:
        """Make the same judge with instructions and examples.

        Args:
            instructions: Instructions and examples for kinds of questions, or the file that has them.

        Returns:
            The judge.

        Raises:
            InputError: The instructions cannot be read, or this judge reads none.
        """
        from assay.judges.instructions import JudgeInstructions

        twin = copy.copy(self)
        twin.__dict__.pop("_caches", None)
        twin.instructions = JudgeInstructions.of(instructions)
        return twin

    def with_batched_questions(self, batched_questions: bool | str) -> Self:
        """Copy the judge with a mode for questions that belong together. See `assay.judges.question_batching`.

        Args:
            batched_questions: "auto": together where a check in the store found equal judgements. "yes": together.
                "no": one by one. A judge that writes no text is always asked one by one.

        Returns:
            The copy.

        Raises:
            InputError: `batched_questions` is none of these, or "yes" meets a judge that writes no text.
        """
        from assay.judges.question_batching import check_batched_questions

        checked = check_batched_questions(batched_questions)
        if self.batched_questions is None and checked == "yes":
            raise InputError("batched_questions: 'yes' goes with a judge that writes, for example judge='openai:MODEL'")
        twin = copy.copy(self)
        twin.__dict__.pop("_caches", None)
        twin.batched_questions = None if self.batched_questions is None else checked
        return twin

    def add_instructions(self, prompt: JudgePrompt[F]) -> JudgePrompt[F]:
        """Add the user's instructions for this kind of question.

        Args:
            prompt: The question.

        Returns:
            The question with the instructions; the same one without instructions.
        """
        return prompt if self.instructions is None else self.instructions.add_to(prompt)

    @abstractmethod
    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        """Answer questions. One that fails gets a failure; the others keep their judgements.

        Args:
            prompts: The questions.

        Returns:
            One answer each, in order: a judgement or a failure.
        """

    def groups(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Sequence[JudgePrompt[Any]]]:
        """Group questions that came up together: each group goes to `answer` by itself.

        What is in one group waits for the slowest of it, and may be of several samples: a judge must not read one
        question in view of another. The default is one group of all.

        Args:
            prompts: The questions.

        Returns:
            The groups.
        """
        return [prompts]

    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure | None:
        """Check whether this judge can answer a kind of question. Asks nothing. The default answers everything.

        Args:
            prompt: Class of a judge prompt.
            language: ISO 639-1 code of the texts.

        Returns:
            Why it cannot; None where it can.
        """
        return None

    async def prepare(self) -> None:  # noqa: B027  most judges load nothing
        """Load what takes long, off the running event loop. Asked for before the first prompt where a loop must not
        be held up, and perhaps again; without it a judge loads when it is first asked.
        """

    def session_for(self, run: Host) -> AbstractAsyncContextManager[None]:
        """Reserve this judge for one run, within a `with` block. Only a judge that answers late needs to know.

        Args:
            run: The run.

        Returns:
            The block.
        """
        return nullcontext()

    async def release(self) -> None:  # noqa: B027  most judges hold nothing
        """Close what belongs to the running event loop (clients, connections). The judge stays usable."""

    @property
    def batched_groups(self) -> frozenset[Group]:
        """See `batched_groups_of`; without a store nothing is known to agree."""
        from assay.judges.question_batching import batched_groups

        return batched_groups(self, None)

    async def find(self, prompt: JudgePrompt[F]) -> F:
        """Answer one question, with a cache that lives as long as the running event loop.

        Args:
            prompt: The question.

        Returns:
            The judgement.

        Raises:
            JudgeFailure: The judge cannot answer it, or failed.
        """
        from assay.judges.cache import JudgementCache

        loop = asyncio.get_running_loop()
        caches: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, JudgementCache]
        caches = self.__dict__.setdefault("_caches", weakref.WeakKeyDictionary())
        if loop not in caches:
            caches[loop] = JudgementCache(self)
        return await caches[loop].find(prompt)


class ChatRunnable(Protocol):
    """A chat model of LangChain, as far as a type checker needs to know it."""

    @property
    def ainvoke(self) -> Any:
        """Asks it."""


class ChatLLM(Protocol):
    """An LLM of LlamaIndex, as far as a type checker needs to know it."""

    @property
    def achat(self) -> Any:
        """Asks it."""


#: How a judge may be named: itself, by text, or by a framework's model; None is the embedded judge.
JudgeSpec: TypeAlias = "BaseJudge | ChatRunnable | ChatLLM | str | None"
