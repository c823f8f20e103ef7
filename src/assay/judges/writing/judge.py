"""Judges that answer by writing text: everything around one `generate` that sends a prompt to a model.

    class MyJudge(TextJudge):
        fingerprint = "my-model"

        async def generate(self, request):
            return Reply(await my_model(self.system(request), self.user(request)))

Inquiries on the same texts are asked in one call; what does not fit the window is asked in parts; a reply that is cut
is asked for in smaller pieces; a reply that cannot be used is asked for once more, with the reason.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from assay.errors import AmbiguousReply, BadReply, Cause, JudgeFailure
from assay.inquiries.base import Inquiry, Prompt
from assay.judges import fences
from assay.judges.base import SPENDING, Answer, BaseJudge
from assay.judges.planning import DEEPEST, Limits, Plan, joined
from assay.judges.writing.labels import Token, attach_probabilities
from assay.judges.writing.replies import find_object, is_copied
from assay.records import Usage


@dataclass(frozen=True, slots=True)
class Correction:
    """A reply that could not be used, and why, in words for the judge."""

    reply: str
    message: str


#: One call whose tokens nobody counted.
UNCOUNTED = Usage(calls=1, prompt_tokens=None, completion_tokens=None, cached_tokens=None)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model wrote. `truncated`: it was cut at a limit. `tokens` where the endpoint gives log-probabilities."""

    text: str
    truncated: bool = False
    usage: Usage = UNCOUNTED
    tokens: Sequence[Token] = ()


#: Several inquiries in one call fail so where one of them is at fault: each is then asked alone, once.
_APART = frozenset({Cause.PARSE, Cause.REFUSED, Cause.CONTENT_FILTER})

#: Smaller questions may avoid these.
_SHORTER = frozenset({Cause.TRUNCATED, Cause.TOO_LONG})


class Patience:
    """The deadline of one request; it stands still while the request waits for its turn."""

    __slots__ = ("_timeout", "trouble")

    def __init__(self, timeout: asyncio.Timeout | None = None) -> None:
        self._timeout = timeout
        #: the last thing that went wrong on the way, for the message when time is up
        self.trouble: str | None = None

    def note(self, trouble: str) -> None:
        """Remember what went wrong last."""
        self.trouble = trouble

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """The time within does not count: what a judge waits for its own limits is no fault of the endpoint."""
        timeout, loop = self._timeout, asyncio.get_running_loop()
        due = timeout.when() if timeout is not None else None
        if timeout is None or due is None or timeout.expired():
            yield
            return
        left = due - loop.time()
        timeout.reschedule(None)
        try:
            yield
        finally:
            timeout.reschedule(loop.time() + left)


@dataclass(frozen=True, slots=True)
class Request:
    """One thing to generate. After a reply that could not be used, `correction` holds it.

    `more_room`: the last reply was cut and the question cannot get smaller; allow about twice the length.
    """

    prompt: Prompt
    correction: Correction | None = None
    more_room: bool = False
    patience: Patience = field(default_factory=Patience)


class TextJudge(BaseJudge):
    """A judge over one model that writes text; subclasses write `generate` and `fingerprint`.

    window_tokens       what the model can read and write together. Texts are measured without a tokenizer, cautiously
    max_output_tokens   what it can write at most; None for no limit of its own
    deadline            seconds for one request with all its attempts, without the time it waits for its turn
    mask                applied to all judged text before `generate` sees it. Quotes of what it changed can no longer
                        be found in the passages, and so are no evidence; claims and reasons speak of masked text
    reserves            True where `generate` takes each request that it sends from the budget (`SPENDING`) itself;
                        otherwise each `generate` is taken from it as one call
    """

    window_tokens: int = 32_000
    max_output_tokens: int | None = None
    deadline: float = 120.0
    mask: fences.Mask | None = None
    reserves: bool = False
    budgeted = True

    @abstractmethod
    async def generate(self, request: Request) -> Reply:
        """The model's reply. Raises JudgeFailure; it is cancelled when the deadline passes.

        What a failed call cost goes into the failure's detail as `usage`.
        """

    def system(self, request: Request) -> str:
        """The system message, the same for all requests."""
        return fences.SYSTEM

    def user(self, request: Request, *, show_schema: bool = True) -> str:
        """The user message, with the correction where there is one, for models that take a single text."""
        text = fences.render(request.prompt, show_schema=show_schema, mask=self.mask)
        if request.correction is not None:
            text += "\n\nYOUR PREVIOUS REPLY\n" + fences.clean(request.correction.reply[:4000])
            text += "\n\n" + fences.correct(request.correction.message, request.prompt.schema)
        return text

    def messages(self, request: Request, *, show_schema: bool = True) -> list[dict[str, str]]:
        """The request as chat messages."""
        user = fences.render(request.prompt, show_schema=show_schema, mask=self.mask)
        messages = [{"role": "system", "content": self.system(request)}, {"role": "user", "content": user}]
        if request.correction is not None:
            correction = fences.correct(request.correction.message, request.prompt.schema)
            messages.append({"role": "assistant", "content": request.correction.reply[:4000] or "(no reply)"})
            messages.append({"role": "user", "content": correction})
        return messages

    def groups(self, inquiries: Sequence[Inquiry[Any]]) -> Sequence[Sequence[Inquiry[Any]]]:
        """What may share a call goes together, everything else alone: no sample waits for the call of another."""
        alike: dict[Hashable, list[Inquiry[Any]]] = {}
        for number, inquiry in enumerate(inquiries):
            key = inquiry.merge_key()
            alike.setdefault((type(inquiry), number if key is None else ("key", key)), []).append(inquiry)
        return list(alike.values())

    async def answer(self, inquiries: Sequence[Inquiry[Any]]) -> Sequence[Answer]:
        """See `BaseJudge.answer`. Calls run concurrently; cancelling this cancels them."""
        plan = Plan(Limits(self.window_tokens, self.max_output_tokens))
        trees = [plan.add(inquiry) for inquiry in inquiries]
        groups = plan.groups()
        answers = await together([self._ask([leaf.inquiry for leaf in g.leaves], g.prompt) for g in groups])
        for group, of_group in zip(groups, answers, strict=True):
            for leaf, answer in zip(group.leaves, of_group, strict=True):
                leaf.answer = answer
        return [tree.joined() for tree in trees]

    async def _ask(
        self,
        members: Sequence[Inquiry[Any]],
        prompt: Prompt | None = None,
        *,
        tries: int = 2,
        depth: int = 0,
        more_room: bool = False,
    ) -> list[Answer]:
        """Ask for all members in one call. Never raises for what went wrong: it becomes the members' failure."""
        tally = _Tally()
        try:
            prompt = prompt or type(members[0]).prompt(members)
            findings = await self._converse(members, prompt, tries, tally, more_room)
            return tally.carried([Answer(finding=finding) for finding in findings])
        except JudgeFailure as error:
            failure = error
            tally.usage += failure.detail.pop("usage", Usage())
        except Exception as error:  # foreign code: the model's client, an inquiry's reader
            failure = JudgeFailure(Cause.BUG, f"{type(error).__name__}: {error}", raw=tally.raw)
            failure.__cause__ = error
        answers = None if more_room else await self._smaller(members, failure, depth)
        return tally.carried(answers or [Answer(failure=failure) for _ in members])

    async def _converse(
        self, members: Sequence[Inquiry[Any]], prompt: Prompt, tries: int, tally: _Tally, more_room: bool
    ) -> list[Any]:
        """The findings of one call, or of a second one after a reply that could not be used."""
        correction: Correction | None = None
        for _ in range(tries):
            reply = await self._reserved(Request(prompt, correction, more_room))
            tally.add(reply)
            if reply.truncated:
                raise JudgeFailure(Cause.TRUNCATED, "the reply was cut at the token limit", raw=reply.text)
            try:
                data = self._read(prompt, reply)
                findings = type(members[0]).read(members, data)
                if len(findings) != len(members):
                    raise TypeError(f"{type(members[0]).__name__}.read gave {len(findings)} for {len(members)}")
                return findings
            except AmbiguousReply as error:
                raise JudgeFailure(Cause.AMBIGUOUS, f"the reply contradicts itself: {error}", raw=reply.text) from None
            except BadReply as error:
                correction = Correction(reply.text, str(error))
        assert correction is not None
        message = f"the reply does not fit the schema: {correction.message}"
        raise JudgeFailure(Cause.PARSE, message, raw=correction.reply)

    async def _reserved(self, request: Request) -> Reply:
        """The reply, taken from the budget where there is one and `generate` does not do that itself."""
        budget = SPENDING.get()
        if budget is None or self.reserves:
            return await self._generate(request)
        wanted = (3 * request.prompt.output_tokens + 500) * (2 if request.more_room else 1)
        read = fences.tokens_in(self.system(request)) + fences.tokens_in(self.user(request))
        reservation = budget.reserve(read, self.max_output_tokens or wanted)
        usage = UNCOUNTED
        try:
            reply = await self._generate(request)
            usage = reply.usage
            return reply
        except JudgeFailure as failure:
            usage = failure.detail.get("usage", UNCOUNTED)
            raise
        finally:
            reservation.settle(usage)

    async def _generate(self, request: Request) -> Reply:
        patience = request.patience
        try:
            async with asyncio.timeout(self.deadline) as timeout:
                patience = Patience(timeout)
                return await self.generate(replace(request, patience=patience))
        except TimeoutError:
            pass
        trouble = f"; last: {patience.trouble}" if patience.trouble else ""
        raise JudgeFailure(Cause.TIMEOUT, f"no reply within the deadline of {self.deadline:g} s{trouble}")

    def _read(self, prompt: Prompt, reply: Reply) -> Mapping[str, Any]:
        found = find_object(reply.text, prompt.schema)
        if is_copied(found, [fences.clean(s.text) for s in prompt.material if "{" in s.text]):
            raise BadReply("The JSON object is copied from the texts; give your own.")
        if reply.tokens:
            attach_probabilities(found, prompt.schema, reply.text, reply.tokens)
        return found.data

    async def _smaller(self, members: Sequence[Inquiry[Any]], failure: JudgeFailure, depth: int) -> list[Answer] | None:
        """The answers to smaller questions, where that may help; None when there are none."""
        if failure.cause not in _APART | _SHORTER:
            return None
        if len(members) == 1:
            return await self._alone(members[0], failure, depth)
        if failure.cause in _APART:
            asked = [self._ask([member], tries=1, depth=DEEPEST) for member in members]
        else:
            middle = len(members) // 2
            asked = [self._ask(half, depth=depth + 1) for half in (members[:middle], members[middle:])]
        return [answer for answers in await together(asked) for answer in answers]

    async def _alone(self, inquiry: Inquiry[Any], failure: JudgeFailure, depth: int) -> list[Answer] | None:
        """The answer to one inquiry in smaller parts, or, where it has none and was cut, with more room."""
        if failure.cause not in _SHORTER:
            return None
        division = inquiry.halve() if depth < DEEPEST else None
        if division is None:
            return await self._ask([inquiry], more_room=True) if failure.cause is Cause.TRUNCATED else None
        asked = await together([self._ask([part], depth=depth + 1) for part in division.parts])
        return [joined(division, [answer for answers in asked for answer in answers])]


class _Tally:
    """What the calls for one group cost, and the last reply."""

    __slots__ = ("raw", "usage")

    def __init__(self) -> None:
        self.usage = Usage()
        self.raw: str | None = None

    def add(self, reply: Reply) -> None:
        self.usage += reply.usage
        self.raw = reply.text

    def carried(self, answers: list[Answer]) -> list[Answer]:
        """The answers, the first of them with this cost added: sums over answers stay exact."""
        first = answers[0]
        return [replace(first, usage=self.usage + first.usage), *answers[1:]]


async def together(coroutines: Sequence[Any]) -> list[Any]:
    """The results, in order. When one raises or this is cancelled, all others are cancelled and waited for."""
    if len(coroutines) == 1:
        return [await coroutines[0]]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(coroutine) for coroutine in coroutines]
    return [task.result() for task in tasks]
