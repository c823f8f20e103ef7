"""What a framework's model object is, read from its fields: the parts that do not depend on the framework."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

WINDOW = 32_000  # tokens: what is assumed of a model, as of any other judge; less where its framework says so

_SECRET = ("api_key", "apikey", "secret", "password", "credential", "access_key")
#: Tokens of a vocabulary, which settings name too: "eos_token".
_SPECIAL_TOKENS = frozenset({"bos", "cls", "eos", "mask", "pad", "sep", "stop", "unk"})
_LIMITS = ("max_tokens", "max_output_tokens", "max_completion_tokens", "num_predict", "max_new_tokens")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Settings of a framework's model that a `FrameworkJudge` needs.

    Attributes:
        name: Name of the model.
        parameters: All fields that can change an answer, without secrets.
        secrets: Secrets of the model, such as API keys and header values.
        window: Context window in tokens, if it is smaller than the default of 32,000. None: the default.
        most: Maximum number of tokens of a reply. None: no limit is set.
        enforces: Whether the model's API is known to enforce a JSON schema.
        tempers: Whether the model has a field for the temperature.
    """

    name: str
    parameters: Mapping[str, Any]
    secrets: tuple[str, ...]
    window: int | None
    most: int | None
    enforces: bool
    tempers: bool

    @classmethod
    def of(
        cls,
        model: object,
        name: str,
        fields: Mapping[str, Any],
        apart: Callable[[str], bool],
        *,
        address: str | None,
        window: object,
        enforces: bool,
    ) -> ModelSettings:
        """Read the settings from the fields of a model.

        Args:
            model: The model. The path of its class becomes a parameter.
            name: Name of the model.
            fields: Fields of the model with their values.
            apart: Function that takes the name of a field. It returns True if the field cannot change an answer.
            address: URL of the model's API. None: unknown.
            window: Context window in tokens. It counts only if it is an int from 1,000 and below 32,000.
            enforces: Whether the model's API is known to enforce a JSON schema.

        Returns:
            The settings.
        """
        parameters = {
            name: plain_settings(value)
            for name, value in fields.items()
            if not (apart(name) or _hidden(value) or _secret(name))
        }
        parameters["class"] = f"{type(model).__module__}.{type(model).__qualname__}"
        parameters["address"] = address
        return cls(
            name=name,
            parameters=parameters,
            secrets=tuple(_secrets(fields)),
            window=window if isinstance(window, int) and 1000 <= window < WINDOW else None,
            most=next((value for limit in _LIMITS if _positive(value := fields.get(limit))), None),
            enforces=enforces,
            tempers="temperature" in fields,
        )


def plain_settings(value: Any) -> Any:
    """Convert a parameter of a model to JSON values, equal in every process for equal parameters.

    Mappings lose their secrets, sets become sorted lists of texts, and pydantic models become dicts. Other objects
    become the path of their class. Functions and classes become their own path.

    Args:
        value: The parameter.

    Returns:
        The parameter as JSON values.
    """
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain_settings(item) for key, item in value.items() if not _secret(str(key))}
    if isinstance(value, (list, tuple)):
        return [plain_settings(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        with contextlib.suppress(Exception):
            return plain_settings(dump(mode="json"))
    origin = value if callable(value) and hasattr(value, "__qualname__") else type(value)
    return f"{origin.__module__}.{origin.__qualname__}"


def _secrets(fields: Mapping[str, Any]) -> Iterator[str]:
    for name, value in fields.items():
        if _hidden(value):
            yield value.get_secret_value()
        elif isinstance(value, str) and _secret(name):
            yield value
        elif isinstance(value, Mapping) and "header" in name:
            yield from (str(item).removeprefix("Bearer ") for item in value.values())


def _hidden(value: object) -> bool:
    """Whether this is one of pydantic's secrets."""
    return callable(getattr(value, "get_secret_value", None))


def _secret(name: str) -> bool:
    lowered = name.lower()
    if lowered.removesuffix("_token") in _SPECIAL_TOKENS:
        return False
    return lowered.endswith("token") or any(word in lowered for word in _SECRET)


def _positive(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
