"""Options that belong together, as one parameter of a command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, get_type_hints


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command as typer sees it: each parameter that is a dataclass stands for its fields, an option each.

    The fields are annotated as parameters are, have defaults, and names that no other parameter has.
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if isinstance(kind, type) and is_dataclass(kind)}
    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        options = _options(groups[name]) if name in groups else [parameter.replace(annotation=hints[name])]
        parameters += options

    @wraps(command)
    def run(**given: Any) -> None:
        made = {name: kind(**{field.name: given.pop(field.name) for field in fields(kind)})
                for name, kind in groups.items()}  # fmt: skip
        command(**given, **made)

    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _options(kind: type) -> list[Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        Parameter(field.name, Parameter.KEYWORD_ONLY, annotation=hints[field.name],
                  default=Parameter.empty if field.default is MISSING else field.default)
        for field in fields(kind)
    ]  # fmt: skip
