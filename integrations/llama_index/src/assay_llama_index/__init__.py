"""assay metrics as LlamaIndex evaluators, capture of live applications, and guards in the path of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay_llama_index.instrumentation import AssayInstrumentation, InstrumentationHealth

if TYPE_CHECKING:
    from assay_llama_index.evaluators import AssayEvaluator, evaluators
    from assay_llama_index.guard import AssayNodeGuard, GuardedQueryEngine, guarded_query_engine
    from assay_llama_index.retrieval import AssayRetrievalMetric

__all__ = [
    "AssayEvaluator",
    "AssayInstrumentation",
    "AssayNodeGuard",
    "AssayRetrievalMetric",
    "GuardedQueryEngine",
    "InstrumentationHealth",
    "evaluators",
    "guarded_query_engine",
]

#: Imported when first asked for: they need llama_index.core, which takes seconds to import.
_LAZY = {
    "AssayEvaluator": "evaluators",
    "AssayNodeGuard": "guard",
    "AssayRetrievalMetric": "retrieval",
    "GuardedQueryEngine": "guard",
    "evaluators": "evaluators",
    "guarded_query_engine": "guard",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"assay_llama_index.{_LAZY[name]}")
    # the import may just have set the submodule itself as the attribute `evaluators`; the function is what is meant
    for lazy, home in _LAZY.items():
        if home == _LAZY[name]:
            globals()[lazy] = getattr(module, lazy)
    return globals()[name]
