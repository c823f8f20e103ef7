"""Sources, sinks and engines that packages add by entry points, and which extra of assay brings which."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint
from typing import Any

from assay._util.install_hints import install_extra
from assay.errors import MissingExtra

#: Names whose package may be missing, and the extra of assay that brings it.
EXTRAS: Mapping[str, str] = {
    "otel": "opentelemetry",
    "phoenix": "phoenix",
    "mlflow": "mlflow",
    "langsmith": "langsmith",
    "langfuse": "langfuse",
    "ray": "ray",
}


def load(kind: str, name: str, points: Mapping[str, EntryPoint]) -> Any:
    """What the entry point `name` means; None where nobody has it. `kind` is for messages: "source", "sink", "engine".

    Raises MissingExtra where a package known to assay is missing, or cannot be imported.
    """
    missing = f"{kind} {name!r} needs a package: {install_extra(EXTRAS[name]) if name in EXTRAS else ''}"
    if name not in points:
        if name in EXTRAS:
            raise MissingExtra(missing)
        return None
    try:
        return points[name].load()
    except ImportError as error:
        if name in EXTRAS:
            raise MissingExtra(f"{missing} ({error})") from error
        raise
