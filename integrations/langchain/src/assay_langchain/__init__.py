"""Attach assay to LangChain: a callback handler, and evaluators for LangSmith, openevals and langchain-classic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay_langchain.attach import arecord_contexts, capture, install, record_contexts, uninstall
from assay_langchain.handler import AssayCallbackHandler
from assay_langchain.health import HandlerHealth

if TYPE_CHECKING:
    from assay_langchain.classic import AssayStringEvaluator
    from assay_langchain.functions import as_evaluator
    from assay_langchain.langsmith import AssayRunEvaluator

__all__ = [
    "AssayCallbackHandler",
    "AssayRunEvaluator",
    "AssayStringEvaluator",
    "HandlerHealth",
    "arecord_contexts",
    "as_evaluator",
    "capture",
    "install",
    "record_contexts",
    "uninstall",
]

#: Imported when first asked for: they need langsmith or langchain-classic.
_LAZY = {
    "AssayRunEvaluator": "assay_langchain.langsmith",
    "AssayStringEvaluator": "assay_langchain.classic",
    "as_evaluator": "assay_langchain.functions",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LAZY[name]), name)
