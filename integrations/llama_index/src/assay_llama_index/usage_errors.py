"""Uses that LlamaIndex would take in silence, and from which nothing would come."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from assay import InputError

log = logging.getLogger("assay.capture")

_said: set[str] = set()

#: What LlamaIndex' callback managers ask of their handlers.
_OF_CALLBACKS = frozenset(
    {"start_trace", "end_trace", "on_event_start", "on_event_end", "event_starts_to_ignore", "event_ends_to_ignore"}
)
#: What its dispatchers ask of theirs.
_OF_DISPATCHERS = frozenset({"span_enter", "span_exit", "span_drop", "handle", "open_spans"})

_RIGHT = (
    "attach it: AssayInstrumentation(...).attach(), or `with AssayInstrumentation(...):`; it hears the whole process"
)


class NoHandler(InputError, AttributeError, TypeError):
    """An instrumentation stands where LlamaIndex expects a handler: `CallbackManager([AssayInstrumentation()])`."""


def refuse_handler(owner: str, name: str) -> None:
    """Raises NoHandler where `name` is asked for by what takes callback handlers or handlers of a dispatcher."""
    if name in _OF_CALLBACKS:
        raise NoHandler(f"{owner} is no callback handler, and hears nothing from a CallbackManager; {_RIGHT}")
    if name in _OF_DISPATCHERS:
        message = f"{owner} is no handler of a dispatcher; {_RIGHT}"
        _warn_once(f"assay: {message}")  # a dispatcher swallows whatever its handlers raise
        raise NoHandler(message)


class InstrumentationType(type):
    """The type of `AssayInstrumentation`: the class in place of an object says so."""

    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> Any:
            if name in _OF_CALLBACKS or name in _OF_DISPATCHERS:
                refuse_handler(f"the class {cls.__name__}", name)
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")


class InstrumentationOfAnotherProcess:
    """What a pickled instrumentation is in another process: it hears nothing. Each process needs one of its own."""

    def __repr__(self) -> str:
        return "<an instrumentation of another process: nothing is captured here>"


def of_another_process() -> InstrumentationOfAnotherProcess:
    """Stands for an instrumentation that was pickled; says so once."""
    _warn_once(
        "assay: an AssayInstrumentation was sent here by pickle, and captures nothing; make one where the work is "
        "done, for example AssayInstrumentation(...).attach() at the start of each worker"
    )
    return InstrumentationOfAnotherProcess()


def _warn_once(message: str) -> None:
    if message not in _said:
        _said.add(message)
        log.warning("%s", message)
