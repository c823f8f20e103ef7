"""How objects of ours read in a terminal: as the call that made them, without keys and texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

LONG = 160  # characters of one value


def call_repr(owner: object, *values: object, **options: object) -> str:
    """Return the representation of an object as the call that creates it: `Name(value, option=value)`.

    A representation of more than 160 characters is cut. A value whose own `repr` raises an exception is shown as "...".

    Args:
        owner: The object. Its class gives the name.
        values: Values of positional arguments.
        options: Values of keyword arguments. Options that are None are left out.

    Returns:
        The representation.
    """
    told = [_cut(value) for value in values]
    told += [f"{name}={_cut(value)}" for name, value in options.items() if value is not None]
    return f"{type(owner).__name__}({', '.join(told)})"


def labels(metrics: Iterable[Any]) -> list[str]:
    """What metrics are called, which is how they are shown."""
    return [str(metric.label) for metric in metrics]


def host_of(address: str) -> str:
    """Return the host and port of a URL, without its user name and password.

    Args:
        address: The URL.

    Returns:
        The host, with its port where the URL has one. If the address is no URL with a printable host: the `repr` of it,
        without all that stands before an "@".
    """
    text = str(address)
    try:
        parts = urlsplit(text)
        host = parts.netloc.rpartition("@")[2]
        _ = parts.port  # raises ValueError where a "/" in a password ends the host too early
    except ValueError:
        host = ""
    if not host or not host.isprintable():  # no URL: what may be a password stands before the last "@"
        return repr(text.rpartition("@")[2])
    return host


def _cut(value: object) -> str:
    try:
        said = repr(value)
    except Exception:
        return "..."
    return said if len(said) <= LONG else f"{said[: LONG - 3]}..."
