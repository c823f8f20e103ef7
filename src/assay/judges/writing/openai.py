"""A judge over any OpenAI-compatible endpoint: chat completions for verdicts, embeddings for similarity."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from assay.errors import Cause, InputError, JudgeFailure
from assay.inquiries import Inquiry, Similarity
from assay.inquiries.base import Prompt
from assay.judges import fences
from assay.judges.base import SPENDING, Answer, BaseJudge
from assay.judges.endpoints.endpoint import Body, Endpoint, Reserve
from assay.judges.endpoints.retries import Retries
from assay.judges.fences import schema_text, tokens_in
from assay.judges.writing.chat import Message, reply_of
from assay.judges.writing.dialect import LESSONS, Dialect, shared_dialect
from assay.judges.writing.embeddings import Embedder
from assay.judges.writing.judge import Reply, Request, TextJudge, together
from assay.records import Usage, fingerprint

#: Alternatives asked for at each token: enough for a closed set of labels; some servers allow no more.
TOP_LOGPROBS = 5

_DEFAULT_EMBEDDINGS = "text-embedding-3-small"


class OpenAIJudge(TextJudge):
    """Answers every inquiry with `model` at an OpenAI-compatible endpoint.

    base_url            where; None means OpenAI itself. The environment's OPENAI_BASE_URL is not used
    api_key             the key. Without it, OPENAI_API_KEY is used for OpenAI itself, and nothing for another base_url
    azure_endpoint      an Azure OpenAI resource instead of base_url, with `api_version`; `model` is the deployment
    embedding_model     for Similarity. At OpenAI itself text-embedding-3-small; elsewhere there is no default
    similarity          a judge that answers Similarity instead
    temperature, seed   of the one best reply; votes are sampled at `vote_temperature`, with seeds of their own
    window_tokens       what the model reads and writes together; longer material is asked about in parts
    max_output_tokens   what it writes at most; None lets each request set a generous limit
    timeout             seconds of one attempt; `deadline`: of all attempts at one request, without waiting for turns
    max_attempts        attempts, of which refusals for rate (429) do not count, up to 20 of them
    retry_base          seconds before the second attempt, doubled each time
    max_concurrency     calls in flight at most, adapted below that; shared by all judges on the same endpoint and key
    requests_per_minute, tokens_per_minute      limits to keep within; None for none
    structured          True: enforce the schema; False: state it in the prompt only; "auto": find out
    logprobs            whether to ask for label probabilities; "auto": ask once whether they come
    extra_body, headers sent along with every chat call, with every call
    mask                applied to all judged text before it leaves the process; see `TextJudge`

    Nothing is sent, and `openai` is not imported, before the first inquiry. Raises InputError for arguments that
    cannot work.
    """

    reserves = True  # the endpoint does, for each attempt

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        azure_endpoint: str | None = None,
        api_version: str | None = None,
        embedding_model: str | None = None,
        similarity: BaseJudge | None = None,
        temperature: float = 0.0,
        vote_temperature: float = 0.7,
        seed: int | None = 7,
        window_tokens: int = 32_000,
        max_output_tokens: int | None = None,
        timeout: float = 60.0,
        deadline: float = 120.0,
        max_attempts: int = 5,
        retry_base: float = 0.5,
        max_concurrency: int = 32,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        structured: bool | Literal["auto"] = "auto",
        logprobs: bool | Literal["auto"] = "auto",
        extra_body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        mask: fences.Mask | None = None,
    ) -> None:
        if not model:
            raise InputError("model: name the model, as the endpoint calls it")
        for name, value in {"max_attempts": max_attempts, "max_concurrency": max_concurrency}.items():
            if value < 1:
                raise InputError(f"{name} must be at least 1, not {value!r}")
        if window_tokens < 1000:
            raise InputError(f"window_tokens must be at least 1000, not {window_tokens!r}")
        itself = base_url is None and azure_endpoint is None
        if api_key is None and itself:
            api_key = os.environ.get("OPENAI_API_KEY")
            if not api_key:
                raise InputError(
                    "no key: pass api_key=... or set OPENAI_API_KEY; for another endpoint pass base_url=..."
                )
        self.model = model
        self.embedding_model = embedding_model or (_DEFAULT_EMBEDDINGS if itself else None)
        self.similarity = similarity
        self.budgeted = similarity is None or similarity.budgeted
        self.temperature = temperature
        self.vote_temperature = vote_temperature
        self.seed = seed
        self.window_tokens = window_tokens
        self.max_output_tokens = max_output_tokens
        self.deadline = deadline
        self.mask = mask
        self._logprobs = logprobs
        self._extra = dict(extra_body or {})
        limits = {
            "maximum": max_concurrency,
            "requests_per_minute": requests_per_minute,
            "tokens_per_minute": tokens_per_minute,
        }
        self.endpoint = Endpoint(
            base_url=base_url,
            api_key=api_key or "none",  # the client insists on one; servers without keys ignore it
            azure_endpoint=azure_endpoint,
            api_version=api_version,
            headers=headers,
            timeout=timeout,
            retries=Retries(max_attempts, retry_base),
            limits=limits,
        )
        first = Dialect(
            structured="json_schema" if structured else "plain",
            fixed=structured != "auto",
            show_schema=not structured,
            budget="max_completion_tokens" if itself else "max_tokens",
        )
        self.dialect = shared_dialect((self.endpoint.name, model, str(structured)), first)
        self._embedder = Embedder(self.endpoint, self.embedding_model, mask=mask) if self.embedding_model else None
        self._fingerprint = self._describe(structured)

    def __repr__(self) -> str:
        return f"OpenAIJudge({self.model!r}, base_url={self.endpoint.name!r})"

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    def _describe(self, structured: bool | str) -> str:
        parts = [
            *(fences.VERSION, fences.SYSTEM, self.temperature, self.vote_temperature, self.seed),
            *(self.window_tokens, self.max_output_tokens, structured, self._logprobs),
            self.embedding_model if self.similarity is None else self.similarity.fingerprint,
            self._extra,
            getattr(self.mask, "__qualname__", "mask") if self.mask is not None else None,
        ]
        return f"openai/{self.model}@{self.endpoint.name}#{fingerprint(parts)[:16]}"

    def cannot(self, inquiry: type[Inquiry[Any]], language: str = "en") -> JudgeFailure | None:
        if not issubclass(inquiry, Similarity):
            return None
        if self.similarity is not None:
            return self.similarity.cannot(inquiry, language)
        if self._embedder is not None:
            return None
        message = (
            f"{self.model} at {self.endpoint.name} answers similarity only with embeddings: "
            "pass embedding_model='...' if the endpoint has one, or similarity=EmbeddedJudge()"
        )
        return JudgeFailure(Cause.JUDGE_CANNOT, message)

    async def release(self) -> None:
        await self.endpoint.release()
        if self.similarity is not None:
            await self.similarity.release()

    async def answer(self, inquiries: Sequence[Inquiry[Any]]) -> Sequence[Answer]:
        similar = [n for n, inquiry in enumerate(inquiries) if isinstance(inquiry, Similarity)]
        if not similar:
            return await super().answer(inquiries)
        written = [n for n in range(len(inquiries)) if n not in set(similar)]
        of_written, of_similar = await together(
            [
                super().answer([inquiries[n] for n in written]),
                self._similar([inquiry for inquiry in inquiries if isinstance(inquiry, Similarity)]),
            ]
        )
        answers = dict(zip([*written, *similar], [*of_written, *of_similar], strict=True))
        return [answers[n] for n in range(len(inquiries))]

    async def _similar(self, inquiries: Sequence[Similarity]) -> Sequence[Answer]:
        if self.similarity is not None:
            return await self.similarity.answer(inquiries)
        if self._embedder is None:
            return [Answer(failure=self.cannot(Similarity))] * len(inquiries)
        return await self._embedder.answer(inquiries, self.deadline)

    async def generate(self, request: Request) -> Reply:
        """One chat completion. A parameter that the endpoint refuses is dropped or renamed, and that remembered."""
        message = await self._complete(request, double=request.more_room)
        reply = message.reply
        if reply.truncated and not reply.text.strip() and not request.more_room:
            # the limit went into thinking: room for that once, before the question is made smaller
            self.dialect.generosity = max(2, self.dialect.generosity)
            try:
                again = await self._complete(request, double=True)
            except JudgeFailure as failure:
                failure.detail["usage"] = reply.usage + failure.detail.get("usage", Usage())
                raise
            return Reply(again.reply.text, again.reply.truncated, reply.usage + again.reply.usage, again.reply.tokens)
        if request.correction is not None and not self.dialect.show_schema:
            self.dialect.show_schema = True  # what should have enforced the schema did not
        return reply

    async def _complete(self, request: Request, *, double: bool = False) -> Message:
        began = trial = self.dialect
        body: Body = {}

        async def send(client: Any, reserve: Reserve) -> Any:
            # made when its turn has come: by then another call may have learned something
            nonlocal began, trial, body
            if trial is self.dialect or began.version != self.dialect.version:
                began, trial = self.dialect.copy(), self.dialect.copy()
            body = self._body(request, trial, double)
            if SPENDING.get() is not None:
                reserve(tokens_in(json.dumps(body, ensure_ascii=False)), self._most(body))
            # extra_body takes the place of the arguments; the client checks and copies arguments, deeply, and that is
            # a quarter of the CPU of a call
            chat = client.chat.completions.with_raw_response
            return await chat.create(model=self.model, messages=[], extra_body={**body, **self._extra})

        name = f"{self.model} at {self.endpoint.name}"
        tokens = tokens_asked(request.prompt)
        for lesson in range(LESSONS):
            try:
                answer = await self.endpoint.call(self.model, send, tokens=tokens, patience=request.patience)
                break
            except JudgeFailure as failure:
                refused = failure.cause is Cause.BAD_REQUEST and failure.detail.get("status") in (400, 422)
                if not refused or lesson == LESSONS - 1:
                    raise
                if began.version == self.dialect.version:  # else another call has learned meanwhile
                    lesson_learned = trial.learn(failure.detail, body)
                    if not lesson_learned:
                        raise
                    if lesson_learned == "certain":
                        self.dialect.adopt(trial, began, name)
                request.patience.note(failure.message)
        message = reply_of(answer, self.endpoint)
        if "logprobs" in body and self._logprobs == "auto":
            trial.logprobs = bool(message.reply.tokens) or not message.reply.text
        trial.confirmed = trial.confirmed or "response_format" in body
        self.dialect.adopt(trial, began, name)
        return message

    def _most(self, body: Body) -> int:
        """The tokens that a reply to this call can have at most."""
        limits = [{**body, **self._extra}.get(name) for name in ("max_tokens", "max_completion_tokens")]
        stated = [limit for limit in limits if isinstance(limit, int)]
        return max(stated) if stated else self.max_output_tokens or self.window_tokens

    def request_body(self, prompt: Prompt) -> Body:
        """The chat call for this prompt, as it would be sent now."""
        return self._body(Request(prompt), self.dialect, False)

    def _body(self, request: Request, dialect: Dialect, double: bool) -> Body:
        prompt = request.prompt
        messages = self.messages(request, show_schema=dialect.show_schema)
        vote = prompt.vote
        body: Body = {
            "model": self.model,
            "messages": messages,
            "temperature": self.vote_temperature if vote else self.temperature,
        }
        if self.seed is not None:
            body["seed"] = self.seed + vote
        if dialect.budget is not None:
            body[dialect.budget] = self._budget(prompt, messages, dialect, double)
        if dialect.structured == "json_schema":
            named = {"name": "reply", "strict": True, "schema": prompt.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        elif dialect.structured == "json_object":
            body["response_format"] = {"type": "json_object"}
        if self._logprobs and dialect.logprobs is not False and has_labels(prompt.schema):
            body |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
        for name in dialect.dropped:
            body.pop(name, None)
        return body

    def _budget(self, prompt: Prompt, messages: Sequence[Mapping[str, str]], dialect: Dialect, double: bool) -> int:
        """The output limit: three times what is expected and 500 more, within what model and window allow."""
        wanted = (3 * prompt.output_tokens + 500) * dialect.generosity * (2 if double else 1)
        read = sum(tokens_in(message["content"]) for message in messages) + tokens_in(schema_text(prompt.schema))
        limits = [self.window_tokens - read, self.max_output_tokens, dialect.cap]
        return max(16, min([wanted, *(limit for limit in limits if limit is not None)]))

    async def probe(self) -> dict[str, Any]:
        """What works: see `doctor.probe`. Never raises for what does not."""
        from assay.judges.probe import probe

        return await probe(self)


def tokens_asked(prompt: Prompt) -> int:
    """An estimate of what a call takes, for the throttle."""
    texts = (fences.SYSTEM, prompt.task, *(section.text for section in prompt.material))
    return sum(map(tokens_in, texts)) + prompt.output_tokens


def has_labels(schema: Mapping[str, Any]) -> bool:
    """Whether a reply of this schema holds labels from a closed set."""
    properties = schema.get("properties", {})
    if "enum" in properties.get("label", {}):
        return True
    return any(has_labels(inner) for inner in (*properties.values(), schema.get("items", {})) if inner)
