"""Evaluators that run with the application's callbacks: they judge answers, and are no application."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from assay.capture.tree import Run

#: How LangChain calls its evaluators that are chains.
_SUFFIX = "EvalChain"
_MODULES = ("langchain_classic.evaluation.schema", "langchain.evaluation.schema")
_BASES = ("StringEvaluator", "PairwiseStringEvaluator", "AgentTrajectoryEvaluator")


def is_evaluator(run: Run) -> bool:
    """Whether a run is an evaluator, by the name of its class: LangChain's, or one made from them in this process.

    A run that was given a name of its own (`run_name`) is not told.
    """
    if run.kind != "chain" or not isinstance(run.name, str):
        return False
    return run.name.endswith(_SUFFIX) or run.name in _loaded()


def _loaded() -> set[str]:
    """The names of all evaluators' classes that are loaded; asks for nothing that is not."""
    modules = [sys.modules[name] for name in _MODULES if name in sys.modules]
    bases = [getattr(module, name, None) for module in modules for name in _BASES]
    return {made.__name__ for base in bases if isinstance(base, type) for made in _subclasses(base)}


def _subclasses(base: type) -> Iterator[type]:
    made_from: list[type] = type.__subclasses__(base)
    for made in made_from:
        yield made
        yield from _subclasses(made)
