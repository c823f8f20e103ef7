"""Laws: what must hold for each of many things, checked in one test that reports every law that fails."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def check_laws(laws: Iterable[Callable[..., Any]], *arguments: Any) -> None:
    """Call each law with the arguments. Raises an ExceptionGroup of all that fail, each under its law's name."""
    failures: list[Exception] = []
    for law in laws:
        try:
            result = law(*arguments)
            if inspect.iscoroutine(result):
                asyncio.run(result)
        except Exception as error:
            error.add_note(f"law: {getattr(law, '__name__', law)}")
            failures.append(error)
    if failures:
        raise ExceptionGroup(f"{', '.join(map(str, arguments))}: {len(failures)} laws do not hold", failures)


def laws_of(module: dict[str, Any]) -> list[Callable[..., Any]]:
    """The functions of a module (its `globals()`) whose names begin with `law_`, in order."""
    return [function for name, function in module.items() if name.startswith("law_") and callable(function)]
