"""Who asks: the application, or LlamaIndex itself for purposes of its own.

Its evaluators query engines that they build of what they judge, and its indices have texts summed up while they are
built. Neither is told by a span, so the calls that lead to the first span are looked at: names of code, and nothing of
what they hold but the evaluator. It is done once for each outermost call.
"""

from __future__ import annotations

import sys

from assay_llama_index.kinds import ComponentKind, has_base

_EVALUATE = frozenset({"evaluate", "aevaluate", "evaluate_response", "aevaluate_response"})

#: Where synthesizers are used as parts: of an engine whose own span is not followed, or of an index that is built.
_USERS = ("llama_index.core.query_engine", "llama_index.core.chat_engine", "llama_index.core.indices")
_SYNTHESIZE = frozenset({"synthesize", "asynthesize"})

DEPTH = 40  # calls that are looked at


def is_evaluated() -> bool:
    """Whether an evaluator of LlamaIndex asks."""
    return _is_library_call("engine")


def is_of_the_application(kind: ComponentKind) -> bool:
    """Whether a call of this kind, which no known span surrounds, is one of the application's."""
    return not _is_library_call(kind)


def _is_library_call(kind: ComponentKind) -> bool:
    above = sys._getframe(3).f_back
    synthesis = kind == "synthesizer"
    for _ in range(DEPTH):
        if above is None:
            return False
        name = above.f_code.co_name
        if name in _EVALUATE and has_base(above.f_locals.get("self"), "BaseEvaluator"):
            return True
        if synthesis and name not in _SYNTHESIZE:
            module = above.f_globals.get("__name__")
            if isinstance(module, str) and module.startswith(_USERS):
                return True
        above = above.f_back
    return False
