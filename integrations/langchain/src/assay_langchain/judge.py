"""LangChain chat models as judges: `judge=ChatOpenAI(...)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableBinding
from langsmith.run_helpers import tracing_context

from assay import Cause, InputError, JudgeFailure
from assay.extension import (
    EndpointOptions,
    FrameworkJudge,
    Mask,
    ModelCall,
    Reply,
    count_replies,
    plain_settings,
    usage_of,
)
from assay_langchain import model_settings

_TRUNCATED = frozenset({"length", "max_tokens", "max_output_tokens", "incomplete"})
_FILTERED = frozenset({"content_filter", "safety", "blocklist", "prohibited_content"})
_ROLES: Mapping[str, type[BaseMessage]] = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}


class LangChainJudge(FrameworkJudge):
    """Answers with a LangChain chat model: its keys, address, proxies and parameters stay.

    Raises InputError for what is no chat model.

    Args:
        model: A chat model, or one with `.bind(...)` around it. A copy of it is asked, whose own retries are off where
            they can be (see `model_settings.without_retries`): attempts are made, and counted, here.
        callbacks: Handlers that are to hear of the judge's calls. Without them nobody does: no installed handler,
            tracer or callback of the model, nor LangSmith. LangChain's caches are not used; judgements are kept by us.
        vision: Whether it may be shown pictures. None: as its profile says; where that says nothing, models over an
            `openai` client may, since such an endpoint refuses what it cannot read. Where it may not, or refuses them,
            what has pictures is *skipped: needs_vision*.
        options: Mask, timeout, deadline, max_attempts, max_concurrency, window_tokens ...: see `FrameworkJudge`.
    """

    def __init__(
        self,
        model: Any,
        *,
        callbacks: Sequence[BaseCallbackHandler] = (),
        vision: bool | None = None,
        mask: Mask | None = None,
        **options: Unpack[EndpointOptions],
    ) -> None:
        chat, bound = _unbound(model)
        settings = model_settings.read(chat)
        if settings.window is not None:
            options.setdefault("window_tokens", settings.window)
        super().__init__(
            type(chat).__name__,
            settings.name,
            {**settings.parameters, "bound": plain_settings(bound)},
            secrets=settings.secrets,
            enforces=settings.enforces and "response_format" not in bound,
            tempers=settings.tempers,
            vision=model_settings.sees(chat) if vision is None else vision,
            mask=mask,
            max_output_tokens=settings.most,
            **options,
        )
        self._chat = model_settings.without_retries(chat)
        count_replies(self._chat)
        self._bound = dict(bound)
        self._callbacks = list(callbacks)

    def call(self, ask: ModelCall) -> Reply:
        """See `FrameworkJudge.call`."""
        given = dict(self._bound)
        if ask.schema is not None:
            named = {"name": "reply", "strict": True, "schema": ask.schema}
            given["response_format"] = {"type": "json_schema", "json_schema": named}
        if ask.temperature is not None:
            given["temperature"] = ask.temperature
        messages = [_ROLES[message["role"]](message["content"]) for message in ask.messages]
        with tracing_context(enabled=False):
            return reply_of(self._answer(messages, given))

    def _answer(self, messages: list[BaseMessage], given: dict[str, Any]) -> BaseMessage:
        if self._callbacks:
            return self._chat.invoke(messages, {"callbacks": self._callbacks, "run_name": "assay judge"}, **given)
        # past the callback manager, which the host's tracers add themselves to in ways that no config undoes
        if self._chat.rate_limiter is not None:
            self._chat.rate_limiter.acquire(blocking=True)
        return self._chat._generate(messages, **given).generations[0].message


def judge_of(model: Any) -> LangChainJudge:
    """The judge for an object of LangChain: the entry point in `assay.judges`."""
    return LangChainJudge(model)


def reply_of(message: BaseMessage) -> Reply:
    """What a model wrote and what it cost. Raises JudgeFailure REFUSED or CONTENT_FILTER."""
    said = message.response_metadata
    usage = usage_of(_usage(message))
    text = str(message.text)
    ended = str(said.get("finish_reason") or said.get("stop_reason") or said.get("done_reason") or "").lower()
    refusal = message.additional_kwargs.get("refusal")
    if refusal or ended == "refusal":
        raise JudgeFailure(
            Cause.REFUSED, "the judge declined to answer", raw=str(refusal or text), detail={"usage": usage}
        )
    if ended in _FILTERED:
        what = "the content filter stopped the reply"
        raise JudgeFailure(Cause.CONTENT_FILTER, what, raw=text, detail={"usage": usage})
    return Reply(text, ended in _TRUNCATED, usage)


def _usage(message: BaseMessage) -> Mapping[str, Any]:
    counted = getattr(message, "usage_metadata", None) or {}
    details = counted.get("input_token_details") or {}
    return {**counted, "cached_tokens": details.get("cache_read")}


def _unbound(model: Any) -> tuple[BaseChatModel, Mapping[str, Any]]:
    """The chat model, and what was bound to it; retries around it (`with_retry`) give way to ours."""
    bound: dict[str, Any] = {}
    inner = model
    while isinstance(inner, RunnableBinding) or type(inner).__name__ == "RunnableRetry":
        bound = {**getattr(inner, "kwargs", {}), **bound}
        inner = inner.bound
    if isinstance(inner, BaseChatModel):
        return inner, bound
    raise InputError(
        f"judge: expected a chat model, got {type(inner).__name__}; a judge is one model, because judgements are kept "
        "under its name: no chain, no fallbacks, no completion model"
    )
