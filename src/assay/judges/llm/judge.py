"""Judges that answer by writing text: everything around one `generate` that sends a prompt to a model.

    class MyJudge(TextJudge):
        fingerprint = "my-model"

        async def generate(self, request):
            return Reply(await my_model(self.system(request), self.user(request)))

One prompt is one request, so that nothing is read in view of anything else; what does not fit the window is asked in
parts; a reply that is cut is asked for in smaller pieces; one that cannot be used is asked for again, with the reason.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from assay.errors import AmbiguousReply, Cause, InvalidReply, JudgeFailure
from assay.judges import prompt_rendering as fences
from assay.judges.base import BaseJudge
from assay.judges.guarded_call import bug, gather_all
from assay.judges.http.deadlines import Deadline, within
from assay.judges.http.replies import UNCOUNTED
from assay.judges.http.reply_bytes import TEXT
from assay.judges.llm.labels import Token, attach_probabilities, drop_probabilities
from assay.judges.llm.prefix_warmup import Prefixes
from assay.judges.llm.prompt_history import PromptHistory
from assay.judges.llm.replies import cleaned, find_object, is_copied
from assay.judges.llm.reply_history import ReplyHistory
from assay.judges.protocol import SPENDING, Answer, BatchedQuestions
from assay.judges.splitting import Need, ask_in_parts, chars_for, reading
from assay.prompts.base import JudgePrompt, PromptContent
from assay.prompts.consistency import mark_quotes
from assay.records import Usage, fingerprint

#: Replies to one request that may be unusable before it is given up: by a model most of whose replies cannot be used,
#: and by one that stumbles now and then.
TRIES, MOST_TRIES = 3, 6

_FRAME = 8000  # characters of a prompt beside its texts and its task, at most: instructions, fences, a correction
_REPLY_SLACK = 300  # tokens of a reply that the prompt's own estimate may miss


@dataclass(frozen=True, slots=True)
class Correction:
    """A reply that could not be used, and why, in words for the judge."""

    reply: str
    message: str


@dataclass(frozen=True, slots=True)
class Reply:
    """Reply of a model.

    Attributes:
        text: The text.
        truncated: Whether a limit cut the reply.
        usage: Usage of the call. Default: one call with unknown tokens.
        tokens: Tokens with log-probabilities. Empty if the endpoint does not return them.
        prompt_tokens: Tokens of the prompt that the endpoint read, cached ones included. None: not known, or those of
            `usage`.
    """

    text: str
    truncated: bool = False
    usage: Usage = UNCOUNTED
    tokens: Sequence[Token] = ()
    prompt_tokens: int | None = None

    @property
    def read(self) -> int | None:
        """The most tokens of the prompt that the endpoint can have read. None: not known."""
        usage = self.usage
        if self.prompt_tokens is not None or usage.calls != 1 or usage.prompt_tokens is None:
            return self.prompt_tokens
        return usage.prompt_tokens + (usage.cached_tokens or 0)


@dataclass(frozen=True, slots=True)
class Request:
    """One thing to generate. After a reply that could not be used, `correction` holds it.

    `more_room`: the last reply was cut and the question cannot get smaller; allow about twice the length. `deadline`
    stands still while a request waits for its turn.
    """

    content: PromptContent
    correction: Correction | None = None
    more_room: bool = False
    deadline: Deadline = field(default_factory=Deadline)

    def until(self, deadline: Deadline) -> Request:
        """The same, with this deadline."""
        return Request(self.content, self.correction, self.more_room, deadline)


class TextJudge(BaseJudge):
    """Base class of judges over one model that writes text. Subclasses write `generate` and `fingerprint`.

    Attributes:
        window_tokens: Tokens that the model can read and write together. Texts are measured without a tokenizer,
            cautiously.
        max_output_tokens: Tokens that the model can write at most. None: no limit of its own.
        deadline: Seconds for one request with all its attempts, without the time it waits for its turn.
        mask: Function applied to all judged text before `generate` gets it. Quotes of text that it changed cannot be
            found in the passages: they are no evidence and change no label. Claims and reasons contain masked text.
            None: no mask.
        prefix_cache: Whether the first of several requests that begin alike goes ahead, so that the model's cache
            serves the others.
        batched_questions: Whether related questions share a request: "auto", "yes" or "no"; see
            `assay.judges.question_batching`.
        reserves: True where `generate` takes each request that it sends from the budget (`SPENDING`) itself. False:
            each `generate` is taken from it as one call.
    """

    window_tokens: int = 32_000
    max_output_tokens: int | None = None
    deadline: float = 120.0
    mask: fences.Mask | None = None
    prefix_cache: bool = False
    reserves: bool = False
    budgeted = True
    batched_questions: BatchedQuestions | None = "auto"

    @property
    def address(self) -> str:
        """The fingerprint, and what of the prompts is decided here."""
        parts = [fences.VERSION, fences.SYSTEM, self.window_tokens, self.max_output_tokens, self._mask_name()]
        return f"{self.fingerprint}+{fingerprint(parts)[:16]}"

    def _mask_name(self) -> str | None:
        # found out once: a mask without a name gets one that nobody else has
        known: tuple[Any, str | None] | None = self.__dict__.get("_named_mask")
        if known is None or known[0] is not self.mask:
            known = self.__dict__["_named_mask"] = (self.mask, fences.name_of_mask(self.mask))
        return known[1]

    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure | None:
        """Check whether this judge can answer: it answers what can be asked in writing.

        Args:
            prompt: Class of a judge prompt.
            language: ISO 639-1 code of the texts.

        Returns:
            Why it cannot; None where it can.
        """
        if prompt.content is not JudgePrompt.content:
            return None
        return _not_in_writing(prompt.name)

    @abstractmethod
    async def generate(self, request: Request) -> Reply:
        """Let the model reply. Overridden by each judge; cancelled when the deadline passes.

        Args:
            request: The prompt's content, with its schema and limits.

        Returns:
            The reply.

        Raises:
            JudgeFailure: There is no reply. The cost of the failed call goes into its detail as `usage`.
        """

    def system(self, request: Request) -> str:
        """Write the system message, the same for all requests.

        Args:
            request: The request.

        Returns:
            The text.
        """
        return fences.SYSTEM

    def user(self, request: Request, *, show_schema: bool = True) -> str:
        """Write the user message, with the correction where there is one, for models that take a single text.

        Args:
            request: The request.
            show_schema: State the schema of the reply in the text.

        Returns:
            The text.
        """
        text = fences.render(request.content, show_schema=show_schema, mask=self.mask)
        if request.correction is not None:
            text += "\n\nYOUR PREVIOUS REPLY\n" + fences.clean(request.correction.reply[:4000])
            text += "\n\n" + fences.correct(request.correction.message, request.content.schema)
        return text

    def messages(self, request: Request, *, show_schema: bool = True) -> list[dict[str, str]]:
        """Write the request as chat messages.

        Args:
            request: The request.
            show_schema: State the schema of the reply in the text.

        Returns:
            Messages with `role` and `content`.
        """
        user = fences.render(request.content, show_schema=show_schema, mask=self.mask)
        messages = [{"role": "system", "content": self.system(request)}, {"role": "user", "content": user}]
        if request.correction is not None:
            correction = fences.correct(request.correction.message, request.content.schema)
            messages.append({"role": "assistant", "content": request.correction.reply[:4000] or "(no reply)"})
            messages.append({"role": "user", "content": correction})
        return messages

    def shown(self, request: Request, *, show_schema: bool = True) -> Sequence[Mapping[str, Any]]:
        """Write the request as chat messages; the user's has parts of text and image where there are pictures.

        Args:
            request: The request.
            show_schema: State the schema of the reply in the text.

        Returns:
            Messages with `role` and `content`.
        """
        return self._shown(request, self.messages(request, show_schema=show_schema), show_schema)

    def _shown(
        self, request: Request, messages: list[dict[str, str]], show_schema: bool
    ) -> Sequence[Mapping[str, Any]]:
        if not request.content.pictures:
            return messages
        parts = fences.render_parts(request.content, show_schema=show_schema, mask=self.mask)
        return [messages[0], {"role": "user", "content": parts}, *messages[2:]]

    def groups(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Sequence[JudgePrompt[Any]]]:
        """Answer each question alone, so that none waits for the call of another.

        Args:
            prompts: Questions that came up together.

        Returns:
            One group for each.
        """
        return [[prompt] for prompt in prompts]

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        """Answer questions. Calls run concurrently; cancelling this cancels them.

        Args:
            prompts: The questions.

        Returns:
            One answer each, in order: a judgement or a failure.
        """
        room = ChatWindow(self.window_tokens, self.max_output_tokens)
        return await gather_all([ask_in_parts(prompt, room, self._ask) for prompt in prompts])

    async def _ask(self, prompt: JudgePrompt[Any], more_room: bool) -> Answer:
        """The answer of one call, or of a few. Never raises for what went wrong: it becomes the failure."""
        tally = _Tally()
        try:
            content = prompt.full_content
            assert content is not None  # `need` has looked
            async with self._turn(content):
                judgement = await self._converse(prompt, content, tally, more_room)
            return Answer(judgement=judgement, usage=tally.usage)
        except JudgeFailure as failure:
            return Answer(failure=failure, usage=tally.usage + failure.detail.pop("usage", Usage()))
        except Exception as error:  # foreign code: the model's client, a prompt's reader
            broken = bug(error)
            broken.raw = tally.raw
            return Answer(failure=broken, usage=tally.usage)

    def _turn(self, content: PromptContent) -> AbstractAsyncContextManager[None]:
        if not self.prefix_cache:
            return nullcontext()
        prefixes: Prefixes = self.__dict__.setdefault("_prefixes", Prefixes())
        return prefixes.turn(content)

    async def _converse(self, prompt: JudgePrompt[Any], content: PromptContent, tally: _Tally, more_room: bool) -> Any:
        """The judgement of one call, or of another one after a reply that could not be used."""
        correction: Correction | None = None
        failure = JudgeFailure(Cause.PARSE, "no reply")
        history: ReplyHistory = self.__dict__.setdefault("_history", ReplyHistory())
        tried, cut = 0, False
        while tried < (MOST_TRIES if history.mostly_usable else TRIES):
            tried += 1
            request = Request(content, correction, more_room)
            reply = await self._reserved(request)
            tally.add(reply)
            self._check_prompt(request, reply)
            if cut:
                history.add_second(reply.truncated)
            if reply.truncated:
                history.add(False)
                failure = JudgeFailure(Cause.TRUNCATED, "the reply was cut at the token limit", raw=reply.text)
                if cut or not self._is_cut_early(request, reply, history):
                    break
                cut = True
                continue
            cut = False
            try:
                judgement = prompt.read(self._read(content, reply))
            except InvalidReply as error:
                wrong = "contradicts itself" if error.cause is Cause.AMBIGUOUS else "does not fit the schema"
                failure = JudgeFailure(error.cause, f"the reply {wrong}: {error}", raw=reply.text)
                if isinstance(error, AmbiguousReply):
                    break
                history.add(False)
                correction = Correction(reply.text, str(error))
            else:
                history.add(True)
                return judgement
        raise failure

    def _is_cut_early(self, request: Request, reply: Reply, history: ReplyHistory) -> bool:
        """Whether a smaller question is no remedy: replies are seldom cut, and this one is shorter than usual."""
        written = reply.usage.completion_tokens
        return history.cuts_by_chance and written is not None and written < request.content.output_tokens

    def _check_prompt(self, request: Request, reply: Reply) -> None:
        """Raise JudgeFailure (prompt_truncated) where the endpoint shortened the prompt."""
        if reply.read is None:
            return
        length = sum(len(section.text) for section in request.content.material) + len(request.content.task) + _FRAME
        history: PromptHistory = self.__dict__.setdefault("_prompts", PromptHistory())
        try:
            history.check(reply.read, length, lambda: [message["content"] for message in self.messages(request)])
        except JudgeFailure as failure:
            failure.raw = reply.text
            raise

    async def _reserved(self, request: Request) -> Reply:
        """The reply, taken from the budget where there is one and `generate` does not do that itself."""
        budget = SPENDING.get()
        if budget is None or self.reserves:
            return await self._generate(request)
        wanted = (3 * request.content.output_tokens + 500) * (2 if request.more_room else 1)
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
        reply = await within(self.deadline, "reply", lambda deadline: self.generate(request.until(deadline)))
        if len(reply.text) > TEXT:
            message = f"the reply has {len(reply.text):,} characters, more than {TEXT:,}"
            raise JudgeFailure(Cause.TOO_LARGE, message, raw=reply.text[:4000], detail={"usage": reply.usage})
        return reply

    def _read(self, content: PromptContent, reply: Reply) -> Mapping[str, Any]:
        found = find_object(reply.text, content.required)
        if is_copied(found, [fences.clean(s.text) for s in content.material if "{" in s.text]):
            raise InvalidReply("The JSON object is copied from the texts; give your own.")
        drop_probabilities(found.data)
        if reply.tokens:
            attach_probabilities(found, content.schema, reply.text, reply.tokens, content.labels)
        data = cleaned(found)
        if "quote" in found.text or "\\u" in found.text:  # a key may be written with escapes
            shown = [(s.text, fences.clean(self.mask(s.text) if self.mask else s.text)) for s in content.material]
            mark_quotes(data, [changed for text, changed in shown if changed != text])
        return data


@dataclass(frozen=True, slots=True)
class ChatWindow:
    """What a model reads and writes together, and what it writes at most, in tokens."""

    window: int
    output: int | None = None

    def need(self, prompt: JudgePrompt[Any]) -> Need:
        """See `planning.Room`."""
        content = prompt.full_content
        if content is None:
            raise JudgeFailure(
                Cause.JUDGE_CANNOT, f"{prompt.name} is not answered in writing; name a judge that embeds"
            )
        fixed = (
            fences.tokens_in(fences.SYSTEM)
            + fences.tokens_in(content.task)
            + fences.tokens_in(fences.schema_text(content.schema))
            + min(content.output_tokens, self.output or content.output_tokens)
            + _REPLY_SLACK
        )
        over = fixed + reading(content.material) - self.window
        half = max(1, self.window // 2 - _REPLY_SLACK)  # a reply may take half of the window; the rest is for reading
        split = prompt.too_many or content.output_tokens > min(half, self.output or half)
        if over <= 0:
            return Need(over, chars=0, split=split)
        room = self.window - fixed - reading([replace(section, text="") for section in content.material])
        return Need(over, chars_for(room, content.material), split)


def _not_in_writing(name: str) -> JudgeFailure:
    return JudgeFailure(Cause.JUDGE_CANNOT, f"{name} is not answered in writing; name a judge that embeds")


class _Tally:
    """What the calls for one group cost, and the last reply."""

    __slots__ = ("raw", "usage")

    def __init__(self) -> None:
        self.usage = Usage()
        self.raw: str | None = None

    def add(self, reply: Reply) -> None:
        self.usage += reply.usage
        self.raw = reply.text
