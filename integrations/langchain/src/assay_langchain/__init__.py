"""Attach assay to LangChain: a callback handler, a guard, and evaluators for LangSmith, openevals, classic chains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay_langchain.attach import capture, install, uninstall
from assay_langchain.handler import AssayCallbackHandler
from assay_langchain.health import HandlerHealth

if TYPE_CHECKING:
    from assay_langchain.classic import (
        AssayPairwiseStringEvaluator,
        AssayStringEvaluator,
        AssayTrajectoryEvaluator,
    )
    from assay_langchain.functions import as_evaluator
    from assay_langchain.guard import GuardRunnable, guard_chain
    from assay_langchain.langsmith import AssayRunEvaluator
    from assay_langchain.loading import load_evaluator, load_evaluators
    from assay_langchain.middleware import AssayMiddleware

__all__ = [
    "AssayCallbackHandler",
    "AssayMiddleware",
    "AssayPairwiseStringEvaluator",
    "AssayRunEvaluator",
    "AssayStringEvaluator",
    "AssayTrajectoryEvaluator",
    "GuardRunnable",
    "HandlerHealth",
    "as_evaluator",
    "capture",
    "guard_chain",
    "install",
    "load_evaluator",
    "load_evaluators",
    "uninstall",
]

#: Imported when first asked for: some need langsmith, langchain or langchain-classic.
_LAZY = {
    "AssayMiddleware": "assay_langchain.middleware",
    "AssayPairwiseStringEvaluator": "assay_langchain.classic",
    "AssayRunEvaluator": "assay_langchain.langsmith",
    "AssayStringEvaluator": "assay_langchain.classic",
    "AssayTrajectoryEvaluator": "assay_langchain.classic",
    "GuardRunnable": "assay_langchain.guard",
    "as_evaluator": "assay_langchain.functions",
    "guard_chain": "assay_langchain.guard",
    "load_evaluator": "assay_langchain.loading",
    "load_evaluators": "assay_langchain.loading",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LAZY[name]), name)
