"""Judges: embedded, OpenAI-compatible and decision endpoints, cascades, scripted.

`resolve_judge` turns what a user wrote into one.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assay.errors import InputError
from assay.judges.base import Answer, BaseJudge, Judge, JudgeSpec

if TYPE_CHECKING:
    from assay.judges.guidance import GuidanceSpec
    from assay.judges.on_disk.judge import LocalJudge

__all__ = ["Answer", "BaseJudge", "Judge", "JudgeSpec", "local", "resolve_judge"]


def resolve_judge(judge: JudgeSpec = None, *, guidance: GuidanceSpec | None = None, **options: Any) -> BaseJudge:
    """The judge that is meant, with the user's guidance where there is some.

    None or "embedded"   the embedded judge: offline, on the CPU, free
    "openai:MODEL"       an OpenAI-compatible endpoint; `options` (base_url, api_key, ...) go to `OpenAIJudge`
    "openai-batch:MODEL", "anthropic-batch:MODEL"    the same through a provider's batches, at half the price and within
                         a day; `options` go to `OpenAIBatchJudge`, `AnthropicBatchJudge`
    "decisions:MODEL"    OpenAI's decision endpoint; `options` go to `DecisionsJudge`
    "systemone:MODEL"    an endpoint that speaks /v1/systemone; `options` go to `SystemOneJudge`
    "cascade:PATH"       the cascade whose plan is in this file; `options` go to its second judge
    "local:PATH"         somebody else's model on disk, in ONNX; `options` go to `LocalJudge`
    a judge              itself
    a framework's model  a chat model of LangChain or an LLM of LlamaIndex, with its own keys, address and proxies;
                         other packages add theirs: see `assay.judges.foreign`

    An LLM judge is never chosen because a key happens to be in the environment. Raises InputError for anything else,
    MissingExtra when the embedded judge is meant and not installed.
    """
    resolved = _resolved(judge, options)
    return resolved if guidance is None else resolved.with_guidance(guidance)


def _resolved(judge: JudgeSpec, options: Mapping[str, Any]) -> BaseJudge:
    if judge is None or judge == "embedded":
        from assay.judges.embedded.judge import EmbeddedJudge

        return EmbeddedJudge(**options)
    if isinstance(judge, str) and judge.startswith("openai:") and judge != "openai:":
        from assay.judges.writing.openai import OpenAIJudge

        return OpenAIJudge(judge.removeprefix("openai:"), **options)
    if isinstance(judge, str):
        scheme, _, name = judge.partition(":")
        if name and scheme in ("decisions", "systemone"):
            from assay.judges.deciding.judge import DecisionsJudge, SystemOneJudge

            return (DecisionsJudge if scheme == "decisions" else SystemOneJudge)(name, **options)
        if name and scheme in ("openai-batch", "anthropic-batch"):
            from assay.judges.batch.judge import AnthropicBatchJudge, OpenAIBatchJudge

            return (OpenAIBatchJudge if scheme == "openai-batch" else AnthropicBatchJudge)(name, **options)
        if name and scheme == "cascade":
            from assay.judges.cascade.judge import CascadeJudge

            return CascadeJudge.of_plan(name, **options)
        if name and scheme == "local":
            return local(name, **options)
    if isinstance(judge, BaseJudge):
        if options:
            raise InputError(f"judge: options {sorted(options)} go with a judge named by text, not with a judge object")
        return judge
    if not isinstance(judge, str):
        from assay.judges.foreign import judge_of

        foreign = judge_of(judge)
        if foreign is not None:
            return _resolved(foreign, options)
    expected = (
        "'embedded', 'openai:MODEL', 'openai-batch:MODEL', 'anthropic-batch:MODEL', 'decisions:MODEL', "
        "'systemone:MODEL', 'cascade:PATH', "
        "'local:PATH', a judge object, a LangChain chat model or a LlamaIndex LLM"
    )
    raise InputError(f"judge: expected {expected}, got {judge!r}{_meant(judge)}")


def _meant(judge: object) -> str:
    """The way out for a name that nearly is one: a slip in 'embedded', or a model without who serves it."""
    if not isinstance(judge, str) or not judge or ":" in judge:
        return ""
    if difflib.get_close_matches(judge.casefold(), ["embedded"], cutoff=0.7):
        return "; did you mean 'embedded'?"
    return f"; a model of OpenAI's, or of another endpoint with base_url=, is 'openai:{judge}'"


def local(path: str | os.PathLike[str], **options: Any) -> LocalJudge:
    """The judge around a model on disk that others made: `LocalJudge(path, **options)`, see there."""
    from assay.judges.on_disk.judge import LocalJudge

    return LocalJudge(path, **options)
