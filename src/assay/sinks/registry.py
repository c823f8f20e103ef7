"""Sinks by name, for the command line: `jsonl:scores.jsonl`, `phoenix:http://localhost:6006`.

Packages add theirs under the entry point group `assay.sinks`: a callable that takes the part after the colon.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points

from assay._util.plugins import load
from assay.errors import InputError
from assay.sinks.base import Sink

GROUP = "assay.sinks"


def resolve_sink(spec: str) -> Sink:
    """The sink that `NAME:ADDRESS` means.

    Raises InputError for an unknown name or a wrong address, MissingExtra for a missing package.
    """
    name, _, address = spec.partition(":")
    found = {point.name: point for point in entry_points(group=GROUP)}
    make: Callable[[str], Sink] | None = load("sink", name, found)
    if make is None:  # the address may hold a password
        raise InputError(f"sink {name!r}: expected NAME:ADDRESS with a NAME of {', '.join(sorted(found))}")
    return make(address)
