"""Judges: whoever answers inquiries.

A judge implements `answer`, which takes a batch of inquiries of any types and returns one `Answer` for each. What a
metric holds in its hands is the small `Judge` protocol, served by a `JudgementCache`: memory, store, batches.

There are two ways to answer, and a judge may have one or both: *generate* structured text (see `writing.judge`), or
*decide*: a probability for each label of a closed set, many questions in one request (`Inquiry.questions`, `decided`).
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
    from assay.inquiries.base import Inquiry
    from assay.judges.guidance import Guidance, GuidanceSpec
    from assay.judges.protocol import Asking, Group, JudgementStore
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
        asking: How questions that belong together are asked, see `assay.judges.fusing`. None: always one by one.
        durable: Whether judgements are kept on disk. False for judges of scripts and tests.
        samples_at_once: Samples that an evaluation asks about at the same time. None: all that are in flight.
        rows_in_flight: Rows that an evaluation holds while they wait for a judge that answers after hours; such rows
            have no deadline. None: as many as the evaluation's `concurrency`.
        guidance: The user's instructions for single kinds of question. None: no instructions.
        sees: Whether it accepts pictures. Without, it is asked no question that has one.
        budgeted: True for judges that reserve each request from `SPENDING` before it leaves, and for those that cost
            nothing.
    """

    #: how it is asked what belongs together, see `assay.judges.fusing`; None: one by one, it cannot be asked otherwise
    asking: Asking | None = None

    #: False for judges whose judgements need not be kept on disk (scripts, tests)
    durable: bool = True

    #: how many samples an evaluation asks this judge about at the same time; None: all that are in flight
    samples_at_once: int | None = None

    #: rows that an evaluation holds while they wait for this judge, where it answers after hours; no row has a deadline
    #: then. None: as many as the evaluation's `concurrency`
    rows_in_flight: int | None = None

    #: what its user tells it about single kinds of inquiry; None: nothing
    guidance: Guidance | None = None
    #: True for judges that can be shown pictures; the others are asked nothing that has one
    sees: bool = False

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

    def with_guidance(self, guidance: GuidanceSpec) -> Self:
        """Make the same judge with instructions and examples.

        Args:
            guidance: Instructions and examples for kinds of questions, or the file that has them.

        Returns:
            The judge.

        Raises:
            InputError: The guidance cannot be read, or this judge reads none.
        """
        from assay.judges.guidance import Guidance

        twin = copy.copy(self)
        twin.__dict__.pop("_caches", None)
        twin.guidance = Guidance.of(guidance)
        return twin

    def with_asking(self, asking: Asking) -> Self:
        """Copy the judge with a mode for questions that belong together. See `assay.judges.fusing`.

        Args:
            asking: "auto": together where a check in the store found equal judgements. "fused": together. "separate":
                one by one. A judge that writes no text is always asked one by one.

        Returns:
            The copy.

        Raises:
            InputError: `asking` is none of these, or "fused" meets a judge that writes no text.
        """
        from assay.judges.fusing import checked_asking

        checked = checked_asking(asking)
        if self.asking is None and checked == "fused":
            raise InputError("asking: 'fused' goes with a judge that writes, for example judge='openai:MODEL'")
        twin = copy.copy(self)
        twin.__dict__.pop("_caches", None)
        twin.asking = None if self.asking is None else checked
        return twin

    def guided(self, inquiry: Inquiry[F]) -> Inquiry[F]:
        """Add the user's instructions for this kind of question.

        Args:
            inquiry: The question.

        Returns:
            The question with the instructions; the same one without guidance.
        """
        return inquiry if self.guidance is None else self.guidance.added_to(inquiry)

    @abstractmethod
    async def answer(self, inquiries: Sequence[Inquiry[Any]]) -> Sequence[Answer]:
        """Answer questions. One that fails gets a failure; the others keep their judgements.

        Args:
            inquiries: The questions.

        Returns:
            One answer each, in order: a judgement or a failure.
        """

    def groups(self, inquiries: Sequence[Inquiry[Any]]) -> Sequence[Sequence[Inquiry[Any]]]:
        """Group questions that came up together: each group goes to `answer` by itself.

        What is in one group waits for the slowest of it, and may be of several samples: a judge must not read one
        question in view of another. The default is one group of all.

        Args:
            inquiries: The questions.

        Returns:
            The groups.
        """
        return [inquiries]

    def cannot(self, inquiry: type[Inquiry[Any]], language: str = "en") -> JudgeFailure | None:
        """Check whether this judge can answer a kind of question. Asks nothing. The default answers everything.

        Args:
            inquiry: Class of a judge prompt.
            language: ISO 639-1 code of the texts.

        Returns:
            Why it cannot; None where it can.
        """
        return None

    async def prepare(self) -> None:  # noqa: B027  most judges load nothing
        """Load what takes long, off the running event loop. Asked for before the first inquiry where a loop must not
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
    def fused(self) -> frozenset[Group]:
        """See `fused_of`; without a store nothing is known to agree."""
        from assay.judges.fusing import fused_groups

        return fused_groups(self, None)

    async def find(self, inquiry: Inquiry[F]) -> F:
        """Answer one question, with a cache that lives as long as the running event loop.

        Args:
            inquiry: The question.

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
        return await caches[loop].find(inquiry)


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
