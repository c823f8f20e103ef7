"""A judge over any OpenAI-compatible endpoint: chat completions for verdicts, embeddings for similarity."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Unpack

from assay.errors import Cause, InputError, JudgeFailure
from assay.judges import prompt_rendering as fences
from assay.judges.base import BaseJudge
from assay.judges.guarded_call import gather_all
from assay.judges.http.client import Address
from assay.judges.http.endpoint import Body, Endpoint
from assay.judges.http.options import EndpointOptions, Settings
from assay.judges.llm.capabilities import LESSONS, Dialect, Trial, may_be_refused, shared_dialect
from assay.judges.llm.chat import ChatMessage, reply_of
from assay.judges.llm.embeddings import Embedder
from assay.judges.llm.judge import Reply, Request, TextJudge
from assay.judges.prompt_rendering import schema_text, tokens_in
from assay.judges.protocol import Answer
from assay.judges.splitting import picture_tokens
from assay.prompts import JudgePrompt, Similarity
from assay.prompts.base import PromptContent
from assay.prompts.similarity import TextComparison
from assay.records import Usage, fingerprint

#: Alternatives asked for at each token: enough for a closed set of labels; some servers allow no more.
TOP_LOGPROBS = 5

_DEFAULT_EMBEDDINGS = "text-embedding-3-small"


class OpenAIJudge(TextJudge):
    """Answer every question with a model at an OpenAI-compatible endpoint.

    Nothing is sent, and `openai` is not imported, before the first question. Redirects are not followed.

    Args:
        model: Name of the model; at Azure of the deployment.
        base_url: Address of the endpoint; None: OpenAI itself. The environment's OPENAI_BASE_URL is not used.
        api_key: The key. Without it OPENAI_API_KEY is used for OpenAI itself, and nothing for another `base_url`.
        azure_endpoint: An Azure OpenAI resource in place of `base_url`.
        api_version: Version of Azure's API.
        client: Your own `openai.AsyncOpenAI` in place of all of these: its keys, proxies and headers stay. Its retries
            are not used; attempts are counted here.
        embedding_model: Model for Similarity and Distance. Default: text-embedding-3-small at OpenAI itself, none
            elsewhere.
        similarity: A judge that answers Similarity and Distance in its place.
        temperature: Temperature of the one best reply; votes are sampled at `vote_temperature`.
        seed: Seed of the one best reply; votes have seeds of their own.
        max_output_tokens: Tokens that it writes at most; None: each request sets a generous limit.
        structured: True: enforce the schema; False: state it in the prompt only; "auto": find out.
        logprobs: Label probabilities: True asks for them always, False never, None where something uses them (a
            cascade). They make replies a hundred times larger.
        prefix_cache: Send the first of several requests that begin alike ahead, so that the endpoint's cache serves the
            others.
        mask: Applied to all judged text before it leaves the process; see `TextJudge`.
        vision: Whether it may be shown pictures; False for a model that is known to read none.
        options: Timeouts, attempts, limits, window, headers: see `EndpointOptions`.

    Raises:
        InputError: Arguments do not fit.
    """

    kind = "openai"  # of its fingerprint
    reserves = True  # the endpoint does, for each attempt

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        azure_endpoint: str | None = None,
        api_version: str | None = None,
        client: Any = None,
        embedding_model: str | None = None,
        similarity: BaseJudge | None = None,
        temperature: float = 0.0,
        vote_temperature: float = 0.7,
        seed: int | None = 7,
        max_output_tokens: int | None = None,
        structured: bool | Literal["auto"] = "auto",
        logprobs: bool | None = None,
        prefix_cache: bool = True,
        mask: fences.Mask | None = None,
        vision: bool = True,
        **options: Unpack[EndpointOptions],
    ) -> None:
        if not model:
            raise InputError("model: name the model, as the endpoint calls it")
        if logprobs not in (None, True, False):
            raise InputError(f"logprobs: expected True, False or None (where something uses them), got {logprobs!r}")
        settings = Settings.of(options)
        itself = base_url is None and azure_endpoint is None and client is None
        if client is not None:
            if base_url or api_key or azure_endpoint or settings.headers:
                raise InputError("client: it has an address, a key and headers of its own; give those to it")
            address = _address_of(client)
        else:
            key = api_key or _key(itself)
            address = Address.of(base_url, key, settings.headers, azure_endpoint, api_version)
        self.model = model
        self.embedding_model = embedding_model or (_DEFAULT_EMBEDDINGS if itself else None)
        self.similarity = similarity
        self.budgeted = similarity is None or similarity.budgeted
        self.temperature = temperature
        self.vote_temperature = vote_temperature
        self.seed = seed
        self.window_tokens = settings.window_tokens
        self.max_output_tokens = max_output_tokens
        self.deadline = settings.deadline
        self.prefix_cache = prefix_cache
        self.mask = mask
        self.endpoint = self._reach(address, settings, client)
        self._structured = structured
        self._wants_logprobs = logprobs
        self._vision = vision
        self._logprobs = bool(logprobs)
        first = Dialect(
            structured="json_schema" if structured else "plain",
            fixed=structured != "auto",
            show_schema=not structured,
            budget="max_completion_tokens" if itself else "max_tokens",
        )
        self.dialect = shared_dialect((self.endpoint.name, model, str(structured)), first)
        self._embedder = Embedder(self.endpoint, self.embedding_model, mask=mask) if self.embedding_model else None

    def _reach(self, address: Address, settings: Settings, client: Any) -> Endpoint:
        """How its requests are sent."""
        return Endpoint(address, settings, client)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, base_url={self.endpoint.name!r})"

    @property
    def fingerprint(self) -> str:
        parts = [
            *(self.temperature, self.vote_temperature, self.seed, self._structured, self._logprobs),
            self.embedding_model if self.similarity is None else self.similarity.address,
            self.endpoint.identity,
        ]
        return f"{self.kind}/{self.model}@{self.endpoint.title}#{fingerprint(parts)[:16]}"

    @property
    def sees(self) -> bool:  # type: ignore[override]
        """Whether it is shown pictures. Not with a mask, which hides nothing on them."""
        return self._vision and self.mask is None

    def with_probabilities(self) -> OpenAIJudge:
        """Make the same judge with label probabilities, where it has them. They may cost more than the labels.

        Returns:
            The judge.
        """
        if self._logprobs or self._wants_logprobs is False:
            return self
        twin = copy.copy(self)
        twin.__dict__.pop("_caches", None)
        twin._logprobs = True
        return twin

    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure | None:
        """Explain why the judge does not answer a kind of question.

        Args:
            prompt: The kind of question.
            language: Code of the text's language, for the judge of similarity.

        Returns:
            The failure, with the remedy; for similarity where there is neither an embedding model nor another judge.
            None when the judge answers it.
        """
        if not issubclass(prompt, TextComparison):
            return super().cannot(prompt, language)
        if self.similarity is not None:
            return self.similarity.cannot(prompt, language)
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

    def groups(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Sequence[JudgePrompt[Any]]]:
        """Answer each question alone; vectors of many texts are fetched together, because none depends on another.

        Args:
            prompts: Questions that came up together.

        Returns:
            The groups.
        """
        similar = [prompt for prompt in prompts if isinstance(prompt, TextComparison)]
        alone = [[prompt] for prompt in prompts if not isinstance(prompt, TextComparison)]
        return [*alone, similar] if similar else alone

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        """Answer a batch of questions. Calls run concurrently; cancelling this cancels them.

        Args:
            prompts: Questions of any kinds.

        Returns:
            One answer for each question, in order.
        """
        similar = [n for n, prompt in enumerate(prompts) if isinstance(prompt, TextComparison)]
        if not similar:
            return await super().answer(prompts)
        written = [n for n in range(len(prompts)) if n not in set(similar)]
        of_written, of_similar = await gather_all(
            [
                super().answer([prompts[n] for n in written]),
                self._similar([prompt for prompt in prompts if isinstance(prompt, TextComparison)]),
            ]
        )
        answers = dict(zip([*written, *similar], [*of_written, *of_similar], strict=True))
        return [answers[n] for n in range(len(prompts))]

    async def _similar(self, prompts: Sequence[TextComparison]) -> Sequence[Answer]:
        if self.similarity is not None:
            return await self.similarity.answer(prompts)
        if self._embedder is None:
            return [Answer(failure=self.cannot(Similarity))] * len(prompts)
        return await self._embedder.answer(prompts, self.deadline)

    async def generate(self, request: Request) -> Reply:
        """Send one chat completion. A parameter that the endpoint refuses is dropped or renamed, then and later.

        Args:
            request: The prompt's content, with its schema and limits.

        Returns:
            The reply.

        Raises:
            JudgeFailure: There is no reply.
        """
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
            return replace(again.reply, usage=reply.usage + again.reply.usage)
        if request.correction is not None and not self.dialect.show_schema:
            self.dialect.show_schema = True  # what should have enforced the schema did not
        return reply

    async def _complete(self, request: Request, *, double: bool = False) -> ChatMessage:
        try:
            return await self._completed(request, double)
        except JudgeFailure as failure:
            if request.content.pictures and refuses_pictures(failure):
                raise needs_vision(failure) from None
            raise

    async def _completed(self, request: Request, double: bool) -> ChatMessage:
        trial = Trial(self.dialect, f"{self.model} at {self.endpoint.name}")
        sent: Body = {}

        def make() -> Body:
            # made when its turn has come: by then another call may have learned something
            body = self._body(request, trial.now(), double)
            sent.clear()
            sent.update(body, messages=None)  # the texts need not be held until the reply is there
            return {**body, **self.endpoint.settings.extra_body}

        for lesson in range(LESSONS):
            try:
                answer = await self.endpoint.call(
                    self.model,
                    "/chat/completions",
                    make,
                    tokens=estimate_tokens(request.content),
                    reply=request.content.output_tokens,
                    deadline=request.deadline,
                    most=self._most,
                )
                break
            except JudgeFailure as failure:
                ended = lesson == LESSONS - 1 or not may_be_refused(failure)
                if ended or not trial.learn(failure.detail, sent):
                    raise
                request.deadline.note(failure.message)
        message = reply_of(answer, self.endpoint)
        if "logprobs" in sent and self._wants_logprobs is None:
            trial.dialect.logprobs = bool(message.reply.tokens) or not message.reply.text
        trial.dialect.confirmed = trial.dialect.confirmed or "response_format" in sent
        trial.adopt()
        return message

    def _most(self, body: Body) -> int:
        """The tokens that a reply to this call can have at most."""
        limits = [body.get(name) for name in ("max_tokens", "max_completion_tokens")]
        stated = [limit for limit in limits if isinstance(limit, int)]
        return max(stated) if stated else self.max_output_tokens or self.window_tokens

    def request_body(self, content: PromptContent) -> Body:
        """Make the body of the chat call for a prompt, as it would be sent now.

        Args:
            content: The prompt's content.

        Returns:
            The body.
        """
        return self._body(Request(content), self.dialect, False)

    def _body(self, request: Request, dialect: Dialect, double: bool) -> Body:
        content = request.content
        messages = self.messages(request, show_schema=dialect.show_schema)
        shown = self._shown(request, messages, dialect.show_schema)
        vote = content.vote
        body: Body = {
            "model": self.model,
            "messages": shown if dialect.system else fences.merge_system(shown),
            "temperature": self.vote_temperature if vote else self.temperature,
        }
        if self.seed is not None:
            body["seed"] = self.seed + vote
        if dialect.budget is not None:
            body[dialect.budget] = self._budget(content, messages, dialect, double)
        if dialect.structured == "json_schema":
            named = {"name": "reply", "strict": True, "schema": content.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        elif dialect.structured == "json_object":
            body["response_format"] = {"type": "json_object"}
        if self._logprobs and dialect.logprobs is not False and has_labels(content.schema):
            body |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
        for name in dialect.dropped:
            body.pop(name, None)
        return body

    def _budget(
        self, content: PromptContent, messages: Sequence[Mapping[str, str]], dialect: Dialect, double: bool
    ) -> int:
        """The output limit: three times what is expected and 500 more, within what model and window allow."""
        wanted = (3 * content.output_tokens + 500) * dialect.generosity * (2 if double else 1)
        read = sum(tokens_in(message["content"]) for message in messages) + tokens_in(schema_text(content.schema))
        read += picture_tokens(content.material)
        limits = [self.window_tokens - read, self.max_output_tokens, dialect.cap]
        return max(16, min([wanted, *(limit for limit in limits if limit is not None)]))

    async def probe(self) -> dict[str, Any]:
        """Try what works at the endpoint: see `judges.probe`. Never raises for what does not.

        Returns:
            Name of a feature -> what was found.
        """
        from assay.judges.http.probe import probe

        return await probe(self.with_probabilities())


def _key(itself: bool) -> str:
    if not itself:
        return "none"  # the client insists on one; servers without keys ignore it
    key = os.environ.get("OPENAI_API_KEY")
    if not key:
        raise InputError("no key: pass api_key=... or set OPENAI_API_KEY; for another endpoint pass base_url=...")
    return key


def _address_of(client: Any) -> Address:
    """The address of a client that was handed over."""
    if type(client).__name__ in ("OpenAI", "AzureOpenAI"):
        raise InputError(f"client: expected an openai.AsyncOpenAI, got the sync {type(client).__name__}")
    if not hasattr(client, "post") or not hasattr(client, "base_url"):
        raise InputError(f"client: expected an openai.AsyncOpenAI, got {client!r}")
    key = getattr(client, "api_key", None)
    return Address.of(str(client.base_url), key if isinstance(key, str) and key else "none", {})


def estimate_tokens(content: PromptContent) -> int:
    """An estimate of what a call takes, for the throttle."""
    texts = (fences.SYSTEM, content.task, *(section.text for section in content.material))
    return sum(map(tokens_in, texts)) + picture_tokens(content.material) + content.output_tokens


#: What endpoints say to a message with a picture that they do not take.
_NO_PICTURES = re.compile(r"image|vision|multi-?modal|mmproj|content.{0,80}\b(?:str|string)\b", re.IGNORECASE)


def refuses_pictures(failure: JudgeFailure) -> bool:
    """Whether a call failed because its model, or its server, takes no images."""
    status = failure.detail.get("status")
    said = failure.cause in (Cause.BAD_REQUEST, Cause.CONNECTION, Cause.NO_MODEL) and isinstance(status, int)
    return said and bool(_NO_PICTURES.search(failure.message))


def needs_vision(failure: JudgeFailure) -> JudgeFailure:
    """The failure of a call whose pictures were refused, under its own name."""
    return JudgeFailure(Cause.NEEDS_VISION, failure.message, raw=failure.raw, detail=failure.detail)


def has_labels(schema: Mapping[str, Any]) -> bool:
    """Whether a reply of this schema holds labels from a closed set."""
    properties = schema.get("properties", {})
    if "enum" in properties.get("label", {}):
        return True
    return any(has_labels(inner) for inner in (*properties.values(), schema.get("items", {})) if inner)
