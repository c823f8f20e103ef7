"""Values held to a JSON schema that may come with the data: nothing is fetched, and it ends.

A few words of a schema can keep jsonschema for years: a pattern such as "(a+)+$", definitions of which each names the
next one twice. A schema without such words takes time in proportion to itself and the value, and is checked here; any
other by a process of its own, which is ended when its time is over.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from assay._util.install_hints import install_extra
from assay.errors import InputError, MissingExtra
from assay.metrics.systems import schema_check
from assay.metrics.systems.patterns import LIMIT, elsewhere, is_quick_anywhere

#: What a schema refers, looks back or compares all items with.
_SLOW = frozenset(
    {"$ref", "$dynamicRef", "$recursiveRef", "unevaluatedItems", "unevaluatedProperties", "uniqueItems", "extends"}
)
#: Parts of the schema times parts of the value, or of itself, that are looked at here: a second where none fits.
_FEW = 40_000


async def json_schema_errors(value: Any, schema: Mapping[str, Any] | bool, limit: float = LIMIT) -> tuple[str, ...]:
    """What of a JSON value does not fit a JSON schema, as "path: message", in the order of the paths; none: it fits.

    The schema's draft is what its `$schema` says, else the newest. Raises InputError for a schema that is none, or that
    refers to one elsewhere; MissingExtra without jsonschema; JudgeFailure: timeout where it is not known after `limit`
    seconds, missing_extra where no process can be started for a schema that needs one.
    """
    try:
        if is_plain(schema, value):
            return tuple(schema_check.errors_of(value, schema))
        import jsonschema  # noqa: F401  # what is missing here is missing there
    except schema_check.NoSchema as error:
        raise InputError(f"JSON schema: {error}") from None
    except ImportError as error:
        raise MissingExtra(f"this metric needs jsonschema: {install_extra('lexical')} ({error})") from error
    said = await asyncio.to_thread(_elsewhere, value, schema, limit)
    if "no_schema" in said:
        raise InputError(f"JSON schema: {said['no_schema']}")
    return tuple(said["errors"])


def is_plain(schema: Any, value: Any = None) -> bool:
    """Whether checking takes time in proportion to the schema and the value, both of which are not too large."""
    parts = 0
    for part in _parts(schema):
        parts += 1
        if isinstance(part, Mapping) and not (part.keys().isdisjoint(_SLOW) and all(map(_quick, _patterns(part)))):
            return False
    return parts * max(parts, sum(1 for _ in _parts(value))) <= _FEW


def _patterns(part: Mapping[str, Any]) -> Iterator[Any]:
    """The patterns of a part of a schema; also a property that is called so, which has none."""
    if "pattern" in part:
        yield part["pattern"]
    below = part.get("patternProperties")
    yield from below if isinstance(below, Mapping) else ()


def _quick(pattern: Any) -> bool:
    return not isinstance(pattern, str) or is_quick_anywhere(pattern)


def _parts(whole: Any) -> Iterator[Any]:
    """A value and all that is in it, however deep."""
    waiting = [whole]
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, Mapping):
            waiting += part.values()
        elif isinstance(part, list | tuple):
            waiting += part


def _elsewhere(value: Any, schema: Any, limit: float) -> dict[str, Any]:
    try:
        asked = json.dumps([sys.path, value, schema])
    except (RecursionError, TypeError, ValueError) as error:
        raise InputError(f"JSON schema: this is no JSON, or lies too deep: {error}") from None
    what = "checking a JSON schema with patterns or references"
    said: dict[str, Any] = json.loads(elsewhere([schema_check.__file__], asked, limit, what))
    return said
