"""Judges by name: `resolve_judge` turns a name or an object into a judge."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from assay.errors import InputError
from assay.judges.base import BaseJudge, JudgeSpec
from assay.judges.providers.table import PROVIDERS, provider_judge

if TYPE_CHECKING:
    from assay.judges.instructions import InstructionsSpec


def resolve_judge(
    judge: JudgeSpec = None, *, instructions: InstructionsSpec | None = None, **options: Any
) -> BaseJudge:
    """Resolve a judge from its name, a framework's model or a judge, with the user's instructions.

    An LLM judge is never chosen because a key happens to be in the environment. A judge is named by:

    * None or `"embedded"`: the embedded judge, offline, on the CPU, free
    * `"openai:MODEL"`: an OpenAI-compatible endpoint; `options` (base_url, api_key, ...) go to `OpenAIJudge`
    * `"PROVIDER:MODEL"` with azure, mistral, groq, openrouter, together, deepseek, ollama, vllm or lmstudio: the same
      at this provider's address with the key of its variable, see `assay.judges.providers.table`
    * `"anthropic:MODEL"`, `"gemini:MODEL"`, `"vertex:MODEL"`, `"bedrock:MODEL"`: the provider's own protocol; `options`
      go to `AnthropicJudge`, `GeminiJudge`, `VertexJudge`, `BedrockJudge`
    * `"any-llm:PROVIDER:MODEL"`: a provider that the library any-llm knows; `options` go to `AnyLlmJudge`
    * `"openai-batch:MODEL"`, `"anthropic-batch:MODEL"`: a provider's batches, at half the price and within a day;
      `options` go to `OpenAIBatchJudge`, `AnthropicBatchJudge`
    * `"decisions:MODEL"`: OpenAI's classifier endpoint; `options` go to `DecisionsJudge`
    * `"systemone:MODEL"`: an endpoint that speaks /v1/systemone; `options` go to `SystemOneJudge`
    * `"cascade:PATH"`: the cascade whose plan is in this file; `options` go to its second judge
    * `"local:PATH"`: a model on disk, in ONNX; `options` go to `LocalJudge`
    * a judge: itself
    * a framework's model: a chat model of LangChain or an LLM of LlamaIndex, with its own keys, address and proxies;
      other packages add theirs: see `assay.judges.framework_models`

    Args:
        judge: One of these.
        instructions: Instructions and examples for single kinds of question. None: no instructions.
        options: Arguments for the judge that a name stands for. A judge object takes none.

    Returns:
        The judge.

    Raises:
        InputError: `judge` is none of these, an option is wrong, or the judge reads no instructions.
        MissingExtra: The embedded judge is meant and not installed.
    """
    resolved = _resolved(judge, options)
    return resolved if instructions is None else resolved.with_instructions(instructions)


def check_judge(judge: JudgeSpec) -> None:
    """Check that `judge` names a judge, of which nothing is loaded, opened or looked at where it is one or names one.

    Args:
        judge: One of those that `resolve_judge` takes.

    Raises:
        InputError: It names none.
    """
    known = judge is None or judge == "embedded" if isinstance(judge, str | None) else isinstance(judge, BaseJudge)
    scheme, _, name = judge.partition(":") if isinstance(judge, str) else ("", "", "")
    if not known and not (name and (scheme in _SCHEMES or scheme in PROVIDERS)):
        resolve_judge(judge)  # a framework's model, or none at all


#: What makes the judge of a name, by what stands before its colon. Loaded by name: a cascade resolves names itself.
_SCHEMES: Mapping[str, str] = {
    "openai": "assay.judges.llm.openai:OpenAIJudge",
    "anthropic": "assay.judges.providers.anthropic:AnthropicJudge",
    "gemini": "assay.judges.providers.gemini:GeminiJudge",
    "vertex": "assay.judges.providers.gemini:VertexJudge",
    "bedrock": "assay.judges.providers.bedrock:BedrockJudge",
    "any-llm": "assay.judges.providers.any_llm:AnyLlmJudge",
    "openai-batch": "assay.judges.batch.judge:OpenAIBatchJudge",
    "anthropic-batch": "assay.judges.batch.judge:AnthropicBatchJudge",
    "decisions": "assay.judges.classifier.judge:DecisionsJudge",
    "systemone": "assay.judges.classifier.judge:SystemOneJudge",
    "cascade": "assay.judges.cascade.judge:CascadeJudge.of_plan",
    "local": "assay.judges.local.judge:LocalJudge",
}


def _resolved(judge: JudgeSpec, options: Mapping[str, Any]) -> BaseJudge:
    if judge is None or judge == "embedded":
        from assay.judges.embedded.judge import EmbeddedJudge

        return EmbeddedJudge(**options)
    if isinstance(judge, str):
        scheme, _, name = judge.partition(":")
        if name and scheme in _SCHEMES:
            made: BaseJudge = resolve_name(_SCHEMES[scheme])(name, **options)
            return made
        if name and scheme in PROVIDERS:
            return provider_judge(scheme, name, **options)
    if isinstance(judge, BaseJudge):
        if options:
            raise InputError(f"judge: options {sorted(options)} go with a judge named by text, not with a judge object")
        return judge
    if not isinstance(judge, str):
        from assay.judges.framework_models import judge_of

        foreign = judge_of(judge)
        if foreign is not None:
            return _resolved(foreign, options)
    expected = (
        "'embedded', 'openai:MODEL', 'openai-batch:MODEL', 'anthropic-batch:MODEL', 'decisions:MODEL', "
        "'systemone:MODEL', 'cascade:PATH', 'local:PATH', "
        f"PROVIDER:MODEL with {', '.join([*_NATIVE, *PROVIDERS])} or any-llm, "
        "a judge object, a LangChain chat model or a LlamaIndex LLM"
    )
    raise InputError(f"judge: expected {expected}, got {judge!r}{_suggestion(judge)}")


#: Providers with a protocol of their own.
_NATIVE = ("anthropic", "gemini", "vertex", "bedrock")


def _suggestion(judge: object) -> str:
    """The way out for a name that nearly is one: a slip in a name, or a model without who serves it."""
    if not isinstance(judge, str) or not judge:
        return ""
    scheme, colon, name = judge.partition(":")
    if colon and name:
        close = difflib.get_close_matches(scheme.casefold(), [*_SCHEMES, *PROVIDERS], n=1, cutoff=0.7)
        if close:
            return f"; did you mean '{close[0]}:{name}'?"
        return f"; where the library any-llm knows {scheme!r}, it is 'any-llm:{judge}'"
    if colon:
        return "; name the model after the colon" if scheme in {*_SCHEMES, *PROVIDERS} else ""
    if difflib.get_close_matches(judge.casefold(), ["embedded"], cutoff=0.7):
        return "; did you mean 'embedded'?"
    return f"; a model of OpenAI's, or of another endpoint with base_url=, is 'openai:{judge}'"
