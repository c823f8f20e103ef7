"""LLM judges that answer through a provider's batches: half the price, within a day.

    evaluate("answers.jsonl", judge="openai-batch:MODEL")
    evaluate("answers.jsonl", judge="anthropic-batch:MODEL")

Prompts, replies and retries are those of `OpenAIJudge`; only the road is another one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.errors import InputError, JudgeFailure
from assay.judges.batch.anthropic import ANTHROPIC, VERSION, MessageBatches
from assay.judges.batch.endpoint import BatchEndpoint
from assay.judges.batch.openai import FilesAndBatches
from assay.judges.batch.protocol import NO_LIST, BatchProtocol
from assay.judges.batch.submit import VOTE, PollInterval
from assay.judges.http.client import Address
from assay.judges.http.endpoint import Body, Endpoint
from assay.judges.http.options import Settings
from assay.judges.llm.capabilities import Dialect
from assay.judges.llm.judge import Request
from assay.judges.llm.openai import OpenAIJudge
from assay.judges.protocol import Host
from assay.prompts import JudgePrompt

#: Rows whose requests fill batches together. Memory grows with them.
ROWS = 2000
HALF = 0.5


class OpenAIBatchJudge(OpenAIJudge):
    """LLM judge through a batch API (`/files` and `/batches`): OpenAI itself, Azure, or a compatible endpoint.

    Judgements are the same as those of `OpenAIJudge`, and cached under the same address.

    Args:
        model: The model, as the endpoint calls it.
        rows_in_flight: Rows that an evaluation holds while they wait, at least 1: their requests fill the same batches.
        state: Folder that keeps batches and replies until they are used. None: the folder of the run's store.
        poll: Seconds between two checks of unfinished batches, above 0.
        list_lag: Seconds by which the provider's list of batches may lag behind, at least 0. After a crash, or a call
            without a reply, the list is checked for this long before a batch is made again.
        discount: Share that is taken off the usual price, in [0, 1]. None: 0.5 at OpenAI, Azure and Anthropic, unknown
            elsewhere.
        most_requests: Requests of one batch, where the endpoint allows fewer than the provider's own limit.
        most_bytes: Bytes of one batch, where the endpoint allows fewer than the provider's own limit.
        **options: Arguments of `OpenAIJudge`.

    Raises:
        InputError: The arguments cannot work.
    """

    def __init__(
        self,
        model: str,
        *,
        rows_in_flight: int = ROWS,
        state: str | Path | None = None,
        poll: float = 60.0,
        list_lag: float = 600.0,
        discount: float | None = None,
        most_requests: int | None = None,
        most_bytes: int | None = None,
        **options: Any,
    ) -> None:
        for name, count in (("rows_in_flight", rows_in_flight), ("most_requests", most_requests)):
            if count is not None and count < 1:
                raise InputError(f"{name}: expected at least 1, got {count!r}")
        if not poll > 0 or not list_lag >= 0:
            raise InputError(f"poll, list_lag: expected seconds, got {poll!r} and {list_lag!r}")
        if discount is not None and not 0 <= discount <= 1:
            raise InputError(f"discount: expected what is taken off, from 0 to 1, got {discount!r}")
        self.rows_in_flight = rows_in_flight
        self._folder = None if state is None else Path(state)
        self._pace = PollInterval(poll=poll, list_lag=list_lag)
        self._limits = {
            name: limit
            for name, limit in (("most_requests", most_requests), ("most_bytes", most_bytes))
            if limit is not None
        }
        known = HALF if self._is_providers(options) else None
        self._discount = known if discount is None else discount
        super().__init__(model, **{"prefix_cache": False, **options})

    def _is_providers(self, options: dict[str, Any]) -> bool:
        return options.get("base_url") is None and options.get("client") is None

    def _protocol(self, address: Address) -> BatchProtocol:
        return FilesAndBatches(azure=address.azure, **self._limits)

    def _reach(self, address: Address, settings: Settings, client: Any) -> Endpoint:
        self.batches = BatchEndpoint(
            address,
            settings,
            client,
            model=self.model,
            protocol=self._protocol(address),
            pace=self._pace,
            share=None if self._discount is None else 1.0 - self._discount,
            folder=self._folder,
        )
        return self.batches

    def groups(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Sequence[JudgePrompt[Any]]]:
        """Group questions: each alone. A request must not depend on others, so that it is found again after a crash.

        Args:
            prompts: The questions.

        Returns:
            One group for each question.
        """
        return [[prompt] for prompt in prompts]

    async def probe(self) -> dict[str, Any]:
        """Probe the endpoint without a batch: whether it is reachable, and whether it lists its batches.

        Where it does not list them, nobody can know after a crash whether a batch was made.

        Returns:
            `endpoint`, `model_name`, `reachable` (True, or a text that says what is wrong) and, where known,
            `lists_batches`. What does not work is in the report, never raised.
        """
        report: dict[str, Any] = {"endpoint": self.endpoint.name, "model_name": self.model, "reachable": True}
        try:
            await self.batches.get(self.batches.protocol.path, {"limit": 1})
            return {**report, "lists_batches": True}
        except JudgeFailure as failure:
            known = failure.detail.get("status") in NO_LIST
            return {**report, "lists_batches": False} if known else {**report, "reachable": failure.message}

    def session_for(self, run: Host) -> AbstractAsyncContextManager[None]:
        """Open a session that submits batches for one run.

        Args:
            run: The run.

        Returns:
            A context manager.
        """
        return self.batches.session_for(run)

    def _body(self, request: Request, dialect: Dialect, double: bool) -> Body:
        body = super()._body(request, dialect, double)
        return {**body, VOTE: request.content.vote} if request.content.vote else body


class AnthropicBatchJudge(OpenAIBatchJudge):
    """LLM judge through Anthropic's Message Batches.

    There are no embeddings and no log-probabilities: for similarity pass `similarity=EmbeddedJudge()`. The schema of a
    reply is enforced where the model supports it; otherwise it is in the prompt.

    Args:
        model: The model, as Anthropic calls it.
        base_url: Address of the endpoint. None: Anthropic itself.
        api_key: The key. None: ANTHROPIC_API_KEY for Anthropic itself, and no key for another `base_url`.
        **options: Arguments of `OpenAIBatchJudge`, without `azure_endpoint`, `api_version`, `client`, `embedding_model`
            and `logprobs`.

    Raises:
        InputError: The key is missing, an option does not go with Anthropic, or other arguments cannot work.
    """

    kind = "anthropic"

    def __init__(self, model: str, *, base_url: str | None = None, api_key: str | None = None, **options: Any) -> None:
        for name in ("azure_endpoint", "api_version", "client", "embedding_model", "logprobs"):
            if options.get(name) is not None:
                raise InputError(f"{name}: goes with 'openai-batch:MODEL'; Anthropic has no such thing")
        key = api_key or (os.environ.get("ANTHROPIC_API_KEY") if base_url is None else "none")
        if not key:
            raise InputError("no key: pass api_key=... or set ANTHROPIC_API_KEY")
        if base_url is None and "discount" not in options:
            options["discount"] = HALF
        headers = {"anthropic-version": VERSION, **(options.pop("headers", None) or {})}
        super().__init__(
            model, base_url=base_url or ANTHROPIC, api_key=key, headers=headers, **{"logprobs": False, **options}
        )

    def _protocol(self, address: Address) -> BatchProtocol:
        return MessageBatches(**self._limits)

    def _reach(self, address: Address, settings: Settings, client: Any) -> Endpoint:
        return super()._reach(replace(address, key_header="x-api-key"), settings, client)
