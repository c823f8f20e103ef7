"""Parameters of metrics are of the kind that their annotation says, or the mistake is named at once."""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from numbers import Integral, Real
from typing import Any, Literal

from assay.errors import InputError

#: Kind in an annotation -> what is taken for it, and what it is called. Other kinds are not looked at, except
#: for protocols that can be checked at run time.
_KINDS: Mapping[Any, tuple[type | tuple[type, ...], str]] = {
    str: (str, "a text"),
    bool: (bool, "True or False"),
    int: (Integral, "a whole number"),
    float: (Real, "a number"),
    tuple: ((tuple, list), "a tuple"),
    Mapping: (Mapping, "a mapping"),
    dict: (Mapping, "a mapping"),
    type(None): (type(None), "None"),
}


def _kind(annotated: Any) -> tuple[type | tuple[type, ...], str] | None:
    """What is taken for a kind, and what it is called; None where it is not looked at."""
    if getattr(annotated, "_is_runtime_protocol", False):
        return annotated, f"a {annotated.__name__}"
    return _KINDS.get(annotated)


_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def check_parameters(metric: type, given: tuple[Any, ...], named: Mapping[str, Any]) -> None:
    """Raise InputError, naming class and parameter, for a value of another kind than the parameter's annotation."""
    if not given and not named:
        return
    order, taken = _parameters(metric)
    for name, value in (*zip(order, given, strict=False), *named.items()):
        wanted = taken.get(name)
        if wanted is not None and not wanted.takes(value):
            raise InputError(f"{metric.__name__}: {name}: expected {wanted}, not {value!r:.80}")


@dataclass(frozen=True, slots=True)
class _AcceptedValues:
    """What a parameter takes: values of some kinds, and some values."""

    kinds: tuple[tuple[type | tuple[type, ...], str], ...]
    values: tuple[Any, ...]

    def takes(self, value: object) -> bool:
        """Whether it is one of them; True and False are no numbers."""
        if isinstance(value, bool):
            return _KINDS[bool] in self.kinds
        of_a_kind = any(isinstance(value, taken) for taken, _ in self.kinds)
        return of_a_kind or (isinstance(value, str | int) and value in self.values)

    def __str__(self) -> str:
        values = [f"one of {', '.join(map(repr, self.values))}"] if self.values else []
        return " or ".join([*values, *(words for _, words in self.kinds)])


@lru_cache(maxsize=1024)
def _parameters(metric: type) -> tuple[tuple[str, ...], Mapping[str, _AcceptedValues]]:
    """The names of its parameters in their order, and what those take whose annotation can be looked at."""
    init: Callable[..., None] = metric.__init__  # type: ignore[misc]
    listed = inspect.signature(init).parameters.values()
    order = tuple(one.name for one in listed if one.name != "self" and one.kind not in _MANY)
    own = {field.name for field in fields(metric)}
    return order, {name: taken for name in order if name in own and (taken := _accepted(metric, name)) is not None}


def _accepted(metric: type, name: str) -> _AcceptedValues | None:
    """What a parameter takes; None where its annotation holds other kinds, or names that are not there."""
    holder = next(one for one in metric.__mro__ if name in inspect.get_annotations(one))
    alone = types.new_class("alone")
    alone.__annotations__ = {name: inspect.get_annotations(holder)[name]}
    try:
        hint = typing.get_type_hints(alone, vars(sys.modules[holder.__module__]))[name]
    except NameError:  # it is imported for type checkers alone
        return None
    several = typing.get_args(hint) if typing.get_origin(hint) in (types.UnionType, typing.Union) else (hint,)
    values = [value for one in several if typing.get_origin(one) is Literal for value in typing.get_args(one)]
    kinds = [_kind(typing.get_origin(one) or one) for one in several if typing.get_origin(one) is not Literal]
    known = [kind for kind in kinds if kind is not None]
    return _AcceptedValues(tuple(known), tuple(values)) if len(known) == len(kinds) else None
