"""A handler in the constructor of a model, a retriever or a tool hears that alone, and not the chain that uses it."""

from __future__ import annotations

import logging

from assay.extension import Run, RunKind

log = logging.getLogger("assay.capture")

#: Kinds of runs that are a part of an application.
COMPONENTS: tuple[RunKind, ...] = ("llm", "retriever", "tool")
_WORDS = {"llm": "the model", "retriever": "the retriever", "tool": "the tool"}
_GIVES = {"llm": "the question of its sample is the whole prompt, and the contexts are unknown"}
NAMES = 200  # names of components that are remembered; of others nothing is said any more

_told: dict[tuple[str, str], object] = {}


def warn_of_component(run: Run) -> bool:
    """Log once for each name that a handler hears a component alone, though a chain around it called it.

    Args:
        run: The root of the trace: a component with a parent that the handler did not hear.

    Returns:
        True if it was logged.
    """
    key = (run.kind, str(run.name or "")[:80])
    mine = object()
    if len(_told) >= NAMES or _told.setdefault(key, mine) is not mine:
        return False
    log.warning(
        "assay: the handler hears %s%s alone, and not the chain that called it: %s. A constructor is no place for it: "
        'pass it to the chain, chain.invoke(..., config={"callbacks": [handler]}), or call install(handler)',
        _WORDS[run.kind], f" {key[1]!r}" if key[1] else "", _GIVES.get(run.kind, "it gives no sample"),
    )  # fmt: skip
    return True
