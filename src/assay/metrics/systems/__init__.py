"""The metrics of other systems, by their names and formulas: "ragas:context_precision", "deepeval:faithfulness".

One folder per system, and the folder is the registry: each file in it with a tuple `ENTRIES` adds the metrics that
these describe. `"SYSTEM:NAME"` is the metric without what its system invents: a case that leaves nothing to measure
is skipped. `"SYSTEM:NAME@original"` gives the numbers of the system to the letter; what it gives by convention is
marked so and counts in no mean.
"""

from __future__ import annotations

import difflib
import pkgutil
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module

from assay.errors import InputError
from assay.metrics.systems.base import ORIGINAL, Entry, SystemMetric, spellings, table

#: The folders by the name before the colon. Each is loaded when one of its metrics is wanted.
SYSTEMS: tuple[str, ...] = (
    "ragas",
    "deepeval",
    "trulens",
    "langchain",
    "openevals",
    "langsmith",
    "bedrock",
    "ragchecker",
    "llamaindex",
    "multimodal",
)


def system_entries(system: str) -> Mapping[str, Entry]:
    """List the metrics of a system, as its folder has them.

    Args:
        system: The name of the system: "ragas".

    Returns:
        The entries by the names of their metrics after the colon, in the order of their files.

    Raises:
        InputError: For an unknown system, and where two metrics have one name.
    """
    if system not in SYSTEMS:
        near = difflib.get_close_matches(system.lower(), SYSTEMS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"metrics: there is no system {system!r}{hint}; known are {', '.join(SYSTEMS)}")
    return _read_folder(system)


@cache
def _read_folder(system: str) -> Mapping[str, Entry]:
    """The entries of all files in a system's folder and in the folders below it."""
    package = import_module(f"assay.metrics.{system}")
    files = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return table(*(entry for file in files for entry in getattr(import_module(file.name), "ENTRIES", ())))


def names(system: str = "all") -> tuple[str, ...]:
    """The full names of the metrics of a system, or of all. Raises InputError for an unknown system."""
    wanted = SYSTEMS if system == "all" else (system,)
    return tuple(f"{one}:{name}" for one in wanted for name in system_entries(one))


def names_of(written: str) -> tuple[str, ...]:
    """The full names of what someone may mean who writes no system, or no colon after it.

    "FaithfulnessMetric" is "deepeval:faithfulness"; "ragas.faithfulness" and "ragas_faithfulness" are
    "ragas:faithfulness"; "faithfulness@original" is that of every system.
    """
    bare, _, profile = written.partition("@")
    room = next((one for one in SYSTEMS if bare.lower().startswith(tuple(one + mark for mark in "._/ -"))), None)
    wanted = bare if room is None else bare[len(room) + 1 :]
    found = (entry_of(one, wanted) for one in ((room,) if room else SYSTEMS))
    names = (entry.make().name for entry in found if entry is not None)
    return tuple(f"{name}@{ORIGINAL}" if profile else name for name in names)


def entry_of(system: str, name: str) -> Entry | None:
    """The metric that a system calls `name`, also by other names that it has for it; None where there is none."""
    known = system_entries(system)
    return known.get(name) or spellings(known).get(name)


def named(name: str) -> SystemMetric:
    """The metric "SYSTEM:NAME" or "SYSTEM:NAME@original". Raises InputError where there is none.

    NAME may be another name that the system has for it, such as that of its class: "deepeval:FaithfulnessMetric".
    """
    system, _, rest = name.partition(":")
    wanted, _, profile = (part.strip() for part in rest.partition("@"))
    entry = entry_of(system.strip(), wanted)
    if entry is None:
        known = system_entries(system.strip())
        near = difflib.get_close_matches(wanted.lower().replace("-", "_").replace(" ", "_"), known, n=3)
        hint = f"did you mean {' or '.join(repr(f'{system}:{match}') for match in near)}? " if near else ""
        raise InputError(f"metrics: there is no metric {name!r}; {hint}`assay metrics --system {system}` lists all")
    if profile and profile != ORIGINAL:
        raise InputError(f"metrics: {name!r}: the only profile is {ORIGINAL!r}, not {profile!r}")
    return replace(entry.make(), profile=ORIGINAL) if profile else entry.make()
