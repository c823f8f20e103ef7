"""Attributes of spans: flat, with dots and numbers in their names, or nested; read the same either way."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from assay.extension import check_json


def flatten(value: Mapping[str, Any]) -> dict[str, Any]:
    """Nested attributes as flat ones: {"a": [{"b": 1}]} is {"a.0.b": 1}. Lists of plain values stay what they are."""
    return dict(_leaves("", value)) if value else {}


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping) and value:
        pairs = ((str(key), item) for key, item in value.items())
    elif isinstance(value, (list, tuple)) and any(isinstance(item, (Mapping, list, tuple)) for item in value):
        pairs = ((str(number), item) for number, item in enumerate(value))
    else:
        yield name, value
        return
    for key, item in pairs:
        yield from _leaves(f"{name}.{key}" if name else key, item)


def nest(flat: Mapping[str, Any]) -> Any:
    """The nested form of flat attributes. Names that are all numbers make a list; gaps in it are closed.

    Where a name is both a value and the beginning of others, the others win.
    """
    tree: dict[str, Any] = {}
    for name, value in flat.items():
        *path, last = name.split(".")
        node = tree
        for part in path:
            inner = node.get(part)
            if not isinstance(inner, _Node):
                inner = node[part] = _Node()
            node = inner
        if not isinstance(node.get(last), _Node):
            node[last] = value
    return _listed(tree)


class _Node(dict[str, Any]):
    """A branch, told from a value that is a dict."""


def _listed(node: Any) -> Any:
    if not isinstance(node, _Node) and type(node) is not dict:
        return node
    if isinstance(node, _Node) and all(key.isdecimal() for key in node):
        return [_listed(node[key]) for key in sorted(node, key=int)]
    return {key: _listed(item) if isinstance(item, _Node) else item for key, item in node.items()}


class Attributes:
    """The attributes of one span, by dotted name, however nested they came."""

    def __init__(self, attributes: Mapping[str, Any]) -> None:
        nested = any(isinstance(value, (Mapping, list, tuple)) for value in attributes.values())
        self._flat: Mapping[str, Any] = flatten(attributes) if nested else attributes

    def __contains__(self, name: str) -> bool:
        return name in self._flat or any(key.startswith(f"{name}.") for key in self._flat)

    def get(self, name: str) -> Any:
        """The value of this name; else what is below it, nested; else None."""
        value = self._flat.get(name)
        return value if value is not None else self.below(name)

    def below(self, name: str) -> Any:
        """What stands below this name, nested; None where nothing does."""
        prefix = f"{name}."
        inner = {key.removeprefix(prefix): value for key, value in self._flat.items() if key.startswith(prefix)}
        if not inner:
            return None
        nested = nest({f"x.{key}": value for key, value in inner.items()})
        return nested["x"]

    def text(self, *names: str) -> str | None:
        """The first text that stands under one of these names and is not blank."""
        for name in names:
            value = self._flat.get(name)
            if isinstance(value, str) and value.strip():
                return value
        return None

    def json(self, name: str) -> Any:
        """The value of this name, read as JSON where it is a text that spells an object or a list."""
        return from_json(self.get(name))

    def items(self, name: str) -> list[Any]:
        """What is numbered below this name, or the list that its value is or spells; else nothing."""
        found = self.below(name)
        if not isinstance(found, list):
            found = from_json(self._flat.get(name))
        return list(found) if isinstance(found, (list, tuple)) else []


def from_json(value: Any) -> Any:
    """What a text spells in JSON where it begins like an object or a list; anything else, or large, as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            check_json(value)
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def loaded(value: Any) -> Any:
    """What a text spells in JSON, be it a text or a number; anything else, no JSON and what is large as it is."""
    if isinstance(value, str):
        try:
            check_json(value)
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def lookup(value: Any, name: str) -> Any:
    """The value of a dotted name in something nested, whose own keys may have dots as well; None if there is none."""
    if not name:
        return value
    if not isinstance(value, Mapping):
        return None
    if name in value:
        return value[name]
    head = ""
    rest = name
    while "." in rest:
        part, _, rest = rest.partition(".")
        head = f"{head}.{part}" if head else part
        found = lookup(value[head], rest) if head in value else None
        if found is not None:
            return found
    return None
