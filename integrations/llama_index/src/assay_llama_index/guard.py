"""Guards in LlamaIndex: a query engine whose answers are checked, and a postprocessor that checks what was found."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Iterable, Sequence
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import AsyncStreamingResponse, Response, StreamingResponse
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from pydantic import PrivateAttr

from assay import Guard, InputError, Sample, metrics
from assay.extension import (
    GuardAction,
    GuardDecision,
    GuardHealth,
    JudgeSpec,
    Verdict,
    call_repr,
    describe,
    run_sync,
    thresholds_of,
)
from assay_llama_index.records import answer_of, answer_text, context_of, contexts_of


class GuardedQueryEngine(BaseQueryEngine):
    """A query engine behind a guard. See `guarded_query_engine`.

    Args:
        engine: The query engine.
        guard: What decides.
    """

    def __init__(self, engine: BaseQueryEngine, guard: Guard) -> None:
        self._engine = engine
        self._guard = guard
        super().__init__(getattr(engine, "callback_manager", None))

    def __repr__(self) -> str:
        return call_repr(self, self._engine, self._guard)

    def _query(self, query_bundle: QueryBundle) -> Any:
        response = self._engine.query(query_bundle)
        if isinstance(response, AsyncStreamingResponse):
            response, answer = run_sync(lambda: _aread(response))
        else:
            response, answer = _read(response)
        decision = self._guard.check(_sample(query_bundle, response, answer))
        return response if decision.allowed else self._instead(response, decision)

    async def _aquery(self, query_bundle: QueryBundle) -> Any:
        response, answer = await _aread(await self._engine.aquery(query_bundle))
        decision = await self._guard.acheck(_sample(query_bundle, response, answer))
        return response if decision.allowed else self._instead(response, decision)

    def _instead(self, response: Any, decision: GuardDecision) -> Any:
        replacement = self._guard.replacement(decision)
        if hasattr(replacement, "source_nodes"):  # a response of the fallback's own
            return replacement
        text = str(replacement)
        sources = list(getattr(response, "source_nodes", None) or ())
        metadata = {**(getattr(response, "metadata", None) or {}), "assay": decision}
        if isinstance(response, StreamingResponse):
            return StreamingResponse(_stream([text]), sources, metadata)
        if isinstance(response, AsyncStreamingResponse):
            return AsyncStreamingResponse(_astream([text]), sources, metadata)
        return Response(text, sources, metadata)

    # what only passes through

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Retrieve nodes as the engine does; the guard has no part in it.

        Args:
            query_bundle: The query.

        Returns:
            The engine's nodes.
        """
        nodes: list[NodeWithScore] = self._engine.retrieve(query_bundle)
        return nodes

    def _get_prompt_modules(self) -> dict[str, Any]:
        return {"query_engine": self._engine}


def guarded_query_engine(engine: BaseQueryEngine, guard: Guard) -> GuardedQueryEngine:
    """Put a guard around a query engine: the same engine, whose answers go out only when the guard allows it.

        guard = assay.guard(on_timeout="pass", on_error="block", on_skipped="block", fallback="I did not find that.")
        safe = guarded_query_engine(engine, guard)
        safe.query("Why do cats purr?")

    An answer that is allowed is the engine's own response. In place of one that is blocked comes a response with the
    fallback as its text, the same source nodes, and the decision in `metadata["assay"]`. Without a fallback
    GuardBlocked is raised. A streamed answer is read to its end and checked, then streamed again: what a reader has
    seen cannot be taken back. What the engine itself raises comes through unchanged, and nothing is checked then.

    Args:
        engine: The query engine.
        guard: What decides, made by `assay.guard`.

    Returns:
        A query engine with the interface of LlamaIndex.

    Raises:
        InputError: `guard` is no Guard.
    """
    if not isinstance(guard, Guard):
        raise InputError(f"guard: expected a Guard, made by assay.guard(...), got {describe(guard)}")
    return GuardedQueryEngine(engine, guard)


class AssayNodeGuard(BaseNodePostprocessor):
    """Drops the nodes that do not help to answer the question.

        post = AssayNodeGuard(threshold=0.3, on_timeout="pass", on_error="pass", on_skipped="pass")
        engine = index.as_query_engine(node_postprocessors=[post])

    Nodes stay in their order and are not changed. Nodes without text (images) are not judged, and stay.

    Args:
        judge: A judge, its name, or None for the embedded one.
        threshold: The least probability, from 0 to 1, that a node is useful. Where the judge gives labels alone, a
            useful node has 1 and any other 0.
        keep_at_least: So many stay in any case: the most probable ones.
        deadline: Seconds after which the engine goes on, whatever the judge does.
        on_timeout: "pass" leaves all nodes where the judge was not done in time, "block" only the first
            `keep_at_least`.
        on_error: The same where the judge failed, and `on_skipped` where there is no question. None of the three has a
            default.
    """

    _guard: Guard = PrivateAttr()
    _threshold: float = PrivateAttr()
    _keep: int = PrivateAttr()

    def __init__(
        self,
        judge: JudgeSpec = None,
        *,
        threshold: float = 0.5,
        keep_at_least: int = 1,
        deadline: float = 2.0,
        on_timeout: GuardAction,
        on_error: GuardAction,
        on_skipped: GuardAction,
    ) -> None:
        super().__init__()
        metric = metrics.ContextRelevance(unit="passage")
        self._threshold = thresholds_of([metric], threshold)[metric.label]
        # the threshold is one for each node; the share of useful nodes, which is the score, never blocks
        self._guard = Guard(
            metric,
            judge,
            threshold=metric.low,
            deadline=deadline,
            on_timeout=on_timeout,
            on_error=on_error,
            on_skipped=on_skipped,
        )
        if isinstance(keep_at_least, bool) or not isinstance(keep_at_least, int) or keep_at_least < 0:
            raise InputError(f"keep_at_least: expected a number of nodes, got {keep_at_least!r}")
        self._keep = keep_at_least

    @classmethod
    def class_name(cls) -> str:
        """The name by which LlamaIndex serializes it.

        Returns:
            "AssayNodeGuard".
        """
        return "AssayNodeGuard"

    def warm_up(self, timeout: float = 60.0) -> bool:
        """Load the judge before the first query.

        Args:
            timeout: Seconds to wait at most.

        Returns:
            Whether it is loaded. See `Guard.warm_up`.
        """
        return self._guard.warm_up(timeout)

    def health(self) -> GuardHealth:
        """Count the checks: one for each list of nodes.

        Returns:
            The counters at this moment.
        """
        return self._guard.health()

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        judged = _with_text(nodes)
        if not judged:
            return nodes
        return self._kept(nodes, judged, self._guard.check(_sample_of_nodes(nodes, judged, query_bundle)))

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        judged = _with_text(nodes)
        if not judged:
            return nodes
        return self._kept(nodes, judged, await self._guard.acheck(_sample_of_nodes(nodes, judged, query_bundle)))

    def _kept(self, nodes: list[NodeWithScore], judged: Sequence[int], decision: GuardDecision) -> list[NodeWithScore]:
        if decision.outcome == "passed" and decision.scored is not None:
            (score,) = decision.scored.scores.values()
            (verdicts,) = score.verdicts.values()
            useful = dict(zip(judged, map(_probability, verdicts), strict=True))
            best = sorted(judged, key=lambda place: -useful[place])[: self._keep]
            dropped = {place for place in judged if useful[place] < self._threshold} - {*best}
        elif decision.allowed:
            return nodes
        else:
            dropped = {*judged[self._keep :]}
        return [node for place, node in enumerate(nodes) if place not in dropped]


def _with_text(nodes: Sequence[NodeWithScore]) -> list[int]:
    return [place for place, node in enumerate(nodes) if node.node.get_content().strip()]


def _sample_of_nodes(nodes: Sequence[NodeWithScore], judged: Iterable[int], query: QueryBundle | None) -> Sample:
    return Sample(
        question=None if query is None else query.query_str,
        contexts=tuple(context_of(nodes[place]) for place in judged),
    )


def _probability(verdict: Verdict) -> float:
    return float(verdict.label == "useful") if verdict.probability is None else verdict.probability


def _sample(query: QueryBundle, response: Any, answer: str | None) -> Sample:
    nodes = getattr(response, "source_nodes", None)
    return Sample(question=query.query_str, contexts=None if nodes is None else contexts_of(nodes), answer=answer)


def _read(response: Any) -> tuple[Any, str | None]:
    """A response that can be read again, and its text."""
    if not isinstance(response, StreamingResponse) or response.response_txt is not None:
        return response, answer_of(response)
    tokens = list(response.response_gen)
    return StreamingResponse(_stream(tokens), response.source_nodes, response.metadata), _whole(tokens)


async def _aread(response: Any) -> tuple[Any, str | None]:
    if isinstance(response, StreamingResponse):
        return await asyncio.to_thread(_read, response)  # its generator waits for the model, and would hold the loop
    if not isinstance(response, AsyncStreamingResponse) or response.response_txt is not None:
        return response, answer_of(response)
    tokens = [token async for token in response.response_gen]
    return AsyncStreamingResponse(_astream(tokens), response.source_nodes, response.metadata), _whole(tokens)


def _stream(tokens: Iterable[Any]) -> Generator[Any, None, None]:
    yield from tokens


async def _astream(tokens: Iterable[Any]) -> AsyncGenerator[Any, None]:
    for token in tokens:
        yield token


def _whole(tokens: Sequence[Any]) -> str | None:
    """Tokens are joined; of growing structured objects the last is the answer."""
    if all(isinstance(token, str) for token in tokens):
        return "".join(tokens)
    return answer_text(tokens[-1])
