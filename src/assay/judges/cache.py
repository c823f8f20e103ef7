"""The desk in front of a judge: equal inquiries are answered once, and inquiries that meet are answered together.

Order of look-up: a call that is already under way (single flight), memory, the store, the judge. Findings go into the
store before anybody sees them; failures are remembered only where asking again could not help.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from assay.errors import Cause, JudgeFailure
from assay.inquiries.base import Inquiry
from assay.judges.base import METER, Answer, BaseJudge
from assay.records import Usage

F = TypeVar("F")

MEMORY = 4096  # findings kept in memory; they are small, the store keeps all

#: Asking again in the same run cannot help.
_LASTING = frozenset(
    {Cause.PARSE, Cause.AMBIGUOUS, Cause.TRUNCATED, Cause.TOO_LONG, Cause.REFUSED, Cause.CONTENT_FILTER}
    | {Cause.AUTH, Cause.NO_MODEL, Cause.BAD_REQUEST, Cause.JUDGE_CANNOT, Cause.LANGUAGE}
)


class FindingStore(Protocol):
    """Where findings are kept between runs."""

    def get_finding(self, key: str) -> bytes | None:
        """The finding stored under this key."""

    def put_finding(self, key: str, inquiry: str, judge: str, finding: bytes) -> None:
        """Keep a finding; on disk when this returns."""


@dataclass(slots=True, eq=False)
class _Flight:
    """One inquiry that the judge is answering, and who waits for it."""

    inquiry: Inquiry[Any]
    key: str
    landed: asyncio.Future[Answer]
    waiters: int = 0
    batch: _Batch | None = None


@dataclass(slots=True, eq=False)
class _Batch:
    flights: list[_Flight]
    task: asyncio.Task[None] | None = None


@dataclass(slots=True)
class Desk:
    """Serves the `Judge` protocol over one judge, within one event loop.

    `usage` adds up everything asked through this desk; `reused` counts findings that cost nothing.
    """

    judge: BaseJudge
    store: FindingStore | None = None
    usage: Usage = field(default_factory=Usage)
    reused: int = 0
    _memory: OrderedDict[str, Answer] = field(default_factory=OrderedDict)
    _flying: dict[str, _Flight] = field(default_factory=dict)
    _waiting: list[_Flight] = field(default_factory=list)

    @property
    def fingerprint(self) -> str:
        return self.judge.fingerprint

    @property
    def tells_contradiction(self) -> bool:
        return self.judge.tells_contradiction

    def cannot(self, inquiry: type[Inquiry[Any]], language: str = "en") -> JudgeFailure | None:
        return self.judge.cannot(inquiry, language)

    async def find(self, inquiry: Inquiry[F]) -> F:
        """The finding on this inquiry. Raises JudgeFailure."""
        key = inquiry.key(self.judge.fingerprint)
        known = None if key in self._flying else self._remembered(key, inquiry)
        if known is not None:
            self.reused += 1
            return _unpack(known, inquiry)
        mine = key not in self._flying
        flight = self._flying[key] if not mine else self._take_off(key, inquiry)
        answer = await self._wait(flight)
        if mine:
            meter = METER.get()
            if meter is not None:
                meter.add(answer.usage)
        else:
            self.reused += 1
        return _unpack(answer, inquiry)

    def _remembered(self, key: str, inquiry: Inquiry[Any]) -> Answer | None:
        answer = self._memory.get(key)
        if answer is not None:
            self._memory.move_to_end(key)
            return answer
        blob = self.store.get_finding(key) if self.store is not None and self.judge.durable else None
        if blob is None:
            return None
        answer = Answer(finding=type(inquiry).load(blob))
        self._remember(key, answer)
        return answer

    def _remember(self, key: str, answer: Answer) -> None:
        self._memory[key] = answer
        if len(self._memory) > MEMORY:
            self._memory.popitem(last=False)

    def _take_off(self, key: str, inquiry: Inquiry[Any]) -> _Flight:
        loop = asyncio.get_running_loop()
        flight = self._flying[key] = _Flight(inquiry, key, loop.create_future())
        if not self._waiting:
            loop.call_soon(self._flush_when_quiet, 1)
        self._waiting.append(flight)
        return flight

    def _flush_when_quiet(self, seen: int) -> None:
        """Send the batch as soon as one turn of the loop brought no new inquiry.

        The metrics of a sample start in the same turn, or a few turns apart when they gather; waiting for the first
        quiet turn puts what they ask into one batch, always in the same order, at a cost of microseconds.
        """
        if len(self._waiting) > seen:
            asyncio.get_running_loop().call_soon(self._flush_when_quiet, len(self._waiting))
            return
        quiet, self._waiting = self._waiting, []
        for flights in self._groups([flight for flight in quiet if not flight.landed.done()]):
            batch = _Batch(flights)
            for flight in flights:
                flight.batch = batch
            batch.task = asyncio.create_task(self._answer(batch))

    def _groups(self, flights: list[_Flight]) -> list[list[_Flight]]:
        """The flights as the judge groups them. Whatever it leaves out goes last: nobody may wait for ever."""
        left = {id(flight.inquiry): flight for flight in flights}
        try:
            wanted = self.judge.groups([flight.inquiry for flight in flights])
            groups = [[left.pop(id(inquiry)) for inquiry in group if id(inquiry) in left] for group in wanted]
        except Exception:  # a judge is foreign code; without its grouping all go together
            return [flights] if flights else []
        return [group for group in [*groups, list(left.values())] if group]

    async def _answer(self, batch: _Batch) -> None:
        try:
            answers = await self._asked(batch.flights)
            for flight, answer in zip(batch.flights, answers, strict=True):
                self._land(flight, answer)
        finally:
            for flight in batch.flights:  # after a cancellation: nobody may wait for ever
                self._flying.pop(flight.key, None)
                if not flight.landed.done():
                    flight.landed.cancel()

    async def _asked(self, flights: Sequence[_Flight]) -> Sequence[Answer]:
        try:
            answers = await self.judge.answer([flight.inquiry for flight in flights])
        except JudgeFailure as failure:
            return [Answer(failure=failure)] * len(flights)
        except Exception as error:  # a judge is foreign code; what it breaks is one batch, and it is said
            bug = JudgeFailure(Cause.BUG, f"the judge raised {type(error).__name__}: {error}")
            bug.__cause__ = error
            return [Answer(failure=bug)] * len(flights)
        if len(answers) != len(flights):
            message = f"the judge gave {len(answers)} answers to {len(flights)} inquiries"
            return [Answer(failure=JudgeFailure(Cause.BUG, message))] * len(flights)
        return answers

    def _land(self, flight: _Flight, answer: Answer) -> None:
        self.usage += answer.usage
        if answer.failure is None and not flight.inquiry.answered_by(answer.finding):
            message = f"the judge's finding does not have the shape of its inquiry {flight.inquiry.name}"
            answer = Answer(failure=JudgeFailure(Cause.BUG, message), usage=answer.usage)
        if answer.failure is None and answer.keep:
            if self.store is not None and self.judge.durable:
                blob = type(flight.inquiry).dump(answer.finding)
                self.store.put_finding(flight.key, flight.inquiry.name, self.judge.fingerprint, blob)
            self._remember(flight.key, Answer(finding=answer.finding))
        elif answer.failure is not None and answer.failure.cause in _LASTING:
            self._remember(flight.key, Answer(failure=answer.failure))
        self._flying.pop(flight.key, None)
        if not flight.landed.done():
            flight.landed.set_result(answer)

    async def _wait(self, flight: _Flight) -> Answer:
        flight.waiters += 1
        try:
            return await asyncio.shield(flight.landed)
        finally:
            flight.waiters -= 1
            if flight.waiters == 0 and not flight.landed.done():
                self._abandon(flight)

    def _abandon(self, flight: _Flight) -> None:
        """The last one who waited was cancelled: stop the call, unless others wait for its batch."""
        batch = flight.batch
        if batch is None:
            self._flying.pop(flight.key, None)
            flight.landed.cancel()
        elif batch.task is not None and all(other.waiters == 0 for other in batch.flights):
            batch.task.cancel()


def _unpack(answer: Answer, inquiry: Inquiry[F]) -> F:
    if answer.failure is not None:
        # a fresh exception each time: several metrics may raise it, each with its own traceback
        failure = answer.failure
        again = JudgeFailure(failure.cause, failure.message, raw=failure.raw, detail=failure.detail)
        raise again from failure
    finding: F = answer.finding
    return finding
