"""LlamaIndex LLMs as judges: `judge=OpenAI(...)`, `judge=Settings.llm`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from llama_index.core.base.llms.base import BaseLLM
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from llama_index.core.callbacks import CallbackManager
from llama_index.core.callbacks.base_handler import BaseCallbackHandler

from assay import InputError
from assay.extension import EndpointOptions, FrameworkJudge, Mask, ModelCall, Reply, count_replies
from assay_llama_index import model_settings
from assay_llama_index.model_replies import reply_of


class LlamaIndexJudge(FrameworkJudge):
    """Answers with an LLM of LlamaIndex: its keys, address, proxies, parameters, rate limiter and callbacks stay.

    `AssayInstrumentation` takes no call of a judge for one of the application. Other handlers on LlamaIndex' dispatcher
    hear them, as roots of their own. Raises InputError for what is no LLM.

    Args:
        llm: Any LLM. Copies of it are asked, whose own retries are off where they can be (see
            `model_settings.without_retries`): attempts are made, and counted, here.
        callbacks: Handlers that are to hear of the judge's calls; None: those of the LLM. They get a callback manager
            of the judge's own, so that its calls never stand in a trace of the application.
        vision: Whether it may be shown pictures, as image blocks. None: LlamaIndex' own class for OpenAI, and what is
            made from it, may; other LLMs may drop such blocks without a word. Where it may not, or its endpoint refuses
            them, what has pictures is *skipped: needs_vision*.
        options: Mask, timeout, deadline, max_attempts, max_concurrency, window_tokens ...: see `FrameworkJudge`.
    """

    def __init__(
        self,
        llm: Any,
        *,
        callbacks: Sequence[BaseCallbackHandler] | None = None,
        vision: bool | None = None,
        mask: Mask | None = None,
        **options: Unpack[EndpointOptions],
    ) -> None:
        if not isinstance(llm, BaseLLM):
            raise InputError(f"judge: expected an LLM, got {type(llm).__name__}; of an engine or an agent give its LLM")
        settings = model_settings.read(llm)
        if settings.window is not None:
            options.setdefault("window_tokens", settings.window)
        super().__init__(
            type(llm).__name__,
            settings.name,
            settings.parameters,
            secrets=settings.secrets,
            enforces=settings.enforces,
            tempers=settings.tempers,
            vision=model_settings.is_openai(llm) if vision is None else vision,
            mask=mask,
            max_output_tokens=settings.most,
            **options,
        )
        self._llm = model_settings.without_retries(llm)
        if callbacks is None:
            callbacks = getattr(llm.callback_manager, "handlers", None) or ()
        self._callbacks = list(callbacks)

    def call(self, ask: ModelCall) -> Reply:
        """See `FrameworkJudge.call`."""
        # a manager keeps what is going on in one stack, and calls run side by side: each has a copy with its own
        change: dict[str, Any] = {"callback_manager": CallbackManager(self._callbacks)}
        if ask.temperature is not None:
            change["temperature"] = ask.temperature
        given: dict[str, Any] = {}
        if ask.schema is not None:
            named = {"name": "reply", "strict": True, "schema": ask.schema}
            given["response_format"] = {"type": "json_schema", "json_schema": named}
        messages = [ChatMessage(role=said["role"], content=content_of(said["content"])) for said in ask.messages]
        llm = self._llm.model_copy(update=change)
        model_settings.make_client(llm)
        count_replies(llm)
        return reply_of(llm.chat(messages, **given))


def content_of(content: str | Sequence[Mapping[str, Any]]) -> Any:
    """A message's content: a text, or its parts as LlamaIndex' blocks."""
    if isinstance(content, str):
        return content
    blocks: list[TextBlock | ImageBlock] = []
    for part in content:
        if part["type"] == "text":
            blocks.append(TextBlock(text=part["text"]))
            continue
        address = part["image_url"]["url"]
        head, _, data = address.partition(";base64,")
        if data:  # the block takes base64 as it is
            blocks.append(ImageBlock(image=data.encode(), image_mimetype=head.removeprefix("data:")))
        else:
            blocks.append(ImageBlock(url=address))
    return blocks


def judge_of(llm: Any) -> LlamaIndexJudge:
    """The judge for an object of LlamaIndex: the entry point in `assay.judges`."""
    return LlamaIndexJudge(llm)
