"""How objects of ours read in a terminal: as the call that made them, without keys and texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

LONG = 160  # characters of one value


def call_repr(owner: object, *values: object, **options: object) -> str:
    """`Name(value, option=value)`. Options that are None are left out, and long values cut.

    Raises nothing: a value whose own repr raises is "...".
    """
    told = [_cut(value) for value in values]
    told += [f"{name}={_cut(value)}" for name, value in options.items() if value is not None]
    return f"{type(owner).__name__}({', '.join(told)})"


def labels(metrics: Iterable[Any]) -> list[str]:
    """What metrics are called, which is how they are shown."""
    return [str(metric.label) for metric in metrics]


def host_of(address: str) -> str:
    """The host of an address, with its port; safe to print."""
    try:
        host = urlsplit(str(address)).netloc.rpartition("@")[2]
    except ValueError:
        host = ""
    return host if host and host.isprintable() else repr(address)


def _cut(value: object) -> str:
    try:
        said = repr(value)
    except Exception:
        return "..."
    return said if len(said) <= LONG else f"{said[: LONG - 3]}..."
