"""assay metrics as LlamaIndex evaluators, and capture of live query and chat engines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay_llama_index.instrumentation import AssayInstrumentation, InstrumentationHealth

if TYPE_CHECKING:
    from assay_llama_index.evaluators import AssayEvaluator, evaluators

__all__ = ["AssayEvaluator", "AssayInstrumentation", "InstrumentationHealth", "evaluators"]

#: Imported when first asked for: they need llama_index.core, which takes seconds to import.
_LAZY = ("AssayEvaluator", "evaluators")


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module("assay_llama_index.evaluators")
    # the import has just set the submodule itself as the attribute `evaluators`; the function is what is meant
    for lazy in _LAZY:
        globals()[lazy] = getattr(module, lazy)
    return globals()[name]
