"""Names of a package that load their modules when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def names_by_module(table: Mapping[str, str]) -> dict[str, str]:
    """Turn a table of modules with their names, separated by spaces, into name -> module."""
    return {name: module for module, names in table.items() for name in names.split()}


def lazy_exports(
    package: dict[str, Any], table: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], Iterable[str]]]:
    """Make the `__getattr__` and `__dir__` of a package whose names load on first use.

    Args:
        package: The package's `globals()`. A name that was loaded is kept there.
        table: Module -> the names that it has, separated by spaces.

    Returns:
        The two functions.
    """
    home_of = names_by_module(table)

    def __getattr__(name: str) -> Any:
        home = home_of.get(name)
        if home is None:
            raise AttributeError(f"module {package['__name__']!r} has no attribute {name!r}")
        value = package[name] = getattr(import_module(home), name)
        return value

    def __dir__() -> Iterable[str]:
        return sorted({*package, *home_of})

    return __getattr__, __dir__
