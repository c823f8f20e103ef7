"""What goes wrong in our hooks never reaches the host and never goes unseen."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from assay.extension import Intake

T = TypeVar("T")


class Faults:
    """Catches and counts the exceptions of hooks.

    A KeyboardInterrupt is counted and passes: it is the user's Ctrl-C, which came while we were at work.

    Args:
        forget: Called after an error with the hook and the id of its span: nothing may be left behind.
    """

    def __init__(self, intake: Intake, forget: Callable[[str, str], None]) -> None:
        self._intake = intake
        self._forget = forget

    @contextlib.contextmanager
    def hook(self, name: str, span_id: str | None) -> Iterator[None]:
        """Nothing raised inside reaches the host."""
        try:
            yield
        except BaseException as error:
            self.failed(error, name, span_id)

    def ids(self, ask: Callable[..., T], *arguments: Any) -> T | None:
        """What `ask` returns. An id that cannot be had loses nothing but itself."""
        try:  # `hook` would do, and takes longer: this is asked several times for each request
            return ask(*arguments)
        except BaseException as error:
            self.failed(error, "ids", None)
            return None

    def count(self, error: BaseException, hook: str) -> None:
        """Count an error of ours that leaves nothing unfinished."""
        self.failed(error, hook, None)

    def failed(self, error: BaseException, hook: str, span_id: str | None) -> None:
        """Count an error of ours, and forget what it left unfinished."""
        with _silence():  # there is nobody left to tell
            self._intake.count_error(error, f"LlamaIndex {hook}" + (f" (span {span_id})" if span_id else ""))
        if span_id is not None:
            with _silence():
                self._forget(hook, span_id)
        if isinstance(error, KeyboardInterrupt):
            raise error


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: S110 - the handling of an error failed: it has been counted, or cannot be
        pass
