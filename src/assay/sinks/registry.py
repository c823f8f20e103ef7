"""Sinks by name, for the command line: `jsonl:scores.jsonl`, `phoenix:http://localhost:6006`.

Packages add theirs under the entry point group `assay.sinks`: a callable that takes the part after the colon.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points

from assay.errors import InputError, MissingExtra
from assay.sinks.base import Sink

GROUP = "assay.sinks"

#: Names whose package may be missing, and what to install for them.
EXTRAS = {
    "otel": "opentelemetry",
    "phoenix": "phoenix",
    "mlflow": "mlflow",
    "langsmith": "langsmith",
    "langfuse": "langfuse",
}


def resolve_sink(spec: str) -> Sink:
    """The sink that `NAME:ADDRESS` means.

    Raises InputError for an unknown name or a wrong address, MissingExtra for a missing package.
    """
    name, _, address = spec.partition(":")
    found = {point.name: point for point in entry_points(group=GROUP)}
    if name not in found:
        if name in EXTRAS:
            raise MissingExtra(_missing(name))
        # the address may hold a password
        raise InputError(f"sink {name!r}: expected NAME:ADDRESS with a NAME of {', '.join(sorted(found))}")
    try:
        make: Callable[[str], Sink] = found[name].load()
    except ImportError as error:
        if name in EXTRAS:
            raise MissingExtra(f"{_missing(name)} ({error})") from error
        raise
    return make(address)


def _missing(name: str) -> str:
    return f"sink {name!r} needs a package: pip install 'assay[{EXTRAS[name]}]'"
