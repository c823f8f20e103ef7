"""What a guard is told when it is made, checked: wrong arguments raise InputError, once."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Mapping
from numbers import Real
from typing import Any

from assay.errors import InputError
from assay.live.guards.verdict import GuardAction

#: What has to be said of a guard, and of what.
_OTHERWISE = {
    "on_timeout": "an answer that is not scored in time",
    "on_error": "one where the judge or the guard failed",
    "on_skipped": "one with nothing to measure",
}


def check_outcomes(given: Collection[str]) -> None:
    """Raise unless each of the three outcomes without a measurement is among the arguments."""
    missing = [f"{said}: {name}=" for name, said in _OTHERWISE.items() if name not in given]
    if missing:
        raise InputError(
            f"guard: say what becomes of {'; '.join(missing)} 'pass' or 'block'. There is no default, because "
            "whoever writes an answer can provoke each"
        )


def otherwise(settings: Mapping[str, GuardAction]) -> dict[str, GuardAction]:
    """What becomes of an answer, by the outcomes that are no measurement."""
    for name, setting in settings.items():
        if setting not in ("pass", "block"):
            raise InputError(f"{name}: expected 'pass' or 'block', got {setting!r}")
    return {name.removeprefix("on_"): setting for name, setting in settings.items()}


def check_functions(fallback: Any, on_decision: Callable[..., Any] | None) -> None:
    """Raise unless both are what a guard can use."""
    for name, function in (("fallback", fallback), ("on_decision", on_decision)):
        if inspect.iscoroutinefunction(function):
            raise InputError(f"{name}: expected a plain function, got the async function {function.__name__!r}")
    if not (fallback is None or isinstance(fallback, str) or callable(fallback)):
        raise InputError(f"fallback: expected a text, a function of the decision, or None, got {fallback!r}")
    if not (on_decision is None or callable(on_decision)):
        raise InputError(f"on_decision: expected a function of the decision, got {on_decision!r}")


def seconds(name: str, value: object) -> float:
    """A number of seconds above 0."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < math.inf:
        raise InputError(f"{name}: expected a positive number of seconds, got {value!r}")
    return float(value)
