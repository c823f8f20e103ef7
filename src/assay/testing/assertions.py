"""How the kit says what is wrong: an AssertionError in words, also where Python runs without asserts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

E = TypeVar("E", bound=BaseException)


def expect(holds: object, what: str) -> None:
    """Raise AssertionError(what) unless it holds."""
    if not holds:
        raise AssertionError(what)


def same(found: Any, expected: Any, what: str) -> None:
    """Raise AssertionError, saying what was found and what was expected, unless both are equal."""
    if found != expected:
        raise AssertionError(f"{what}: expected {expected!r}, found {found!r}")


def raised(action: Callable[[], object], kind: type[E], what: str) -> E:
    """What `action` raises, which is to be of this kind."""
    try:
        action()
    except kind as error:
        return error
    raise AssertionError(f"{what}: expected {kind.__name__} to be raised")
