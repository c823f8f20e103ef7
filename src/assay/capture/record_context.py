"""`record_context`: how an application tells of what it found where no retriever of its framework was used.

Frameworks know which run is going on by context variables of their own; each integration brings a way to ask for it.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import copy_context
from typing import Any, ParamSpec, TypeVar, overload

from assay.capture.snapshots import document_of
from assay.capture.tree import Document

log = logging.getLogger("assay.capture")

P = ParamSpec("P")
T = TypeVar("T")

#: Takes documents for the run that is going on in this context. False: there is none, or nobody listens to it.
Recorder = Callable[[tuple[Document, ...]], bool]

_RECORDERS: list[Recorder] = []
_warned = False


def add_recorder(recorder: Recorder) -> None:
    """Register the recorder of an integration, which gets the documents of `record_context`.

    A second registration of the same recorder has no effect.

    Args:
        recorder: Function that takes documents for the current run. It returns False if no run is captured.
    """
    if recorder not in _RECORDERS:
        _RECORDERS.append(recorder)


@overload
def record_context(documents: Iterator[T]) -> list[T]: ...  # type: ignore[overload-overlap]


@overload
def record_context(documents: Iterable[Any] | Any) -> bool: ...


def record_context(documents: Iterable[Any] | Any) -> Any:
    """Report what was retrieved for the current request, where capture cannot see it.

    Call it inside a chain, a tool, a graph's node or a query engine, in sync or async code. Python does not carry the
    context of a request into threads of your own: wrap the function with `carry_context` there.

    A generator, or another iterator, can be read only once. It is read to its end, whether the request is captured or
    not, and comes back as a list: `documents = assay.record_context(search(query))`.

    Args:
        documents: One passage or several: texts, dicts with a text, documents or nodes of any framework.

    Returns:
        A list for an iterator; else whether a captured request took them. False is logged once.

    Raises:
        InputError: A value is no passage.
    """
    several = _several(documents)
    if isinstance(several, Iterator):
        read = list(several)
        _log_usage_error(read)
        return read
    return _log_usage_error(several)


def _log_usage_error(documents: Iterable[Any]) -> bool:
    global _warned
    found = tuple(document_of(item) for item in documents)
    taken = [recorder(found) for recorder in tuple(_RECORDERS)]
    if any(taken):
        return True
    if not _warned:
        _warned = True
        log.warning(
            "assay: record_context was called where no captured request is going on; in a thread of your own, "
            "submit assay.carry_context(function) in place of the function"
        )
    return False


def carry_context(function: Callable[P, T]) -> Callable[P, T]:
    """Bind a function to the current request, for threads and executors of your own.

        executor.submit(carry_context(search), query)

    Each call runs in a copy of the context in which `carry_context` was called, so one result serves many threads.

    Args:
        function: The function.

    Returns:
        A function with the same parameters and result.
    """
    context = copy_context()

    @functools.wraps(function)
    def carried(*args: P.args, **kwargs: P.kwargs) -> T:
        return context.copy().run(function, *args, **kwargs)

    return carried


def _several(documents: Any) -> Iterable[Any]:
    """The passages given: one alone may be iterable as well, as pydantic's objects and named tuples are."""
    if isinstance(documents, (str, Mapping, Document)) or not isinstance(documents, Iterable):
        return (documents,)
    if any(hasattr(documents, name) for name in ("page_content", "get_content", "content", "text")):
        return (documents,)
    scored = isinstance(documents, tuple) and len(documents) == 2 and isinstance(documents[1], (int, float))
    return (documents,) if scored else documents
