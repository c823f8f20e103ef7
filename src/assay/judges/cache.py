"""The cache in front of a judge: equal prompts are answered once, and prompts that meet are answered together.

Order of look-up: memory, a call that is already under way, the store, the judge. Judgements go into the store before
anybody sees them. What one prompt breaks is that prompt's failure; its neighbours keep their judgements.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

from assay.errors import Cause, JudgeFailure, StoreError
from assay.judges.guarded_call import ask_judge, bug
from assay.judges.prompt_rendering import SECRET
from assay.judges.protocol import METER, WAITS, Answer, Around, Group, JudgeBackend, JudgementStore
from assay.judges.question_batching import batched_groups
from assay.prompts.base import JudgePrompt
from assay.records import Usage

F = TypeVar("F")

MEMORY = 4096  # judgements kept in memory; they are small, the store keeps all

#: Asking again in the same run cannot help.
_LASTING = frozenset(
    {Cause.PARSE, Cause.AMBIGUOUS, Cause.TRUNCATED, Cause.TOO_LONG, Cause.REFUSED, Cause.CONTENT_FILTER}
    | {Cause.AUTH, Cause.NO_MODEL, Cause.BAD_REQUEST, Cause.JUDGE_CANNOT}
    | {Cause.LANGUAGE, Cause.NEEDS_VISION, Cause.PROMPT_TRUNCATED}
)


@dataclass(slots=True, eq=False)
class _Call:
    """One prompt that the judge is answering, and how many wait for it."""

    prompt: JudgePrompt[Any]
    key: Hashable
    waiting: list[asyncio.Future[Answer]] = field(default_factory=list)
    done: bool = False
    cancelled: bool = False
    known: bool = False  # the store had it
    batch: _Batch | None = None


@dataclass(slots=True, eq=False)
class _Batch:
    """Calls that go to the judge together."""

    calls: list[_Call]
    task: asyncio.Task[None] | None = None


@dataclass(slots=True)
class JudgementCache(Around):
    """Cache in front of a judge, within one event loop. It implements the `Judge` protocol.

    Attributes:
        judge: The judge.
        store: Store that keeps judgements between runs. None: memory only.
        reading: Number of the repeat, from 1. Judgements of one repeat are not used for another.
        usage: Usage of all calls through this cache.
        cache_hits: Number of judgements that needed no call of their own.
        store_error: Last error of the store. The judgement was still returned, and is in memory. None: no error.
    """

    judge: JudgeBackend
    store: JudgementStore | None = None
    reading: int = 1
    usage: Usage = field(default_factory=Usage)
    cache_hits: int = 0
    store_error: StoreError | None = None
    _address: str | None = None
    _maker: str | None = None
    _batched: frozenset[Group] | None = None
    _keeps: bool | None = None
    _memory: OrderedDict[Hashable, Answer] = field(default_factory=OrderedDict)
    _calls: dict[Hashable, _Call] = field(default_factory=dict)
    _waiting: list[_Call] = field(default_factory=list)

    @property
    def fingerprint(self) -> str:
        """That of the judge; looked up once, since each score carries it and a judge may have to compute it."""
        if self._maker is None:
            self._maker = self.judge.fingerprint
        return self._maker

    @property
    def batched_groups(self) -> frozenset[Group]:
        """See `assay.judges.protocol.batched_groups_of`; looked up once, so that one run is asked in one way."""
        if self._batched is None:
            try:
                self._batched = batched_groups(self.judge, self.store)
            except Exception as error:  # a store that cannot be read; what is not known to agree is asked one by one
                self._failed(error)
                self._batched = frozenset()
        return self._batched

    async def find(self, prompt: JudgePrompt[F]) -> F:
        """Return the judgement on a prompt, from memory, the store or the judge.

        Equal prompts that arrive at the same time share one call.

        Args:
            prompt: The prompt.

        Returns:
            The judgement.

        Raises:
            JudgeFailure: The judge cannot answer the prompt, or failed.
        """
        prompt = self.judge.add_instructions(prompt)
        key = self._name(prompt)
        for _ in range(2):
            call = self._calls.get(key)
            mine = call is None
            if call is None:
                known = self._cached_answer(key, prompt)
                if known is not None:
                    self.cache_hits += 1
                    return _unpacked(known, prompt)
                call = self._begin(key, prompt)
            try:
                answer = await self._wait(call)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if not call.cancelled or (task is not None and task.cancelling()):
                    raise
                continue  # not this one was cancelled, but the call that it had joined
            if not mine or call.known:
                self.cache_hits += 1
            elif (meter := METER.get()) is not None:
                meter.add(answer.usage)
            return _unpacked(answer, prompt)
        raise JudgeFailure(Cause.INTERRUPTED, "the judge's call was cancelled, twice")

    @property
    def _durable(self) -> bool:
        """Whether judgements go into a store."""
        if self._keeps is None:
            self._keeps = self.store is not None and self.judge.durable
        return self._keeps

    def _name(self, prompt: JudgePrompt[Any]) -> Hashable:
        """What stands for the prompt in memory: its content address, or the prompt itself where nothing else needs it.

        To make and hash all that is asked takes a tenth of the time that a sample takes.
        """
        if self._durable or not _is_its_fields(type(prompt)):
            return self._key(prompt)
        try:
            hash(prompt)
        except TypeError:
            return self._key(prompt)
        return prompt

    def _key(self, prompt: JudgePrompt[Any]) -> str:
        if self._address is None:
            again = "" if self.reading == 1 else f"\nreading {self.reading}"
            self._address = self.judge.address + again
        try:
            return prompt.key(self._address)
        except Exception as error:  # a prompt of a user's own may be wrong
            raise bug(error, f"{prompt.name}: ") from error

    # ---- what is known

    def _cached_answer(self, key: Hashable, prompt: JudgePrompt[Any]) -> Answer | None:
        answer = self._memory.get(key)
        if answer is not None:
            self._memory.move_to_end(key)
            return answer
        if self.store is None or not self._durable or not isinstance(key, str) or self._far:
            return None
        try:
            return self._loaded(key, prompt, self.store.get_judgement(key))
        except StoreError as error:
            self._failed(error)
        except Exception:  # a store is foreign code
            return None
        return None

    def _loaded(self, key: Hashable, prompt: JudgePrompt[Any], blob: bytes | None) -> Answer | None:
        """The judgement that a store had; what does not load is asked for again, and no error for ever."""
        if blob is None:
            return None
        try:
            judgement = type(prompt).load(blob)
            if prompt.check(judgement) is not None:
                return None
        except Exception:
            return None
        answer = Answer(judgement=judgement)
        self._remember(key, answer)
        return answer

    @property
    def _far(self) -> bool:
        """Whether each look into the store is a round trip, so that prompts which meet are looked up together."""
        return bool(getattr(self.store, "is_far", False))

    def _look_up(self, calls: Sequence[_Call]) -> None:
        """Settle those calls whose judgements the store has."""
        get = getattr(self.store, "get_judgements", None)
        if get is None or not calls:
            return
        try:
            blobs = get([call.key for call in calls])
        except Exception as error:
            self._failed(error)
            return
        for call in calls:
            answer = self._loaded(call.key, call.prompt, blobs.get(call.key))
            if answer is not None:
                call.known = True
                self._settle(call, answer)

    def _remember(self, key: Hashable, answer: Answer) -> None:
        self._memory[key] = answer
        if len(self._memory) > MEMORY:
            self._memory.popitem(last=False)

    async def _keep(self, calls: Sequence[_Call], answers: Sequence[Answer]) -> list[Answer]:
        """Keep judgements in the store; it has them when this returns. What cannot be written is its own prompt's
        failure."""
        if self.store is None or not self._durable:
            return list(answers)
        kept, blobs = list(answers), []
        for n, (call, answer) in enumerate(zip(calls, answers, strict=True)):
            if answer.failure is not None or not answer.keep:
                continue
            try:
                blobs.append((str(call.key), call.prompt.name, type(call.prompt).dump(answer.judgement)))
            except Exception as error:
                failure = bug(error, f"the judge's judgement on {call.prompt.name} is no JSON: ")
                kept[n] = Answer(failure=failure, usage=answer.usage)
                self._remember(call.key, Answer(failure=failure))
        try:
            await self._put(self.store, blobs)
        except Exception as error:  # paid for is paid for: it goes on from memory
            self._failed(error)
        return kept

    async def _put(self, store: JudgementStore, blobs: Sequence[tuple[str, str, bytes]]) -> None:
        if not blobs:
            return
        maker = self.fingerprint
        put_soon = getattr(store, "put_soon", None)
        if put_soon is not None:
            written = put_soon([(key, prompt, maker, blob) for key, prompt, blob in blobs])
            await asyncio.shield(asyncio.wrap_future(written))  # it goes on where nobody waits for it any more
            return
        for key, prompt, blob in blobs:
            try:
                store.put_judgement(key, prompt, maker, blob)
            except Exception as error:  # of this one; the next may have luck
                self._failed(error)

    # ---- asking

    def _begin(self, key: Hashable, prompt: JudgePrompt[Any]) -> _Call:
        call = self._calls[key] = _Call(prompt, key)
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._send_when_quiet, 1)
        self._waiting.append(call)
        return call

    def _send_when_quiet(self, seen: int) -> None:
        """Send the batch as soon as one turn of the loop brought no new prompt.

        The metrics of a sample start in the same turn, or a few turns apart when they gather; waiting for the first
        quiet turn puts what they ask into one batch, always in the same order, at a cost of microseconds.
        """
        if len(self._waiting) > seen:
            asyncio.get_running_loop().call_soon(self._send_when_quiet, len(self._waiting))
            return
        quiet, self._waiting = self._waiting, []
        if self._durable and self._far:
            self._look_up([call for call in quiet if not call.done])
        for calls in self._groups([call for call in quiet if not call.done]):
            batch = _Batch(calls)
            for call in calls:
                call.batch = batch
            batch.task = asyncio.create_task(self._answer(batch))

    def _groups(self, calls: list[_Call]) -> list[list[_Call]]:
        """The calls as the judge groups them. Whatever it leaves out goes last: nobody may wait for ever."""
        left = {id(call.prompt): call for call in calls}
        try:
            wanted = self.judge.groups([call.prompt for call in calls])
            groups = [[left.pop(id(prompt)) for prompt in group if id(prompt) in left] for group in wanted]
        except Exception:  # a judge is foreign code; without its grouping all go together
            return [calls] if calls else []
        return [group for group in [*groups, list(left.values())] if group]

    async def _answer(self, batch: _Batch) -> None:
        try:
            SECRET.set(self._secret())  # in this task's own context
            WAITS.set(None)  # it is of no one row
            answers = await ask_judge(self.judge, [call.prompt for call in batch.calls])
            answers = await self._keep(batch.calls, answers)
            for call, answer in zip(batch.calls, answers, strict=True):
                self._end(call, answer)
        finally:
            for call in batch.calls:  # after a cancellation: nobody may wait for ever
                self._forget(call)
                if not call.done:
                    call.done = call.cancelled = True
                    for waiter in call.waiting:
                        waiter.cancel()

    def _secret(self) -> bytes | None:
        """What fences are made with: the store's own, so that workers and reruns begin their prompts alike."""
        try:
            secret: bytes | None = getattr(self.store, "secret", None)
        except Exception as error:  # fences are made with the secret of the process then
            self._failed(error)
            return None
        return secret

    def _failed(self, error: Exception) -> None:
        """The store failed: it goes on without, and says so."""
        self.store_error = error if isinstance(error, StoreError) else StoreError(f"{type(error).__name__}: {error}")

    def _end(self, call: _Call, answer: Answer) -> None:
        self.usage += answer.usage
        if answer.failure is None and answer.keep:
            self._remember(call.key, Answer(judgement=answer.judgement))
        elif answer.failure is not None and answer.failure.cause in _LASTING:
            self._remember(call.key, Answer(failure=answer.failure))
        self._settle(call, answer)

    def _settle(self, call: _Call, answer: Answer) -> None:
        """Give all who wait for a call its answer."""
        self._forget(call)
        call.done = True
        vars(call.prompt).pop("full_content", None)  # which memory need not hold
        for waiter in call.waiting:
            if not waiter.done():
                waiter.set_result(answer)

    # ---- waiting

    async def _wait(self, call: _Call) -> Answer:
        row = WAITS.get()
        mine: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        call.waiting.append(mine)
        if row is not None:
            row.count += 1
        try:
            return await mine
        finally:
            call.waiting.remove(mine)
            if row is not None:
                row.count -= 1
            if not call.waiting and not call.done:
                self._abandon(call)

    def _abandon(self, call: _Call) -> None:
        """The last one who waited was cancelled: stop the call, unless others wait for its batch.

        From here on nobody can join it: whoever asks the same begins anew, and inherits no cancellation.
        """
        self._forget(call)
        batch = call.batch
        if batch is None:
            call.done = call.cancelled = True
        elif batch.task is not None and not any(other.waiting for other in batch.calls):
            for other in batch.calls:
                self._forget(other)
            batch.task.cancel()

    def _forget(self, call: _Call) -> None:
        if self._calls.get(call.key) is call:
            del self._calls[call.key]


@lru_cache(maxsize=256)
def _is_its_fields(kind: type[JudgePrompt[Any]]) -> bool:
    """Whether equal prompts of a class are asked alike: it is a dataclass that compares all of its fields."""
    known = vars(kind).get("__dataclass_fields__")
    return known is not None and "__eq__" in vars(kind) and all(one.compare for one in known.values())


def _unpacked(answer: Answer, prompt: JudgePrompt[F]) -> F:
    if answer.failure is not None:
        # a fresh exception each time: several metrics may raise it, each with its own traceback
        failure = answer.failure
        again = JudgeFailure(failure.cause, failure.message, raw=failure.raw, detail=failure.detail)
        raise again from failure
    judgement: F = answer.judgement
    return judgement
