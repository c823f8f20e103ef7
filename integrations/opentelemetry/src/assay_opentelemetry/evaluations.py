"""Evaluators of frameworks in traces: they judge answers, and are no exchange of the application."""

from __future__ import annotations

import re

from assay.extension import Run, Trace

#: Spans of evaluators: LlamaIndex names them by class and method.
_NAME = re.compile(r"\w+\.a?evaluate(_response)?")

#: How the prompts of LlamaIndex' evaluators begin. An evaluator sends no span, but the engine or model that it asks.
_PROMPTS = (
    "Please tell if a given piece of information is supported by the",
    "We want to understand if the following information is present in the context information:",
    "We want to understand if the following query and response isin line with the",
    "Your task is to evaluate if the response",
    "Your task is to evaluate if the retrieved context",
    "You are an expert evaluation system for a question answering chatbot.",
    "Here is the original query: Query:",
    "Please act as an impartial judge and evaluate the quality of the responses",
)
_LONGEST = 400  # characters of a prompt that are looked at


def is_evaluator_span(name: str) -> bool:
    """Whether a span of this name is an evaluator."""
    return _NAME.fullmatch(name) is not None


def is_evaluation(trace: Trace) -> bool:
    """Whether an exchange is an evaluator's: all that its models were asked are prompts of evaluators."""
    calls = [run for run in trace.members if run.kind == "llm" and run.prompt]
    return bool(calls) and all(map(_is_evaluators, calls))


def _is_evaluators(run: Run) -> bool:
    begins = [" ".join(text[:_LONGEST].split()).removeprefix("system: ") for text in run.prompt or ()]
    return any(text.startswith(_PROMPTS) for text in begins)
